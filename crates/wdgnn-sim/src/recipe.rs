//! Names of network architectures and training recipes.

use serde::{Deserialize, Serialize};

/// Payload of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// Wide and deep parts.
    WdGnn,
    /// Deep part only.
    Gnn,
    /// Wide part only: a linear graph filter.
    GraphFilter,
}

impl Architecture {
    /// All architectures.
    pub const ALL: &'static [Self] = &[Self::WdGnn, Self::Gnn, Self::GraphFilter];

    /// Returns the initial α_D and α_W. The weight of an absent part stays at zero.
    pub fn combination(self) -> (f32, f32) {
        match self {
            Self::WdGnn => (1.0, 1.0),
            Self::Gnn => (1.0, 0.0),
            Self::GraphFilter => (0.0, 1.0),
        }
    }

    /// Returns the architecture of a network with these α_D and α_W.
    pub fn of(deep: f32, wide: f32) -> Self {
        match (deep == 0.0, wide == 0.0) {
            (_, true) => Self::Gnn,
            (true, false) => Self::GraphFilter,
            (false, false) => Self::WdGnn,
        }
    }

    /// Returns the name on the command line and in file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::WdGnn => "wd-gnn",
            Self::Gnn => "gnn",
            Self::GraphFilter => "graph-filter",
        }
    }
}

/// Training recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum RecipeName {
    /// Imitation of the expert, with data-set aggregation over mixed scenarios.
    ///
    /// For flocking, the features are the paper's.
    Imitate,
    /// The paper's recipe.
    Paper,
    /// Backpropagation through the simulator: the gradient of the score over whole episodes.
    Through,
    /// Evolution strategy over whole episodes; needs only the score.
    Evolve,
}

impl RecipeName {
    /// Returns the name on the command line and in file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Imitate => "imitate",
            Self::Paper => "paper",
            Self::Through => "through",
            Self::Evolve => "evolve",
        }
    }
}
