//! RTT log sink: a ring buffer in RAM that a debug probe reads while the robot runs (SEGGER's
//! format, read by probe-rs).
//!
//! A log frame that does not fit is dropped as a whole. The robot never waits for the probe.

use core::{
    cell::UnsafeCell,
    sync::atomic::{AtomicU32, Ordering},
};

/// Ring size in bytes, enough for the start and a few seconds.
const BYTES: usize = 1024;

/// RTT control block. The probe searches RAM for it.
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

// SAFETY: the pointers refer to statics. The ring is written in a critical section and read only by
// the probe.
unsafe impl Sync for ControlBlock {}

/// Ring buffer.
pub struct Ring(UnsafeCell<[u8; BYTES]>);

// SAFETY: written in a critical section and read only by the probe.
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
    // Mode 0: skip data that does not fit.
    flags: 0,
};

/// Writer of log frames.
#[derive(Debug)]
pub struct Sink {
    /// Position of the next byte.
    cursor: u32,
    fits: bool,
}

impl Sink {
    /// Writer without a frame.
    pub const fn new() -> Self {
        Self { cursor: 0, fits: true }
    }

    /// Begins a frame.
    pub fn begin(&mut self) {
        self.cursor = _SEGGER_RTT.written.load(Ordering::Relaxed) % BYTES as u32;
        self.fits = true;
    }

    /// Appends bytes to the frame.
    pub fn write(&mut self, bytes: &[u8]) {
        let read = _SEGGER_RTT.read.load(Ordering::Acquire) % BYTES as u32;
        for byte in bytes {
            let next = (self.cursor + 1) % BYTES as u32;
            if next == read || !self.fits {
                self.fits = false;
                return;
            }
            // SAFETY: the position is inside the ring and not yet visible to the probe.
            unsafe { RING.0.get().cast::<u8>().wrapping_add(self.cursor as usize).write_volatile(*byte) };
            self.cursor = next;
        }
    }

    /// Ends the frame and makes it visible to the probe.
    pub fn end(&mut self) {
        if self.fits {
            _SEGGER_RTT.written.store(self.cursor, Ordering::Release);
        }
    }
}
