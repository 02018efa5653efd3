//! Nordic's development kit, nRF52840-DK (PCA10056). Its own debugger carries the serial line to USB.

use core::ops::Range;

use super::super::{light::Light, serial::Pin};

/// From and to the companion.
pub const RECEIVE: Pin = Pin(0, 8);
pub const SEND: Pin = Pin(0, 6);
/// LED1, on when low.
pub const LIGHT: Light = Light { pin: Pin(0, 13), on_when_high: false, ground: None };
/// The supply's voltage is the board's.
pub const OUTPUT_VOLTAGE: Option<u32> = None;
/// The inductors of the supply are there.
pub const DCDC: bool = true;
/// The last eight pages.
pub const STORE: Range<u32> = 0x000f_8000..0x0010_0000;
/// The page before.
pub const SETTINGS: u32 = 0x000f_7000;
