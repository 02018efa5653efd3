#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
//! (story to come)
pub mod activation;
pub mod consensus;
pub mod deep;
pub mod flocking;
pub mod math;
pub mod message;
pub mod neighbours;
pub mod network;
pub mod node;
pub mod online;
pub mod ports;
pub mod refusal;
pub mod restart;
pub mod safety;
pub mod taps;
pub mod task;
pub mod tensor;
pub mod tick;
pub mod weights;
pub mod wide;
pub use network::Network;
