//! What a network is for: the trait, and the task that comes with the crate.

pub mod flocking;
pub mod task;
