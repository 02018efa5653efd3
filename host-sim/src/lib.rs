//! Trains the network, flies swarms of `wdgnn-core` nodes, and shows what came out.

#![forbid(unsafe_code)]

pub mod cli;
pub mod commands;
pub mod error;
pub mod files;
