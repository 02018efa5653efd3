//! Four PWM channels (product specification, "PWM"): 1 kHz with 16,000 steps.

use core::{
    cell::UnsafeCell,
    convert::Infallible,
    ptr,
    sync::atomic::{Ordering, compiler_fence},
};

use embedded_hal::pwm::{ErrorType, SetDutyCycle};
use nrf_pac::{PWM0, pwm::vals};

use super::pin::Pin;

/// Period in steps of 1/16 µs.
const PERIOD: u16 = 16_000;
/// A set bit starts the period with a high level.
const HIGH_FIRST: u16 = 1 << 15;

struct Sequence(UnsafeCell<[u16; 4]>);

// SAFETY: DMA reads the values, and the driver writes them with volatile writes.
unsafe impl Sync for Sequence {}

static SEQUENCE: Sequence = Sequence(UnsafeCell::new([HIGH_FIRST; 4]));

/// Channel of the PWM.
#[derive(Debug)]
pub struct PwmChannel(usize);

/// Starts four channels with a duty of zero.
pub fn start(pins: [Pin; 4]) -> [PwmChannel; 4] {
    for (index, pin) in pins.into_iter().enumerate() {
        pin.make_output(false);
        PWM0.psel().out(index).write_value(pin.select());
    }
    PWM0.enable().write(|w| w.set_enable(true));
    PWM0.prescaler().write(|w| w.set_prescaler(vals::Prescaler::Div1));
    PWM0.countertop().write(|w| w.set_countertop(PERIOD));
    PWM0.loop_().write(|w| w.set_cnt(vals::LoopCnt::Disabled));
    PWM0.decoder().write(|w| w.set_load(vals::Load::Individual));
    PWM0.dma().seq(0).ptr().write_value(SEQUENCE.0.get().expose_provenance() as u32);
    PWM0.dma().seq(0).maxcnt().write(|w| w.0 = 4);
    let channels = [0, 1, 2, 3].map(PwmChannel);
    play();
    channels
}

/// Loads the duties of all channels. They hold until the next call.
fn play() {
    compiler_fence(Ordering::SeqCst);
    PWM0.tasks_dma().seq(0).start().write_value(1);
}

impl ErrorType for PwmChannel {
    type Error = Infallible;
}

impl SetDutyCycle for PwmChannel {
    fn max_duty_cycle(&self) -> u16 {
        PERIOD
    }

    fn set_duty_cycle(&mut self, duty: u16) -> Result<(), Infallible> {
        let place = SEQUENCE.0.get().cast::<u16>().wrapping_add(self.0);
        // SAFETY: there are four channels. The chip reads the value as a whole.
        unsafe { ptr::write_volatile(place, duty.min(PERIOD) | HIGH_FIRST) };
        play();
        Ok(())
    }
}
