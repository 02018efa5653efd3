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
    ///
    /// Between decision and motion, the states cannot change.
    pub fn write_states(&self, py: Python<'_>, swarm: &mut dyn RunningSwarm) -> PyResult<()> {
        let states = self.states.bind(py).readonly();
        let states = states.as_slice()?;
        check_finite("states", states, swarm.sizes().state)?;
        if swarm.is_decided() && !swarm.has_states(states) {
            return Err(PyValueError::new_err(
                "states changed after decide(): pass states from outside with step(states=...)",
            ));
        }
        swarm.set_states(states);
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

/// Numbers of an array from Python, which must have one row per robot and be finite.
pub fn check_rows(
    name: &str, rows: &PyArrayLike2<'_, f32, AllowTypeChange>, shape: [usize; 2],
) -> PyResult<Vec<f32>> {
    let found = rows.shape();
    if found != shape {
        return Err(PyValueError::new_err(format!("{name} must have the shape {shape:?}, got {found:?}")));
    }
    // Arrays may have any layout, such as that of a transposed array. The iterator runs over rows.
    let numbers: Vec<f32> = rows.as_array().iter().copied().collect();
    check_finite(name, &numbers, shape[1])?;
    Ok(numbers)
}

/// Checks that all numbers are finite. `length` is the number of columns.
fn check_finite(name: &str, numbers: &[f32], length: usize) -> PyResult<()> {
    let Some(index) = numbers.iter().position(|number| !number.is_finite()) else { return Ok(()) };
    let (robot, number) = (index / length, numbers[index]);
    let number = number.to_string().to_lowercase();
    Err(PyValueError::new_err(format!("{name} must be finite, got {number} for robot {robot}")))
}

/// Edges as an array of two rows, the format of graph libraries.
pub fn edge_array(py: Python<'_>, pairs: Vec<(i64, i64)>) -> PyResult<Bound<'_, PyArray2<i64>>> {
    let count = pairs.len();
    let (mut rows, second): (Vec<i64>, Vec<i64>) = pairs.into_iter().unzip();
    rows.extend(second);
    rows.into_pyarray(py).reshape([2, count])
}
