//! Point mass: the acceleration is the command.

use wdgnn_core::tasks::flocking::Motion;

use super::{super::motion::step, Body, Dynamics, Input};

/// Point mass.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    gain: f32,
}

impl Point {
    /// Point mass with the gain 1.
    pub const NOMINAL: Self = Self { gain: 1.0 };

    /// Creates the point mass with these settings.
    pub fn new(body: &Body) -> Self {
        Self { gain: body.gain / body.mass }
    }

    /// Returns the factor of a command along an axis.
    pub fn gain(&self, axis: usize, skew: f32) -> f32 {
        match axis {
            0 => self.gain * (1.0 + skew),
            1 => self.gain * (1.0 - skew),
            _ => self.gain,
        }
    }
}

impl<const D: usize> Dynamics<D> for Point {
    type State = ();

    fn begin(&self, _: &Motion<D>) {}

    fn step(&self, (): &mut (), motion: &mut Motion<D>, input: &Input<D>) {
        let acceleration = std::array::from_fn(|axis| {
            let command = self.gain(axis, input.skew) * input.command[axis];
            command + input.gust[axis] - input.drag * motion.velocity[axis]
        });
        step(std::slice::from_mut(motion), &[acceleration], input.period);
    }
}
