//! Global defmt logger. It writes each log frame to the board's `Sink` as a whole, or not at all.
//!
//! `defmt-semihosting` cannot be used, because its standard output carries the robot's messages to
//! the simulator. `defmt-rtt` panics if an interrupt logs while a frame is written, and blocks the
//! robot if the log is read too slowly.

#![allow(unsafe_code, reason = "defmt calls a global logger between acquire and release")]

use core::cell::UnsafeCell;

use critical_section::RestoreState;

use super::Sink;

#[defmt::global_logger]
struct Logger;

struct Log {
    restore: RestoreState,
    encoder: defmt::Encoder,
    sink: Sink,
}

struct Shared(UnsafeCell<Log>);

// SAFETY: used only between `acquire` and `release`, in a critical section on a single core.
unsafe impl Sync for Shared {}

static LOG: Shared = Shared(UnsafeCell::new(Log {
    restore: RestoreState::invalid(),
    encoder: defmt::Encoder::new(),
    sink: Sink::new(),
}));

/// Encoder and sink of the log.
///
/// # Safety
/// Call only between `acquire` and `release`.
unsafe fn parts() -> (&'static mut defmt::Encoder, &'static mut Sink) {
    // SAFETY: the caller is in the critical section, and no reference outlives the calling
    // function.
    let log = unsafe { &mut *LOG.0.get() };
    (&mut log.encoder, &mut log.sink)
}

// SAFETY: `acquire` enters a critical section that `release` leaves; defmt calls them in pairs and
// does not nest them.
unsafe impl defmt::Logger for Logger {
    fn acquire() {
        // SAFETY: `release` restores the state.
        let restore = unsafe { critical_section::acquire() };
        // SAFETY: inside the critical section.
        unsafe { (*LOG.0.get()).restore = restore };
        // SAFETY: after `acquire`.
        let (encoder, sink) = unsafe { parts() };
        sink.begin();
        encoder.start_frame(|bytes| sink.write(bytes));
    }

    unsafe fn flush() {}

    unsafe fn release() {
        // SAFETY: after `acquire`.
        let (encoder, sink) = unsafe { parts() };
        encoder.end_frame(|bytes| sink.write(bytes));
        sink.end();
        // SAFETY: the state returned by `critical_section::acquire`.
        unsafe { critical_section::release((*LOG.0.get()).restore) };
    }

    unsafe fn write(bytes: &[u8]) {
        // SAFETY: after `acquire`.
        let (encoder, sink) = unsafe { parts() };
        encoder.write(bytes, |bytes| sink.write(bytes));
    }
}
