//! Flocking on a robot: motion at constant velocity or acceleration, separation, and checks of reported motions.

mod avoidance;
mod consistency;
mod innovation_gate;

use wdgnn_core::{
    math,
    tasks::flocking::{Flocking, Motion, SpatialVector},
};

pub use consistency::{
    BIAS_METERS, BIAS_SIGMAS, InnovationStats, SLACK_METERS, STATISTICS_SECONDS, TRACK_SECONDS,
};

use super::MotionModel;
use crate::safety::gate::IsolationPhase;

/// Time constant of braking in [`IsolationPhase::Slow`].
const SLOW_SECONDS: f32 = 1.0;

/// Time constant of braking in [`IsolationPhase::Stop`].
///
/// Braking within one tick would oscillate where sensing is one tick late. Ten ticks of 10 ms tolerate a delay of two ticks
/// without overshoot: v' = v − k v₋₂ does not overshoot up to k = 4/27, and k is 0.1.
const STOP_SECONDS: f32 = 0.1;

impl<const D: usize> MotionModel for Flocking<D>
where
    [f32; D]: SpatialVector,
{
    fn period(&self) -> f32 {
        self.period
    }

    /// Constant velocity, tick by tick.
    fn predict(&self, state: &Motion<D>, ticks: u32) -> Motion<D> {
        let mut predicted = *state;
        for _ in 0..ticks {
            predicted = predicted.extrapolate(self.period);
        }
        predicted
    }

    /// Constant acceleration.
    fn predict_with_command(&self, state: &Motion<D>, command: &[f32; D], ticks: u32) -> Motion<D> {
        let seconds = ticks as f32 * self.period;
        let Motion { position, velocity } = state;
        let position = position.add_scaled(seconds, &velocity.add_scaled(0.5 * seconds, command));
        Motion { position, velocity: velocity.add_scaled(seconds, command) }
    }

    fn lead(&self, state: &Motion<D>, response: &[f32; D], lag: f32) -> Motion<D> {
        let Motion { position, velocity } = state;
        Motion { position: position.add_scaled(lag, velocity), velocity: velocity.add_scaled(lag, response) }
    }

    fn fallback_command(&self, own: &Motion<D>, isolation: IsolationPhase) -> [f32; D] {
        match isolation {
            IsolationPhase::Hold => [0.0; D],
            IsolationPhase::Slow => own.velocity.map(|v| math::clamp(-v / SLOW_SECONDS, self.limit)),
            IsolationPhase::Stop => own.velocity.map(|v| math::clamp(-v / STOP_SECONDS, self.limit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: Flocking = Flocking::DEFAULT;

    fn motion(x: f32, y: f32, vx: f32, vy: f32) -> Motion {
        Motion { position: [x, y], velocity: [vx, vy] }
    }

    #[test]
    fn isolated_robot_holds_then_slows_then_stops() {
        let own = motion(0.0, 0.0, 0.05, -4.0);
        assert_eq!(TASK.fallback_command(&own, IsolationPhase::Hold), [0.0, 0.0]);
        assert_eq!(TASK.fallback_command(&own, IsolationPhase::Slow), [-0.05, 4.0]);
        assert_eq!(TASK.fallback_command(&own, IsolationPhase::Stop), [-0.5, 10.0]);
    }

    #[test]
    fn stopping_robot_comes_to_rest_with_measurements_two_ticks_late() {
        let mut velocities = [4.0_f32; 3]; // now, one tick ago, two ticks ago
        for _ in 0..300 {
            let sensed = motion(0.0, 0.0, velocities[2], 0.0);
            let [braking, _] = TASK.fallback_command(&sensed, IsolationPhase::Stop);
            let next = velocities[0] + TASK.period * braking;
            assert!((0.0..=velocities[0]).contains(&next), "{next} after {velocities:?}");
            velocities = [next, velocities[0], velocities[1]];
        }
        assert!(velocities[0] < 1.0e-6, "{velocities:?}");
    }

    #[test]
    fn silent_neighbor_is_predicted_at_constant_velocity() {
        assert_eq!(TASK.predict(&motion(1.0, 2.0, 100.0, -100.0), 1), motion(2.0, 1.0, 100.0, -100.0));
    }
}
