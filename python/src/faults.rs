//! What goes wrong, from a dictionary with the command line's words: `{"drop_chance": 0.3, "kill": ["3@50"]}`.

use std::str::FromStr;

use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyDict, PyList, PyTuple},
};
use wdgnn_sim::air::options::{Delay, Faults, Liars, Partition};

/// Reads a dictionary of faults. None of it set is no faults: the swarm flies by the fast path.
pub fn read(words: Option<&Bound<'_, PyDict>>) -> PyResult<Option<Faults>> {
    let Some(words) = words else { return Ok(None) };
    let mut faults = Faults::default();
    for (key, value) in words {
        let option = key.extract::<String>()?;
        match option.as_str() {
            "drop_chance" => faults.radio.loss.chance = one(&option, &value)?,
            "burst" => faults.radio.loss.burst = one(&option, &value)?,
            "corrupt_chance" => faults.radio.corrupt = one(&option, &value)?,
            "duplicate_chance" => faults.radio.duplicate = one(&option, &value)?,
            "delay" => {
                let Delay { share, ticks } = one(&option, &value)?;
                (faults.radio.delay, faults.radio.latest) = (share, ticks);
            }
            "replay" => faults.replay = Some(one(&option, &value)?),
            "forge" => faults.forge = one(&option, &value)?,
            "kill" => faults.events.kills = many(&option, &value)?,
            "reboot" => faults.events.reboots = many(&option, &value)?,
            "drop" => faults.events.drops = many(&option, &value)?,
            "skew" => faults.skew = one(&option, &value)?,
            "partition" => faults.partition = Some(one::<Partition>(&option, &value)?.0),
            "liars" => faults.liars = Some(one::<Liars>(&option, &value)?),
            "position_noise" => faults.noise.position = one(&option, &value)?,
            "velocity_noise" => faults.noise.velocity = one(&option, &value)?,
            _ => return Err(PyValueError::new_err(format!("there is no fault {option}: there are {NAMES}"))),
        }
    }
    Ok((faults != Faults::default()).then_some(faults))
}

const NAMES: &str = "drop_chance, burst, corrupt_chance, duplicate_chance, delay, replay, forge, kill, reboot, drop, skew, partition, \
                     liars, position_noise and velocity_noise";

fn one<T: FromStr<Err: ToString>>(option: &str, value: &Bound<'_, PyAny>) -> PyResult<T> {
    let text = value.str()?.to_string();
    text.parse()
        .map_err(|error: T::Err| PyValueError::new_err(format!("{option} {text}: {}", error.to_string())))
}

/// One or a list of them.
fn many<T: FromStr<Err: ToString>>(option: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return value.try_iter()?.map(|item| one(option, &item?)).collect();
    }
    Ok(vec![one(option, value)?])
}
