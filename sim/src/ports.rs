//! The ports of simulated robots.

use std::convert::Infallible;

use wdgnn_robot::ports::{Actuator, Sensed, Sensor};

/// What is there to be seen; nothing where the sensor fails.
#[derive(Clone, Copy, Debug)]
pub struct Eyes<S>(pub Option<S>);

/// The sensor fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blind;

impl<S: Copy> Sensor<S> for Eyes<S> {
    type Error = Blind;

    fn sense(&mut self) -> Result<Sensed<S>, Blind> {
        self.0.map(Sensed::now).ok_or(Blind)
    }
}

/// Motors write down what they are told.
#[derive(Debug)]
pub struct Motors<'a, O>(pub &'a mut O);

impl<O: Copy + AsMut<[f32]>> Actuator<O> for Motors<'_, O> {
    type Error = Infallible;

    fn act(&mut self, command: &O) -> Result<(), Infallible> {
        *self.0 = *command;
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Infallible> {
        self.0.as_mut().fill(0.0);
        Ok(())
    }
}
