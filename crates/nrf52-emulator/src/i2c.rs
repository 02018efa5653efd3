//! I²C buses and the interface of the devices on them.
//!
//! A bus has two pins and pull-up resistors. Devices respond byte by byte:
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use nrf52_emulator::{Chip, Part, i2c::{Bus, Device}, pins::Pin};
//!
//! /// Port expander that stores one byte.
//! #[derive(Debug, Default)]
//! struct Expander(u8);
//!
//! impl Device for Expander {
//!     fn address(&self) -> u8 {
//!         0x20
//!     }
//!     fn write(&mut self, byte: u8, _now: u64) -> bool {
//!         self.0 = byte;
//!         true
//!     }
//!     fn read(&mut self, _now: u64) -> u8 {
//!         self.0
//!     }
//! }
//!
//! let expander = Arc::new(Mutex::new(Expander::default()));
//! let mut bus = Bus::new(Pin::new(0, 26), Pin::new(1, 0));
//! bus.attach(expander.clone());
//! let mut chip = Chip::new(Part::Nrf52833, 1);
//! chip.pins().buses.push(bus);
//! // Run the chip; then look at `expander.lock().unwrap().0`.
//! ```
//!
//! [`crate::devices`] has models of real devices.

use std::{
    fmt::Debug,
    sync::{Arc, Mutex, PoisonError},
};

use crate::pins::Pin;

/// Clock pulses of one byte with its acknowledge bit.
const BYTE_PULSES: u32 = 9;

/// Device on an I²C bus.
///
/// Times are in cycles of the chip's clock. A caller that looks at a device during a run attaches
/// an `Arc<Mutex<_>>` of it.
pub trait Device: Debug + Send {
    /// Returns the address in seven bits.
    fn address(&self) -> u8;

    /// Begins a transfer to the device's address, also after a repeated start condition.
    ///
    /// Returns whether the device acknowledges.
    fn start(&mut self, _is_read: bool, _now: u64) -> bool {
        true
    }

    /// Receives a byte. Returns whether the device acknowledges.
    fn write(&mut self, byte: u8, now: u64) -> bool;

    /// Returns the next byte for the controller.
    fn read(&mut self, now: u64) -> u8;

    /// Ends the transfer.
    fn stop(&mut self, _now: u64) {}
}

impl<D: Device> Device for Arc<Mutex<D>> {
    fn address(&self) -> u8 {
        self.lock().unwrap_or_else(PoisonError::into_inner).address()
    }

    fn start(&mut self, is_read: bool, now: u64) -> bool {
        self.lock().unwrap_or_else(PoisonError::into_inner).start(is_read, now)
    }

    fn write(&mut self, byte: u8, now: u64) -> bool {
        self.lock().unwrap_or_else(PoisonError::into_inner).write(byte, now)
    }

    fn read(&mut self, now: u64) -> u8 {
        self.lock().unwrap_or_else(PoisonError::into_inner).read(now)
    }

    fn stop(&mut self, now: u64) {
        self.lock().unwrap_or_else(PoisonError::into_inner).stop(now);
    }
}

/// I²C bus with pull-up resistors on both lines.
#[derive(Debug)]
pub struct Bus {
    scl: Pin,
    sda: Pin,
    devices: Vec<Box<dyn Device>>,
    /// Index of the addressed device, and whether it sends.
    active: Option<(usize, bool)>,
    /// Clock pulses until the bus is released. A device holds SDA low until then.
    held_pulses: u32,
}

impl Bus {
    /// Creates a bus without devices.
    pub fn new(scl: Pin, sda: Pin) -> Self {
        Self { scl, sda, devices: Vec::new(), active: None, held_pulses: 0 }
    }

    /// Attaches a device.
    ///
    /// Of devices with equal addresses, only the first one responds.
    pub fn attach(&mut self, device: impl Device + 'static) {
        self.devices.push(Box::new(device));
    }

    /// Detaches and returns the first device with an address.
    ///
    /// A device that is detached in a transfer does not acknowledge the next byte.
    pub fn detach(&mut self, address: u8) -> Option<Box<dyn Device>> {
        let index = self.devices.iter().position(|device| device.address() == address)?;
        self.active = None;
        Some(self.devices.remove(index))
    }

    /// Simulates a device that was interrupted while it sent: SDA stays low for this number of clock pulses.
    ///
    /// Nine pulses release every device. `u32::MAX` simulates a short circuit.
    pub fn hold_sda(&mut self, pulses: u32) {
        self.held_pulses = pulses;
    }

    /// Returns whether a device holds SDA low.
    pub fn is_held(&self) -> bool {
        self.held_pulses > 0
    }

    /// Clock line.
    pub fn scl(&self) -> Pin {
        self.scl
    }

    /// Data line.
    pub fn sda(&self) -> Pin {
        self.sda
    }

    /// Returns the level of a line without a controller, or `None` for a pin that is not on the bus.
    pub(crate) fn level(&self, pin: Pin) -> Option<bool> {
        (pin == self.sda).then_some(!self.is_held()).or((pin == self.scl).then_some(true))
    }

    /// Handles a rising edge of SCL that GPIO makes.
    pub(crate) fn clock_pulse(&mut self) {
        if self.held_pulses != u32::MAX {
            self.held_pulses = self.held_pulses.saturating_sub(1);
        }
    }

    /// Transmits a start condition and an address. Returns whether a device acknowledges.
    pub(crate) fn start(&mut self, address: u8, is_read: bool, now: u64) -> bool {
        let index = self.devices.iter().position(|device| device.address() == address);
        self.active =
            index.filter(|index| self.devices[*index].start(is_read, now)).map(|index| (index, is_read));
        self.active.is_some()
    }

    fn active_device(&mut self) -> Option<&mut Box<dyn Device>> {
        self.active.and_then(|(index, _)| self.devices.get_mut(index))
    }

    /// Transmits a byte. Returns whether the device acknowledges.
    pub(crate) fn write(&mut self, byte: u8, now: u64) -> bool {
        self.active_device().is_some_and(|device| device.write(byte, now))
    }

    /// Receives a byte. Without a device, SDA stays high.
    pub(crate) fn read(&mut self, now: u64) -> u8 {
        self.active_device().map_or(0xff, |device| device.read(now))
    }

    /// Transmits a stop condition.
    pub(crate) fn stop(&mut self, now: u64) {
        if let Some(device) = self.active_device() {
            device.stop(now);
        }
        self.active = None;
    }

    /// Loses the controller in a byte, for example by a reset of the chip.
    ///
    /// A device that sends waits for the clock pulses of its byte and holds SDA.
    pub(crate) fn abort(&mut self) {
        if matches!(self.active.take(), Some((_, true))) {
            self.hold_sda(BYTE_PULSES);
        }
    }
}
