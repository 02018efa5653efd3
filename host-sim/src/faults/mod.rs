//! The table of faults: what goes wrong, what it costs, and what must hold all the same.
//!
//! Cost is the total score (for flocking, the velocity variation) of the robots that are honest and alive to the end, against the fault-free run of the
//! same robots of the same swarms. Always: no panic, all parameters finite and inside the ball, every command within its
//! limit, every refusal counted by its reason.

pub mod bench;
pub mod flown;
pub mod frames;
pub mod row;

pub use self::row::{Row, cells};

use self::bench::Bench;
use crate::{error::Result, world::World};

/// The whole table. `done` is told the name of every row once it is through.
///
/// # Errors
/// Models that do not fit, conditions that cannot be.
pub fn run<W: World>(bench: &Bench<W>, done: &dyn Fn(&Row)) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut add = |row: Row| {
        done(&row);
        rows.push(row);
    };
    flown::rows(bench, &mut add)?;
    frames::rows(bench.seed, &mut add)?;
    Ok(rows)
}

/// How many rows there are.
pub const ROWS: u64 = flown::ROWS + frames::ROWS;
