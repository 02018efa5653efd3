//! The subcommands, one file each: arguments in, tables and files out.

pub mod air;
pub mod condition;
pub mod faults;
pub mod flock;
pub mod flock_tables;
pub mod fly;
pub mod key;
pub mod movie;
pub mod outputs;
pub mod realisations;
pub mod records;
pub mod shift;
pub mod sniff;
pub mod swarm;
pub mod swarm_chips;
pub mod sweep;
pub mod theorem;
pub mod train;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::error::{Error, Result};

/// A flag that Ctrl-C sets.
///
/// # Errors
/// [`Error::Failed`] when the system has no such signal.
pub fn stop_on_interrupt() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))
        .map_err(|error| Error::Failed(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(stop)
}
