//! Tasks that come with the crate.

pub mod coverage;
pub mod flocking;
