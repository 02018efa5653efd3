//! What a network is for: the trait, and the tasks that come with the crate.

pub mod coverage;
pub mod flocking;
pub mod task;
