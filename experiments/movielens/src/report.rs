//! Report: errors over all splits as tables or JSON.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::{
    experiment::{Config, MAX_STREAM, Scores},
    ratings::Ratings,
};

/// Predictors: name, and the paper's errors (Table 3) on the same and the other movie.
pub const ROWS: [(&str, Option<[f64; 2]>); 11] = [
    ("wd-gnn", Some([0.8535, 1.0920])),
    ("gnn", Some([0.8630, 1.0889])),
    ("graph-filter", Some([0.8589, 1.0950])),
    ("online-1", Some([0.8524, 0.9759])),
    ("online-2", Some([0.8442, 0.9815])),
    ("online-3", Some([0.8585, 0.9909])),
    ("online-1-bias", None),
    ("online-2-bias", None),
    ("online-3-bias", None),
    ("constant", None),
    ("running-mean", None),
];

/// Columns, as headings and as keys of the JSON.
pub const COLUMNS: [&str; 4] = ["same", "other", "same-stream", "other-stream"];

/// Paired differences, by index into [`ROWS`].
const PAIRS: [(usize, usize); 8] = [(1, 0), (2, 0), (3, 0), (4, 3), (5, 3), (6, 3), (0, 9), (3, 10)];

/// A row of a table: name, and mean and spread by column.
type Row = (String, [[f64; 2]; 4]);

/// Mean and sample standard deviation.
fn mean_and_deviation(values: &[f64]) -> [f64; 2] {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    [mean, (squares / (count - 1.0)).sqrt()]
}

/// Results of at least two splits.
#[derive(Debug)]
pub struct Report<'a> {
    pub ratings: &'a Ratings,
    pub config: &'a Config,
    pub splits: &'a [Scores],
}

impl Report<'_> {
    fn row(&self, name: String, value: impl Fn(&Scores, usize) -> f64) -> Row {
        let values = |column| self.splits.iter().map(|split| value(split, column)).collect::<Vec<_>>();
        (name, std::array::from_fn(|column| mean_and_deviation(&values(column))))
    }

    /// Errors: mean and standard deviation.
    fn errors(&self) -> Vec<Row> {
        let row = |index: usize| self.row(ROWS[index].0.into(), |split, column| split[index][column]);
        (0..ROWS.len()).map(row).collect()
    }

    /// Paired differences: mean and standard error.
    fn differences(&self) -> Vec<Row> {
        let root = (self.splits.len() as f64).sqrt();
        let row = |&(a, b): &(usize, usize)| {
            let name = format!("{} - {}", ROWS[a].0, ROWS[b].0);
            let (name, cells) = self.row(name, |split, column| split[a][column] - split[b][column]);
            (name, cells.map(|[mean, deviation]| [mean, deviation / root]))
        };
        PAIRS.iter().map(row).collect()
    }

    /// Errors with the paper's, then paired differences, then a legend.
    pub fn text(&self) -> String {
        let Config { seed, similarity, loss, step_size } = self.config;
        let row = |name: &str, cells: [String; 4]| [vec![name.into()], cells.into()].concat();
        let with_paper = |row, paper: [&str; 2]| [row, paper.map(String::from).into()].concat();
        let headings = COLUMNS.map(String::from);
        let mut errors = vec![with_paper(row("error", headings.clone()), ["paper: same", "other"])];
        for ((name, cells), (_, paper)) in self.errors().iter().zip(ROWS) {
            let cells = cells.map(|[mean, deviation]| format!("{mean:.3} ± {deviation:.3}"));
            let paper =
                paper.map_or(["–", "–"].map(String::from), |paper| paper.map(|x| format!("{x:.3}")));
            errors.push(with_paper(row(name, cells), paper.each_ref().map(String::as_str)));
        }
        let mut differences = vec![row("difference", headings)];
        for (name, cells) in self.differences() {
            differences.push(row(&name, cells.map(|[mean, error]| format!("{mean:+.4} ± {error:.4}"))));
        }
        format!(
            "{}\n{} splits, seed {seed}, similarity {similarity:?}, loss {loss:?}, step size {step_size}\n\n\
             Root mean square error in stars: mean ± standard deviation over the splits.\n\n{}\n\
             Paired differences: mean ± standard error; negative means that the first is better.\n\
             Splits share users, so the true uncertainty is larger.\n\n{}\n\
             same, other: adapt to at most {MAX_STREAM} raters, then predict the held-out tenth of the raters.\n\
             same-stream: predict, then learn, over the held-out tenth.\n\
             other-stream: predict, then learn, over at most {MAX_STREAM} raters who are not held out.\n\
             online-N: the wide part takes N gradient steps per user. -bias: its bias is adapted too.\n\
             constant: mean rating in training. running-mean: mean of the ratings received online.\n",
            self.ratings.name,
            self.splits.len(),
            aligned(&errors),
            aligned(&differences),
        )
    }

    /// Settings, errors and paired differences.
    pub fn json(&self) -> String {
        let object = |rows: Vec<Row>, spread: &str| -> Map<String, Value> {
            let cell = |[mean, deviation]: [f64; 2]| json!({ "mean": mean, spread: deviation });
            let cells = |cells: [[f64; 2]; 4]| COLUMNS.map(String::from).into_iter().zip(cells.map(cell));
            rows.into_iter().map(|(name, values)| (name, Value::Object(cells(values).collect()))).collect()
        };
        let json = json!({
            "data": self.ratings.name,
            "splits": self.splits.len(),
            "seed": self.config.seed,
            "similarity": format!("{:?}", self.config.similarity),
            "loss": format!("{:?}", self.config.loss),
            "step_size": self.config.step_size,
            "errors": object(self.errors(), "standard_deviation"),
            "differences": object(self.differences(), "standard_error"),
        });
        format!("{json:#}\n")
    }
}

/// Table with a left-aligned first column and right-aligned others.
fn aligned(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for row in rows {
        let _ = write!(text, "{:<width$}", row[0], width = width(0));
        for (column, cell) in row.iter().enumerate().skip(1) {
            let _ = write!(text, "  {cell:>width$}", width = width(column));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{graph::Similarity, network::Loss};

    #[test]
    fn pairing_removes_the_variation_between_splits() {
        let (similarity, loss) = (Similarity::Pearson, Loss::SmoothL1);
        let config = Config { seed: 0, similarity, loss, step_size: 0.01 };
        let split = |shift| (0..ROWS.len()).map(|row| [0.8 + shift + 0.01 * row as f64; 4]).collect();
        let (ratings, splits) = (Ratings::synthetic(), [split(0.0), split(0.25)]);
        let text = Report { ratings: &ratings, config: &config, splits: &splits }.text();
        let line = |start| text.lines().find(|line| line.starts_with(start)).unwrap();
        assert!(line("wd-gnn ").contains("0.925 ± 0.177        0.854"), "{text}");
        assert!(line("gnn - wd-gnn").contains("+0.0100 ± 0.0000"), "{text}");
        assert_eq!(line("wd-gnn ").chars().count(), line("running-mean ").chars().count());
    }
}
