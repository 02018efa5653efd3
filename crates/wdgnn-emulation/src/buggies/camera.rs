//! Camera without images: late, noisy and incomplete poses at 30 Hz.

use std::collections::VecDeque;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::floor::Body;

/// Interval of images in ticks of 10 ms: every third tick, and at times the fourth, make 30 images per second.
const RATE: f64 = 30.0;

/// Properties of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Time from the exposure to the poses in seconds.
    pub latency: f64,
    /// Latency that the tracker states in seconds.
    pub stated_latency: f64,
    /// Standard deviation of positions in meters and of headings in radians.
    pub noise: [f64; 2],
    /// Share of missed detections.
    pub missed: f64,
    /// Share of images in which two robots have exchanged addresses.
    pub swapped: f64,
}

impl Default for Camera {
    fn default() -> Self {
        Self { latency: 0.1, stated_latency: 0.1, noise: [0.002, 0.0087], missed: 0.02, swapped: 0.0 }
    }
}

/// Detected pose: robot, position in meters, heading in radians.
pub type Sighting = (u8, [f64; 2], f64);

/// Images on their way.
#[derive(Clone, Debug, Default)]
pub struct Exposures {
    next: f64,
    pending: VecDeque<(f64, Vec<Sighting>)>,
}

impl Camera {
    /// Exposes an image if it is due, and returns the poses that arrive at this time, each list with its true age.
    pub fn look(
        &self, now: f64, bodies: &[Body], exposures: &mut Exposures, random: &mut ChaCha8Rng,
    ) -> Option<(f64, Vec<Sighting>)> {
        if now >= exposures.next {
            exposures.next += 1.0 / RATE;
            let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
            let mut seen: Vec<Sighting> = Vec::new();
            for (robot, body) in bodies.iter().enumerate() {
                let position = body.position.map(|at| at + self.noise[0] * normal());
                seen.push((robot as u8, position, body.heading + self.noise[1] * normal()));
            }
            seen.retain(|_| random.random::<f64>() >= self.missed);
            if seen.len() > 1 && random.random::<f64>() < self.swapped {
                let (one, other) = (random.random_range(0..seen.len()), random.random_range(0..seen.len()));
                (seen[one].0, seen[other].0) = (seen[other].0, seen[one].0);
            }
            exposures.pending.push_back((now, seen));
        }
        let (exposed, seen) =
            exposures.pending.pop_front_if(|(exposed, _)| *exposed + self.latency <= now)?;
        Some((now - exposed, seen))
    }
}
