//! One axis of what a neighbour says, held against its track.

use crate::math;

/// What is possible in the time for which a neighbour was silent, and how much its word weighs.
pub(super) struct Possible {
    pub(super) time: f32,
    pub(super) share: f32,
    pub(super) weight: f32,
    pub(super) reach: f32,
    pub(super) gate: f32,
    pub(super) fastest: f32,
    pub(super) step: f32,
    /// What one axis adds to a variance per axis: a step between two words has twice the variance of one.
    pub(super) axis: f32,
}

impl Possible {
    /// Holds one axis of a word against its track. Leaves the track in `position`, and the average and the last miss in
    /// `memory`; tells whether it is possible and the square of its noise.
    #[inline(never)] // once in flash, not once per axis
    pub(super) fn weigh(
        &self,
        position: &mut f32,
        expected: f32,
        change: f32,
        memory: (&mut f32, &mut f32),
    ) -> (bool, f32) {
        let (bias, last) = memory;
        let Self { reach, gate, .. } = *self;
        let miss = *position - (expected + 0.5 * self.time * change);
        let possible = change.abs() <= self.fastest && miss.abs() <= gate;
        // What is no number leaves numbers: its track begins anew, and it missed by as much as can be.
        let told = if miss.abs() <= gate { miss.abs() } else { gate } - reach;
        let told = if told > 0.0 { told.copysign(miss) } else { 0.0 };
        let miss = if miss.is_finite() { miss } else { 0.0 };
        // What it can have done meanwhile is no noise; nor is one jump proof of much.
        let step = (miss - *last).abs() - reach;
        let step = if step > 0.0 { math::clamp(step, self.step) } else { 0.0 };
        *bias += self.weight * (told - *bias);
        *last = miss;
        *position -= (1.0 - self.share) * miss;
        (possible, self.axis * step * step)
    }
}

/// The larger of two shares, and no more than all.
pub(super) fn at_most_one(share: f32, least: f32) -> f32 {
    let share = if share > least { share } else { least };
    if share < 1.0 { share } else { 1.0 }
}
