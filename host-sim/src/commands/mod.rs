//! Subcommands, one file each: options in, tables and files out.

pub mod airtime;
pub mod bench;
pub mod comparison;
pub mod conditions;
pub mod eval;
pub mod faults;
pub mod invocation;
pub mod key;
pub mod models;
pub mod output;
pub mod recordings;
pub mod run;
pub mod scenario;
pub mod schema;
pub mod shard;
pub mod shift;
pub mod sweep;
pub mod theorem;
pub mod train;
pub mod training_curves;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::{
    error::{Error, Result},
    option_range::OptionRange,
    profiles::Profile,
};

/// Range of the online step size γ. Steps of trained models are about 1.
pub const STEP_SIZE: OptionRange = OptionRange::real(0.0, 1.0e6);

/// Default seed of held-out swarms.
pub const HELD_OUT_SEED: u64 = 7;

/// Describes the radio link in sentences: rate, profile, encryption and faults. Empty for the exact profile without faults.
pub fn describe_link(profile: Profile, sealed: bool, faults: &str) -> String {
    let mut text = match profile {
        Profile::Exact => String::new(),
        profile => format!(
            " Robots exchange {} times a second, on the link profile {}.",
            profile.rate(),
            profile.name()
        ),
    };
    match (sealed, faults.is_empty()) {
        (true, true) => text += " Frames are sealed.",
        (true, false) => text.extend([" Frames are sealed, with ", faults, "."]),
        (false, true) => {}
        (false, false) => text.extend([" With ", faults, "."]),
    }
    text
}

/// Returns the text with a capital first letter.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Returns a flag that Ctrl-C or a termination signal sets.
pub fn stop_on_interrupt() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let handler = move || {
        flag.store(true, Ordering::Relaxed);
        // Exits at once if no command checks the flag any more.
        if Arc::strong_count(&flag) == 1 {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(handler)
        .map_err(|error| Error::Failed(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(stop)
}
