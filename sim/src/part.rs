//! A part of the work, by its number.

use serde::{Deserialize, Serialize};

/// A part of the work: number `number` of `of`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Which one.
    pub number: u32,
    /// Of how many.
    pub of: u32,
}

impl std::fmt::Display for Part {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} of {}", self.number, self.of)
    }
}
