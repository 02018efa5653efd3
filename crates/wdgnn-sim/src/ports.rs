//! Ports of simulated robots.

use std::convert::Infallible;

use wdgnn_robot::ports::{Actuator, Measurement, Sensor};

/// Sensor with a fixed value; `None` for a failed sensor.
#[derive(Clone, Copy, Debug)]
pub struct FixedSensor<S>(pub Option<S>);

/// Error of a failed sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SensorError;

impl<S: Copy> Sensor<S> for FixedSensor<S> {
    type Error = SensorError;

    fn sense(&mut self) -> Result<Measurement<S>, SensorError> {
        self.0.map(Measurement::now).ok_or(SensorError)
    }
}

/// Actuator that stores the last command.
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
