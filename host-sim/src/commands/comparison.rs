//! Tables of evaluation results.

use serde::Serialize;

use crate::{
    controllers::{CENTRALIZED, EXPERT, OFFLINE, ONLINE, TUNED_AVERAGING},
    evaluate::{self, ControllerResult, MeanStd, Summary},
};

/// Total and final velocity variation in the paper's Table 1, mean and standard deviation.
const PAPER: [(&str, [(f64, f64); 2]); 6] = [
    (EXPERT, [(52.0, 2.0), (0.0035, 0.0001)]),
    (OFFLINE, [(84.0, 5.0), (0.0119, 0.0032)]),
    (CENTRALIZED, [(79.0, 4.0), (0.0065, 0.0028)]),
    (ONLINE, [(82.0, 4.0), (0.0069, 0.0023)]),
    ("gnn", [(95.0, 6.0), (0.0153, 0.0030)]),
    ("graph-filter", [(428.0, 105.0), (1.8, 1.1)]),
];

/// Cell without a value.
const NONE: &str = "–";

/// Returns the paper's figures of a controller.
pub fn paper(name: &str) -> Option<[(f64, f64); 2]> {
    PAPER.iter().find(|(known, _)| *known == name).map(|(_, figures)| *figures)
}

fn total_of(outcomes: &[ControllerResult], name: &str) -> f64 {
    evaluate::find(outcomes, name).map_or(f64::NAN, |outcome| outcome.summary.total.mean)
}

/// Returns the result that totals are compared with, and its short name: tuned averaging, else the expert.
pub fn reference(outcomes: &[ControllerResult]) -> Option<(&ControllerResult, &'static str)> {
    let averaging = evaluate::find(outcomes, TUNED_AVERAGING).map(|outcome| (outcome, "averaging"));
    averaging.or_else(|| evaluate::find(outcomes, EXPERT).map(|outcome| (outcome, "expert")))
}

/// Total relative to the reference's, and its standard error over swarms; `None` without a reference or with a total of 0.
fn ratio(outcome: &ControllerResult, outcomes: &[ControllerResult]) -> Option<MeanStd> {
    let (reference, _) = reference(outcomes).filter(|(one, _)| one.summary.total.mean > 0.0)?;
    Some(outcome.ratio_to(reference))
}

/// Returns the table: seven columns, or eleven with `details`. `quotes` adds the paper's figures.
pub fn rows<'a>(
    outcomes: &'a [ControllerResult], shown: impl Iterator<Item = &'a ControllerResult>, details: bool,
    quotes: bool,
) -> Vec<Vec<String>> {
    let (reference, word) = reference(outcomes).map_or(("", "expert"), |(one, word)| (one.name, word));
    let mut heading =
        ["controller", "total", &format!("ratio to {word}"), "final", "closest", "pairs < 0.1 m"]
            .map(str::to_owned)
            .to_vec();
    let more = details.then_some(["< 0.2 m", "< 0.3 m", "disagreement"]).into_iter().flatten();
    let quoted = quotes.then_some("paper's total").into_iter();
    let quoted = quoted.chain((quotes && details).then_some("paper's final"));
    heading.extend(more.chain(quoted).map(str::to_owned));
    let row = |outcome: &ControllerResult| {
        let Summary { total, last, min_distance, disagreement, .. } = &outcome.summary;
        let Summary { close_pairs, close_pairs_200_mm, close_pairs_300_mm, .. } = &outcome.summary;
        let mut row = vec![
            outcome.title.to_string(),
            if total.mean < 0.1 {
                format!("{:.4} ± {:.4}", total.mean, total.std)
            } else {
                format!("{:.2} ± {:.2}", total.mean, total.std)
            },
            ratio(outcome, outcomes).map_or(NONE.into(), |ratio| {
                match (outcome.name == reference, outcome.flights.len()) {
                    (true, _) => "1".into(),
                    (_, 1) => format!("{:.3}", ratio.mean),
                    _ => format!("{:.3} ± {:.3}", ratio.mean, ratio.std),
                }
            }),
            format!("{:.4}", last.mean),
            if min_distance.is_finite() { format!("{min_distance:.3} m") } else { NONE.into() },
            format!("{close_pairs:.2}"),
        ];
        if details {
            row.push(format!("{close_pairs_200_mm:.1}"));
            row.push(format!("{close_pairs_300_mm:.1}"));
            row.push(
                disagreement
                    .map_or(NONE.into(), |x| if x < 1.0e4 { format!("{x:.4}") } else { format!("{x:.1e}") }),
            );
        }
        let paper = paper(outcome.name);
        if quotes {
            row.push(paper.map_or(NONE.into(), |[(mean, std), _]| format!("{mean:.0} ± {std:.0}")));
        }
        if quotes && details {
            row.push(paper.map_or(NONE.into(), |[_, (mean, std)]| {
                // The paper prints one digit of large values.
                let digits = if mean >= 1.0 { 1 } else { 4 };
                format!("{mean:.digits$} ± {std:.digits$}")
            }));
        }
        row
    };
    std::iter::once(heading).chain(shown.map(row)).collect()
}

/// Returns all rows with the columns of a short table.
pub fn all_rows(outcomes: &[ControllerResult]) -> Vec<Vec<String>> {
    rows(outcomes, outcomes.iter(), false, false)
}

/// Returns the table as CSV rows.
pub fn csv_rows(outcomes: &[ControllerResult]) -> Vec<Vec<String>> {
    let word = reference(outcomes).map_or("expert", |(_, word)| word);
    let heading = [
        "controller",
        "total_mean",
        "total_std",
        &format!("ratio_to_{word}"),
        "ratio_standard_error",
        "final_mean",
        "final_std",
        "min_distance",
        "close_pairs",
        "close_pairs_200_mm",
        "close_pairs_300_mm",
        "disagreement",
    ];
    let row = |outcome: &ControllerResult| {
        let Summary { total, last, min_distance, disagreement, .. } = &outcome.summary;
        let Summary { close_pairs, close_pairs_200_mm, close_pairs_300_mm, .. } = &outcome.summary;
        let ratio = ratio(outcome, outcomes).unwrap_or(MeanStd { mean: f64::NAN, std: f64::NAN });
        let numbers = [
            total.mean,
            total.std,
            ratio.mean,
            ratio.std,
            last.mean,
            last.std,
            *min_distance,
            *close_pairs,
            *close_pairs_200_mm,
            *close_pairs_300_mm,
        ];
        let mut row = vec![outcome.name.to_owned()];
        row.extend(numbers.iter().map(f64::to_string));
        row.push(disagreement.map_or(String::new(), |value| value.to_string()));
        row
    };
    std::iter::once(heading.map(str::to_owned).to_vec()).chain(outcomes.iter().map(row)).collect()
}

/// Statistics over seeds: totals relative to the expert's of the same swarms.
#[derive(Clone, Debug, Serialize)]
pub struct OverSeeds {
    /// Total relative to the expert's: mean and standard deviation over seeds.
    pub ratio: MeanStd,
    /// Total relative to one-hop averaging with the same guard.
    pub ratio_to_averaging: MeanStd,
    /// Final velocity variation.
    #[serde(rename = "final")]
    pub last: MeanStd,
    /// Pairs closer than 0.1, 0.2 and 0.3 m, in pair-ticks per swarm.
    pub close_pairs: [f64; 3],
}

/// Aggregates seeds by controller: name, title and statistics.
pub fn over_seeds(seeds: &[Vec<ControllerResult>]) -> Vec<(&'static str, String, OverSeeds)> {
    let row = |(index, outcome): (usize, &ControllerResult)| {
        let spread = |value: &dyn Fn(&[ControllerResult], &Summary) -> f64| {
            let values = seeds.iter().map(|outcomes| value(outcomes, &outcomes[index].summary));
            MeanStd::of(&values.collect::<Vec<f64>>())
        };
        let relative = |to| spread(&|outcomes, summary| summary.total.mean / total_of(outcomes, to));
        let averaging = reference(&seeds[0]).filter(|(_, word)| *word == "averaging");
        let over = OverSeeds {
            ratio: relative(EXPERT),
            ratio_to_averaging: relative(averaging.map_or("averaging-1-hop", |(one, _)| one.name)),
            last: spread(&|_, summary| summary.last.mean),
            close_pairs: [
                spread(&|_, summary| summary.close_pairs).mean,
                spread(&|_, summary| summary.close_pairs_200_mm).mean,
                spread(&|_, summary| summary.close_pairs_300_mm).mean,
            ],
        };
        (outcome.name, outcome.title.to_string(), over)
    };
    seeds.first().into_iter().flatten().enumerate().map(row).collect()
}

/// Returns the statistics over seeds as a table.
pub fn over_seeds_rows(over: &[(&str, String, OverSeeds)]) -> Vec<Vec<String>> {
    let heading = [
        "controller",
        "ratio to expert",
        "ratio to averaging",
        "final",
        "pairs < 0.1 m",
        "< 0.2 m",
        "< 0.3 m",
    ]
    .map(str::to_owned);
    let row = |(_, title, over): &(&str, String, OverSeeds)| {
        let spread =
            |spread: &MeanStd, digits: usize| format!("{:.digits$} ± {:.digits$}", spread.mean, spread.std);
        vec![
            title.clone(),
            spread(&over.ratio, 4),
            spread(&over.ratio_to_averaging, 4),
            spread(&over.last, 5),
            format!("{:.2}", over.close_pairs[0]),
            format!("{:.1}", over.close_pairs[1]),
            format!("{:.1}", over.close_pairs[2]),
        ]
    };
    std::iter::once(heading.to_vec()).chain(over.iter().map(row)).collect()
}
