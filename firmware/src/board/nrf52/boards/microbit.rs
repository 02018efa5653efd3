//! BBC micro:bit v2 (nRF52833), flashed by dropping a file on it. Its interface chip carries the serial line to USB.

use core::ops::Range;

use super::super::{light::Light, serial::Pin};

/// From and to the companion.
pub const RECEIVE: Pin = Pin(1, 8);
pub const SEND: Pin = Pin(0, 6);
/// The display's LED in the upper left corner: its row high, its column low.
pub const LIGHT: Light = Light { pin: Pin(0, 21), on_when_high: true, ground: Some(Pin(0, 28)) };
/// The supply's voltage is the board's.
pub const OUTPUT_VOLTAGE: Option<u32> = None;
/// The inductors of the supply are there.
pub const DCDC: bool = true;
/// The last eight of 128 pages.
pub const STORE: Range<u32> = 0x0007_8000..0x0008_0000;
/// The page before.
pub const SETTINGS: u32 = 0x0007_7000;
