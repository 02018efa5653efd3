//! Swarms of `wdgnn-core` robots in simulated worlds.
//!
//! A [`world`] defines dynamics and score, a [`swarm`] computes commands, a [`medium`] carries
//! frames between robots with faults, and an [`episode`] runs a swarm in a world. The crate has no
//! command line, no user interface and no own threads. Programs, browsers and language
//! bindings get bit-identical results.

#![forbid(unsafe_code)]

pub mod airtime;
pub mod cipher;
pub mod controllers;
pub mod counters;
pub mod episode;
pub mod error;
pub mod evaluate;
pub mod files;
pub mod jobs;
pub mod key;
pub mod links;
pub mod medium;
pub mod model;
pub mod models;
pub mod option_range;
pub mod ports;
pub mod profiles;
pub mod radio;
pub mod recipe;
pub mod scene;
pub mod seeds;
pub mod shapes;
pub mod swarm;
pub mod threads;
pub mod tuning;
pub mod world;
