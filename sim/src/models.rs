//! The trained models that come with the program.

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
            include_bytes!(concat!("../../models/", $name, ".wdgnn")),
        )),+]
    };
}

/// Every weight file, by the name that errors call it.
const FILES: &[(&str, &[u8])] = files![
    "flocking-wd-gnn",
    "flocking-gnn",
    "flocking-graph-filter",
    "flocking-dot154",
    "flocking-espnow",
    "through-wd-gnn",
    "through-gnn",
    "through-graph-filter",
    "through-dot154",
    "through-espnow",
    "paper-wd-gnn",
    "paper-gnn",
    "paper-graph-filter",
    "flocking-3d",
    "coverage",
];

/// The names of those that come with the program.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter_map(|(path, _)| path.strip_prefix("models/")?.strip_suffix(".wdgnn"))
}

/// The model with this name, if it comes with the program.
pub fn named(name: &str) -> Result<ModelFile> {
    let file = format!("models/{name}.wdgnn");
    let (path, bytes) = FILES.iter().find(|(path, _)| *path == file).ok_or_else(|| {
        Error::usage(format!(
            "no {file} comes with this program: train one with `host-sim train`, and give it with --model"
        ))
    })?;
    ModelFile::from_bytes(Path::new(path), bytes)
}

/// What the files of a recipe for flocking begin with.
fn family(recipe: RecipeName) -> &'static str {
    match recipe {
        RecipeName::Ours => "flocking",
        other => other.name(),
    }
}

/// A flocking model that comes with the program.
pub fn shipped(recipe: RecipeName, architecture: Architecture) -> Result<ModelFile> {
    named(&format!("{}-{}", family(recipe), architecture.name()))
}

/// The three of a recipe.
pub fn all(recipe: RecipeName) -> Result<Vec<ModelFile>> {
    Architecture::ALL.iter().map(|&architecture| shipped(recipe, architecture)).collect()
}

/// The WD-GNN that comes with the program for a link profile.
pub fn of_profile(recipe: RecipeName, profile: Profile) -> Result<ModelFile> {
    named(&format!("{}-{}", family(recipe), profile.network()))
}
