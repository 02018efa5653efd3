//! The robot around [`wdgnn_core`]: neighbor table, trust, safety, persistence and the control loop.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod config;
pub mod control_loop;
pub mod neighbors;
pub mod node;
pub mod onboard;
pub mod persist;
pub mod ports;
pub mod safety;
pub mod tasks;
mod trust;

pub use config::Behaviour;
pub use control_loop::Report;
pub use node::Node;
