//! A row of the table of faults.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::tally::in_words;

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
