//! Page of flights: a comparison of two flights, the table, the replay and the score over time.

use serde::Serialize;

use super::{
    charts::figures,
    document::{document, escaped, filled, footer, table},
    replay::{ROBOTS, Recording, Replay},
    visible_faults::VisibleFaults,
};
use crate::{
    chart::{Chart, Drawing, Plot, Series},
    controllers::EXPERT,
    evaluate::{self, ControllerResult},
    origin::Origin,
};

/// Smallest score on a logarithmic axis: smaller ones are rounding errors of positions.
const MIN_SCORE: f64 = 1.0e-8;

/// Shares of the swarms below and above the band around a line.
const BAND: [f64; 2] = [0.1, 0.9];

/// Content of a page.
#[derive(Clone, Debug)]
pub struct FlightsPage<'a> {
    pub title: String,
    pub lead: String,
    /// Two flights side by side, above everything else.
    pub comparison: Option<Comparison<'a>>,
    /// Heading of the table.
    pub heading: String,
    /// Name of the score, with its unit.
    pub score: &'static str,
    pub outcomes: &'a [ControllerResult],
    /// Robots of a swarm.
    pub robots: usize,
    /// Recording of one swarm.
    pub replay: &'a Replay,
    /// The table as it is printed.
    pub table: Vec<Vec<String>>,
    /// Meaning of its columns.
    pub legend: String,
    /// Radio and faults in one sentence each; may be empty.
    pub air: String,
    /// The result in one sentence, as HTML; may be empty.
    pub finding: String,
    /// Command that made the page.
    pub origin: &'a Origin,
}

/// Flights of one swarm side by side.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    pub title: String,
    /// The result in one sentence.
    pub finding: String,
    /// A note on the flights.
    pub note: &'static str,
    /// Recording of the flights.
    pub replay: &'a Replay,
}

/// A replay with its charts, as the script reads it.
#[derive(Serialize)]
struct View<'a> {
    replay: &'a Replay,
    charts: Vec<Plot<'a>>,
}

/// The page as one HTML file.
pub fn flights(page: &FlightsPage<'_>) -> String {
    #[derive(Serialize)]
    struct Data<'a> {
        views: Vec<View<'a>>,
    }
    let all = charts(page.outcomes, page.score, page.replay.period);
    let (figures_of_all, plots) = figures(&all);
    let compared: Vec<Chart> =
        page.comparison.iter().map(|comparison| recorded(comparison.replay, page.score)).collect();
    let (figures_compared, plots_compared) = figures(&compared);
    let side_by_side = page.comparison.as_ref().map(|one| comparison(one, page.score, &figures_compared));
    let swarms = page.outcomes.first().map_or(0, |outcome| outcome.flights.len());
    let shown = if page.robots > ROBOTS {
        format!(
            " The pictures show the {} robots nearest to the center at the start.",
            counted(ROBOTS, "robot")
        )
    } else {
        String::new()
    };
    let times = match page.replay.flights.len() {
        1 => "The flight".into(),
        count => format!("One swarm under {} controllers", COUNTS.get(count).unwrap_or(&"many")),
    };
    let body = filled(
        include_str!("flights.html"),
        &[
            ("title", &escaped(&page.title)),
            ("lead", &escaped(&page.lead)),
            ("comparison", &side_by_side.unwrap_or_default()),
            ("heading", &escaped(&page.heading)),
            ("times", &times),
            ("replay", &replay_section(page.replay, page.score, &figures_of_all)),
            ("legend", &escaped(&page.legend)),
            ("air", &escaped(&page.air)),
            ("finding", &page.finding),
            ("shown", &shown),
            ("spread", &spread(swarms)),
            ("table", &table(&page.table)),
            ("footer", &footer(page.origin)),
        ],
    );
    let first = page.comparison.as_ref();
    let first = first.map(|comparison| View { replay: comparison.replay, charts: plots_compared });
    let views = first.into_iter().chain([View { replay: page.replay, charts: plots }]).collect();
    let script = concat!(include_str!("swarm.js"), include_str!("flights.js"));
    let data = Data { views };
    document(&page.title, &body, include_str!("flights.css"), script, &data)
}

/// The section of two flights side by side.
fn comparison(comparison: &Comparison<'_>, score: &str, figures: &str) -> String {
    filled(
        include_str!("comparison.html"),
        &[
            ("title", &escaped(&comparison.title)),
            ("finding", &escaped(&comparison.finding)),
            ("note", comparison.note),
            ("replay", &replay_section(comparison.replay, score, figures)),
        ],
    )
}

/// Returns controls, canvases and charts of a replay. The script draws the canvases.
fn replay_section(replay: &Replay, score: &str, figures: &str) -> String {
    filled(
        include_str!("replay.html"),
        &[("score", score), ("troubles", &troubles(replay)), ("charts", figures)],
    )
}

/// The score of recorded flights over time.
fn recorded(replay: &Replay, score: &str) -> Chart {
    let line = |recording: &Recording| Series {
        name: recording.title.clone(),
        color: Some(recording.name),
        points: (recording.score.iter().enumerate())
            .map(|(tick, score)| (at_seconds(tick, replay.period), *score))
            .collect(),
        band: None,
        dashed: false,
    };
    // Ignores rounding errors.
    let y_floor = Some(1.0e-4);
    Chart { y_floor, series: replay.flights.iter().map(line).collect(), ..over_time(score) }
}

/// A chart of the score over time, without series.
fn over_time(score: &str) -> Chart {
    let (name, unit) = score.rsplit_once(" in ").unwrap_or((score, ""));
    Chart {
        title: format!("{} over time, logarithmic", capital(name)),
        x_label: "time in s".into(),
        y_label: if unit.is_empty() { name.into() } else { format!("{name} in {unit}") },
        log_y: true,
        ..Chart::default()
    }
}

/// The text with a capital first letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Time of a tick, rounded: a period of 0.01 s is not exact in single precision.
fn at_seconds(tick: usize, period: f32) -> f64 {
    (tick as f64 * f64::from(period) * 1.0e6).round() / 1.0e6
}

/// How the faults of a replay are drawn.
fn troubles(replay: &Replay) -> String {
    let any = |of: fn(&VisibleFaults) -> bool| replay.flights.iter().any(|flight| of(&flight.troubles));
    let rate = 1.0 / (f64::from(replay.period) * f64::from(replay.exchange));
    let sentences = [
        (
            replay.exchange > 1,
            format!(" Links light up at each exchange: {rate:.0} times a second on {}.", replay.profile),
        ),
        (
            any(|troubles| troubles.unheard.iter().any(|(_, pairs)| !pairs.is_empty())),
            " A dashed link lost its frame.".into(),
        ),
        (
            any(|troubles| !troubles.liars.is_empty()),
            " A ring marks a robot that lies or runs another model.".into(),
        ),
        (any(|troubles| !troubles.away.is_empty()), " A cross marks a robot that is off.".into()),
    ];
    sentences.into_iter().filter(|(said, _)| *said).map(|(_, sentence)| sentence).collect()
}

/// Returns a number in words.
const COUNTS: [&str; 8] = ["no", "one", "two", "three", "four", "five", "six", "seven"];

/// A number and its noun: 1 robot, 2,000 robots.
pub fn counted(count: usize, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Formats a number with thousands separators: 1,000,000.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

fn spread(swarms: usize) -> String {
    if swarms == 1 {
        String::new()
    } else {
        format!(
            " A line is the median over {swarms} swarms. The band contains the middle 80 % of the swarms; point at a name to see its band."
        )
    }
}

/// The score over time, and its running total.
pub fn charts(outcomes: &[ControllerResult], score: &str, period: f32) -> Vec<Chart> {
    std::iter::once(scores(outcomes, score, period)).chain(running(outcomes, period)).collect()
}

/// [`charts`] as drawings.
pub fn plots(outcomes: &[ControllerResult], score: &str, period: f32) -> Vec<Drawing> {
    let shown: Vec<ControllerResult> = outcomes.iter().filter(|outcome| outcome.shown).cloned().collect();
    charts(&shown, score, period).iter().map(Chart::drawing).collect()
}

/// The score over time.
fn scores(outcomes: &[ControllerResult], score: &str, period: f32) -> Chart {
    let series: Vec<Series> = outcomes
        .iter()
        .map(|outcome| {
            let curves: Vec<&[f64]> = outcome.flights.iter().map(|flight| &flight.score[..]).collect();
            over_swarms(outcome, period, &curves)
        })
        .collect();
    let lowest = (series.iter())
        .flat_map(|series| series.points.iter().map(|point| point.1))
        .filter(|score| *score > 0.0)
        .fold(f64::INFINITY, f64::min);
    let y_floor = (lowest.is_finite() && lowest > 0.0).then_some(lowest.max(MIN_SCORE) / 2.0);
    Chart { y_floor, series, ..over_time(score) }
}

/// Running totals relative to the expert's in the same swarm. Their ends are the ratios of the totals.
fn running(outcomes: &[ControllerResult], period: f32) -> Option<Chart> {
    let expert = evaluate::find(outcomes, EXPERT)?;
    let series = outcomes.iter().map(|outcome| {
        let curves: Vec<Vec<f64>> = (outcome.flights.iter())
            .zip(&expert.flights)
            .map(|(flight, expert)| ratios(&flight.score, &expert.score))
            .collect();
        let curves: Vec<&[f64]> = curves.iter().map(Vec::as_slice).collect();
        over_swarms(outcome, period, &curves)
    });
    Some(Chart {
        title: "Total up to each time, relative to the expert".into(),
        x_label: "time in s".into(),
        y_label: "ratio to the expert’s total".into(),
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
fn over_swarms(outcome: &ControllerResult, period: f32, curves: &[&[f64]]) -> Series {
    let ticks = curves.iter().map(|curve| curve.len()).min().unwrap_or_default();
    let (points, band) = (0..ticks)
        .map(|tick| {
            let mut values: Vec<f64> = curves.iter().map(|curve| curve[tick]).collect();
            values.sort_unstable_by(f64::total_cmp);
            let point = (at_seconds(tick, period), quantile(&values, 0.5));
            (point, (quantile(&values, BAND[0]), quantile(&values, BAND[1])))
        })
        .unzip();
    Series {
        name: outcome.title.to_string(),
        color: Some(outcome.name),
        points,
        band: (curves.len() > 1).then_some(band),
        dashed: outcome.name.starts_with("averaging") || outcome.is_bound(),
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
    fn ratios_are_of_running_totals() {
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
