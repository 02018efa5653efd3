//! Learning curves of a training run.

use serde::Serialize;

use crate::{
    origin::Origin,
    page::{Chart, ChartPage, Series},
    train::run::Quality,
};

/// One epoch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Epoch {
    /// Number, from 1 on.
    pub epoch: usize,
    pub loss: f32,
    /// Mean total score of the validation episodes, at epochs with a validation.
    pub validation: Option<f64>,
}

/// Training run so far.
#[derive(Clone, Debug)]
pub struct Curves {
    /// Title of the task.
    pub title: &'static str,
    /// Name of the score.
    pub score: &'static str,
    /// Epochs of this process.
    pub epochs: Vec<Epoch>,
}

impl Curves {
    /// Returns the page; without `quality` while the training runs.
    pub fn page(&self, origin: Origin, quality: Option<&Quality>) -> ChartPage {
        let line = |name: &str, value: &dyn Fn(&Epoch) -> Option<f64>| {
            let points = self.epochs.iter().filter_map(|epoch| Some((epoch.epoch as f64, value(epoch)?)));
            Series { name: name.into(), points: points.collect(), ..Series::default() }
        };
        let mut validation = vec![line("the network", &|epoch| epoch.validation)];
        if let (Some(expert), [first, .., last]) =
            (quality.and_then(|quality| quality.expert), &self.epochs[..])
        {
            let points = [first, last].map(|epoch| (epoch.epoch as f64, expert)).to_vec();
            validation.push(Series { name: "the expert".into(), points, dashed: true, ..Series::default() });
        }
        let chart = |title: &str, y_label: &str, log_y, series| Chart {
            title: title.into(),
            x_label: "epoch".into(),
            y_label: y_label.into(),
            log_y,
            series,
            ..Chart::default()
        };
        ChartPage {
            title: format!("Training for {}", self.title),
            intro: quality.map_or_else(
                || format!("Still training: {} epochs so far.", self.epochs.len()),
                |quality| format!("Network: {quality} ({}).", self.score),
            ),
            charts: vec![
                chart(
                    "Loss, epoch by epoch",
                    "mean loss",
                    false,
                    vec![line("loss", &|epoch| Some(epoch.loss.into()))],
                ),
                chart("Validation episodes", "mean total score", true, validation),
            ],
            table: self.rows(),
            note: "The network with the lowest validation score is kept.".into(),
            origin,
            ..ChartPage::default()
        }
    }

    /// Returns one row per epoch.
    pub fn rows(&self) -> Vec<Vec<String>> {
        let heading = ["epoch", "loss", "validation"].map(str::to_owned).to_vec();
        let row = |Epoch { epoch, loss, validation }: &Epoch| {
            let validation = validation.map_or(String::new(), |cost| format!("{cost:.4}"));
            vec![epoch.to_string(), format!("{loss:.6}"), validation]
        };
        std::iter::once(heading).chain(self.epochs.iter().map(row)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_cover_all_validations() {
        let epoch = |epoch, validation| Epoch { epoch, loss: 1.0 / epoch as f32, validation };
        let epochs = vec![epoch(1, None), epoch(2, Some(60.0)), epoch(3, None), epoch(4, Some(50.0))];
        let curves = Curves { title: "flocking", score: "velocity variation in m²/s²", epochs };
        let so_far = curves.page(Origin::default(), None);
        assert!(so_far.intro.contains("4 epochs so far"));
        assert_eq!(so_far.charts[0].series[0].points.len(), 4);
        assert_eq!(so_far.charts[1].series[0].points, [(2.0, 60.0), (4.0, 50.0)]);
        let quality = Quality { flights: 20, total: 50.0, expert: Some(52.0) };
        let done = curves.page(Origin::default(), Some(&quality));
        assert_eq!(done.charts[1].series[1].points, [(1.0, 52.0), (4.0, 52.0)]);
        assert_eq!(curves.rows()[1], ["1", "1.000000", ""]);
    }
}
