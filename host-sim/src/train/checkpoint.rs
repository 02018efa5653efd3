//! Checkpoints: a training run that was interrupted goes on as if it had not been, to the same last bit.
//!
//! Training flights are drawn from seeds, so they need not be kept: the weights that flew them are enough to fly them again.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::adam::Adam;
use crate::{
    error::{Error, Result},
    files,
    profiles::Profile,
    recipe::{Architecture, RecipeName},
};

/// The state of a training run after an epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// What is being trained: a checkpoint of another run is refused.
    pub run: RunName,
    /// Epochs done.
    pub epoch: usize,
    /// The weights.
    pub weights: Vec<f32>,
    /// The optimiser.
    pub adam: Adam,
    /// The weights that flew the flights now in the data set, oldest epoch first.
    pub flown: Vec<(usize, Vec<f32>)>,
    /// The best weights so far and their validation cost.
    pub best: Option<(f64, Vec<f32>)>,
}

/// What identifies a training run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunName {
    /// The task.
    pub task: String,
    /// The recipe.
    pub recipe: RecipeName,
    /// The architecture.
    pub architecture: Architecture,
    /// The link profile.
    pub profile: Profile,
    /// Layers, taps, features.
    pub dimensions: [usize; 3],
    /// Epochs and flights.
    pub lengths: [usize; 2],
    /// Control ticks per exchange.
    pub exchange: u32,
    /// The world and its condition.
    pub world: String,
    /// The seed.
    pub seed: u64,
}

/// Where the checkpoint of a run lies: beside its output.
pub fn path(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".checkpoint");
    name.into()
}

impl Checkpoint {
    /// Writes it, all or nothing.
    pub fn save(&self, path: &Path) -> Result {
        let mut bytes = Vec::new();
        // A plain record of numbers: writing it to memory cannot fail.
        bytes = postcard::to_extend(self, bytes).map_err(|error| Error::Failed(error.to_string()))?;
        files::write(path, &bytes)
    }

    /// Reads the checkpoint of a network with this many numbers.
    pub fn load(path: &Path, run: &RunName, numbers: usize) -> Result<Self> {
        let unusable = |what: &str| {
            Error::usage(format!("{} {what}; train without --resume to start again", path.display()))
        };
        if !path.exists() {
            let path = path.display();
            return Err(Error::usage(format!("there is no checkpoint {path}: train without --resume")));
        }
        let bytes = files::read(path)?;
        let mut checkpoint: Self = match postcard::take_from_bytes(&bytes) {
            Ok((checkpoint, [])) => checkpoint,
            _ => return Err(unusable("is not a checkpoint, or is damaged")),
        };
        let flown = checkpoint.flown.iter().map(|(_, weights)| weights);
        let best = checkpoint.best.iter().map(|(_, weights)| weights);
        if [&checkpoint.weights].into_iter().chain(flown).chain(best).any(|weights| weights.len() != numbers)
        {
            return Err(unusable("is not a checkpoint, or is damaged"));
        }
        let [epochs, _] = run.lengths;
        checkpoint.run.lengths[0] = epochs;
        if checkpoint.run != *run {
            return Err(unusable("belongs to a training run with other options"));
        }
        if checkpoint.epoch >= epochs {
            let done = checkpoint.epoch;
            return Err(Error::usage(format!(
                "this training is finished after {done} epochs: --epochs above {done} continues it"
            )));
        }
        Ok(checkpoint)
    }
}
