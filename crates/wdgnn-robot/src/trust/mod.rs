//! Trust: robust statistics over the neighbors.

mod clipping;
mod robust_mean;
