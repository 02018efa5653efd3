//! Row of the table of faults.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Deserialize, Serialize};
use wdgnn_link::error::FrameErrorCounts;

use crate::counters::{by_name, format_rejections};

/// Result of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the fault.
    pub fault: Cow<'static, str>,
    /// Strength of the fault.
    pub level: String,
    /// Settings, such as `drop-chance=0.3`.
    pub options: String,
    /// Command that repeats the run; empty for rows about frames.
    pub command: String,
    /// Seed of the swarms and of the faults.
    pub seed: u64,
    /// Cost relative to the fault-free run; null for rows about frames.
    pub ratio: Option<f64>,
    /// Largest acceptable cost; null for rows with other criteria.
    pub limit: Option<f64>,
    /// Reason for an unusual limit.
    pub because: Cow<'static, str>,
    pub yardstick: Yardstick,
    /// Distances between robots; null for rows about frames.
    pub nearness: Option<Nearness>,
    /// Whether all criteria hold.
    pub holds: bool,
    /// Rejected frames by reason.
    pub refused: BTreeMap<Cow<'static, str>, u64>,
    pub property: String,
}

/// Comparison of a row besides the same swarms without the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Yardstick {
    /// No other comparison.
    Usual,
    /// For close pairs: the expert, which senses all robots, with the same sensor and motor faults.
    ExpertToo,
    /// Robots that receive no frame: the fault may isolate robots but do no more harm.
    Jammed,
    /// Robots that receive no frame for the delay at the start: a later start costs more.
    Deaf,
}

/// Distances between robots.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nearness {
    /// Pairs closer than 0.1 m, in pair-ticks per episode.
    pub close_pairs: f64,
    /// Close pairs of the expert in the same swarms without a fault.
    pub expert: f64,
    /// Unavoidable close pairs: neither robot had a recent frame of the other, or neither can
    /// steer.
    pub unavoidable: f64,
    /// Largest acceptable number of close pairs: the expert's, the unavoidable ones and
    /// [`MORE_PAIRS`], or a higher [limit](Nearness::allow).
    pub most_close_pairs: f64,
    /// Smallest distance of any pair in m.
    pub nearest: f64,
}

/// Tolerance above the expert's close pairs, in pair-ticks per episode.
pub const MORE_PAIRS: f64 = 1.0;

impl Nearness {
    /// Raises the limit to a number of close pairs plus [`MORE_PAIRS`].
    pub fn allow(&mut self, close_pairs: f64) {
        self.most_close_pairs = self.most_close_pairs.max(close_pairs + MORE_PAIRS);
    }
}

impl Row {
    /// Returns whether cost and close pairs are within their limits.
    pub fn within_limits(ratio: Option<f64>, limit: Option<f64>, nearness: Option<&Nearness>) -> bool {
        let cheap = ratio.zip(limit).is_none_or(|(ratio, limit)| ratio <= limit);
        // NaN is not within any limit.
        cheap && nearness.is_none_or(|near| near.close_pairs <= near.most_close_pairs)
    }

    /// Returns whether the row holds with only the expert's fault-free close pairs plus
    /// [`MORE_PAIRS`] as limit.
    pub fn holds_strictly(&self) -> bool {
        self.holds && self.nearness.is_none_or(|near| near.close_pairs <= near.expert + MORE_PAIRS)
    }

    /// Returns the larger ratio of cost and close pairs to their limits.
    fn badness(&self) -> f64 {
        let cost = self.ratio.zip(self.limit).map_or(0.0, |(ratio, limit)| ratio / limit);
        cost.max(self.nearness.map_or(0.0, |near| near.close_pairs / near.most_close_pairs))
    }

    /// Returns the worse result of a row. Failed results are worse than passed ones.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        let key = |row: &Self| (!row.holds, row.badness());
        if key(&other) > key(&self) { other } else { self }
    }
}

/// Returns rejected frames by reason.
pub fn reasons(refusals: &FrameErrorCounts) -> BTreeMap<Cow<'static, str>, u64> {
    by_name(refusals).into_iter().map(|(reason, count)| (reason.into(), count)).collect()
}

/// Returns the table as text cells.
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
    fn excess_close_pairs_fail_a_row() {
        let within = |ratio, pairs| Row::within_limits(Some(ratio), Some(1.5), Some(&near(pairs)));
        assert!(within(1.5, 1.5));
        assert!(!within(1.0, 1.6));
        assert!(!within(1.51, 0.0));
        assert!(!within(f64::NAN, 0.0) && !within(1.0, f64::NAN), "what is no number holds nothing");
        assert!(!Row::within_limits(None, None, Some(&near(2.0))) && Row::within_limits(None, None, None));
    }

    #[test]
    fn limits_never_decrease() {
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
