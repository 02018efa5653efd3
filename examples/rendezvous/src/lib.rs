//! Rendezvous: a complete custom task, from its definition to a robot's image, in one crate.
//!
//! `task` runs on robots. `world` is the simulated environment.

#![cfg_attr(target_os = "none", no_std)]

pub mod task;
#[cfg(not(target_os = "none"))]
pub mod world;
