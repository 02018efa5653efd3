//! The recommender's network as a weight file: task number 2, synchronous schedule.
//!
//! The graph and the habits are not in the file. They are rebuilt from the data, and the graph's scale, one over its largest eigenvalue, must come out
//! the same to the bit.

use std::path::Path;

use wdgnn_core::{
    activation::Activation,
    online::Learning,
    taps::Scale,
    weights::{Header, LayerDimensions, MOST_LAYERS, Schedule, TaskSettings, Weights, WeightsError},
};

use crate::{
    error::{self, Error},
    model::{self, ModelFile},
    movie::{
        graph::Graph,
        habits::Habits,
        network::{HIDDEN, Numbers, RatingNetwork, TAPS},
        recommend::Recommender,
        task::TASK,
    },
};

/// A network read from a file, before its graph is there.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// The network's numbers.
    pub numbers: Numbers,
    scale: Scale,
}

/// The file's bytes.
///
/// # Errors
/// [`WeightsError::NotAdmissible`] when training has ended in numbers that are none.
pub fn save(recommender: &Recommender) -> Result<Vec<u8>, WeightsError> {
    let mut layers = [LayerDimensions::default(); MOST_LAYERS];
    layers[0] = LayerDimensions { taps: TAPS as u16, features: HIDDEN as u16 };
    let header = Header {
        activation: Activation::Relu,
        schedule: Schedule::Synchronous,
        scale: Scale::Scaled(recommender.graph.scale),
        features: 1,
        hidden: HIDDEN as u16,
        outputs: 1,
        layers,
        task: TaskSettings { task: TASK, numbers: [0.0; 8] },
        learning: Learning::OFF,
        interval: 1,
    };
    model::encode(&header, &recommender.numbers)
}

/// Reads a file.
///
/// # Errors
/// A sentence about what is wrong with it.
pub fn load(path: &Path) -> error::Result<Stored> {
    let file = ModelFile::load(path).map_err(advise)?;
    let read = |weights: &Weights<'_>| {
        weights.expect_task(TASK)?;
        RatingNetwork::from_weights(weights)?;
        let numbers = weights.numbers.try_into().map_err(|_| WeightsError::NotWeights)?;
        Ok(Stored { numbers, scale: weights.header.scale })
    };
    read(&file.weights()).map_err(|source| advise(file.unusable(source)))
}

/// Says how a model for ratings is made; the general sentence speaks of flocking.
fn advise(error: Error) -> Error {
    match error {
        Error::Model { path, source } => {
            let path = path.display();
            Error::usage(format!(
                "{path} is not usable: {source}; train one with `host-sim movie --data DIR --recommend USER --out {path}`"
            ))
        }
        other => other,
    }
}

impl Stored {
    /// Puts the network on its graph; `None` when it was trained on another one.
    #[must_use]
    pub fn on(self, graph: Graph, habits: Habits) -> Option<Recommender> {
        let matches = self.scale == Scale::Scaled(graph.scale);
        matches.then_some(Recommender { graph, numbers: self.numbers, habits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::movie::{gradient::Loss, graph::Similarity, network::NUMBERS, synthetic};

    fn loaded(bytes: &[u8]) -> error::Result<Stored> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        load(file.path())
    }

    #[test]
    fn what_is_saved_is_what_is_loaded_and_only_on_its_graph() {
        let signals = synthetic::signals(1);
        let users: Vec<usize> = (0..signals.users.len()).collect();
        let recommender =
            Recommender::train(&signals, &users, Similarity::Pearson, Loss::SmoothL1, 0).unwrap();
        let stored = loaded(&save(&recommender).unwrap()).unwrap();
        assert_eq!(stored.numbers, recommender.numbers);
        let other = Graph { scale: recommender.graph.scale * 1.5, ..recommender.graph.clone() };
        assert!(stored.clone().on(other, recommender.habits.clone()).is_none());
        let again = stored.on(recommender.graph.clone(), recommender.habits.clone()).unwrap();
        let list = |recommender: &Recommender| recommender.recommend(&signals, 4, 5).unwrap();
        assert_eq!(list(&again), list(&recommender));
    }

    #[test]
    fn a_damaged_file_is_refused_with_what_to_do() {
        let graph = Graph { edges: vec![], scale: 0.5 };
        let habits = Habits { others: vec![] };
        let mut bytes = save(&Recommender { graph, numbers: [0.5; NUMBERS], habits }).unwrap();
        bytes[500] ^= 1;
        for bytes in [&bytes[..], b"something else"] {
            let error = loaded(bytes).unwrap_err().to_string();
            assert!(error.contains("host-sim movie"), "{error}");
        }
    }
}
