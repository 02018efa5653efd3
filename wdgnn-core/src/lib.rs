//! The Wide and Deep Graph Neural Network of one robot: no heap, no panic, no `unsafe`, no I/O, and the same bits on every machine.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs, clippy::missing_errors_doc)]

pub mod adaptation;
pub mod filter;
pub mod math;
pub mod message;
pub mod model;
pub mod online;
pub mod task;
pub mod tasks;
pub mod tensor;
pub mod weights;

pub use filter::scale::Scale;
pub use message::Message;
pub use model::{
    Metric, Model,
    activation::Activation,
    deep::{Layer, Top},
    folded::Folded,
    network::Network,
    unfolded::Unfolded,
};
pub use online::{Learning, Mixing};
pub use task::{NodeId, Task};
pub use tasks::flocking::{Flocking, Motion};
pub use weights::{Weights, WeightsError};
