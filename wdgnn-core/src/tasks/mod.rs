//! Tasks that come with the crate.

pub mod flocking;
