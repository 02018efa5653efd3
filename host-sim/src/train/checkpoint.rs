//! Checkpoints: an interrupted training run continues with identical results, bit for bit.
//!
//! Episodes follow from seeds, so a checkpoint contains only the weights that produced them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::adam::Adam;
use crate::{
    error::{Error, Result},
    files,
    profiles::Profile,
    recipe::{Architecture, RecipeName},
};

/// State of a training run after an epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Identity of the run; checkpoints of other runs are rejected.
    pub run: RunName,
    pub epoch: usize,
    pub weights: Vec<f32>,
    pub adam: Adam,
    /// Weights that produced the episodes of the data set, oldest epoch first.
    pub flown: Vec<(usize, Vec<f32>)>,
    /// Best weights with their validation cost.
    pub best: Option<(f64, Vec<f32>)>,
}

/// Identity of a training run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunName {
    pub task: String,
    pub recipe: RecipeName,
    pub architecture: Architecture,
    pub profile: Profile,
    /// Layers, taps, features.
    pub dimensions: [usize; 3],
    /// Epochs and episodes.
    pub lengths: [usize; 2],
    /// Control ticks per exchange.
    pub exchange: u32,
    /// World and condition.
    pub world: String,
    pub seed: u64,
}

/// Returns the path of a run's checkpoint, next to its output.
pub fn path(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".checkpoint");
    name.into()
}

impl Checkpoint {
    /// Writes the file atomically.
    pub fn save(&self, path: &Path) -> Result {
        let mut bytes = Vec::new();
        // Serialization of plain numbers to memory cannot fail.
        bytes = postcard::to_extend(self, bytes).map_err(|error| Error::Failed(error.to_string()))?;
        files::write(path, &bytes)
    }

    /// Reads a checkpoint of a network with this many numbers.
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
