//! Networks of the page: the shipped one of each task, and the robots' own.

use std::{path::Path, sync::OnceLock};

use wdgnn_sim::{error::Result, model::ModelFile};

macro_rules! models {
    ($($(#[$comment:meta])* $name:ident: $path:literal),+ $(,)?) => {
        $($(#[$comment])*
        pub fn $name() -> Result<&'static ModelFile> {
            static MODEL: OnceLock<ModelFile> = OnceLock::new();
            if let Some(model) = MODEL.get() {
                return Ok(model);
            }
            let model = ModelFile::from_bytes(Path::new($path), include_bytes!(concat!("../../../", $path)))?;
            Ok(MODEL.get_or_init(|| model))
        })+
    };
}

models! {
    /// Flocking in the plane, as robots carry it.
    flocking: "models/flocking-wd-gnn.wdgnn",
    /// Flocking in space.
    flocking_in_space: "models/flocking-3d.wdgnn",
    /// Coverage.
    coverage: "examples/coverage/model.wdgnn",
    /// Rendezvous.
    rendezvous: "examples/rendezvous/model.wdgnn",
}
