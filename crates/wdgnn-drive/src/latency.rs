//! Estimate of how much later images are than their age says.
//!
//! The turns between successive images are compared with the turns that the wheels drove, for several delays.
//! The delay with the smallest sum of squared differences is the latency; a parabola through the sums around
//! it refines it.

use crate::{
    angle::{angle, direction, turned},
    pose_filter::Track,
};

/// Delays beyond the stated age: from −60 ms in steps of 10 ms.
const CANDIDATES: usize = 17;
const FIRST: f32 = -0.06;
const SPACING: f32 = 0.01;
/// Share of the sums that remains after each image: 20 s at 30 images per second.
const MEMORY: f32 = 0.9983;
/// Sum of squared turns in rad² that is enough for an estimate.
const ENOUGH: f32 = 0.04;
/// Best sum relative to that of all turns, above which the wheels do not explain the turns.
const UNEXPLAINED: f32 = 0.3;
/// Largest turn between two images in radians. More is a robot that was carried.
const MAX_TURN: f32 = 1.0;
/// Rate at which the offset follows the estimate, per image.
const RATE: f32 = 0.02;

#[derive(Clone, Debug)]
pub struct Latency {
    sums: [f32; CANDIDATES],
    total: f32,
    /// Heading of the last image, and the driven turns at its time for each candidate.
    last: Option<(i16, [f32; CANDIDATES])>,
    offset: f32,
}

impl Default for Latency {
    fn default() -> Self {
        Self { sums: [0.0; CANDIDATES], total: 0.0, last: None, offset: 0.0 }
    }
}

fn delay(candidate: usize) -> f32 {
    FIRST + SPACING * candidate as f32
}

impl Latency {
    /// Delay beyond the stated age in seconds.
    pub fn offset(&self) -> f32 {
        self.offset
    }

    /// Takes the heading in an image with this stated age in seconds.
    pub fn observe(&mut self, track: &Track, heading: i16, age: f32) {
        let mut driven = [0.0; CANDIDATES];
        for (index, driven) in driven.iter_mut().enumerate() {
            *driven = track.at(age + delay(index)).driven;
        }
        let Some((before, driven_before)) = self.last.replace((heading, driven)) else { return };
        let [cosine, sine] = direction(before);
        let turn = angle(turned(direction(heading), [cosine, -sine]));
        if turn.abs() > MAX_TURN {
            return;
        }
        self.total = MEMORY * self.total + turn * turn;
        for ((sum, driven), before) in self.sums.iter_mut().zip(driven).zip(driven_before) {
            let difference = turn - (driven - before);
            *sum = MEMORY * *sum + difference * difference;
        }
        if self.total > ENOUGH
            && let Some(found) = self.estimate()
        {
            self.offset += RATE * (found - self.offset);
        }
    }

    /// Forgets the last image, because the driven turns start again from 0.
    pub fn forget_last(&mut self) {
        self.last = None;
    }

    /// Returns the delay with the smallest sum; `None` if it is at the end, or if it explains too little.
    fn estimate(&self) -> Option<f32> {
        let (best, smallest) = self.sums.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1))?;
        if *smallest > UNEXPLAINED * self.total {
            return None;
        }
        // Parabola through the sums two steps away, which differ by more than the noise.
        let sum = |index: usize| self.sums.get(index).copied();
        let (before, after) = (sum(best.checked_sub(2)?)?, sum(best + 2)?);
        let curvature = before - 2.0 * smallest + after;
        let shift = if curvature > 0.0 { (before - after) / curvature } else { 0.0 };
        Some(delay(best) + SPACING * shift.clamp(-1.0, 1.0))
    }
}
