//! Trained models that are compiled in.

use std::path::Path;

use crate::{
    error::{Error, Result},
    model::ModelFile,
    profiles::Profile,
    recipe::{Architecture, RecipeName},
};

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$((
            concat!("models/", $name, ".wdgnn"),
            include_bytes!(concat!("../../../models/", $name, ".wdgnn")),
        )),+]
    };
}

/// Weight files with their paths.
const FILES: &[(&str, &[u8])] = files![
    "flocking-wd-gnn",
    "flocking-gnn",
    "flocking-graph-filter",
    "flocking-dot154",
    "flocking-dot154-10hz",
    "flocking-espnow",
    "quadrotor-wd-gnn",
    "paper-wd-gnn",
    "paper-gnn",
    "paper-graph-filter",
    "flocking-3d",
];

/// Returns the names of the shipped models.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter_map(|(path, _)| path.strip_prefix("models/")?.strip_suffix(".wdgnn"))
}

/// Returns the shipped model with this name.
pub fn named(name: &str) -> Result<ModelFile> {
    let file = format!("models/{name}.wdgnn");
    let (path, bytes) = FILES.iter().find(|(path, _)| *path == file).ok_or_else(|| {
        Error::usage(format!(
            "no {file} is shipped: train one with `host-sim train` and pass it with --model"
        ))
    })?;
    ModelFile::from_bytes(Path::new(path), bytes)
}

/// Returns a shipped flocking model. Recipes other than the paper's share one set.
pub fn shipped(recipe: RecipeName, architecture: Architecture) -> Result<ModelFile> {
    let family = if recipe == RecipeName::Paper { "paper" } else { "flocking" };
    named(&format!("{family}-{}", architecture.name()))
}

/// Returns the shipped models of a recipe, one per architecture.
pub fn all(recipe: RecipeName) -> Result<Vec<ModelFile>> {
    Architecture::ALL.iter().map(|&architecture| shipped(recipe, architecture)).collect()
}

/// Returns the shipped WD-GNN for a link profile.
pub fn for_profile(profile: Profile) -> Result<ModelFile> {
    named(&format!("flocking-{}", profile.network()))
}

/// Returns another model that robots of a profile can run: another part of the WD-GNN, or one with rarer exchanges.
pub fn other_for_profile(profile: Profile) -> Result<ModelFile> {
    named(match profile {
        Profile::Exact => "flocking-gnn",
        Profile::Espnow => "flocking-dot154",
        _ => "flocking-dot154-10hz",
    })
}
