//! Learn: the rule by which the wide part keeps being trained in flight (the paper's Algorithm 1), and its settings.

pub mod consensus;

use crate::{
    model::Metric,
    tensor::{Tensor, kernels},
};

/// Whose parameters a node averages with its own, and with which weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Mixing {
    /// Nobody's: every node learns for itself.
    Alone,
    /// The plain mean over the neighbors and itself: the paper's rule.
    Uniform,
    /// `1 / (1 + max(degree_i, degree_j))` per neighbor: keeps the swarm's mean on any undirected graph that stands still.
    /// (Degrees are told in beacons, so after a change of the graph they are right one exchange later.)
    Metropolis,
}

impl Mixing {
    /// The code in the weight file.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Alone => 0,
            Self::Uniform => 1,
            Self::Metropolis => 2,
        }
    }

    /// The mixing with this code.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        [Self::Alone, Self::Uniform, Self::Metropolis].into_iter().find(|mixing| mixing.code() == code)
    }
}

/// The settings of online learning. The weight file carries those that its model was tuned for.
///
/// `wide(t+1) = Π[ mix(wide_i, wide_j) − γ_t (∇J_i + ridge · (wide_i − wide†)) ]`, where Π projects onto a ball around the
/// offline value.
///
/// ```
/// use wdgnn_core::{Learning, Mixing};
///
/// // The paper's rule, with a ridge and a step that has halved after 100 ticks.
/// let rule = Learning { ridge: 0.1, cooling: 100.0, ..Learning::paper(3.0) };
/// assert_eq!(rule.mixing, Mixing::Uniform);
/// assert_eq!(rule.step_at(100), 1.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Learning {
    /// The step size γ; 0 switches learning off.
    pub step: f32,
    /// Ticks after which the step has halved, `γ_t = γ / (1 + t/cooling)`; 0 keeps it constant.
    pub cooling: f32,
    /// Pull towards the offline value; 0 for none, as in the paper.
    pub ridge: f32,
    /// Radius of the ball around the offline value, relative to its norm; 0 for no ball, as in the paper.
    pub ball: f32,
    /// Largest difference to a neighbor that is mixed, relative to the offline norm; 0 for no limit, as in the paper.
    pub clip: f32,
    /// The folded rule's metric.
    pub metric: Metric,
    /// How neighbors' parameters are averaged.
    pub mixing: Mixing,
    /// Whether a gradient passes where the command is clamped.
    pub through_clamp: bool,
    /// The step size of the personal bias, what a robot adds to its network's output: the share per tick by which it makes up for what its
    /// motors do otherwise than they are told ([`LocalAdaptation::compare`](crate::adaptation::LocalAdaptation::compare)). Averaged with nobody; 0 for
    /// none, as in the paper.
    pub bias_step: f32,
    /// The largest magnitude of the personal part, per output: its ball.
    pub bias_clip: f32,
    /// Whether a robot learns from what came of its commands, too ([`LocalAdaptation::heed`](crate::adaptation::LocalAdaptation::heed)), and lowers the gain of its network where they
    /// overshoot.
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
        metric: Metric::Paper,
        mixing: Mixing::Alone,
        through_clamp: false,
        bias_step: 0.0,
        bias_clip: 0.0,
        adapts_gain: false,
    };

    /// The paper's rule to the letter, with step size γ.
    #[must_use]
    pub const fn paper(step: f32) -> Self {
        Self { step, mixing: Mixing::Uniform, ..Self::OFF }
    }

    /// γ_t.
    #[must_use]
    pub fn step_at(&self, tick: u32) -> f32 {
        if self.cooling > 0.0 { self.step / (1.0 + tick as f32 / self.cooling) } else { self.step }
    }

    /// Whether a robot keeps a personal part.
    #[must_use]
    pub fn personal(&self) -> bool {
        self.bias_step > 0.0 || self.adapts_gain
    }

    pub(crate) fn numbers(&self) -> [f32; 5] {
        [self.step, self.cooling, self.ridge, self.ball, self.clip]
    }
}

/// Pulls `wide` towards `offline`: the ridge's share of a step, `wide −= γ · ridge · (own − offline)`, taken at the node's own
/// parameters before they were mixed.
#[inline]
pub fn pull<W: Tensor>(wide: &mut W, own: &W, offline: &W, strength: f32) {
    kernels::add_difference(wide.numbers_mut(), own.numbers(), offline.numbers(), -strength);
}

/// What training left out stays out: a weight that is exactly zero in `offline` is kept there. No trained weight is, so these are of features
/// that a network was not to see: positions, where robots are kept apart by other means. (Learned in flight all the same, they push those at a swarm's
/// edge: with half the range from 0.5 s on, 2.6 % of the total.)
#[inline]
pub fn keep_out<W: Tensor>(wide: &mut W, offline: &W) {
    for (w, offline) in wide.numbers_mut().iter_mut().zip(offline.numbers()) {
        if *offline == 0.0 {
            *w = 0.0;
        }
    }
}

/// Projects `wide` onto the ball of `radius` around `center`. Returns whether it was outside.
#[inline]
pub fn project<W: Tensor>(wide: &mut W, center: &W, radius: f32) -> bool {
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
    use crate::tensor::Vector;

    #[test]
    fn the_step_cools_to_half() {
        let rule = Learning { cooling: 50.0, ..Learning::paper(2.0) };
        assert_eq!(rule.step_at(0), 2.0);
        assert_eq!(rule.step_at(50), 1.0);
        assert_eq!(Learning::paper(2.0).step_at(1_000), 2.0);
    }

    #[test]
    fn the_ball_is_never_left() {
        let mut outside = Vector([4.0, 5.0]);
        assert!(project(&mut outside, &Vector([1.0, 1.0]), 2.5));
        assert_eq!(outside, Vector([2.5, 3.0]));
        let mut inside = Vector([1.5, 1.0]);
        assert!(!project(&mut inside, &Vector([1.0, 1.0]), 2.5));
        assert_eq!(inside, Vector([1.5, 1.0]));
    }

    #[test]
    fn what_training_left_out_stays_out() {
        let mut wide = Vector([3.0, 0.25, -2.0]);
        keep_out(&mut wide, &Vector([1.0, 0.0, -0.0]));
        assert_eq!(wide, Vector([3.0, 0.0, 0.0]));
    }

    #[test]
    fn the_ridge_pulls_back() {
        let mut wide = Vector([3.0]);
        pull(&mut wide, &Vector([5.0]), &Vector([1.0]), 0.25);
        assert_eq!(wide, Vector([2.0]));
    }
}
