//! Nordic's dongle, nRF52840 Dongle (PCA10059), flashed over USB by its own bootloader, which lies above 0xe0000. The line is on
//! the castellated edge.

use core::ops::Range;

use super::super::{light::Light, serial::Pin};

/// From and to the companion.
pub const RECEIVE: Pin = Pin(0, 15);
pub const SEND: Pin = Pin(0, 13);
/// LED1, green, on when low.
pub const LIGHT: Light = Light { pin: Pin(0, 6), on_when_high: false, ground: None };
/// Fed from USB, the chip makes 1.8 V of it unless its user information (REGOUT0) says otherwise; code 4 is 3.0 V, for adapters and
/// lights.
pub const OUTPUT_VOLTAGE: Option<u32> = Some(4);
/// The inductors of the supply are there.
pub const DCDC: bool = true;
/// Eight pages below the bootloader.
pub const STORE: Range<u32> = 0x000d_8000..0x000e_0000;
/// The page before.
pub const SETTINGS: u32 = 0x000d_7000;
