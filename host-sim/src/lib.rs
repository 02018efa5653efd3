//! Training, simulation and evaluation of swarms, and pages of the results.

// `train::simd` is the only file with unsafe code: vector registers.
#![deny(unsafe_code)]

pub mod bench;
pub mod capture;
pub mod chart;
pub mod cli;
pub mod commands;
pub mod fault_options;
pub mod faults;
pub mod origin;
pub mod page;
pub mod program;
pub mod progress;
pub mod shift;
pub mod table;
pub mod tasks;
pub mod theorem;
pub mod train;
pub mod trajectories;
pub mod usage_error;

// Re-exports of the simulator, which other programs use without this crate.
pub use wdgnn_sim::{
    airtime, controllers, counters, episode, error, evaluate, files, jobs, key, links, medium, model, models,
    option_range, profiles, radio, recipe, scene, seeds, shapes, swarm, threads, tuning, world,
};
