//! Flocking: robots agree on a velocity, in the plane (the paper's) or in space.

pub mod adjoint;
pub mod baselines;
pub mod body;
pub mod central_rule;
pub mod dynamics;
pub mod expert;
pub mod motion;
pub mod olfati_saber;
pub mod start;
pub mod tuned;
pub mod world;

pub use self::{
    motion::{place, variation},
    world::Flock,
};
