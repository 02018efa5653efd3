//! nRF52840 and nRF52833, register by register: boots the robot's image as it would be flashed.
//!
//! A [`chip::Chip`] is a Cortex-M4F ([`cpu`]), memory, and the peripherals that the image touches, each written from the product
//! specification and with its times. Chips hear each other through [`air::Air`]. What the image logs is read out of its RAM
//! ([`rtt`]).
//!
//! It is no proof of silicon: see the notes in [`radio`] and `docs/firmware.md`.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod air;
pub mod block;
pub mod chip;
mod clock;
pub mod cpu;
pub mod image;
pub mod memory;
mod nvmc;
mod ppi;
pub mod radio;
mod rtc;
pub mod rtt;
mod small;
mod timer;
mod uarte;

/// Cycles of the 64 MHz clock in a microsecond.
pub const MICROSECOND: u64 = 64;
