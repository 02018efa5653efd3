//! Model of a body that follows commands with a lag, such as a quadrotor that tilts first.
//!
//! With a first-order lag τ, the acceleration a follows the command u, and the lead state (p + τ v, v + τ a) moves exactly like
//! a point mass:
//!
//! ```text
//! a ← a + T/(τ + T) · (u − a)        p ← p + T v        v ← v + T a
//! v + τ a ← (v + τ a) + T u
//! ```
//!
//! A robot with a lag uses and broadcasts its lead state. Network, avoidance and tracks of neighbors then need no lag of
//! their own. The acceleration is not measured: it follows from the robot's own commands.

use wdgnn_core::tensor::Array;

/// Ticks after which a response has settled for any lag in a weight file.
const SETTLING_TICKS: u32 = 200;

/// Part of the commands that the body executes already: its acceleration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyResponse<O>(pub(crate) O);

impl<O: Array> BodyResponse<O> {
    /// Response to a command over some ticks of `period` seconds. An unknown command leaves no response.
    pub(crate) fn follow(&mut self, command: Option<&O>, ticks: u32, period: f32, lag: f32) {
        let Some(command) = command else {
            self.0 = O::ZERO;
            return;
        };
        let share = period / (lag + period);
        for _ in 0..ticks.min(SETTLING_TICKS) {
            for (a, u) in self.0.as_mut().iter_mut().zip(command.as_ref()) {
                *a += share * (u - *a);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use wdgnn_core::tasks::flocking::{Flocking, Motion};

    use super::*;
    use crate::tasks::MotionModel as _;

    #[test]
    fn lead_state_of_a_lagging_body_moves_like_a_point_mass() {
        let (task, lag) = (Flocking::<2>::DEFAULT, 0.15);
        let mut body = BodyResponse([0.0_f32; 2]);
        let mut state = Motion { position: [0.0, 1.0], velocity: [1.0, -2.0] };
        let mut lead = task.lead(&state, &body.0, lag);
        for tick in 0..100_u8 {
            let command = [f32::from(tick % 7) - 3.0, f32::from(tick % 5) - 2.0];
            body.follow(Some(&command), 1, task.period, lag);
            state.velocity =
                [state.velocity[0] + task.period * body.0[0], state.velocity[1] + task.period * body.0[1]];
            state = state.extrapolate(task.period);
            lead.velocity =
                [lead.velocity[0] + task.period * command[0], lead.velocity[1] + task.period * command[1]];
            lead = lead.extrapolate(task.period);
            let seen = task.lead(&state, &body.0, lag);
            for (seen, expected) in
                seen.velocity.iter().chain(&seen.position).zip(lead.velocity.iter().chain(&lead.position))
            {
                assert!((seen - expected).abs() < 1.0e-4, "tick {tick}: {seen} instead of {expected}");
            }
        }
    }
}
