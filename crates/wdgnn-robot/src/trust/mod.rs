//! Trust: robust statistics over the neighbors.

pub(crate) mod robust_mean;
