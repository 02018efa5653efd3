//! Coverage: robots spread over an area so that every place of interest has a robot nearby.
//!
//! `task` runs on robots. `density` and `world` are the simulated environment.

#![cfg_attr(target_os = "none", no_std)]

#[cfg(not(target_os = "none"))]
mod density;
pub mod task;
#[cfg(not(target_os = "none"))]
pub mod world;
