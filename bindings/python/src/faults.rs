//! Faults from a dictionary such as `{"drop_chance": 0.3, "kill": ["3@50"]}`, with the keys of `host-sim faults --list`.

use pyo3::{
    prelude::*,
    types::{PyDict, PyList, PyTuple},
};
use wdgnn_sim::medium::options::{Fault, Faults};

use crate::error::raise;

/// Parses a dictionary of faults. Returns `None` without faults, which selects the fast path of the simulator.
pub fn read(options: Option<&Bound<'_, PyDict>>) -> PyResult<Option<Faults>> {
    let Some(options) = options else { return Ok(None) };
    let mut faults = Faults::default();
    for (key, value) in options {
        let fault = Fault::named(&key.extract::<String>()?.replace('_', "-")).map_err(raise)?;
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
    Ok((faults != Faults::default()).then_some(faults))
}
