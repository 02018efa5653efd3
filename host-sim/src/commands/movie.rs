//! `host-sim movie`: the paper's second experiment, and recommendations from it.

use std::{fmt::Write as _, path::PathBuf};

use clap::{Args, value_parser};
use rayon::prelude::*;
use serde_json::json;

use super::{
    outputs::{OutputArguments, Results, print_json},
    typed::Typed,
};
use crate::{
    data_error::DataError,
    error::{Error, Result},
    files,
    movie::{
        data::Data,
        experiment::{self, Outcome, Settings},
        gradient::Loss,
        graph::Similarity,
        habits::Habits,
        recommend::{Recommendation, Recommender},
        rows::Row,
        signals::Signals,
        split::{FEWEST_RATERS, STREAM},
        table::Report,
        weight_file,
    },
    origin::Origin,
    page::{self, ChartPage},
    progress,
};

const LONG_ABOUT: &str = "\
Predict movie ratings: the paper's second experiment, on real data.

Nodes are the 400 most rated movies, similar movies are neighbours, and a user is a signal of ratings. The network is \
trained to predict one movie's rating, tried on that movie and on another one, and keeps learning online.

The data are not part of this program: download ml-100k.zip from https://grouplens.org/datasets/movielens/100k/ and \
unpack it.";

const EXAMPLES: &str = "\
Examples:
  host-sim movie --data ml-100k                     ten splits, all rows
  host-sim movie --data ml-100k --splits 100 --csv ratings.csv
  host-sim movie --data ml-100k --similarity library --loss mse --adapt-bias
  host-sim movie --data ml-100k --train-on 100 --test-on 181
  host-sim movie --data ml-100k --recommend 42      what user 42 should watch next
  host-sim movie --data ml-1m --allow-other-data    another set, in the format with `::`";

/// What to do with the ratings.
#[derive(Args, Clone, Debug)]
#[command(about = "Predict movie ratings: the paper's second experiment, on real data", long_about = LONG_ABOUT, after_help = EXAMPLES)]
pub struct MovieArguments {
    #[command(flatten)]
    typed: Typed,
    /// Folder with u.data and u.item, or ratings.dat and movies.dat.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Take ratings other than the published MovieLens 100K.
    #[arg(long)]
    allow_other_data: bool,
    /// How many of the most rated movies become nodes.
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = value_parser!(u16).range(11..))]
    movies: u16,
    /// The movie to train on, by its id: 50 is Star Wars.
    #[arg(long, value_name = "MOVIE", default_value_t = 50)]
    train_on: u32,
    /// The other movie to try: 258 is Contact.
    #[arg(long, value_name = "MOVIE", default_value_t = 258)]
    test_on: u32,
    /// How many random splits into training and held-out users.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u32).range(1..))]
    splits: u32,
    /// What makes movies neighbours [default: pearson; with --recommend: shrunk].
    #[arg(long, value_enum)]
    similarity: Option<Similarity>,
    /// What a wrong prediction costs, in training and online.
    #[arg(long, value_enum, default_value_t = Loss::SmoothL1)]
    loss: Loss,
    /// Step size of online learning.
    #[arg(long, value_name = "STEP", default_value_t = 0.01)]
    step_size: f32,
    /// Step size of decentralised online learning; as --step-size unless given.
    #[arg(long, value_name = "STEP")]
    decentralised_step_size: Option<f32>,
    /// Add rows in which the wide part's bias learns online too.
    #[arg(long)]
    adapt_bias: bool,
    /// Seed of all random numbers.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    outputs: OutputArguments,
    /// Show the movies that this user would like best among those not rated yet, in place of the experiment.
    #[arg(long, value_name = "USER", conflicts_with_all = ["csv", "report", "svg", "png", "adapt_bias", "splits"])]
    recommend: Option<u32>,
    /// How many movies to recommend [default: 10].
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    top: Option<u16>,
    /// Save the network that recommends as a weight file.
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    out: Option<PathBuf>,
    /// Recommend with a saved network in place of training one.
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
}

impl MovieArguments {
    /// Runs the experiment, or recommends.
    ///
    /// # Errors
    /// When the data are missing or damaged, when a question cannot be answered with them, or when a file cannot be written.
    pub fn run(&self) -> Result {
        for step in [Some(self.step_size), self.decentralised_step_size].into_iter().flatten() {
            if !(step.is_finite() && step >= 0.0) {
                return Err(Error::usage(format!(
                    "a step size of {step} cannot be; pass 0.01, or 0 for none"
                )));
            }
        }
        if self.recommend.is_none() && (self.out.is_some() || self.model.is_some() || self.top.is_some()) {
            return Err(Error::usage(
                "--top, --out and --model are for --recommend USER: the experiment has no use for them",
            ));
        }
        let folder = self.data.clone().ok_or(DataError::Missing { folder: ".".into() })?;
        let data = Data::read(&folder, self.allow_other_data)?;
        let signals = Signals::select(&data, self.movies.into())?;
        match self.recommend {
            Some(user) => self.recommend(&signals, user),
            None => self.experiment(&data, &signals),
        }
    }

    fn experiment(&self, data: &Data, signals: &Signals) -> Result {
        if self.train_on == self.test_on {
            return Err(Error::usage("--train-on and --test-on name the same movie; choose two"));
        }
        let settings = Settings {
            train_on: signals.target(data, self.train_on, FEWEST_RATERS)?,
            test_on: signals.target(data, self.test_on, FEWEST_RATERS)?,
            similarity: self.similarity.unwrap_or(Similarity::Pearson),
            loss: self.loss,
            step: self.step_size,
            decentralised_step: self.decentralised_step_size.unwrap_or(self.step_size),
            adapt_bias: self.adapt_bias,
            seed: self.seed,
        };
        self.outputs.check()?;
        let bar = progress::bar(self.splits.into(), "splits");
        let outcomes: Vec<Outcome> = (0..self.splits as usize)
            .into_par_iter()
            .map(|index| {
                let outcome = experiment::run(signals, &settings, index);
                bar.inc(1);
                outcome
            })
            .collect::<std::result::Result<_, DataError>>()?;
        bar.finish_and_clear();
        let report = Report::new(Row::all(self.adapt_bias), outcomes);
        let page = self.page(signals, &settings, &report);
        self.outputs.deliver(&Results {
            origin: &page.origin,
            json: report.json(),
            print: &|| {
                println!(
                    "{}\n\n{}\n{}",
                    self.introduction(signals, &settings),
                    report.text(),
                    self.notes(&report)
                );
            },
            csv: &|| report.csv_rows(),
            page: &|| Ok(page::charts(&page)),
            plots: &|| page.plots(),
        })
    }

    fn page(&self, signals: &Signals, settings: &Settings, report: &Report) -> ChartPage {
        ChartPage {
            title: "Movie ratings".into(),
            intro: self.introduction(signals, settings),
            bars: report.bars(),
            table: report.rows(),
            note: self.notes(report),
            origin: Origin::new(self.typed.command("movie"), "trained anew for every split"),
            ..ChartPage::default()
        }
    }

    fn introduction(&self, signals: &Signals, settings: &Settings) -> String {
        let about = |node: usize| {
            format!("\"{}\" ({} raters)", signals.movies[node].title, signals.raters(node).len())
        };
        format!(
            "Trained on {}, tried on {}.\n{} splits, {} users, {} movies, {:?} similarity, {:?} loss, step size {}.\n\
             Root mean square error in stars: mean ± standard deviation over splits.",
            about(settings.train_on),
            about(settings.test_on),
            self.splits,
            signals.users.len(),
            signals.movies.len(),
            settings.similarity,
            self.loss,
            self.step_size
        )
    }

    fn notes(&self, report: &Report) -> String {
        let shared = "Splits share users, so the true uncertainty is larger than these standard errors.";
        format!(
            "same and other movie: online rows learn from up to {STREAM} of its raters first; then all predict the held-out \
             tenth.\n\
             stream: predict, then learn, one user after the other; same: the held-out tenth, other: up to {STREAM} \
             raters.\n\
             A difference is a − b on the same splits, mean ± standard error; negative means that a is better.{}\n\
             Steps are stable below {:.2}. The largest degree is {}.",
            if self.splits > 1 { format!(" {shared}") } else { String::new() },
            report.stable_step(),
            report.largest_degree()
        )
    }

    fn recommend(&self, signals: &Signals, id: u32) -> Result {
        let user = signals.user(id)?;
        let similarity = self.similarity.unwrap_or(Similarity::Shrunk);
        let everybody: Vec<usize> = (0..signals.users.len()).collect();
        let mut accuracy = None;
        let recommender = if let Some(path) = &self.model {
            let stored = weight_file::load(path)?;
            let graph = Recommender::graph(signals, &everybody, similarity)?;
            stored.on(graph, Habits::of(signals, &everybody)).ok_or_else(|| {
                let why = "was trained with other data, --movies or --similarity; pass the same";
                Error::usage(format!("{} {why}", path.display()))
            })?
        } else {
            accuracy = Some(Recommender::measure(signals, similarity, self.loss, self.seed)?);
            Recommender::train(signals, &everybody, similarity, self.loss, self.seed)?
        };
        let list = recommender.recommend(signals, user, self.top.unwrap_or(10).into())?;
        if let Some(path) = &self.out {
            let bytes = weight_file::save(&recommender).map_err(|error| Error::Failed(error.to_string()))?;
            files::write(path, &bytes)?;
        }
        if self.outputs.json {
            let models = self.model.as_ref().map_or("trained now".into(), |path| path.display().to_string());
            // The experiment's splits are none here.
            let origin = Origin::new(self.typed.clone().without("splits").command("movie"), models);
            print_json(&origin, &recommendations_as_json(signals, id, &list));
            return Ok(());
        }
        let stars: Vec<f32> = signals.stars[user].iter().copied().filter(|&stars| stars > 0.0).collect();
        println!(
            "User {id} rated {} of the {} movies, with {:.1} stars on average. Not rated yet, best first:\n",
            stars.len(),
            signals.movies.len(),
            stars.iter().sum::<f32>() / stars.len() as f32
        );
        print!("{}", recommendations_as_text(signals, &list));
        if let Some(accuracy) = accuracy {
            println!(
                "\nOn users not trained on, such a network is off by {:.3} stars (root mean square); a movie's mean and the \
                 user's generosity alone by {:.3}.",
                accuracy.network, accuracy.habits
            );
        }
        Ok(())
    }
}

fn recommendations_as_text(signals: &Signals, list: &[Recommendation]) -> String {
    let title = |node: usize| signals.movies[node].title.as_str();
    let widest = list.iter().map(|movie| title(movie.node).chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for (rank, movie) in (1..).zip(list) {
        let (rating, others) = (movie.rating, movie.others);
        let _ = writeln!(
            text,
            "{rank:>3}  {:<widest$}  {rating:.1} stars (others: {others:.1})",
            title(movie.node)
        );
        for reason in &movie.reasons {
            let (share, given, rated) = (reason.share, stars(reason.stars), title(reason.node));
            let others = reason.others;
            let _ = writeln!(
                text,
                "       {share:+.2} because you gave {given} to {rated} (others: {others:.1})"
            );
        }
    }
    text
}

fn stars(count: f32) -> String {
    if count == 1.0 { "1 star".into() } else { format!("{count} stars") }
}

fn recommendations_as_json(signals: &Signals, user: u32, list: &[Recommendation]) -> serde_json::Value {
    let movie = |node: usize| (signals.movies[node].id, signals.movies[node].title.clone());
    let recommendations: Vec<_> = list
        .iter()
        .map(|recommendation| {
            let reasons: Vec<_> = recommendation
                .reasons
                .iter()
                .map(|reason| {
                    let (id, title) = movie(reason.node);
                    json!({ "movie": id, "title": title, "stars": reason.stars, "others": reason.others, "share": reason.share })
                })
                .collect();
            let (id, title) = movie(recommendation.node);
            json!({ "movie": id, "title": title, "rating": recommendation.rating, "others": recommendation.others, "because": reasons })
        })
        .collect();
    json!({ "user": user, "recommendations": recommendations })
}
