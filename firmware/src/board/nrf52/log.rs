//! Where the log goes: RTT, a ring in RAM that a debug probe empties while the robot runs (SEGGER's format, which probe-rs reads).
//!
//! A frame that does not fit is left out whole. Nobody waits for a reader.

use core::{
    cell::UnsafeCell,
    sync::atomic::{AtomicU32, Ordering},
};

/// Bytes in the ring: the start and a few seconds.
const BYTES: usize = 1024;

/// What a probe looks for in RAM, and what it finds there.
#[repr(C)]
pub struct ControlBlock {
    identifier: [u8; 16],
    channels_up: u32,
    channels_down: u32,
    name: *const u8,
    buffer: *const Ring,
    size: u32,
    written: AtomicU32,
    read: AtomicU32,
    flags: u32,
}

// SAFETY: the pointers are to statics; the ring is written between `begin` and `end`, in a critical section, and read by the probe.
unsafe impl Sync for ControlBlock {}

/// The ring.
pub struct Ring(UnsafeCell<[u8; BYTES]>);

// SAFETY: likewise.
unsafe impl Sync for Ring {}

static RING: Ring = Ring(UnsafeCell::new([0; BYTES]));
static NAME: [u8; 6] = *b"defmt\0";

#[unsafe(no_mangle)]
static _SEGGER_RTT: ControlBlock = ControlBlock {
    identifier: *b"SEGGER RTT\0\0\0\0\0\0",
    channels_up: 1,
    channels_down: 0,
    name: NAME.as_ptr(),
    buffer: &raw const RING,
    size: BYTES as u32,
    written: AtomicU32::new(0),
    read: AtomicU32::new(0),
    // Skip what does not fit.
    flags: 0,
};

/// A frame on its way into the ring.
#[derive(Debug)]
pub struct Sink {
    /// Where its next byte goes.
    cursor: u32,
    fits: bool,
}

impl Sink {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self { cursor: 0, fits: true }
    }

    /// A frame begins.
    pub fn begin(&mut self) {
        self.cursor = _SEGGER_RTT.written.load(Ordering::Relaxed) % BYTES as u32;
        self.fits = true;
    }

    /// A part of it.
    pub fn write(&mut self, bytes: &[u8]) {
        let read = _SEGGER_RTT.read.load(Ordering::Acquire) % BYTES as u32;
        for byte in bytes {
            let next = (self.cursor + 1) % BYTES as u32;
            if next == read || !self.fits {
                self.fits = false;
                return;
            }
            // SAFETY: within the ring, and not yet the reader's.
            unsafe { RING.0.get().cast::<u8>().wrapping_add(self.cursor as usize).write_volatile(*byte) };
            self.cursor = next;
        }
    }

    /// It ends: from now on it is the reader's.
    pub fn end(&mut self) {
        if self.fits {
            _SEGGER_RTT.written.store(self.cursor, Ordering::Release);
        }
    }
}
