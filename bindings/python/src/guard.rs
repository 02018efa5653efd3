//! Settings of the safety gate from a dictionary such as `{"separation": 0.2, "horizon": 0.3}`.

use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};
use wdgnn_core::{task::Task as _, tasks::flocking::Flocking};
use wdgnn_sim::{
    error::{Error, Result},
    model::ModelFile,
    option_range::OptionRange,
    scene::SimTask,
};

use crate::error::raise;

/// Reads one setting, or writes it.
type Setting = fn(&mut Flocking) -> &mut f32;

/// Settings by name, with their ranges. They are constants of the task, in the weight file.
const SETTINGS: [(&str, OptionRange, Setting); 4] = [
    ("separation", OptionRange::real(0.0, 10.0), |task| &mut task.separation),
    ("horizon", OptionRange::above(0.0, 10.0), |task| &mut task.horizon),
    ("repulsion", OptionRange::real(0.0, 10.0), |task| &mut task.repulsion),
    ("strength", OptionRange::real(0.0, 1000.0), |task| &mut task.strength),
];

/// Settings that replace those of the weight file.
#[derive(Clone, Debug, Default)]
pub struct GuardSettings(Vec<(Setting, f32)>);

impl GuardSettings {
    /// Parses a dictionary.
    pub fn read(options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut settings = Vec::new();
        for (key, value) in options.into_iter().flatten() {
            let (key, value) = (key.extract::<String>()?, value.extract::<f32>()?);
            let Some((_, range, setting)) = SETTINGS.iter().find(|(name, ..)| *name == key) else {
                let names = SETTINGS.map(|(name, ..)| name).join(", ");
                return Err(PyValueError::new_err(format!(
                    "unknown guard setting {key}, use one of {names}"
                )));
            };
            range.check_real(&key, value).map_err(raise)?;
            settings.push((*setting, value));
        }
        Ok(Self(settings))
    }

    /// Task with these settings.
    pub fn task<T: SimTask>(&self, task: T) -> Result<T> {
        Ok(T::from_constants(&self.constants::<T>(task.constants())?))
    }

    /// Network with these settings.
    pub fn model<T: SimTask>(&self, model: ModelFile) -> Result<ModelFile> {
        if self.0.is_empty() {
            return Ok(model);
        }
        let mut header = model.weights().header;
        header.task.numbers = self.constants::<T>(header.task.numbers)?;
        ModelFile::new(model.path(), &header, model.weights().numbers)
    }

    fn constants<T: SimTask>(&self, constants: [f32; 8]) -> Result<[f32; 8]> {
        if self.0.is_empty() {
            return Ok(constants);
        }
        // The constants of flocking in space are those of flocking in the plane.
        if ![Flocking::<2>::ID, Flocking::<3>::ID].contains(&T::ID) {
            return Err(Error::usage("guard needs the task flocking or flocking-3d"));
        }
        let mut task = Flocking::<2>::from_constants(&constants);
        for (setting, value) in &self.0 {
            *setting(&mut task) = *value;
        }
        Ok(task.constants())
    }
}
