//! A small flock that flies the flocking task.
