//! What `flock` and `sweep` print about outcomes: for people, and for programs.

use serde::Serialize;

use crate::{
    controllers::Controller,
    evaluate::{Outcome, Spread, Summary},
};

fn expert_total(outcomes: &[Outcome]) -> f64 {
    let expert = outcomes.iter().find(|outcome| outcome.controller == Controller::Expert);
    expert.map_or(f64::NAN, |expert| expert.summary.total.mean)
}

/// The table for people.
#[must_use]
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
        let paper = outcome.controller.paper();
        let quoted = |index: usize, digits: usize| {
            paper.map_or("–".into(), |paper| {
                format!("{:.digits$} ± {:.digits$}", paper[index].0, paper[index].1)
            })
        };
        vec![
            outcome.controller.title().into(),
            format!("{:.2} ± {:.2}", total.mean, total.std),
            if expert > 0.0 { format!("{:.3}", total.mean / expert) } else { "–".into() },
            format!("{:.4} ± {:.4}", last.mean, last.std),
            format!("{min_distance:.3} m"),
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
#[must_use]
pub fn measured(outcomes: &[Outcome]) -> Vec<Vec<String>> {
    let mut rows = rows(outcomes);
    for row in &mut rows {
        row.truncate(row.len() - 2);
    }
    rows
}

/// The table for programs.
#[must_use]
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
        let mut row = vec![outcome.controller.name().to_owned()];
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

/// Brings seeds together, in the order of the controllers.
#[must_use]
pub fn over_seeds(seeds: &[Vec<Outcome>]) -> Vec<(Controller, OverSeeds)> {
    let controllers: Vec<Controller> =
        seeds.first().map_or(Vec::new(), |outcomes| outcomes.iter().map(|o| o.controller).collect());
    let total = |outcomes: &[Outcome], controller| {
        let outcome = outcomes.iter().find(|outcome| outcome.controller == controller);
        outcome.map_or(f64::NAN, |outcome| outcome.summary.total.mean)
    };
    let row = |(index, controller): (usize, Controller)| {
        let spread = |value: &dyn Fn(&[Outcome], &Summary) -> f64| {
            let values = seeds.iter().map(|outcomes| value(outcomes, &outcomes[index].summary));
            Spread::of(&values.collect::<Vec<f64>>())
        };
        let relative = |to| spread(&|outcomes, summary| summary.total.mean / total(outcomes, to));
        let over = OverSeeds {
            ratio: relative(Controller::Expert),
            ratio_to_averaging: relative(Controller::Averaging(1)),
            last: spread(&|_, summary| summary.last.mean),
            close_pairs: [
                spread(&|_, summary| summary.close_pairs).mean,
                spread(&|_, summary| summary.close_pairs_200_mm).mean,
                spread(&|_, summary| summary.close_pairs_300_mm).mean,
            ],
        };
        (controller, over)
    };
    controllers.into_iter().enumerate().map(row).collect()
}

/// The same for people.
#[must_use]
pub fn over_seeds_rows(over: &[(Controller, OverSeeds)]) -> Vec<Vec<String>> {
    let heading =
        ["controller", "/ expert", "/ averaging, 1 hop", "final", "< 0.1", "0.2", "0.3 m"].map(str::to_owned);
    let row = |(controller, over): &(Controller, OverSeeds)| {
        let spread =
            |spread: &Spread, digits: usize| format!("{:.digits$} ± {:.digits$}", spread.mean, spread.std);
        vec![
            controller.title().to_owned(),
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
