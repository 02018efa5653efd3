//! Pins of a chip, and the circuits on them.
//!
//! The firmware drives pins through GPIO and PWM; buttons, pull resistors and
//! [I²C buses](crate::i2c) are connected from outside:
//!
//! ```
//! use nrf52_emulator::{Chip, Part, pins::{Circuit, Pin}};
//!
//! let button = Pin::new(0, 14);
//! let mut chip = Chip::new(Part::Nrf52833, 1);
//! chip.pins().connect(button, Circuit::PullUp);   // released
//! assert!(chip.pins().level(button, 0));
//! chip.pins().connect(button, Circuit::Low);      // pressed
//! assert!(!chip.pins().level(button, 0));
//! ```

mod signal;

use crate::i2c::Bus;
pub use signal::{Change, Circuit, Output, Waveform};

/// Number of pins: P0.00 to P0.31 and P1.00 to P1.15.
pub const PIN_COUNT: usize = 48;
/// PSEL registers: no pin is selected.
const DISCONNECTED: u32 = 1 << 31;

/// PIN_CNF: the input buffer is disconnected.
const INPUT_DISCONNECTED: u32 = 1 << 1;
/// PIN_CNF after a reset.
pub(crate) const PIN_CNF_RESET: u32 = INPUT_DISCONNECTED;

/// Pin of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pin(u8);

impl Pin {
    /// Creates pin `number` of a port, such as `Pin::new(1, 8)` for P1.08.
    ///
    /// # Panics
    /// If the chips do not have the pin.
    pub const fn new(port: u8, number: u8) -> Self {
        assert!(port < 2 && number < 32 && (port == 0 || number < 16), "the chip does not have the pin");
        Self(port * 32 + number)
    }

    /// Returns the pin that a PSEL register selects.
    pub(crate) fn selected(psel: u32) -> Option<Self> {
        let number = (psel & 0x3f) as u8;
        (psel & DISCONNECTED == 0 && usize::from(number) < PIN_COUNT).then_some(Self(number))
    }

    pub(crate) fn from_index(index: usize) -> Self {
        Self(index as u8)
    }

    pub(crate) fn index(self) -> usize {
        self.0.into()
    }

    /// Returns whether the pin belongs to the NFC antenna after an erase of UICR: P0.09 and P0.10.
    fn is_nfc(self) -> bool {
        matches!(self.0, 9 | 10)
    }
}

/// GPIO settings of a pin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gpio {
    /// OUT.
    pub high: bool,
    /// DIR.
    pub is_output: bool,
    /// PIN_CNF without DIR.
    pub config: u32,
}

impl Gpio {
    const RESET: Self = Self { high: false, is_output: false, config: PIN_CNF_RESET };

    /// Returns the driven level by PIN_CNF.DRIVE.
    fn output(self) -> Output {
        let drive = self.config >> 8 & 7;
        // D0S1, D0H1: low is disconnected. S0D1, H0D1: high is disconnected.
        let is_disconnected = if self.high { drive >= 6 } else { matches!(drive, 4 | 5) };
        if self.is_output && !is_disconnected { Output::Level(self.high) } else { Output::None }
    }

    /// Returns the level of the internal pull resistor.
    fn pull(self) -> Option<bool> {
        match self.config >> 2 & 3 {
            1 => Some(false),
            3 => Some(true),
            _ => None,
        }
    }
}

/// Pins of a chip. Circuits survive resets of the chip.
#[derive(Debug)]
pub struct Pins {
    gpio: [Gpio; PIN_COUNT],
    waveforms: [Option<Waveform>; PIN_COUNT],
    circuits: [Circuit; PIN_COUNT],
    recorded: [bool; PIN_COUNT],
    /// UICR.NFCPINS at the last reset: P0.09 and P0.10 belong to the NFC antenna.
    nfc_enabled: bool,
    /// I²C buses, each on two pins.
    pub buses: Vec<Bus>,
    /// Changes of the pins passed to [`Pins::record`], in order. The caller may drain it.
    pub changes: Vec<Change>,
}

impl Default for Pins {
    fn default() -> Self {
        Self {
            gpio: [Gpio::RESET; PIN_COUNT],
            waveforms: [None; PIN_COUNT],
            circuits: [Circuit::Open; PIN_COUNT],
            recorded: [false; PIN_COUNT],
            nfc_enabled: false,
            buses: Vec::new(),
            changes: Vec::new(),
        }
    }
}

impl Pins {
    /// Connects a circuit to a pin, instead of the one before.
    pub fn connect(&mut self, pin: Pin, circuit: Circuit) {
        self.circuits[pin.index()] = circuit;
    }

    /// Records changes of a pin's output from now on.
    pub fn record(&mut self, pin: Pin) {
        self.recorded[pin.index()] = true;
    }

    /// Returns whether NFC disconnects the pin from GPIO and all other peripherals.
    fn is_antenna(&self, pin: Pin) -> bool {
        self.nfc_enabled && pin.is_nfc()
    }

    /// Returns the signal that the chip drives on a pin.
    pub fn output(&self, pin: Pin) -> Output {
        match self.waveforms[pin.index()] {
            _ if self.is_antenna(pin) => Output::None,
            Some(waveform) => Output::Pwm(waveform),
            None => self.gpio[pin.index()].output(),
        }
    }

    /// Returns the level of a pin at a time in cycles. An open pin is low.
    pub fn level(&self, pin: Pin, now: u64) -> bool {
        let circuit = self.circuits[pin.index()];
        match self.output(pin) {
            Output::Level(high) => return high,
            Output::Pwm(waveform) => return waveform.level(now),
            Output::None => {}
        }
        // The resistors of a bus are stronger than those of the chip.
        match (self.buses.iter().find_map(|bus| bus.level(pin)), circuit) {
            (Some(bus), _) => bus && circuit != Circuit::Low,
            (None, Circuit::High | Circuit::PullUp) => true,
            (None, Circuit::Low | Circuit::PullDown) => false,
            (None, Circuit::Open) => self.gpio[pin.index()].pull().unwrap_or(false),
        }
    }

    /// Returns what GPIO reads from a pin: 0 while the input buffer is disconnected.
    pub(crate) fn input(&self, pin: Pin, now: u64) -> bool {
        let is_connected = self.gpio[pin.index()].config & INPUT_DISCONNECTED == 0;
        is_connected && !self.is_antenna(pin) && self.level(pin, now)
    }

    /// Returns the bus on two pins.
    pub(crate) fn bus(&mut self, scl: Pin, sda: Pin) -> Option<&mut Bus> {
        if self.is_antenna(scl) || self.is_antenna(sda) {
            return None;
        }
        self.buses.iter_mut().find(|bus| bus.scl() == scl && bus.sda() == sda)
    }

    pub(crate) fn gpio(&self, pin: Pin) -> Gpio {
        self.gpio[pin.index()]
    }

    pub(crate) fn set_gpio(&mut self, pin: Pin, gpio: Gpio, now: u64) {
        self.update(pin, now, |pins| pins.gpio[pin.index()] = gpio);
    }

    /// Connects a pin to PWM, or back to GPIO.
    pub(crate) fn set_waveform(&mut self, pin: Pin, waveform: Option<Waveform>, now: u64) {
        self.update(pin, now, |pins| pins.waveforms[pin.index()] = waveform);
    }

    /// Changes a pin's output, records the change and passes clock pulses to buses.
    fn update(&mut self, pin: Pin, now: u64, change: impl FnOnce(&mut Self)) {
        let (output, level) = (self.output(pin), self.level(pin, now));
        change(self);
        let changed = self.output(pin);
        if self.recorded[pin.index()] && changed != output {
            self.changes.push(Change { at: now, pin, output: changed });
        }
        if !level && self.level(pin, now) {
            self.buses.iter_mut().filter(|bus| bus.scl() == pin).for_each(Bus::clock_pulse);
        }
    }

    /// Resets the pins to inputs and latches UICR.NFCPINS.
    pub(crate) fn reset(&mut self, nfc_enabled: bool, now: u64) {
        self.nfc_enabled = nfc_enabled;
        for pin in (0..PIN_COUNT).map(Pin::from_index) {
            self.set_waveform(pin, None, now);
            self.set_gpio(pin, Gpio::RESET, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strong_output_beats_circuits_and_an_open_drain_output_does_not() {
        let (pin, mut pins) = (Pin::new(0, 3), Pins::default());
        let push_pull = Gpio { high: true, is_output: true, config: 0 };
        pins.set_gpio(pin, push_pull, 0);
        pins.connect(pin, Circuit::PullDown);
        assert!(pins.level(pin, 0));
        // S0D1 with a high level leaves the line to the circuit.
        pins.set_gpio(pin, Gpio { config: 6 << 8, ..push_pull }, 0);
        assert_eq!((pins.output(pin), pins.level(pin, 0)), (Output::None, false));
        pins.connect(pin, Circuit::PullUp);
        assert!(pins.level(pin, 0));
    }

    #[test]
    fn internal_pull_resistors_hold_open_pins() {
        let (pin, mut pins) = (Pin::new(1, 15), Pins::default());
        assert!(!pins.level(pin, 0));
        pins.set_gpio(pin, Gpio { high: false, is_output: false, config: 3 << 2 }, 0);
        assert!(pins.level(pin, 0));
    }

    #[test]
    fn nfc_pins_are_neither_driven_nor_read() {
        let (pin, mut pins) = (Pin::new(0, 10), Pins::default());
        pins.reset(true, 0);
        pins.connect(pin, Circuit::High);
        pins.set_gpio(pin, Gpio { high: true, is_output: true, config: 0 }, 0);
        assert_eq!((pins.output(pin), pins.input(pin, 0)), (Output::None, false));
        pins.reset(false, 0);
        pins.set_gpio(pin, Gpio { high: true, is_output: true, config: 0 }, 0);
        assert_eq!((pins.output(pin), pins.input(pin, 0)), (Output::Level(true), true));
    }
}
