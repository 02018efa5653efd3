//! `host-sim helper`: flies for a training that runs elsewhere.

use std::io::{stdin, stdout};

use clap::{Args, Command, FromArgMatches as _};

use super::train::TrainArguments;
use crate::{
    error::{Error, Result},
    train::serve::{Flies, serve},
};

/// Fly for a training that runs elsewhere (`train --helper`): requests on standard input, answers on standard output.
///
/// It has to be the same program as the training, on the same kind of machine. It keeps nothing, and ends with its input.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  host-sim train --out my.wdgnn --helper 'host-sim helper --threads 1' \
                        --helper 'ssh one host-sim helper'")]
pub struct HelperArguments {}

impl HelperArguments {
    /// Answers until nobody asks any more. `planned` makes a plan of what `train` was told.
    ///
    /// # Errors
    /// [`Error::Usage`] for what is no request; [`Error::Failed`] where nobody hears the answer.
    pub fn run(&self, planned: &dyn Fn(&TrainArguments) -> Result<Box<dyn Flies>>) -> Result {
        let parsed = |words: &[String]| planned(&told(words)?);
        serve(&mut stdin().lock(), &mut stdout().lock(), &parsed)
    }
}

/// What `train` was told.
fn told(words: &[String]) -> Result<TrainArguments> {
    // A helper writes no network.
    let words = ["train", "--out=-"].into_iter().chain(words.iter().map(String::as_str));
    let command = TrainArguments::augment_args(Command::new("train"));
    let parsed = command.try_get_matches_from(words).and_then(|told| TrainArguments::from_arg_matches(&told));
    parsed.map_err(|_| Error::usage("the helper does not know these options: it has to be the same program"))
}
