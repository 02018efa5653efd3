//! A swarm's arrays: in numpy's memory from the beginning, filled in after every step. What Python holds is what is written to.

use numpy::{
    AllowTypeChange, IntoPyArray as _, PyArray2, PyArray3, PyArrayLike2, PyArrayMethods as _,
    PyUntypedArrayMethods as _,
};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::fleet::{Fleet, Sight, Sizes};

/// One row per robot each.
#[derive(Debug)]
pub struct Arrays {
    pub states: Py<PyArray2<f32>>,
    pub commands: Py<PyArray2<f32>>,
    pub outputs: Py<PyArray2<f32>>,
    pub taps: Py<PyArray3<f32>>,
    pub wide: Py<PyArray2<f32>>,
}

impl Arrays {
    /// Zeros.
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

    /// Takes up where Python has put robots.
    pub fn place(&self, py: Python<'_>, fleet: &mut dyn Fleet) -> PyResult<()> {
        fleet.place(self.states.bind(py).readonly().as_slice()?);
        Ok(())
    }

    /// Fills in what Python sees.
    pub fn look(&self, py: Python<'_>, fleet: &dyn Fleet) -> PyResult<()> {
        let mut states = self.states.bind(py).readwrite();
        let mut commands = self.commands.bind(py).readwrite();
        let mut outputs = self.outputs.bind(py).readwrite();
        let mut taps = self.taps.bind(py).readwrite();
        let mut wide = self.wide.bind(py).readwrite();
        fleet.look(Sight {
            states: states.as_slice_mut()?,
            commands: commands.as_slice_mut()?,
            outputs: outputs.as_slice_mut()?,
            taps: taps.as_slice_mut()?,
            wide: wide.as_slice_mut()?,
        });
        Ok(())
    }
}

/// Commands from outside, one row per robot, where they lie.
pub fn checked<'a>(
    commands: &'a PyArrayLike2<'_, f32, AllowTypeChange>,
    sizes: Sizes,
) -> PyResult<&'a [f32]> {
    let Sizes { robots, outputs, .. } = sizes;
    let found = commands.shape();
    if found != [robots, outputs] {
        return Err(PyValueError::new_err(format!(
            "commands must have one row per robot, {robots} by {outputs}, got the shape {found:?}"
        )));
    }
    let numbers = commands.as_slice().map_err(|_| {
        PyValueError::new_err("commands must lie in memory row by row: give numpy.ascontiguousarray of them")
    })?;
    if !numbers.iter().all(|number| number.is_finite()) {
        return Err(PyValueError::new_err("commands must be finite"));
    }
    Ok(numbers)
}

/// Pairs as two rows, as graph libraries have them.
pub fn two_rows(py: Python<'_>, pairs: Vec<(i64, i64)>) -> PyResult<Bound<'_, PyArray2<i64>>> {
    let count = pairs.len();
    let (mut rows, second): (Vec<i64>, Vec<i64>) = pairs.into_iter().unzip();
    rows.extend(second);
    rows.into_pyarray(py).reshape([2, count])
}
