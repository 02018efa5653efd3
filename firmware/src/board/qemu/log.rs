//! The log: defmt frames, appended to the file `log` in QEMU's working directory.
//!
//! `defmt-semihosting` writes to QEMU's standard output, which is taken: it carries the robot's messages to the world.

use core::cell::UnsafeCell;

use critical_section::RestoreState;
use semihosting::{fs::File, io::Write as _};

#[defmt::global_logger]
struct Logger;

struct Log {
    restore: RestoreState,
    encoder: defmt::Encoder,
    file: Option<File>,
}

struct Shared(UnsafeCell<Log>);

// SAFETY: only used between `acquire` and `release`, inside a critical section; there is one core.
unsafe impl Sync for Shared {}

static LOG: Shared = Shared(UnsafeCell::new(Log {
    restore: RestoreState::invalid(),
    encoder: defmt::Encoder::new(),
    file: None,
}));

/// Splits the log into what encodes and what writes. A log that cannot be written is lost; the robot flies on.
///
/// # Safety
/// Only between `acquire` and `release`.
unsafe fn parts() -> (&'static mut defmt::Encoder, impl FnMut(&[u8])) {
    // SAFETY: the caller is in the critical section, and no reference outlives the call it is made for.
    let log = unsafe { &mut *LOG.0.get() };
    let file = &mut log.file;
    let write = move |bytes: &[u8]| {
        if let Some(file) = file.as_mut() {
            let _ = file.write_all(bytes);
        }
    };
    (&mut log.encoder, write)
}

// SAFETY: `acquire` enters a critical section that `release` leaves; defmt calls them in pairs and never nests them.
unsafe impl defmt::Logger for Logger {
    fn acquire() {
        // SAFETY: `release` gives the state back.
        let restore = unsafe { critical_section::acquire() };
        // SAFETY: in the critical section.
        let log = unsafe { &mut *LOG.0.get() };
        log.restore = restore;
        if log.file.is_none() {
            log.file = File::options().write(true).append(true).create(true).open(c"log").ok();
        }
        // SAFETY: acquired.
        let (encoder, write) = unsafe { parts() };
        encoder.start_frame(write);
    }

    unsafe fn flush() {}

    unsafe fn release() {
        // SAFETY: acquired.
        let (encoder, write) = unsafe { parts() };
        encoder.end_frame(write);
        // SAFETY: the state that `acquire` got.
        unsafe { critical_section::release((*LOG.0.get()).restore) };
    }

    unsafe fn write(bytes: &[u8]) {
        // SAFETY: acquired.
        let (encoder, write) = unsafe { parts() };
        encoder.write(bytes, write);
    }
}
