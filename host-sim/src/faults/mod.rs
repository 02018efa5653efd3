//! The table of faults: what goes wrong, what it costs, how near robots come to each other, and what must hold all the same.
//!
//! Cost is the total score (for flocking, the velocity variation) of the robots that are honest, whole and alive to the end, against
//! the fault-free run of the same robots of the same swarms. Close pairs are those of everybody in the sky: a collision is a
//! collision. Always: no panic, all parameters finite and inside the ball, every command within its limit, every refusal counted by
//! its reason.

pub mod bench;
pub mod cases;
pub mod flown;
pub mod frames;
pub mod properties;
pub mod row;

pub use self::row::{Row, cells};

use self::{bench::Bench, cases::Case, flown::Rows};
use crate::{error::Result, world::Environment};

/// The rows of a table: each can be flown by itself.
#[allow(missing_debug_implementations, reason = "flights are long")]
pub struct Plan<W: Environment> {
    flown: Rows<W>,
    cases: Vec<Case>,
    frames: Vec<Row>,
}

impl<W: Environment> Plan<W> {
    /// Those of a bench whose fault or level has `only` in it, and one of `own` options, if there are any.
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

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.cases.len() + self.frames.len()
    }

    /// Flies one of them and judges it.
    pub fn fly(&self, row: usize) -> Result<Row> {
        match self.cases.get(row) {
            Some(case) => self.flown.fly(case),
            None => Ok(self.frames[row - self.cases.len()].clone()),
        }
    }
}
