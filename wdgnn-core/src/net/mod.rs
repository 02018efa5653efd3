//! The network: numbers in fixed blocks, taps, layers, the wide part. Knows nothing of tasks, radios and files.

pub mod activation;
pub mod deep;
pub(crate) mod halves;
pub(crate) mod kernels;
pub(crate) mod model;
pub mod network;
pub(crate) mod reader;
pub(crate) mod scale;
pub(crate) mod span;
pub mod taps;
pub mod tensor;
pub(crate) mod unfolded;
pub mod wide;
