//! What `flock` and `sweep` print about outcomes: for people, and for programs.

use crate::{
    controllers::Controller,
    evaluate::{Outcome, Summary},
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
        "close",
        "disagreement",
        "paper: total",
        "final",
    ];
    let expert = expert_total(outcomes);
    let row = |outcome: &Outcome| {
        let Summary { total, last, min_distance, close_pairs, disagreement, .. } = &outcome.summary;
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
        "disagreement",
    ];
    let expert = expert_total(outcomes);
    let row = |outcome: &Outcome| {
        let Summary { total, last, min_distance, close_pairs, disagreement, .. } = &outcome.summary;
        let numbers =
            [total.mean, total.std, total.mean / expert, last.mean, last.std, *min_distance, *close_pairs];
        let mut row = vec![outcome.controller.name().to_owned()];
        row.extend(numbers.iter().map(f64::to_string));
        row.push(disagreement.map_or(String::new(), |value| value.to_string()));
        row
    };
    std::iter::once(heading.map(str::to_owned).to_vec()).chain(outcomes.iter().map(row)).collect()
}
