//! A row of the table of faults.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Deserialize, Serialize};
use wdgnn_link::error::Refusals;

use crate::counters::{by_name, format_rejections};

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What goes wrong.
    pub fault: Cow<'static, str>,
    /// How much of it.
    pub level: String,
    /// The same as it is typed.
    pub options: String,
    /// The command that flies it by hand; empty where nothing is flown.
    pub command: String,
    /// The seed of the swarms and of the faults.
    pub seed: u64,
    /// Cost against the fault-free run; null where cost is not the point.
    pub ratio: Option<f64>,
    /// The largest ratio that holds; null where something else must hold.
    pub limit: Option<f64>,
    /// Why the limit is what it is, where it is not the usual one.
    pub because: Cow<'static, str>,
    /// What it is compared with.
    pub yardstick: Yardstick,
    /// How near robots came to each other; null where nothing is flown.
    pub nearness: Option<Nearness>,
    /// Whether everything held.
    pub holds: bool,
    /// Frames refused, by reason.
    pub refused: BTreeMap<Cow<'static, str>, u64>,
    /// What else must hold, and what was measured.
    pub property: String,
}

/// What a row is compared with, besides the same swarms without the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Yardstick {
    /// Nothing else.
    Usual,
    /// For its close pairs, the expert, who knows all that robots sense, with the same senses and motors.
    ExpertToo,
    /// Robots that nobody is heard by, close pairs and all: to be as alone as that is the worst that the fault may do.
    Jammed,
    /// Robots that hear nothing for as long at the start: who begins later has more to do, whatever else it does.
    Deaf,
}

/// How near robots came to each other, whoever was at fault.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nearness {
    /// Pairs closer than 0.1 m, in pair-ticks per flight.
    pub close_pairs: f64,
    /// As many as the expert has in the same swarms without a fault.
    pub expert: f64,
    /// Those of them that neither of the two could have avoided: no frame of the other came in in time, or neither can steer.
    pub unavoidable: f64,
    /// The most that hold: as many as the expert has in the same swarms without a fault, those that nobody could have avoided, and
    /// [`MORE_PAIRS`]; or as many as are [allowed](Nearness::allow) for another reason.
    pub most_close_pairs: f64,
    /// The smallest distance of any pair, in metres.
    pub nearest: f64,
}

/// How many close pairs more than the expert's hold, in pair-ticks per flight.
pub const MORE_PAIRS: f64 = 1.0;

impl Nearness {
    /// Lets so many pairs, and [`MORE_PAIRS`], hold as well: what the fault leaves to be had.
    pub fn allow(&mut self, close_pairs: f64) {
        self.most_close_pairs = self.most_close_pairs.max(close_pairs + MORE_PAIRS);
    }
}

impl Row {
    /// Whether cost and nearness are within their limits. A collision is a collision, whatever it cost.
    pub fn within_limits(ratio: Option<f64>, limit: Option<f64>, nearness: Option<&Nearness>) -> bool {
        let cheap = ratio.zip(limit).is_none_or(|(ratio, limit)| ratio <= limit);
        // Nothing is within a limit that is no number.
        cheap && nearness.is_none_or(|near| near.close_pairs <= near.most_close_pairs)
    }

    /// Whether it holds by the expert's close pairs without a fault and [`MORE_PAIRS`] alone, whatever could have been avoided.
    pub fn holds_strictly(&self) -> bool {
        self.holds && self.nearness.is_none_or(|near| near.close_pairs <= near.expert + MORE_PAIRS)
    }

    /// How bad it is: by how much the worse of cost and close pairs is of what holds.
    fn badness(&self) -> f64 {
        let cost = self.ratio.zip(self.limit).map_or(0.0, |(ratio, limit)| ratio / limit);
        cost.max(self.nearness.map_or(0.0, |near| near.close_pairs / near.most_close_pairs))
    }

    /// The worse of two flights of the same row: one that does not hold before one that does.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        let key = |row: &Self| (!row.holds, row.badness());
        if key(&other) > key(&self) { other } else { self }
    }
}

/// Refusals by reason, as rows keep them.
pub fn reasons(refusals: &Refusals) -> BTreeMap<Cow<'static, str>, u64> {
    by_name(refusals).into_iter().map(|(reason, count)| (reason.into(), count)).collect()
}

/// The table as people read it.
pub fn cells(rows: &[Row]) -> Vec<Vec<String>> {
    let heading = [
        "fault",
        "level",
        "cost",
        "limit",
        "pairs",
        "limit",
        "nearest",
        "verdict",
        "what else held",
        "refused",
    ];
    let number = |x: Option<f64>, digits: usize| x.map_or("–".into(), |x| format!("{x:.digits$}"));
    let row = |row: &Row| {
        let near = |of: fn(&Nearness) -> f64| row.nearness.as_ref().map(of);
        vec![
            row.fault.clone().into_owned(),
            row.level.clone(),
            number(row.ratio, 3),
            number(row.limit, 2),
            number(near(|near| near.close_pairs), 1),
            number(near(|near| near.most_close_pairs), 1),
            number(near(|near| near.nearest), 3),
            if row.holds { "holds".into() } else { "DOES NOT HOLD".into() },
            row.property.clone(),
            format_rejections(&row.refused),
        ]
    };
    std::iter::once(heading.map(str::to_owned).to_vec()).chain(rows.iter().map(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(close_pairs: f64) -> Nearness {
        Nearness { close_pairs, expert: 0.5, unavoidable: 0.0, most_close_pairs: 1.5, nearest: 0.02 }
    }

    #[test]
    fn a_row_with_a_close_pair_too_many_does_not_hold_whatever_it_cost() {
        let within = |ratio, pairs| Row::within_limits(Some(ratio), Some(1.5), Some(&near(pairs)));
        assert!(within(1.5, 1.5));
        assert!(!within(1.0, 1.6));
        assert!(!within(1.51, 0.0));
        assert!(!within(f64::NAN, 0.0) && !within(1.0, f64::NAN), "what is no number holds nothing");
        assert!(!Row::within_limits(None, None, Some(&near(2.0))) && Row::within_limits(None, None, None));
    }

    #[test]
    fn what_the_fault_leaves_to_be_had_is_allowed_and_no_less_than_without_it() {
        let allowed = |pairs| {
            let mut near = near(0.0);
            near.allow(pairs);
            near.most_close_pairs
        };
        assert_eq!((allowed(0.0), allowed(0.5), allowed(4.0)), (1.5, 1.5, 5.0));
    }

    #[test]
    fn the_worst_of_several_seeds_is_shown() {
        let row = |seed, ratio, pairs, holds| Row {
            fault: "".into(),
            level: String::new(),
            options: String::new(),
            command: String::new(),
            seed,
            ratio: Some(ratio),
            limit: Some(1.5),
            because: "".into(),
            yardstick: Yardstick::Usual,
            nearness: Some(near(pairs)),
            holds,
            refused: BTreeMap::new(),
            property: String::new(),
        };
        let worst = |a: Row, b: Row| a.worse(b).seed;
        assert_eq!(worst(row(1, 1.0, 0.0, true), row(2, 1.1, 0.0, true)), 2);
        assert_eq!(worst(row(1, 1.0, 1.4, true), row(2, 1.1, 0.0, true)), 1, "nearer to its limit");
        assert_eq!(worst(row(1, 1.0, 0.0, false), row(2, 1.4, 0.0, true)), 1, "something else did not hold");
    }
}
