//! Training: imitation of the expert, offline, by Adam.
//!
//! [`recipe`] holds the choices, [`dataset`] flies and writes down what the expert says, [`gradient`] and [`backward`] differentiate,
//! [`adam`] steps, [`run`] is the loop, [`checkpoint`] keeps it over an interruption.

pub mod adam;
pub mod backward;
pub mod checkpoint;
pub mod dataset;
pub mod gradient;
pub mod realisations;
pub mod recipe;
pub mod run;
pub mod through;
