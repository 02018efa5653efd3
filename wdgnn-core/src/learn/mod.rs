//! Learning in flight: the rule, what is agreed on, and what a robot keeps to itself.

pub(crate) mod consensus;
mod heading;
pub mod online;
pub mod personal;
