//! A row of the table of faults.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::tally::{Tally, by_name, in_words};

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

impl Row {
    /// A row of flights in which this was counted, which cost so much and may cost so much, with what else must hold and was measured.
    /// It holds if that did, nobody ever was beyond its limits, and it cost no more than it may.
    #[must_use]
    pub fn judged(
        fault: &'static str,
        level: impl Into<String>,
        tally: &Tally,
        (ratio, limit): (f64, Option<f64>),
        (held, mut property): (bool, String),
    ) -> Self {
        if tally.violations > 0 {
            property = format!("{property}; BEYOND LIMITS {} times", tally.violations);
        }
        let holds = held && tally.violations == 0 && limit.is_none_or(|limit| ratio <= limit);
        let (level, refused) = (level.into(), by_name(&tally.refused));
        Self { fault, level, ratio: Some(ratio), limit, holds, refused, property }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(violations: u64, ratio: f64, limit: Option<f64>, held: bool) -> Row {
        let tally = Tally { violations, ..Tally::default() };
        Row::judged("fault", "level", &tally, (ratio, limit), (held, "property".into()))
    }

    #[test]
    fn a_row_holds_within_its_limit_and_its_limits() {
        for row in
            [judged(0, 1.0, Some(1.0), true), judged(0, 0.9, Some(1.0), true), judged(0, 9.0, None, true)]
        {
            assert!(row.holds, "{row:?}");
            assert_eq!(cells(&[row])[1][4], "holds");
        }
    }

    #[test]
    fn it_does_not_beyond_either_nor_when_its_property_fails_nor_without_a_cost_that_is_a_number() {
        for row in [
            judged(0, 1.000_001, Some(1.0), true),
            judged(0, f64::NAN, Some(1.0), true),
            judged(1, 0.9, Some(1.0), true),
            judged(1, 0.9, None, true),
            judged(0, 0.9, Some(1.0), false),
            judged(0, 0.9, None, false),
        ] {
            assert!(!row.holds, "{row:?}");
            assert_eq!(cells(std::slice::from_ref(&row))[1][4], "DOES NOT HOLD");
            let told = row.property.contains("BEYOND LIMITS 1 times");
            assert_eq!(told, row.property != "property", "{row:?}");
        }
    }
}
