//! What networks are called: which parts they have, and how they were trained.

use serde::{Deserialize, Serialize};

/// Which parts a network has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// Wide and deep.
    WdGnn,
    /// Deep only.
    Gnn,
    /// Wide only: a linear graph filter.
    GraphFilter,
}

impl Architecture {
    /// Every architecture.
    pub const ALL: &'static [Self] = &[Self::WdGnn, Self::Gnn, Self::GraphFilter];

    /// α_D and α_W to start from. A part that is off stays at zero.
    pub fn combination(self) -> (f32, f32) {
        match self {
            Self::WdGnn => (1.0, 1.0),
            Self::Gnn => (1.0, 0.0),
            Self::GraphFilter => (0.0, 1.0),
        }
    }

    /// The architecture of a network with these α_D and α_W.
    pub fn of(deep: f32, wide: f32) -> Self {
        match (deep == 0.0, wide == 0.0) {
            (_, true) => Self::Gnn,
            (true, false) => Self::GraphFilter,
            (false, false) => Self::WdGnn,
        }
    }

    /// The name on the command line and in file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::WdGnn => "wd-gnn",
            Self::Gnn => "gnn",
            Self::GraphFilter => "graph-filter",
        }
    }
}

/// How to train.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum RecipeName {
    /// Imitation of the expert, with data-set aggregation over mixed conditions; for flocking on the paper's features, and what robots
    /// fly.
    #[cfg_attr(feature = "clap", value(alias = "imitate"))]
    Ours,
    /// The paper's recipe to the letter.
    Paper,
    /// Through the simulator: the score's own derivative, over whole flights.
    Through,
    /// An evolution strategy over whole flights: needs nothing but the score.
    Evolve,
}

impl RecipeName {
    /// The name on the command line and in file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Paper => "paper",
            Self::Through => "through",
            Self::Evolve => "evolve",
        }
    }
}
