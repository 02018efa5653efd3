//! Plausibility test of one axis of a state against its track.

use wdgnn_core::math;

/// Limits of a state after some silent time, and its weight in the statistics.
pub(super) struct InnovationGate {
    /// Time since the last state, in seconds.
    pub(super) time: f32,
    /// Share of the state in the track.
    pub(super) share: f32,
    /// Share of the innovation in the statistics.
    pub(super) weight: f32,
    /// Innovation that acceleration explains, in meters.
    pub(super) reach: f32,
    /// Largest plausible innovation, in meters.
    pub(super) limit: f32,
    /// Largest plausible change of velocity, in m/s.
    pub(super) max_change: f32,
    /// Largest step between innovations that counts as noise, in meters.
    pub(super) max_step: f32,
    /// Weight of one axis in the variance per axis.
    ///
    /// A step between two innovations has twice the variance of one.
    pub(super) axis_weight: f32,
}

impl InnovationGate {
    /// Tests one axis; returns whether it is plausible and the square of its noise.
    ///
    /// Writes the track to `position`, and the mean and the last innovation to `memory`.
    #[inline(never)] // One copy in flash, not one per axis.
    pub(super) fn test_axis(
        &self, position: &mut f32, expected: f32, change: f32, memory: (&mut f32, &mut f32),
    ) -> (bool, f32) {
        let (bias, last) = memory;
        let Self { reach, limit, .. } = *self;
        let innovation = *position - (expected + 0.5 * self.time * change);
        let plausible = change.abs() <= self.max_change && innovation.abs() <= limit;
        // A number that is not finite counts as the largest innovation, so the statistics stay
        // finite.
        let excess = if innovation.abs() <= limit { innovation.abs() } else { limit } - reach;
        let excess = if excess > 0.0 { excess.copysign(innovation) } else { 0.0 };
        let innovation = if innovation.is_finite() { innovation } else { 0.0 };
        // A step that acceleration explains is not noise, and the weight of one jump is limited.
        let step = (innovation - *last).abs() - reach;
        let step = if step > 0.0 { math::clamp(step, self.max_step) } else { 0.0 };
        *bias += self.weight * (excess - *bias);
        *last = innovation;
        *position -= (1.0 - self.share) * innovation;
        (plausible, self.axis_weight * step * step)
    }
}

/// The larger of two shares, at most 1.
pub(super) fn bounded_share(share: f32, least: f32) -> f32 {
    let share = if share > least { share } else { least };
    if share < 1.0 { share } else { 1.0 }
}
