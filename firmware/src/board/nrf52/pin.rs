//! GPIO pins.

use nrf_pac::{gpio::Gpio, shared::regs::Psel};

/// GPIO pin: port and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin(pub u8, pub u8);

impl Pin {
    fn port(self) -> Gpio {
        if self.0 == 0 { nrf_pac::P0 } else { nrf_pac::P1 }
    }

    /// Value that selects the pin in a peripheral's register.
    pub fn select(self) -> Psel {
        let mut select = Psel(0);
        select.set_pin(self.1);
        select.set_port(self.0 != 0);
        select.set_connect(nrf_pac::shared::vals::Connect::Connected);
        select
    }

    /// Sets the output level.
    pub fn set(self, high: bool) {
        if high {
            self.port().outset().write(|w| w.0 = 1 << self.1);
        } else {
            self.port().outclr().write(|w| w.0 = 1 << self.1);
        }
    }

    /// Makes the pin an output with this level.
    pub fn make_output(self, high: bool) {
        self.set(high);
        self.port().dirset().write(|w| w.0 = 1 << self.1);
    }

    /// Pulls up an input, so that an open one is high.
    pub fn pull_up(self) {
        let pull = nrf_pac::gpio::vals::Pull::Pullup;
        self.port().pin_cnf(usize::from(self.1) % 32).write(|w| w.set_pull(pull));
    }

    /// Makes the pin an open-drain output with a pull-up resistor, as on an I²C bus. Its level can be read.
    #[cfg(feature = "buggy")]
    pub fn make_open_drain(self) {
        use nrf_pac::gpio::vals::{Dir, Drive, Pull};
        self.set(true);
        self.port().pin_cnf(usize::from(self.1) % 32).write(|w| {
            w.set_dir(Dir::Output);
            w.set_pull(Pull::Pullup);
            w.set_drive(Drive::S0d1);
        });
    }

    /// Whether the level is high.
    #[cfg(feature = "buggy")]
    pub fn is_high(self) -> bool {
        self.port().in_().read().0 >> self.1 & 1 == 1
    }
}
