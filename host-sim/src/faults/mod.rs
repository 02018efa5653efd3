//! Table of faults: cost, distances and properties under each fault.
//!
//! The cost is the total score of the honest, intact and surviving robots relative to the
//! fault-free run of the same robots (for flocking, the velocity variation). Close pairs count all
//! flying robots. In all rows, the run must not panic, parameters stay finite and inside the ball,
//! commands stay within limits, and rejected frames are counted by reason.

pub mod bench;
pub mod cases;
pub mod frames;
pub mod properties;
pub mod row;
pub mod rows;

pub use self::row::{Row, cells};

use self::{bench::Bench, cases::Case, rows::Rows};
use crate::{error::Result, world::Environment};

/// Rows of a table; each can run separately.
#[allow(missing_debug_implementations, reason = "flights are long")]
pub struct Plan<W: Environment> {
    flown: Rows<W>,
    cases: Vec<Case>,
    frames: Vec<Row>,
}

impl<W: Environment> Plan<W> {
    /// Returns the rows of a setup whose fault or level contains `only`, and one row for the
    /// settings `own`, if not empty.
    pub fn new(bench: &Bench<W>, only: &str, own: &str) -> Result<Self> {
        let only = only.to_lowercase();
        let asked = |fault: &str, level: &str| format!("{fault} {level}").to_lowercase().contains(&only);
        let flown = Rows::new(bench.clone());
        let mut cases = flown.cases();
        cases.retain(|case| asked(case.fault, &case.level));
        if !own.is_empty() {
            cases.insert(0, Case::of_options(own));
        }
        let mut frames = frames::rows(bench.seed)?;
        frames.retain(|row| asked(&row.fault, &row.level));
        Ok(Self { flown, cases, frames })
    }

    /// Returns the number of rows.
    pub fn count(&self) -> usize {
        self.cases.len() + self.frames.len()
    }

    /// Runs one row and checks it.
    pub fn fly(&self, row: usize) -> Result<Row> {
        match self.cases.get(row) {
            Some(case) => self.flown.fly(case),
            None => Ok(self.frames[row - self.cases.len()].clone()),
        }
    }
}
