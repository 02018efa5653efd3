//! Adafruit's Feather nRF52840 Express, flashed as UF2 over USB by its own bootloader, which lies above 0xf4000, with Nordic's
//! SoftDevice below 0x26000 and the bootloader's file system from 0xed000 on.

use core::ops::Range;

use super::super::{light::Light, serial::Pin};

/// From and to the companion: the pins marked RX and TX.
pub const RECEIVE: Pin = Pin(0, 24);
pub const SEND: Pin = Pin(0, 25);
/// The red LED.
pub const LIGHT: Light = Light { pin: Pin(1, 15), on_when_high: true, ground: None };
/// The supply's voltage is the board's.
pub const OUTPUT_VOLTAGE: Option<u32> = None;
/// The inductors of the supply are there.
pub const DCDC: bool = true;
/// Eight pages below the file system.
pub const STORE: Range<u32> = 0x000e_4000..0x000e_c000;
/// The page before.
pub const SETTINGS: u32 = 0x000e_3000;
