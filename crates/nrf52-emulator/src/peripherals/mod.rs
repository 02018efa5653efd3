//! Peripherals with emulated behavior, each at its address and interrupt number.

pub mod clock;
pub mod ecb;
pub mod gpio;
pub mod nvmc;
pub mod ppi;
pub mod pwm;
pub mod radio;
pub mod rng;
pub mod rtc;
pub mod timer;
pub mod twim;
pub mod uarte;
pub mod wdt;

use std::collections::BTreeMap;

use crate::peripheral::{Peripheral, StorageOnly};
use clock::Clock;
use ecb::Ecb;
use gpio::Gpio;
use nvmc::Nvmc;
use ppi::Ppi;
use pwm::Pwm;
use radio::Radio;
use rng::Rng;
use rtc::Rtc;
use timer::Timer;
use twim::Twim;
use uarte::Uarte;
use wdt::Wdt;

macro_rules! peripherals {
    ($($page:literal $field:ident: $kind:ty, $irq:literal, $name:literal;)*) => {
        /// All peripherals of a chip.
        ///
        /// Pages without an emulated peripheral are [`StorageOnly`].
        #[derive(Debug)]
        pub struct Peripherals {
            $(#[doc = $name] pub $field: $kind,)*
            storage_only: BTreeMap<u32, StorageOnly>,
        }

        impl Default for Peripherals {
            fn default() -> Self {
                Self { $($field: <$kind>::power_on(),)* storage_only: BTreeMap::new() }
            }
        }

        impl Peripherals {
            /// Returns the peripheral whose registers start at `page`.
            pub(crate) fn at(&mut self, page: u32) -> &mut dyn Peripheral {
                match page {
                    $($page => &mut self.$field,)*
                    _ => self.storage_only.entry(page).or_default(),
                }
            }

            /// Returns the time and the page of the next timed action.
            pub(crate) fn next_due(&self) -> Option<(u64, u32)> {
                let mut first: Option<(u64, u32)> = None;
                $(
                    if let Some(at) = self.$field.next_due() && first.is_none_or(|(known, _)| at < known) {
                        first = Some((at, $page));
                    }
                )*
                first
            }

            /// Returns the levels of all interrupt lines, one bit each.
            pub(crate) fn interrupt_lines(&mut self) -> u64 {
                let mut lines = 0;
                $(lines |= u64::from(self.$field.registers().interrupt_line()) << $irq;)*
                lines
            }
        }
    };
}

// Address and interrupt number (product specification, "Instantiation"). GPIO, NVMC and PPI have no
// interrupt: lines 61 to 63 do not exist on the chip.
peripherals! {
    0x4000_0000 clock: Clock, 0, "CLOCK and POWER.";
    0x4000_1000 radio: Radio, 1, "RADIO.";
    0x4000_2000 uarte: Uarte, 2, "UARTE0.";
    0x4000_3000 twim0: Twim, 3, "TWIM0.";
    0x4000_4000 twim1: Twim, 4, "TWIM1.";
    0x4000_8000 timer0: Timer, 8, "TIMER0.";
    0x4000_9000 timer1: Timer, 9, "TIMER1.";
    0x4000_a000 timer2: Timer, 10, "TIMER2.";
    0x4000_d000 rng: Rng, 13, "RNG.";
    0x4000_e000 ecb: Ecb, 14, "ECB.";
    0x4001_0000 wdt: Wdt, 16, "WDT.";
    0x4001_1000 rtc1: Rtc, 17, "RTC1.";
    0x4001_a000 timer3: Timer, 26, "TIMER3.";
    0x4001_b000 timer4: Timer, 27, "TIMER4.";
    0x4001_c000 pwm0: Pwm, 28, "PWM0.";
    0x4001_e000 nvmc: Nvmc, 63, "NVMC.";
    0x4001_f000 ppi: Ppi, 62, "PPI.";
    0x4002_1000 pwm1: Pwm, 33, "PWM1.";
    0x4002_2000 pwm2: Pwm, 34, "PWM2.";
    0x4002_d000 pwm3: Pwm, 45, "PWM3.";
    0x5000_0000 gpio: Gpio, 61, "GPIO.";
}
