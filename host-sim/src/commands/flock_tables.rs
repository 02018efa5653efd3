//! What `flock` and `sweep` print about outcomes: for people, and for programs.

use serde::Serialize;

use crate::{
    evaluate::{self, Outcome, Spread, Summary},
    lineup::EXPERT,
};

/// Total and final velocity variation in the paper's Table 1, mean and standard deviation.
const PAPER: [(&str, [(f64, f64); 2]); 6] = [
    (EXPERT, [(52.0, 2.0), (0.0035, 0.0001)]),
    ("wd-gnn", [(84.0, 5.0), (0.0119, 0.0032)]),
    ("wd-gnn-online-centralised", [(79.0, 4.0), (0.0065, 0.0028)]),
    ("wd-gnn-online", [(82.0, 4.0), (0.0069, 0.0023)]),
    ("gnn", [(95.0, 6.0), (0.0153, 0.0030)]),
    ("graph-filter", [(428.0, 105.0), (1.8, 1.1)]),
];

/// What the paper has for a controller.
pub fn paper(name: &str) -> Option<[(f64, f64); 2]> {
    PAPER.iter().find(|(known, _)| *known == name).map(|(_, figures)| *figures)
}

fn total_of(outcomes: &[Outcome], name: &str) -> f64 {
    evaluate::of(outcomes, name).map_or(f64::NAN, |outcome| outcome.summary.total.mean)
}

fn expert_total(outcomes: &[Outcome]) -> f64 {
    total_of(outcomes, EXPERT)
}

/// The table for people.
pub fn rows(outcomes: &[Outcome]) -> Vec<Vec<String>> {
    let heading = [
        "controller",
        "total",
        "/ expert",
        "final",
        "nearest",
        "< 0.1",
        "0.2",
        "0.3 m",
        "disagreement",
        "paper: total",
        "final",
    ];
    let expert = expert_total(outcomes);
    let row = |outcome: &Outcome| {
        let Summary { total, last, min_distance, disagreement, .. } = &outcome.summary;
        let Summary { close_pairs, close_pairs_200_mm, close_pairs_300_mm, .. } = &outcome.summary;
        let paper = paper(outcome.name);
        let quoted = |index: usize, digits: usize| {
            paper.map_or("–".into(), |paper| {
                // As many digits as the paper prints.
                let digits = if paper[index].0 >= 1.0 { digits.min(1) } else { digits };
                format!("{:.digits$} ± {:.digits$}", paper[index].0, paper[index].1)
            })
        };
        vec![
            outcome.title.into(),
            format!("{:.2} ± {:.2}", total.mean, total.std),
            if expert > 0.0 { format!("{:.3}", total.mean / expert) } else { "–".into() },
            format!("{:.4} ± {:.4}", last.mean, last.std),
            if min_distance.is_finite() { format!("{min_distance:.3} m") } else { "–".into() },
            format!("{close_pairs:.2}"),
            format!("{close_pairs_200_mm:.1}"),
            format!("{close_pairs_300_mm:.1}"),
            disagreement
                .map_or("–".into(), |x| if x < 1.0e4 { format!("{x:.4}") } else { format!("{x:.1e}") }),
            quoted(0, 0),
            quoted(1, 4),
        ]
    };
    std::iter::once(heading.map(str::to_owned).to_vec()).chain(outcomes.iter().map(row)).collect()
}

/// The table for people without the paper's columns, which hold for the paper's condition only.
pub fn measured(outcomes: &[Outcome]) -> Vec<Vec<String>> {
    let mut rows = rows(outcomes);
    for row in &mut rows {
        row.truncate(row.len() - 2);
    }
    rows
}

/// The table for programs.
pub fn csv_rows(outcomes: &[Outcome]) -> Vec<Vec<String>> {
    let heading = [
        "controller",
        "total_mean",
        "total_std",
        "ratio_to_expert",
        "final_mean",
        "final_std",
        "min_distance",
        "close_pairs",
        "close_pairs_200_mm",
        "close_pairs_300_mm",
        "disagreement",
    ];
    let expert = expert_total(outcomes);
    let row = |outcome: &Outcome| {
        let Summary { total, last, min_distance, disagreement, .. } = &outcome.summary;
        let Summary { close_pairs, close_pairs_200_mm, close_pairs_300_mm, .. } = &outcome.summary;
        let numbers = [
            total.mean,
            total.std,
            total.mean / expert,
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

/// What came out over seeds: every seed's total relative to the expert's of the same swarms, mean and spread.
#[derive(Clone, Debug, Serialize)]
pub struct OverSeeds {
    /// Total relative to the expert's: mean and standard deviation over seeds.
    pub ratio: Spread,
    /// The same relative to one-hop averaging under the same guard.
    pub ratio_to_averaging: Spread,
    /// Final velocity variation.
    #[serde(rename = "final")]
    pub last: Spread,
    /// Pairs closer than 0.1, 0.2 and 0.3 m, in pair-ticks per swarm.
    pub close_pairs: [f64; 3],
}

/// Brings seeds together, in the order of the controllers: name, title, and what came out.
pub fn over_seeds(seeds: &[Vec<Outcome>]) -> Vec<(&'static str, &'static str, OverSeeds)> {
    let row = |(index, outcome): (usize, &Outcome)| {
        let spread = |value: &dyn Fn(&[Outcome], &Summary) -> f64| {
            let values = seeds.iter().map(|outcomes| value(outcomes, &outcomes[index].summary));
            Spread::of(&values.collect::<Vec<f64>>())
        };
        let relative = |to| spread(&|outcomes, summary| summary.total.mean / total_of(outcomes, to));
        let over = OverSeeds {
            ratio: relative(EXPERT),
            ratio_to_averaging: relative("averaging-1-hop"),
            last: spread(&|_, summary| summary.last.mean),
            close_pairs: [
                spread(&|_, summary| summary.close_pairs).mean,
                spread(&|_, summary| summary.close_pairs_200_mm).mean,
                spread(&|_, summary| summary.close_pairs_300_mm).mean,
            ],
        };
        (outcome.name, outcome.title, over)
    };
    seeds.first().into_iter().flatten().enumerate().map(row).collect()
}

/// The same for people.
pub fn over_seeds_rows(over: &[(&str, &str, OverSeeds)]) -> Vec<Vec<String>> {
    let heading =
        ["controller", "/ expert", "/ averaging, 1 hop", "final", "< 0.1", "0.2", "0.3 m"].map(str::to_owned);
    let row = |(_, title, over): &(&str, &str, OverSeeds)| {
        let spread =
            |spread: &Spread, digits: usize| format!("{:.digits$} ± {:.digits$}", spread.mean, spread.std);
        vec![
            (*title).to_owned(),
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
