//! The trained models that come with the program.

use std::path::Path;

use crate::{
    error::Result,
    model::ModelFile,
    profiles::Profile,
    train::recipe::{Architecture, RecipeName},
};

macro_rules! shipped {
    ($($recipe:ident $architecture:ident $name:literal),+ $(,)?) => {
        fn bytes(recipe: RecipeName, architecture: Architecture) -> (&'static str, &'static [u8]) {
            match (recipe, architecture) {
                $((RecipeName::$recipe, Architecture::$architecture) => (
                    concat!("models/", $name),
                    include_bytes!(concat!("../../models/", $name)),
                )),+
            }
        }
    };
}

shipped! {
    Ours WdGnn "flocking-wd-gnn.wdgnn",
    Ours Gnn "flocking-gnn.wdgnn",
    Ours GraphFilter "flocking-graph-filter.wdgnn",
    Through WdGnn "through-wd-gnn.wdgnn",
    Through Gnn "through-gnn.wdgnn",
    Through GraphFilter "through-graph-filter.wdgnn",
    Paper WdGnn "paper-wd-gnn.wdgnn",
    Paper Gnn "paper-gnn.wdgnn",
    Paper GraphFilter "paper-graph-filter.wdgnn",
}

/// A model that comes with the program.
///
/// # Errors
/// [`crate::error::Error::Model`] when the program was built with a damaged one.
pub fn shipped(recipe: RecipeName, architecture: Architecture) -> Result<ModelFile> {
    let (name, bytes) = bytes(recipe, architecture);
    ModelFile::from_bytes(Path::new(name), bytes)
}

/// The three of a recipe.
///
/// # Errors
/// As [`shipped`].
pub fn fleet(recipe: RecipeName) -> Result<[ModelFile; 3]> {
    let [wd_gnn, gnn, graph_filter] = Architecture::ALL.map(|architecture| shipped(recipe, architecture));
    Ok([wd_gnn?, gnn?, graph_filter?])
}

/// The WD-GNN that comes with the program for a link profile. 20 exchanges a second are the same network on either radio.
///
/// # Errors
/// As [`shipped`].
pub fn of_profile(profile: Profile) -> Result<ModelFile> {
    let (name, bytes): (_, &[u8]) = match profile {
        Profile::Exact => return shipped(RecipeName::Ours, Architecture::WdGnn),
        Profile::Dot154 | Profile::Esb32 => {
            ("models/flocking-dot154.wdgnn", include_bytes!("../../models/flocking-dot154.wdgnn"))
        }
        Profile::Espnow => {
            ("models/flocking-espnow.wdgnn", include_bytes!("../../models/flocking-espnow.wdgnn"))
        }
    };
    ModelFile::from_bytes(Path::new(name), bytes)
}

/// The same, of those that were trained through the simulator.
///
/// # Errors
/// As [`shipped`].
pub fn through(profile: Profile) -> Result<ModelFile> {
    let (name, bytes): (_, &[u8]) = match profile {
        Profile::Exact => return shipped(RecipeName::Through, Architecture::WdGnn),
        Profile::Dot154 | Profile::Esb32 => {
            ("models/through-dot154.wdgnn", include_bytes!("../../models/through-dot154.wdgnn"))
        }
        Profile::Espnow => {
            ("models/through-espnow.wdgnn", include_bytes!("../../models/through-espnow.wdgnn"))
        }
    };
    ModelFile::from_bytes(Path::new(name), bytes)
}
