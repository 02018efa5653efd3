//! `wdgnn` for Python: what is native in it. The package around it is in `wdgnn/`.
//!
//! [`swarm`] is a swarm as Python sees it, [`fleet`] the same whatever its task, [`model`] weight files, [`wire`] frames.

#![allow(clippy::needless_pass_by_value, reason = "Python hands over values")]

mod arrays;
mod error;
mod faults;
mod fleet;
mod held;
mod model;
mod order;
mod swarm;
mod wire;

#[cfg(feature = "rendezvous")]
#[path = "../../../examples/rendezvous/src/lib.rs"]
mod rendezvous;

use pyo3::prelude::*;

/// The native half of `wdgnn`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::{
        error::{Error, Refused},
        model::Model,
        swarm::Swarm,
        wire::Codec,
    };

    use super::{Bound, PyModule, PyModuleMethods as _, PyResult, order, wire};

    /// The names that options take.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("TASKS", order::TASKS)?;
        module.add("PROFILES", order::profiles())?;
        module.add("REFUSALS", wire::refusals())
    }
}
