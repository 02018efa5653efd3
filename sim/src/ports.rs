//! The ports of simulated robots.

use std::convert::Infallible;

use wdgnn_robot::ports::{Actuator, Sensed, Sensor};

/// What is there to be seen; nothing where the sensor fails.
#[derive(Clone, Copy, Debug)]
pub struct FixedSensor<S>(pub Option<S>);

/// The sensor fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SensorError;

impl<S: Copy> Sensor<S> for FixedSensor<S> {
    type Error = SensorError;

    fn sense(&mut self) -> Result<Sensed<S>, SensorError> {
        self.0.map(Sensed::now).ok_or(SensorError)
    }
}

/// Motors write down what they are told.
#[derive(Debug)]
pub struct RecordingActuator<'a, O>(pub &'a mut O);

impl<O: Copy + AsMut<[f32]>> Actuator<O> for RecordingActuator<'_, O> {
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
