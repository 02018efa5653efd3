//! Robots that meet: an example of an external task, from its definition to a robot image.
//!
//! `task` defines the behavior of a robot. `world` defines the simulation.

#![cfg_attr(target_os = "none", no_std)]

pub mod task;
#[cfg(not(target_os = "none"))]
pub mod world;
