//! What is kept in flash: the weight file, and what a robot has learned before a restart.

pub(crate) mod error;
pub(crate) mod format;
pub(crate) mod header;
pub(crate) mod raw;
pub mod restart;
pub mod weights;
