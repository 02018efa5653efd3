//! Arrays of a swarm. They stay in numpy's memory and are updated after every step.

use numpy::{
    AllowTypeChange, IntoPyArray as _, PyArray2, PyArray3, PyArrayLike2, PyArrayMethods as _,
    PyUntypedArrayMethods as _,
};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::running_swarm::{ArraysMut, RunningSwarm, Sizes};

/// Arrays with one row per robot.
#[derive(Debug)]
pub struct Arrays {
    pub states: Py<PyArray2<f32>>,
    pub commands: Py<PyArray2<f32>>,
    pub outputs: Py<PyArray2<f32>>,
    pub taps: Py<PyArray3<f32>>,
    pub wide: Py<PyArray2<f32>>,
}

impl Arrays {
    /// Arrays of zeros.
    pub fn new(py: Python<'_>, sizes: Sizes) -> Self {
        let Sizes { robots, state, outputs, taps, features } = sizes;
        let rows = |numbers| PyArray2::zeros(py, [robots, numbers], false).unbind();
        Self {
            states: rows(state),
            commands: rows(outputs),
            outputs: rows(outputs),
            taps: PyArray3::zeros(py, [robots, taps, features], false).unbind(),
            wide: rows(sizes.wide()),
        }
    }

    /// Copies the states, which Python may have changed, to the swarm.
    pub fn write_states(&self, py: Python<'_>, swarm: &mut dyn RunningSwarm) -> PyResult<()> {
        swarm.set_states(self.states.bind(py).readonly().as_slice()?);
        Ok(())
    }

    /// Copies the swarm's data to the arrays.
    pub fn update(&self, py: Python<'_>, swarm: &dyn RunningSwarm) -> PyResult<()> {
        let mut states = self.states.bind(py).readwrite();
        let mut commands = self.commands.bind(py).readwrite();
        let mut outputs = self.outputs.bind(py).readwrite();
        let mut taps = self.taps.bind(py).readwrite();
        let mut wide = self.wide.bind(py).readwrite();
        swarm.read_into(ArraysMut {
            states: states.as_slice_mut()?,
            commands: commands.as_slice_mut()?,
            outputs: outputs.as_slice_mut()?,
            taps: taps.as_slice_mut()?,
            wide: wide.as_slice_mut()?,
        });
        Ok(())
    }
}

/// Checks commands from Python: one row per robot, contiguous and finite.
pub fn check_commands<'a>(
    commands: &'a PyArrayLike2<'_, f32, AllowTypeChange>,
    sizes: Sizes,
) -> PyResult<&'a [f32]> {
    let Sizes { robots, outputs, .. } = sizes;
    let found = commands.shape();
    if found != [robots, outputs] {
        return Err(PyValueError::new_err(format!(
            "commands must have the shape [{robots}, {outputs}], got {found:?}"
        )));
    }
    let numbers = commands
        .as_slice()
        .map_err(|_| PyValueError::new_err("commands must be contiguous, use numpy.ascontiguousarray"))?;
    if !numbers.iter().all(|number| number.is_finite()) {
        return Err(PyValueError::new_err("commands must be finite"));
    }
    Ok(numbers)
}

/// Edges as an array of two rows, the format of graph libraries.
pub fn edge_array(py: Python<'_>, pairs: Vec<(i64, i64)>) -> PyResult<Bound<'_, PyArray2<i64>>> {
    let count = pairs.len();
    let (mut rows, second): (Vec<i64>, Vec<i64>) = pairs.into_iter().unzip();
    rows.extend(second);
    rows.into_pyarray(py).reshape([2, count])
}
