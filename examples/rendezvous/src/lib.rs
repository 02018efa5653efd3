//! Robots that meet: a task of one's own, from nothing to a robot's image, in one crate.
//!
//! `task` is what a robot does, and all that it carries. `world` is what comes of it, for the simulator.

#![cfg_attr(target_os = "none", no_std)]

pub mod task;
#[cfg(not(target_os = "none"))]
pub mod world;
