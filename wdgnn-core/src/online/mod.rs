//! Online learning: settings and elementary steps of the paper's Algorithm 1.
//!
//! [`crate::agent::Agent::learn`] combines the steps.

pub mod consensus;

use serde::{Deserialize, Serialize};

use crate::{
    model::GradientMetric,
    tensor::{Tensor, kernels},
};

/// Weights with which a robot averages its parameters with those of its neighbors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Mixing {
    /// No averaging.
    Alone,
    /// Plain mean over the neighbors and the robot: the paper's rule.
    Uniform,
    /// Weight `1 / (1 + max(degree_i, degree_j))` per neighbor.
    ///
    /// It preserves the mean of the swarm on every static undirected graph, because both ends of an
    /// edge use one weight. Messages carry the degree, so the weights follow a change of the graph one
    /// exchange later.
    ///
    /// Over a link without a degree, such as `esb32` of `wdgnn-link`, messages arrive with degree 0.
    /// Each end then uses `1 / (1 + own degree)`: the weights are asymmetric, and the mean of the
    /// swarm drifts toward robots with many neighbors.
    Metropolis,
}

impl Mixing {
    /// All rules, in the order of their codes in weight files.
    pub const ALL: &'static [Self] = &[Self::Alone, Self::Uniform, Self::Metropolis];
}

/// Settings of online learning. The weight file carries those that its network was tuned for.
///
/// `wide(t+1) = Π[ mix(wide_i, wide_j) − γ_t (∇J_i + ridge · (wide_i − wide†)) ]`, where Π projects
/// onto a ball around the offline parameters wide†.
///
/// ```
/// use wdgnn_core::online::{Learning, Mixing};
///
/// // The paper's rule, with a ridge and a step size that halves within 100 ticks.
/// let rule = Learning { ridge: 0.1, cooling: 100.0, ..Learning::paper(3.0) };
/// assert_eq!(rule.mixing, Mixing::Uniform);
/// assert_eq!(rule.step_at(100), 1.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Learning {
    /// Step size γ; 0 switches learning off.
    pub step: f32,
    /// Ticks after which the step size has halved, `γ_t = γ / (1 + t/cooling)`; 0 keeps it constant.
    pub cooling: f32,
    /// Pull towards the offline parameters; 0 for none, as in the paper.
    pub ridge: f32,
    /// Radius of the ball around the offline parameters, relative to their norm; 0 for no ball.
    pub ball: f32,
    /// Largest mixed difference to a neighbor, relative to the offline norm; 0 for no limit.
    pub clip: f32,
    /// Metric with which models of this file are built.
    pub metric: GradientMetric,
    /// Weights of the averaging.
    pub mixing: Mixing,
    /// Whether the gradient passes where the command is saturated.
    pub through_clamp: bool,
    /// Step size of the local bias; 0 for none, as in the paper.
    ///
    /// See [`ActuatorCalibration::adapt_bias`](crate::adaptation::ActuatorCalibration::adapt_bias).
    pub bias_step: f32,
    /// Largest magnitude of the local bias, per output.
    pub bias_clip: f32,
    /// Whether a robot lowers the gain of its network where commands overshoot.
    ///
    /// See [`ActuatorCalibration::adapt_gain`](crate::adaptation::ActuatorCalibration::adapt_gain).
    pub adapts_gain: bool,
}

impl Learning {
    /// No learning and no averaging: the network as trained offline.
    pub const OFF: Self = Self {
        step: 0.0,
        cooling: 0.0,
        ridge: 0.0,
        ball: 0.0,
        clip: 0.0,
        metric: GradientMetric::Paper,
        mixing: Mixing::Alone,
        through_clamp: false,
        bias_step: 0.0,
        bias_clip: 0.0,
        adapts_gain: false,
    };

    /// The paper's rule with step size γ.
    pub const fn paper(step: f32) -> Self {
        Self { step, mixing: Mixing::Uniform, ..Self::OFF }
    }

    /// Step size γ_t, `ticks` after the first tick.
    pub fn step_at(&self, ticks: u32) -> f32 {
        if self.cooling > 0.0 { self.step / (1.0 + ticks as f32 / self.cooling) } else { self.step }
    }

    /// Whether a robot adapts its own bias, gain or heading.
    pub fn adapts_locally(&self) -> bool {
        self.bias_step > 0.0 || self.adapts_gain
    }
}

/// Takes the ridge's share of a step: `wide −= strength · (own − offline)`.
///
/// `own` are the robot's parameters before mixing.
#[inline]
pub fn apply_ridge<W: Tensor>(wide: &mut W, own: &W, offline: &W, strength: f32) {
    kernels::add_difference(wide.numbers_mut(), own.numbers(), offline.numbers(), -strength);
}

/// Sets every parameter to zero that is exactly zero in `offline`.
///
/// Training produces exact zeros only for features that a network must not use, such as positions
/// where a separate law keeps robots apart. Learned in flight, these weights push robots at the edge
/// of a swarm (2.6 % of the total with half the radio range from 0.5 s on).
#[inline]
pub fn keep_zeros<W: Tensor>(wide: &mut W, offline: &W) {
    for (w, offline) in wide.numbers_mut().iter_mut().zip(offline.numbers()) {
        if *offline == 0.0 {
            *w = 0.0;
        }
    }
}

/// Projects `wide` onto the ball of `radius` around `center`. Returns whether it was outside.
#[inline]
pub fn project_onto_ball<W: Tensor>(wide: &mut W, center: &W, radius: f32) -> bool {
    let distance = wide.distance(center);
    if distance <= radius {
        return false;
    }
    let shrink = radius / distance;
    for (w, center) in wide.numbers_mut().iter_mut().zip(center.numbers()) {
        *w = center + (*w - center) * shrink;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Filter;

    #[test]
    fn step_size_halves_after_cooling() {
        let rule = Learning { cooling: 50.0, ..Learning::paper(2.0) };
        assert_eq!(rule.step_at(0), 2.0);
        assert_eq!(rule.step_at(50), 1.0);
        assert_eq!(Learning::paper(2.0).step_at(1_000), 2.0);
    }

    #[test]
    fn projection_ends_on_the_ball() {
        let mut outside = Filter([[[4.0, 5.0]]]);
        assert!(project_onto_ball(&mut outside, &Filter([[[1.0, 1.0]]]), 2.5));
        assert_eq!(outside, Filter([[[2.5, 3.0]]]));
        let mut inside = Filter([[[1.5, 1.0]]]);
        assert!(!project_onto_ball(&mut inside, &Filter([[[1.0, 1.0]]]), 2.5));
        assert_eq!(inside, Filter([[[1.5, 1.0]]]));
    }

    #[test]
    fn zero_weights_stay_zero() {
        let mut wide = Filter([[[3.0, 0.25, -2.0]]]);
        keep_zeros(&mut wide, &Filter([[[1.0, 0.0, -0.0]]]));
        assert_eq!(wide, Filter([[[3.0, 0.0, 0.0]]]));
    }

    #[test]
    fn ridge_pulls_towards_the_offline_parameters() {
        let mut wide = Filter([[[3.0]]]);
        apply_ridge(&mut wide, &Filter([[[5.0]]]), &Filter([[[1.0]]]), 0.25);
        assert_eq!(wide, Filter([[[2.0]]]));
    }
}
