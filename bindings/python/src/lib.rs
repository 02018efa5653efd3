//! Native module of the Python package `wdgnn`. The package itself is in `wdgnn/`.
//!
//! [`swarm`] is the Python class of a swarm, [`running_swarm`] a swarm of any task, [`model`] a weight file, [`wire`] a
//! link that encodes and decodes frames.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 passes values")]

mod arrays;
mod error;
mod faults;
mod guard;
mod model;
mod owned_swarm;
mod running_swarm;
mod swarm;
mod swarm_config;
mod wire;

#[cfg(feature = "rendezvous")]
#[path = "../../../examples/rendezvous/src/lib.rs"]
mod rendezvous;

use pyo3::prelude::*;

/// Native module of `wdgnn`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::{
        error::{Error, FrameError},
        model::Model,
        swarm::Swarm,
        wire::Link,
    };

    use super::{Bound, PyModule, PyModuleMethods as _, PyResult, swarm_config, wire};

    /// Adds the version and the valid names of options.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("TASKS", swarm_config::TASKS)?;
        module.add("PROFILES", swarm_config::profiles())?;
        module.add("FRAME_ERRORS", wire::frame_errors())
    }
}
