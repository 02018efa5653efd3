//! H-bridges on pins.

use embedded_hal::{digital::OutputPin, pwm::SetDutyCycle};

use crate::{Drive, scaled};

/// One motor of an H-bridge.
pub trait Motor {
    /// Sets the duty, from −1 (full speed backward) to 1. NaN stops the motor.
    ///
    /// # Errors
    /// [`PwmError`].
    fn turn(&mut self, duty: f32) -> Result<(), PwmError>;
}

/// A PWM channel or a pin failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PwmError;

impl core::fmt::Display for PwmError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("a PWM channel or a pin failed")
    }
}

impl core::error::Error for PwmError {}

/// Motor with one PWM pin for each direction.
#[derive(Debug)]
pub struct PwmPair<F, B> {
    /// PWM channel that turns the motor forward.
    pub forward: F,
    /// PWM channel that turns the motor backward.
    pub backward: B,
}

impl<F: SetDutyCycle, B: SetDutyCycle> Motor for PwmPair<F, B> {
    fn turn(&mut self, duty: f32) -> Result<(), PwmError> {
        let (forward, backward) = if duty < 0.0 { (0.0, duty) } else { (duty, 0.0) };
        let forward = set(&mut self.forward, forward);
        let backward = set(&mut self.backward, backward);
        forward.and(backward)
    }
}

/// Motor with a PWM pin and a direction pin.
#[derive(Debug)]
pub struct PwmDirection<P, D> {
    /// PWM channel of the motor.
    pub duty: P,
    /// Direction pin, high for forward.
    pub forward: D,
}

impl<P: SetDutyCycle, D: OutputPin> Motor for PwmDirection<P, D> {
    fn turn(&mut self, duty: f32) -> Result<(), PwmError> {
        let direction = if duty < 0.0 { self.forward.set_low() } else { self.forward.set_high() };
        let duty = set(&mut self.duty, duty);
        direction.map_err(|_| PwmError).and(duty)
    }
}

fn set(channel: &mut impl SetDutyCycle, duty: f32) -> Result<(), PwmError> {
    let full = channel.max_duty_cycle();
    channel.set_duty_cycle(scaled(duty, full)).map_err(|_| PwmError)
}

/// Two motors on pins.
#[derive(Debug)]
pub struct HBridge<L, R> {
    /// Left motor.
    pub left: L,
    /// Right motor.
    pub right: R,
}

impl<L: Motor, R: Motor> Drive for HBridge<L, R> {
    type Error = PwmError;

    fn drive(&mut self, left: f32, right: f32) -> Result<(), PwmError> {
        let left = self.left.turn(left);
        let right = self.right.turn(right);
        left.and(right)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use embedded_hal_mock::eh1::{
        digital::{Mock as Pin, State, Transaction as Digital},
        pwm::{Mock as Pwm, Transaction as Duty},
    };

    use super::*;

    /// Channel that expects these duties of 1000.
    fn channel(duties: &[u16]) -> Pwm {
        let calls = duties.iter().flat_map(|duty| [Duty::max_duty_cycle(1000), Duty::set_duty_cycle(*duty)]);
        Pwm::new(&calls.collect::<Vec<_>>())
    }

    #[test]
    fn only_one_pin_of_a_pair_is_driven() {
        let pair = |forward: &[u16], backward: &[u16]| PwmPair {
            forward: channel(forward),
            backward: channel(backward),
        };
        let mut bridge =
            HBridge { left: pair(&[250, 0, 0], &[0, 0, 0]), right: pair(&[0, 0, 0], &[1000, 0, 0]) };
        bridge.drive(0.25, -7.0).unwrap();
        bridge.drive(f32::NAN, 0.0).unwrap();
        bridge.stop().unwrap();
        for pair in [&mut bridge.left, &mut bridge.right] {
            pair.forward.done();
            pair.backward.done();
        }
    }

    #[test]
    fn a_direction_pin_is_high_for_forward() {
        let pins = [Digital::set(State::High), Digital::set(State::Low), Digital::set(State::High)];
        let mut motor = PwmDirection { duty: channel(&[500, 500, 0]), forward: Pin::new(&pins) };
        for duty in [0.5, -0.5, 0.0] {
            motor.turn(duty).unwrap();
        }
        motor.duty.done();
        motor.forward.done();
    }
}
