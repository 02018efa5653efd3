//! Report: the table for people, the JSON and the CSV for programs.

use serde_json::{Map, Value, json};

use crate::{
    movie::{experiment::Outcome, rows::Row, statistics::Spread, streams::Score},
    picture::chart::{Bar, Bars},
    table,
};

/// Everything that was measured.
#[derive(Clone, Debug)]
pub struct Report {
    rows: Vec<Row>,
    outcomes: Vec<Outcome>,
}

/// A column of scores: its heading, and where it is in a [`Score`].
type Column = (&'static str, fn(&Score) -> f64);

const SAME: Column = ("same movie", |score| score.same);
const OTHER: Column = ("other movie", |score| score.other);
const SAME_STREAM: Column = ("same, stream", |score| score.same_stream);
const OTHER_STREAM: Column = ("other, stream", |score| score.other_stream);
const COLUMNS: [Column; 4] = [SAME, OTHER, SAME_STREAM, OTHER_STREAM];

/// The differences that the paper's claims are about.
const PAIRS: [(Row, Row); 8] = [
    (Row::Gnn, Row::WideAndDeep),
    (Row::GraphFilter, Row::WideAndDeep),
    (Row::Online(1), Row::WideAndDeep),
    (Row::Online(2), Row::Online(1)),
    (Row::Online(3), Row::Online(1)),
    (Row::Decentralised, Row::Online(1)),
    (Row::WideAndDeep, Row::Constant),
    (Row::Online(1), Row::RunningMean),
];

impl Report {
    /// Over the outcomes of all splits, whose scores are in the order of `rows`.
    #[must_use]
    pub fn new(rows: Vec<Row>, outcomes: Vec<Outcome>) -> Self {
        Self { rows, outcomes }
    }

    /// The smallest of the largest stable steps that any user of any split had.
    #[must_use]
    pub fn stable_step(&self) -> f32 {
        self.outcomes.iter().map(|outcome| outcome.stable_step).fold(f32::INFINITY, f32::min)
    }

    /// The largest number of neighbours in any split.
    #[must_use]
    pub fn largest_degree(&self) -> usize {
        self.outcomes.iter().map(|outcome| outcome.largest_degree).max().unwrap_or_default()
    }

    fn values(&self, row: Row, column: Column) -> Vec<f64> {
        let index = self.rows.iter().position(|other| *other == row);
        index.map_or_else(Vec::new, |index| {
            self.outcomes.iter().map(|outcome| column.1(&outcome.scores[index])).collect()
        })
    }

    /// Errors with the paper's beside them.
    #[must_use]
    pub fn rows(&self) -> Vec<Vec<String>> {
        let heading = ["", SAME.0, "paper", OTHER.0, "paper", SAME_STREAM.0, OTHER_STREAM.0];
        let mut errors = vec![heading.map(String::from).to_vec()];
        for &row in &self.rows {
            let spread = |column| {
                let Spread { mean, std } = Spread::of(&self.values(row, column));
                format!("{mean:.3} ± {std:.3}")
            };
            let paper =
                |number: Option<f64>| number.map_or_else(|| "–".into(), |number| format!("{number:.3}"));
            errors.push(vec![
                row.name(),
                spread(SAME),
                paper(row.paper().map(|paper| paper.0)),
                spread(OTHER),
                paper(row.paper().map(|paper| paper.1)),
                spread(SAME_STREAM),
                spread(OTHER_STREAM),
            ]);
        }
        errors
    }

    /// Errors as bars, with the paper's marked.
    #[must_use]
    pub fn bars(&self) -> Vec<Bars> {
        let of = |column: Column, paper: fn((f64, f64)) -> f64| Bars {
            title: format!("Root mean square error in stars, {}", column.0),
            x_label: "stars; less is better; marks are the paper's".into(),
            log: false,
            rows: (self.rows.iter())
                .map(|row| {
                    let Spread { mean, std } = Spread::of(&self.values(*row, column));
                    let limit = row.paper().map(paper);
                    Bar {
                        label: row.name(),
                        value: mean,
                        limit,
                        told: format!("{mean:.3} ± {std:.3}"),
                        falls: false,
                    }
                })
                .collect(),
        };
        vec![of(SAME, |paper| paper.0), of(OTHER, |paper| paper.1)]
    }

    /// The table, then paired differences.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = table::aligned(&self.rows());
        if self.outcomes.len() > 1 {
            let heading = ["paired difference", SAME.0, OTHER.0, SAME_STREAM.0, OTHER_STREAM.0];
            let mut differences = vec![heading.map(String::from).to_vec()];
            for (a, b) in PAIRS {
                let mut line = vec![format!("{} − {}", a.name(), b.name())];
                line.extend(COLUMNS.map(|column| {
                    let (mean, error) =
                        Spread::of_difference(&self.values(a, column), &self.values(b, column));
                    format!("{mean:+.4} ± {error:.4}")
                }));
                differences.push(line);
            }
            text.push('\n');
            text.push_str(&table::aligned(&differences));
        }
        text
    }

    /// `{"splits", "rows": {NAME: {"same": {"mean", "std"}, "other": {"mean", "std"}}}}`.
    #[must_use]
    pub fn json(&self) -> Value {
        let spread = |row, column| json!(Spread::of(&self.values(row, column)));
        let rows: Map<String, Value> = self
            .rows
            .iter()
            .filter(|row| row.in_json())
            .map(|&row| (row.name(), json!({ "same": spread(row, SAME), "other": spread(row, OTHER) })))
            .collect();
        json!({ "splits": self.outcomes.len(), "rows": rows })
    }

    /// One line per split and row, with both readings.
    #[must_use]
    pub fn csv_rows(&self) -> Vec<Vec<String>> {
        let heading = ["split", "row", "same", "other", "same_stream", "other_stream"];
        let mut lines = vec![heading.map(String::from).to_vec()];
        for (split, outcome) in self.outcomes.iter().enumerate() {
            for (row, score) in self.rows.iter().zip(&outcome.scores) {
                let mut line = vec![split.to_string(), row.name()];
                line.extend(COLUMNS.map(|column| format!("{:.6}", column.1(score))));
                lines.push(line);
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let rows = Row::all(false);
        let outcome = |shift: f64| {
            let score = |index| {
                let same = 0.8 + shift + 0.01 * f64::from(index);
                Score { same, other: same + 0.2, same_stream: same, other_stream: same + 0.1 }
            };
            let scores = (0..rows.len() as u32).map(score).collect();
            Outcome { scores, stable_step: 0.5 - shift as f32, largest_degree: 50 }
        };
        Report::new(rows.clone(), vec![outcome(0.0), outcome(0.25)])
    }

    #[test]
    fn the_json_has_exactly_the_documented_shape() {
        let json = report().json();
        assert_eq!(json["splits"], 2);
        let mut names: Vec<_> = json["rows"].as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            ["constant", "gnn", "graph-filter", "online-1", "online-2", "online-3", "running-mean", "wd-gnn"]
        );
        let row = json["rows"]["gnn"].as_object().unwrap();
        assert_eq!(row.keys().map(String::as_str).collect::<Vec<_>>(), ["other", "same"]);
        assert!((row["same"]["mean"].as_f64().unwrap() - 0.935).abs() < 1.0e-9);
        assert!((row["other"]["std"].as_f64().unwrap() - 0.25 / 2.0_f64.sqrt()).abs() < 1.0e-9);
    }

    #[test]
    fn the_table_lines_up_and_shows_paired_differences() {
        let text = report().text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0].chars().count(), lines[2].chars().count());
        assert!(
            lines[2].starts_with("wd-gnn")
                && lines[2].contains("0.925 ± 0.177")
                && lines[2].contains("0.854")
        );
        // The pairing removes what the splits have in common.
        assert!(text.contains("gnn − wd-gnn"), "{text}");
        assert!(text.contains("+0.0100 ± 0.0000"), "{text}");
        assert_eq!(report().stable_step(), 0.25);
    }

    #[test]
    fn the_csv_has_a_line_per_split_and_row() {
        let csv = table::csv(&report().csv_rows());
        assert_eq!(csv.lines().count(), 1 + 2 * Row::all(false).len());
        assert!(csv.contains("\n1,gnn,1.060000,1.260000,1.060000,1.160000\n"), "{csv}");
    }
}
