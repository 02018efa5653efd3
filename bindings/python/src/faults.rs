//! Faults from a dictionary such as `{"drop_chance": 0.3, "kill": ["3@50"]}`, with the keys of `host-sim faults --list`.
//!
//! Two more keys concern the actuators: `actuator_delay` in ticks and `actuator_lag` in seconds.

use std::any::Any;

use pyo3::{
    prelude::*,
    types::{PyDict, PyList, PyTuple},
};
use wdgnn_sim::{
    error::{Error, Result},
    medium::options::{Fault, Faults},
    option_range::OptionRange,
    world::{Environment, flock::Flock},
};

use crate::error::raise;

/// Delay and lag of all actuators.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ActuatorFaults {
    /// Ticks between a command and its effect.
    pub delay: u32,
    /// Time constant in seconds.
    pub lag: f32,
}

impl ActuatorFaults {
    /// World in which the actuators have these faults.
    pub fn world<W: Environment>(self) -> Result<W> {
        let mut world = W::default();
        if self == Self::default() {
            return Ok(world);
        }
        let any = &mut world as &mut dyn Any;
        let mismatch = if let Some(flock) = any.downcast_mut::<Flock<2>>() {
            &mut flock.mismatch
        } else if let Some(flock) = any.downcast_mut::<Flock<3>>() {
            &mut flock.mismatch
        } else {
            return Err(Error::usage(
                "actuator_delay and actuator_lag need the task flocking or flocking-3d",
            ));
        };
        (mismatch.delay, mismatch.lag) = (self.delay, self.lag);
        Ok(world)
    }

    /// Sets the fault with this key. Returns `false` for another key.
    fn set(&mut self, key: &str, value: &str) -> PyResult<bool> {
        let rejected = |expected| raise(Error::usage(format!("{key} must be {expected}, got {value}")));
        match key {
            "actuator_delay" => self.delay = OptionRange::whole(0, 100).parse(value).map_err(rejected)?,
            "actuator_lag" => self.lag = OptionRange::real(0.0, 10.0).parse(value).map_err(rejected)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Parses a dictionary of faults.
///
/// Returns `None` without faults of the radio medium, which selects the fast path of the simulator.
pub fn read(options: Option<&Bound<'_, PyDict>>) -> PyResult<(Option<Faults>, ActuatorFaults)> {
    let (mut faults, mut actuators) = (Faults::default(), ActuatorFaults::default());
    for (key, value) in options.into_iter().flatten() {
        let key = key.extract::<String>()?;
        if actuators.set(&key, &value.str()?.to_string())? {
            continue;
        }
        let fault = Fault::named(&key.replace('_', "-")).map_err(raise)?;
        let values: Vec<Bound<'_, PyAny>> =
            if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
                value.try_iter()?.collect::<PyResult<_>>()?
            } else {
                vec![value]
            };
        for value in values {
            fault.set(&mut faults, &value.str()?.to_string()).map_err(raise)?;
        }
    }
    Ok(((faults != Faults::default()).then_some(faults), actuators))
}
