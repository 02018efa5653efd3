//! The log: defmt frames, each written whole to the board's `Sink` or not at all.
//!
//! Not `defmt-semihosting`, whose standard output carries the robot's messages to the world; and not `defmt-rtt`, which panics when it is
//! used by an interrupt at a bad moment and holds up a robot whose log is read too slowly.

#![allow(unsafe_code, reason = "a logger is a global that defmt calls between acquire and release")]

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

// SAFETY: only used between `acquire` and `release`, inside a critical section; there is one core.
unsafe impl Sync for Shared {}

static LOG: Shared = Shared(UnsafeCell::new(Log {
    restore: RestoreState::invalid(),
    encoder: defmt::Encoder::new(),
    sink: Sink::new(),
}));

/// Splits the log into what encodes and what writes.
///
/// # Safety
/// Only between `acquire` and `release`.
unsafe fn parts() -> (&'static mut defmt::Encoder, &'static mut Sink) {
    // SAFETY: the caller is in the critical section, and no reference outlives the call it is made for.
    let log = unsafe { &mut *LOG.0.get() };
    (&mut log.encoder, &mut log.sink)
}

// SAFETY: `acquire` enters a critical section that `release` leaves; defmt calls them in pairs and never nests them.
unsafe impl defmt::Logger for Logger {
    fn acquire() {
        // SAFETY: `release` gives the state back.
        let restore = unsafe { critical_section::acquire() };
        // SAFETY: in the critical section.
        unsafe { (*LOG.0.get()).restore = restore };
        // SAFETY: acquired.
        let (encoder, sink) = unsafe { parts() };
        sink.begin();
        encoder.start_frame(|bytes| sink.write(bytes));
    }

    unsafe fn flush() {}

    unsafe fn release() {
        // SAFETY: acquired.
        let (encoder, sink) = unsafe { parts() };
        encoder.end_frame(|bytes| sink.write(bytes));
        sink.end();
        // SAFETY: the state that `acquire` got.
        unsafe { critical_section::release((*LOG.0.get()).restore) };
    }

    unsafe fn write(bytes: &[u8]) {
        // SAFETY: acquired.
        let (encoder, sink) = unsafe { parts() };
        encoder.write(bytes, |bytes| sink.write(bytes));
    }
}
