//! Swarms of `wdgnn-core` robots in simulated worlds.
//!
//! A [`world`] says how things are and what comes of commands, a [`swarm`] says what robots do, on an [`air`] in which anything may
//! go wrong, and a [`flight`] is both of them from a start to its end. Nothing here has a command line, a page or a thread of its
//! own: programs, browsers and other languages fly the same swarms, to the last bit.

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
pub mod world;
