//! The table of faults: what goes wrong, what it costs, and what must hold all the same.
//!
//! Cost is the total score (for flocking, the velocity variation) of the robots that are honest and alive to the end, against the fault-free run of the
//! same robots of the same swarms. Always: no panic, all parameters finite and inside the ball, every command within its
//! limit, every refusal counted by its reason.

pub mod bench;
pub mod flown;
pub mod frames;

use std::collections::BTreeMap;

use serde::Serialize;

use self::bench::Bench;
use crate::{error::Result, tally::in_words, world::World};

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What goes wrong.
    pub fault: &'static str,
    /// How much of it.
    pub level: String,
    /// Cost against the fault-free run; null where cost is not the point.
    pub ratio: Option<f64>,
    /// The largest ratio that holds; null where something else must hold.
    pub limit: Option<f64>,
    /// Whether everything held.
    pub holds: bool,
    /// Frames refused, by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// What else must hold, and what was measured.
    #[serde(skip)]
    pub property: String,
}

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

/// The table as people read it.
#[must_use]
pub fn cells(rows: &[Row]) -> Vec<Vec<String>> {
    let heading = ["fault", "level", "cost", "limit", "verdict", "what else held", "refused"];
    let number = |x: Option<f64>| x.map_or("–".into(), |x| format!("{x:.3}"));
    let row = |row: &Row| {
        vec![
            row.fault.into(),
            row.level.clone(),
            number(row.ratio),
            number(row.limit),
            if row.holds { "holds".into() } else { "DOES NOT HOLD".into() },
            row.property.clone(),
            in_words(&row.refused),
        ]
    };
    std::iter::once(heading.map(str::to_owned).to_vec()).chain(rows.iter().map(row)).collect()
}
