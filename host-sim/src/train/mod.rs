//! Training.
pub mod backward;
pub mod dataset;
pub mod gradient;
