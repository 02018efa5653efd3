//! The page of `flock`: a replay, velocity variation over time, the paper's three moments, the table.

use serde::Serialize;

use super::{
    charts::{Chart, Series},
    document, escaped, filled,
    replay::{MOMENTS, Replay},
    table,
};
use crate::{
    controllers::Controller,
    evaluate::{Outcome, Summary},
    start::Condition,
};

/// Shares of the swarms below and above which the band does not reach.
const BAND: [f64; 2] = [0.1, 0.9];

/// What is shown.
#[derive(Clone, Debug)]
pub struct FlockPage<'a> {
    /// The circumstances of all flights.
    pub condition: Condition,
    /// All flights.
    pub outcomes: &'a [Outcome],
    /// One of the swarms, recorded.
    pub replay: &'a Replay,
    /// The table as it is printed.
    pub table: Vec<Vec<String>>,
    /// What their radios carry and what goes wrong, as a sentence; empty where there is nothing to say.
    pub air: String,
    /// The command that makes this page again.
    pub command: String,
    /// The models that flew.
    pub models: String,
}

/// The page as one HTML file.
#[must_use]
pub fn flock(page: &FlockPage<'_>) -> String {
    #[derive(Serialize)]
    struct Data<'a> {
        replay: &'a Replay,
        moments: [u32; 3],
        charts: [Chart; 2],
    }
    let Condition { robots, radius, speed, .. } = page.condition;
    let swarms = page.outcomes.first().map_or(0, |outcome| outcome.flights.len());
    let shown = if page.replay.robots < robots {
        format!(
            " Of the {robots} robots, the {} nearest to the centre at the start are shown.",
            page.replay.robots
        )
    } else {
        String::new()
    };
    let count = COUNTS.get(page.outcomes.len()).unwrap_or(&"many");
    let body = filled(
        include_str!("flock.html"),
        &[
            ("count", count),
            ("air", &escaped(&page.air)),
            ("robots", &counted(robots, "robot")),
            ("radius", &radius.to_string()),
            ("speed", &speed.to_string()),
            ("swarms", &counted(swarms, "held-out swarm")),
            ("finding", &finding(page.outcomes)),
            ("shown", &shown),
            ("spread", &spread(swarms)),
            ("table", &table(&page.table)),
            ("command", &escaped(&page.command)),
            ("models", &escaped(&page.models)),
            ("version", env!("CARGO_PKG_VERSION")),
        ],
    );
    let data = Data {
        replay: page.replay,
        moments: MOMENTS,
        charts: [variation(page.outcomes), running(page.outcomes)],
    };
    let script = concat!(include_str!("swarm.js"), include_str!("flock.js"));
    document(&format!("Flocking under {count} controllers"), &body, include_str!("flock.css"), script, &data)
}

/// As words.
const COUNTS: [&str; 8] = ["no", "one", "two", "three", "four", "five", "six", "seven"];

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn spread(swarms: usize) -> String {
    if swarms == 1 {
        "One swarm, so no spread.".into()
    } else {
        format!(
            "Lines are medians over {swarms} held-out swarms; bands hold the middle 80 % of them (10th to 90th percentile)."
        )
    }
}

/// One sentence that says what came out.
fn finding(outcomes: &[Outcome]) -> String {
    let summary = |controller| {
        let outcome = outcomes.iter().find(|outcome: &&Outcome| outcome.controller == controller);
        outcome.map(|outcome| &outcome.summary)
    };
    let [Some(expert), Some(offline), Some(online)] =
        [Controller::Expert, Controller::WdGnn, Controller::WdGnnOnline].map(summary)
    else {
        return String::new();
    };
    // A robot alone, or robots that start in agreement, have nothing to be compared by.
    if expert.total.mean <= 0.0 {
        return String::new();
    }
    let ratio = |of: &Summary| of.total.mean / expert.total.mean;
    let published = |of: Controller| {
        let total = |controller: Controller| controller.paper().map_or(f64::NAN, |paper| paper[0].0);
        total(of) / total(Controller::Expert)
    };
    format!(
        "Retraining in flight, robot by robot, brings the WD-GNN’s total velocity variation from {:.2} to \
         <strong>{:.2} times the expert’s</strong> (the paper’s Table 1: from {:.2} to {:.2}).",
        ratio(offline),
        ratio(online),
        published(Controller::WdGnn),
        published(Controller::WdGnnOnline),
    )
}

/// Velocity variation over time.
fn variation(outcomes: &[Outcome]) -> Chart {
    let series: Vec<Series> = outcomes
        .iter()
        .map(|outcome| {
            let curves: Vec<&[f64]> = outcome.flights.iter().map(|flight| &flight.variation[..]).collect();
            over_swarms(outcome.controller, &curves)
        })
        .collect();
    // The limit falls to rounding errors: everybody else decides how low the axis goes.
    let lowest = (series.iter().zip(outcomes))
        .filter(|(_, outcome)| outcome.controller != Controller::Limit)
        .filter_map(|(series, _)| series.points.last())
        .map(|&(_, last)| last)
        .fold(f64::INFINITY, f64::min);
    Chart {
        title: "At every moment, logarithmic".into(),
        x_label: "time in s".into(),
        y_label: "m²/s²".into(),
        log_y: true,
        y_floor: (lowest.is_finite() && lowest > 0.0).then_some(lowest / 2.0),
        series,
    }
}

/// What has been summed up so far, against what the expert has in the same swarm: the ends are the ratios of the totals.
fn running(outcomes: &[Outcome]) -> Chart {
    let expert = outcomes.iter().find(|outcome| outcome.controller == Controller::Expert);
    let series = outcomes.iter().map(|outcome| {
        let curves: Vec<Vec<f64>> = (outcome.flights.iter())
            .zip(expert.into_iter().flat_map(|expert| &expert.flights))
            .map(|(flight, expert)| ratios(&flight.variation, &expert.variation))
            .collect();
        over_swarms(outcome.controller, &curves.iter().map(Vec::as_slice).collect::<Vec<_>>())
    });
    Chart {
        title: "Summed up so far, relative to the expert".into(),
        x_label: "time in s".into(),
        y_label: "ratio".into(),
        series: series.collect(),
        ..Chart::default()
    }
}

fn ratios(of: &[f64], to: &[f64]) -> Vec<f64> {
    let sums = of.iter().zip(to).scan((0.0, 0.0), |sums: &mut (f64, f64), (of, to)| {
        *sums = (sums.0 + of, sums.1 + to);
        Some(sums.0 / sums.1)
    });
    sums.collect()
}

/// One curve per swarm, made into their median and spread.
fn over_swarms(controller: Controller, curves: &[&[f64]]) -> Series {
    let ticks = curves.iter().map(|curve| curve.len()).min().unwrap_or_default();
    let (points, band) = (0..ticks)
        .map(|tick| {
            let mut values: Vec<f64> = curves.iter().map(|curve| curve[tick]).collect();
            values.sort_unstable_by(f64::total_cmp);
            // Ticks of 10 ms, the paper's.
            let point = (tick as f64 / 100.0, quantile(&values, 0.5));
            (point, (quantile(&values, BAND[0]), quantile(&values, BAND[1])))
        })
        .unzip();
    Series {
        name: controller.title().into(),
        points,
        band: (curves.len() > 1).then_some(band),
        dashed: controller == Controller::Limit,
    }
}

/// The value below which this share of `sorted` lies, on the straight line between the two nearest.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * sorted.len().saturating_sub(1) as f64;
    let below = place.floor() as usize;
    match sorted.get(below..) {
        Some([low, high, ..]) => low + (high - low) * (place - below as f64),
        Some([only]) => *only,
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_the_sums_so_far() {
        assert_eq!(ratios(&[1.0, 2.0, 3.0], &[1.0, 1.0, 4.0]), [1.0, 1.5, 1.0]);
    }

    #[test]
    fn quantiles_by_hand() {
        let sorted = [1.0, 2.0, 4.0, 8.0, 16.0];
        assert_eq!(quantile(&sorted, 0.5), 4.0);
        // A tenth of the way through four steps is 0.4 of the first, and 0.6 of the last.
        assert!((quantile(&sorted, 0.1) - 1.4).abs() < 1.0e-12);
        assert!((quantile(&sorted, 0.9) - 12.8).abs() < 1.0e-12);
        assert_eq!(quantile(&[3.0], 0.9), 3.0);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
