//! Point mass: the acceleration is the command.

use wdgnn_core::tasks::flocking::Motion;

use super::{super::motion::step, Body, BodyGrad, Dynamics, Input};

/// Point mass.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    gain: f32,
}

impl Point {
    /// Creates the point mass with these settings.
    pub fn new(body: &Body) -> Self {
        Self { gain: body.gain / body.mass }
    }

    /// Returns the factor of a command along an axis.
    fn gain(&self, axis: usize, skew: f32) -> f32 {
        match axis {
            0 => self.gain * (1.0 + skew),
            1 => self.gain * (1.0 - skew),
            _ => self.gain,
        }
    }

    /// Goes back over a step.
    pub fn step_back<const D: usize>(&self, input: &Input<D>, grad: &mut BodyGrad<D>) {
        for (axis, (velocity, command)) in grad.velocity.iter_mut().zip(&mut grad.command).enumerate() {
            *command = self.gain(axis, input.skew) * input.period * *velocity;
            *velocity *= 1.0 - input.drag * input.period;
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
