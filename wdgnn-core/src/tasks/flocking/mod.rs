//! The flocking task: agree on a velocity without colliding, in the plane or in space.
//!
//! Features (eq. `relevantFeature`), sums over the neighbors: `v_i − v_j`, `(p_i − p_j)/d⁴`, `(p_i − p_j)/d²`, with the distance
//! d taken no shorter than a floor: printed as it is, 1/d⁴ reaches 10⁴ at 0.1 m, a handful of close pairs dominates
//! training and the online step diverges. A model may have them divided by the number of neighbors and itself
//! ([`Flocking::normalized`]), which makes them means: as large in a crowd as among two.
//!
//! Local loss: the variance of velocities among a robot and its neighbors after the coming tick, if the neighbors keep
//! theirs.

mod loss;
mod motion;
mod settings;
mod task;

pub use motion::{Axes, Motion};
pub use settings::Flocking;

/// The number of flocking in the plane in weight files.
pub const TASK: u16 = <[f32; 2] as Axes>::TASK;

#[cfg(test)]
mod tests;
