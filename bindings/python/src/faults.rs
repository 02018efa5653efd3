//! Fault options from a dictionary such as `{"drop_chance": 0.3, "kill": ["3@50"]}`, named as in `host-sim swarm`.

use std::str::FromStr;

use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyDict, PyList, PyTuple},
};
use wdgnn_sim::medium::options::{Delay, Faults, Liars, Partition};

/// Parses a dictionary of faults. Returns `None` without faults, which selects the fast path of the simulator.
pub fn read(options: Option<&Bound<'_, PyDict>>) -> PyResult<Option<Faults>> {
    let Some(options) = options else { return Ok(None) };
    let mut faults = Faults::default();
    for (key, value) in options {
        let option = key.extract::<String>()?;
        match option.as_str() {
            "drop_chance" => faults.radio.loss.chance = number(&option, &value)?,
            "burst" => faults.radio.loss.burst = number(&option, &value)?,
            "corrupt_chance" => faults.radio.corrupt = number(&option, &value)?,
            "duplicate_chance" => faults.radio.duplicate = number(&option, &value)?,
            "delay" => {
                let Delay { share, ticks } = one(&option, &value)?;
                (faults.radio.delay, faults.radio.latest) = (share, ticks);
            }
            "replay" => faults.replay = Some(number(&option, &value)?),
            "forge" => faults.forge = number(&option, &value)?,
            "kill" => faults.events.kills = many(&option, &value, one)?,
            "reboot" => faults.events.reboots = many(&option, &value, one)?,
            "drop" => faults.events.drops = many(&option, &value, one)?,
            "skew" => faults.skew = number(&option, &value)?,
            "partition" => faults.partition = Some(one::<Partition>(&option, &value)?.0),
            "liars" => faults.liars = Some(one::<Liars>(&option, &value)?),
            "position_noise" => faults.senses.noise.position = number(&option, &value)?,
            "velocity_noise" => faults.senses.noise.velocity = number(&option, &value)?,
            "position_bias" => faults.senses.bias.position = number(&option, &value)?,
            "velocity_bias" => faults.senses.bias.velocity = number(&option, &value)?,
            "heading_error" => faults.senses.heading = Some(one(&option, &value)?),
            "sensor" => faults.senses.sensor = Some(one(&option, &value)?),
            "motor" => faults.drives.motor = Some(one(&option, &value)?),
            "saturation" => faults.drives.saturation = Some(number(&option, &value)?),
            "one_way" => faults.one_way = number(&option, &value)?,
            "collisions" => faults.collisions = value.extract()?,
            "interference" => faults.interference = Some(one(&option, &value)?),
            "join" => faults.join = Some(one(&option, &value)?),
            "brown_out" => faults.events.brown_outs = many(&option, &value, one)?,
            "drift" => faults.clocks.drift = number(&option, &value)?,
            "time_jump" => faults.clocks.jumps = many(&option, &value, one)?,
            "skip" => faults.clocks.skip = number(&option, &value)?,
            "hold_back" => faults.radio.hold_back = number(&option, &value)?,
            "spoof" => faults.spoof = Some(number(&option, &value)?),
            "sybil" => faults.sybil = number(&option, &value)?,
            "proofs" => faults.proofs = value.extract()?,
            "rekey" => faults.rekey = Some(one::<Partition>(&option, &value)?.0),
            "expel" => faults.expelled = many(&option, &value, number)?,
            _ => {
                return Err(PyValueError::new_err(format!("unknown fault {option}, use {NAMES}")));
            }
        }
    }
    Ok((faults != Faults::default()).then_some(faults))
}

const NAMES: &str = "drop_chance, burst, corrupt_chance, duplicate_chance, delay, one_way, collisions, interference, partition, kill, \
                     reboot, brown_out, drop, join, position_noise, velocity_noise, position_bias, velocity_bias, heading_error, \
                     sensor, motor, saturation, skew, drift, time_jump, skip, replay, forge, hold_back, liars, spoof, sybil, \
                     proofs, rekey and expel";

/// Reads a value whose parser's error is a constraint, such as `ROBOT@TICK, such as 3@50`.
fn one<T: FromStr<Err = String>>(option: &str, value: &Bound<'_, PyAny>) -> PyResult<T> {
    let text = value.str()?.to_string();
    text.parse()
        .map_err(|constraint| PyValueError::new_err(format!("{option} must be {constraint}, got {text}")))
}

/// Reads a number. [`Faults::check`] has the limits.
fn number<T: FromStr>(option: &str, value: &Bound<'_, PyAny>) -> PyResult<T> {
    let text = value.str()?.to_string();
    let constraint = if "0.5".parse::<T>().is_ok() { "a number" } else { "a whole number of at least 0" };
    text.parse().map_err(|_| PyValueError::new_err(format!("{option} must be {constraint}, got {text}")))
}

/// Parses one value or a list of values.
fn many<T>(
    option: &str,
    value: &Bound<'_, PyAny>,
    read: fn(&str, &Bound<'_, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return value.try_iter()?.map(|item| read(option, &item?)).collect();
    }
    Ok(vec![read(option, value)?])
}
