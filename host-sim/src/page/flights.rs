//! The page of flights: a replay, the score over time, the table; for flocking, the paper's three moments.

use serde::Serialize;

use super::{
    charts::figures,
    document::{document, escaped, filled, footer, table},
    replay::{MOMENTS, ROBOTS, Replay},
    troubles::Troubles,
};
use crate::{
    chart::{Chart, Drawing, Plot, Series},
    evaluate::{self, Outcome},
    lineup::EXPERT,
    origin::Origin,
};

/// Shares of the swarms below and above which the band does not reach.
const BAND: [f64; 2] = [0.1, 0.9];

/// What is shown.
#[derive(Clone, Debug)]
pub struct FlightsPage<'a> {
    /// The heading.
    pub title: String,
    /// What it is all about.
    pub lead: String,
    /// What the score measures, with its unit.
    pub score: &'static str,
    /// All flights.
    pub outcomes: &'a [Outcome],
    /// How many robots a swarm has.
    pub robots: usize,
    /// One of the swarms, recorded.
    pub replay: &'a Replay,
    /// Whether the paper's three moments are shown.
    pub moments: bool,
    /// The table as it is printed.
    pub table: Vec<Vec<String>>,
    /// What its columns mean.
    pub legend: String,
    /// What their radios carry and what goes wrong, as a sentence; empty where there is nothing to say.
    pub air: String,
    /// One sentence that says what came out.
    pub finding: String,
    /// What made the page.
    pub origin: &'a Origin,
}

/// The page as one HTML file.
pub fn flights(page: &FlightsPage<'_>) -> String {
    #[derive(Serialize)]
    struct Data<'a> {
        replay: &'a Replay,
        moments: &'a [u32],
        charts: Vec<Plot<'a>>,
    }
    let charts = charts(page.outcomes, page.score, page.replay.period);
    let (figures, plots) = figures(&charts);
    let swarms = page.outcomes.first().map_or(0, |outcome| outcome.flights.len());
    let shown = if page.robots > ROBOTS {
        format!(" The {} nearest to the centre at the start are shown.", counted(ROBOTS, "robot"))
    } else {
        String::new()
    };
    let pictures = if page.replay.scenery.iter().all(Vec::is_empty) {
        "Each picture moves along with its swarm’s centre; all have the same scale."
    } else {
        "All pictures have the same scale."
    };
    let times = match page.replay.flights.len() {
        1 => "The flight".into(),
        count => format!("One swarm, {} times", COUNTS.get(count).unwrap_or(&"many")),
    };
    let last = page.replay.ticks.last().copied().unwrap_or_default();
    let moments: Vec<u32> = MOMENTS.into_iter().filter(|tick| page.moments && *tick <= last).collect();
    let body = filled(
        include_str!("flights.html"),
        &[
            ("title", &escaped(&page.title)),
            ("lead", &escaped(&page.lead)),
            ("times", &times),
            ("pictures", pictures),
            ("troubles", &troubles(page.replay)),
            ("score", page.score),
            ("whole", &whole(page)),
            ("charts", &figures),
            ("moments", &moments_section(&moments, page.replay.period)),
            ("legend", &escaped(&page.legend)),
            ("air", &escaped(&page.air)),
            ("finding", &page.finding),
            ("shown", &shown),
            ("spread", &spread(swarms)),
            ("table", &table(&page.table)),
            ("footer", &footer(page.origin)),
        ],
    );
    let data = Data { replay: page.replay, moments: &moments, charts: plots };
    let script = concat!(include_str!("swarm.js"), include_str!("flights.js"));
    document(&page.title, &body, include_str!("flights.css"), script, &data)
}

/// How what goes wrong is drawn, as far as there is any of it.
fn troubles(replay: &Replay) -> String {
    let any = |of: fn(&Troubles) -> bool| replay.flights.iter().any(|flight| of(&flight.troubles));
    let rate = 1.0 / (f64::from(replay.period) * f64::from(replay.exchange));
    let sentences = [
        (
            replay.exchange > 1,
            format!(" Links light up when robots exchange: {rate:.0} times a second on {}.", replay.profile),
        ),
        (
            any(|troubles| troubles.unheard.iter().any(|(_, pairs)| !pairs.is_empty())),
            " Dashed links carried nothing: what was said over them was lost.".into(),
        ),
        (
            any(|troubles| !troubles.liars.is_empty()),
            " Rings are around robots that lie, or fly another model.".into(),
        ),
        (
            any(|troubles| !troubles.away.is_empty()),
            " Crosses are robots that are gone, or not there yet.".into(),
        ),
    ];
    sentences.into_iter().filter(|(said, _)| *said).map(|(_, sentence)| sentence).collect()
}

/// As words.
const COUNTS: [&str; 8] = ["no", "one", "two", "three", "four", "five", "six", "seven"];

/// So many of something.
pub fn counted(count: usize, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// A number for people: 1,000,000.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// Everybody, where that is more than are shown one by one.
fn whole(page: &FlightsPage<'_>) -> String {
    let Some(map) = page.replay.flights.iter().find_map(|flight| flight.map.as_ref()) else {
        return String::new();
    };
    let robots = counted(page.robots, "robot");
    filled(include_str!("whole.html"), &[("robots", &robots), ("square", &map.square())])
}

/// Those of the paper's moments that the flight comes to.
fn moments_section(moments: &[u32], period: f32) -> String {
    let times: Vec<String> =
        moments.iter().map(|tick| format!("{:.2}", f64::from(*tick) * f64::from(period))).collect();
    let times = match &times[..] {
        [] => return String::new(),
        [one] => one.clone(),
        [some @ .., last] => format!("{} and {last}", some.join(", ")),
    };
    let three = if moments == MOMENTS { "three " } else { "" };
    filled(include_str!("moments.html"), &[("three", three), ("moments", &times)])
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

/// The score over time, at every moment and summed up.
pub fn charts(outcomes: &[Outcome], score: &str, period: f32) -> Vec<Chart> {
    std::iter::once(scores(outcomes, score, period)).chain(running(outcomes, period)).collect()
}

/// Returns the charts of the shown controllers as drawings.
pub fn plots(outcomes: &[Outcome], score: &str, period: f32) -> Vec<Drawing> {
    let shown: Vec<Outcome> = outcomes.iter().filter(|outcome| outcome.shown).cloned().collect();
    charts(&shown, score, period).iter().map(Chart::drawing).collect()
}

/// The score over time.
fn scores(outcomes: &[Outcome], score: &str, period: f32) -> Chart {
    let series: Vec<Series> = outcomes
        .iter()
        .map(|outcome| {
            let curves: Vec<&[f64]> = outcome.flights.iter().map(|flight| &flight.score[..]).collect();
            over_swarms(outcome, period, &curves)
        })
        .collect();
    // A bound falls to rounding errors: everybody else decides how low the axis goes.
    let lowest = (series.iter().zip(outcomes))
        .filter(|(_, outcome)| !is_bound(outcome))
        .flat_map(|(series, _)| series.points.iter().map(|point| point.1))
        .filter(|score| *score > 0.0)
        .fold(f64::INFINITY, f64::min);
    Chart {
        title: "At every moment, logarithmic".into(),
        x_label: "time in s".into(),
        y_label: score.rsplit(" in ").next().unwrap_or_default().into(),
        log_y: true,
        y_floor: (lowest.is_finite() && lowest > 0.0).then_some(lowest / 2.0),
        series,
    }
}

/// Whether a controller is there as a bound only.
fn is_bound(outcome: &Outcome) -> bool {
    outcome.title.ends_with("(bound)")
}

/// What has been summed up so far, against what the expert has in the same swarm: the ends are the ratios of the totals.
fn running(outcomes: &[Outcome], period: f32) -> Option<Chart> {
    let expert = evaluate::of(outcomes, EXPERT)?;
    let series = outcomes.iter().map(|outcome| {
        let curves: Vec<Vec<f64>> = (outcome.flights.iter())
            .zip(&expert.flights)
            .map(|(flight, expert)| ratios(&flight.score, &expert.score))
            .collect();
        let curves: Vec<&[f64]> = curves.iter().map(Vec::as_slice).collect();
        over_swarms(outcome, period, &curves)
    });
    Some(Chart {
        title: "Summed up so far, relative to the expert".into(),
        x_label: "time in s".into(),
        y_label: "ratio".into(),
        series: series.collect(),
        ..Chart::default()
    })
}

fn ratios(of: &[f64], to: &[f64]) -> Vec<f64> {
    let sums = of.iter().zip(to).scan((0.0, 0.0), |sums: &mut (f64, f64), (of, to)| {
        *sums = (sums.0 + of, sums.1 + to);
        Some(sums.0 / sums.1)
    });
    sums.collect()
}

/// One curve per swarm, made into their median and spread.
fn over_swarms(outcome: &Outcome, period: f32, curves: &[&[f64]]) -> Series {
    let ticks = curves.iter().map(|curve| curve.len()).min().unwrap_or_default();
    let (points, band) = (0..ticks)
        .map(|tick| {
            let mut values: Vec<f64> = curves.iter().map(|curve| curve[tick]).collect();
            values.sort_unstable_by(f64::total_cmp);
            // Seconds as they are said: a period of 0.01 is not exactly that.
            let seconds = (tick as f64 * f64::from(period) * 1.0e6).round() / 1.0e6;
            let point = (seconds, quantile(&values, 0.5));
            (point, (quantile(&values, BAND[0]), quantile(&values, BAND[1])))
        })
        .unzip();
    Series {
        name: outcome.title.into(),
        color: Some(outcome.name),
        points,
        band: (curves.len() > 1).then_some(band),
        dashed: is_bound(outcome),
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
    fn numbers_are_for_people() {
        assert_eq!(
            [0, 7, 999, 1000, 20_050, 1_000_000].map(grouped),
            ["0", "7", "999", "1,000", "20,050", "1,000,000"]
        );
        assert_eq!((counted(1, "robot"), counted(2000, "robot")), ("1 robot".into(), "2,000 robots".into()));
    }

    #[test]
    fn moments_that_a_flight_does_not_come_to_are_not_told() {
        let all = moments_section(&MOMENTS, 0.01);
        assert!(all.contains("three moments") && all.contains("at 0.00, 0.49 and 1.99 s,"), "{all}");
        let two = moments_section(&MOMENTS[..2], 0.01);
        assert!(two.contains("paper’s moments") && two.contains("at 0.00 and 0.49 s,"), "{two}");
        assert_eq!(moments_section(&[], 0.01), "");
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
