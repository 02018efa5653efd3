//! The subcommands, one file each: arguments in, tables and files out.

pub mod air;
pub mod bench;
pub mod condition;
pub mod curves;
pub mod faults;
pub mod flock;
pub mod flock_tables;
pub mod fly;
pub mod key;
pub mod outputs;
pub mod realisations;
pub mod records;
pub mod scenario;
pub mod schema;
pub mod shard;
pub mod shift;
pub mod swarm;
pub mod swarm_chips;
pub mod swarm_gateway;
pub mod sweep;
pub mod theorem;
pub mod train;
pub mod typed;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{
    error::{Error, Result},
    model::ModelFile,
    option_range::OptionRange,
    profiles::Profile,
    recipe::Architecture,
};

/// Online step size γ. Steps of trained models are about 1.
pub const STEP_SIZE: OptionRange = OptionRange::real(0.0, 1.0e6);

/// What is to be said about the air: what is on it, how often, and what goes wrong; nothing where that is nothing.
pub fn air_in_words(profile: Profile, sealed: bool, faults: &str) -> String {
    let mut words = match profile {
        Profile::Exact => String::new(),
        profile => {
            format!(
                " Robots exchange {} times a second, on the link profile {}.",
                profile.rate(),
                profile.name()
            )
        }
    };
    match (sealed, faults.is_empty()) {
        (true, true) => words += " Frames are sealed.",
        (true, false) => words.extend([" Frames are sealed, with", faults, "."]),
        (false, true) => {}
        (false, false) => words.extend([" With", faults, "."]),
    }
    words
}

/// Loads the file of a `--model` option that takes a WD-GNN only.
pub fn load_wd_gnn(path: &Path) -> Result<ModelFile> {
    let model = ModelFile::load(path)?;
    match model.architecture() {
        Architecture::WdGnn => Ok(model),
        other => {
            let (path, name) = (path.display(), other.name());
            Err(Error::usage(format!("--model must be a wd-gnn, and {path} is a {name}")))
        }
    }
}

/// A flag that Ctrl-C sets, or a signal that wants an end.
pub fn stop_on_interrupt() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let handler = move || {
        flag.store(true, Ordering::Relaxed);
        // Where nobody listens any more, it is over at once.
        if Arc::strong_count(&flag) == 1 {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(handler)
        .map_err(|error| Error::Failed(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(stop)
}
