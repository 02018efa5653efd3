//! Flocking: robots agree on a velocity without collisions, in the plane or in space.
//!
//! Features (eq. `relevantFeature`) are sums over the neighbors of `v_i − v_j`, `(p_i − p_j)/d⁴` and
//! `(p_i − p_j)/d²`. Distances d below a floor count as the floor: without it, 1/d⁴ reaches 10⁴ at
//! 0.1 m, a few close pairs dominate training, and the online step diverges. With
//! [`Flocking::normalized`], features are divided by the number of neighbors plus one. Their size is
//! then independent of the density of the swarm.
//!
//! The local loss is the variance of the velocities of a robot and its neighbors after the current
//! tick, if the neighbors keep their velocities.

mod motion;
mod settings;
mod task;

pub use motion::{Motion, SpatialVector};
pub use settings::Flocking;

#[cfg(test)]
mod tests;
