//! Body velocities of a differential drive as duties of its wheels.

/// Dimensions and calibration of two wheels.
///
/// The model of a wheel: it stands below the duty `dead_zone`, turns with `min_speed` at that duty, and its speed
/// grows linearly from there to `full_speed` at duty 1. `gain` multiplies the speeds of each wheel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wheels {
    /// Distance between the wheels in meters.
    pub track: f32,
    /// Speed at full duty in m/s.
    pub full_speed: f32,
    /// Speed at the duty `dead_zone` in m/s.
    pub min_speed: f32,
    /// Duty below which a wheel stands.
    pub dead_zone: f32,
    /// Speed of the left and the right wheel, relative to the model. Negative for a motor that is mounted in reverse.
    pub gain: [f32; 2],
}

impl Wheels {
    /// Equal wheels without a dead zone, 0.1 m apart, with 1 m/s at full duty.
    pub const IDEAL: Self =
        Self { track: 0.1, full_speed: 1.0, min_speed: 0.0, dead_zone: 0.0, gain: [1.0; 2] };

    /// Returns whether the numbers describe wheels.
    ///
    /// Lengths and speeds are positive and finite, and `min_speed` and `dead_zone` are below their maxima.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let Self { track, full_speed, min_speed, dead_zone, gain } = *self;
        let is_positive = |number: f32| number > 0.0 && number.is_finite();
        is_positive(track)
            && is_positive(full_speed)
            && (0.0..full_speed).contains(&min_speed)
            && (0.0..1.0).contains(&dead_zone)
            && gain.iter().all(|gain| is_positive(gain.abs()))
    }

    /// Returns the speeds of the left and the right wheel in m/s.
    ///
    /// `forward` is in m/s, `turn` in rad/s to the left. Both wheels are slowed down by one factor if one of them
    /// would have to turn faster than it can, so that the curvature stays. NaN becomes 0.
    #[must_use]
    pub fn speeds(&self, forward: f32, turn: f32) -> [f32; 2] {
        let rim = 0.5 * self.track * turn;
        let speeds = [forward - rim, forward + rim];
        if !speeds.iter().all(|speed| speed.is_finite()) {
            return [0.0; 2];
        }
        let mut factor = 1.0_f32;
        for (speed, gain) in speeds.iter().zip(self.gain) {
            let limit = self.full_speed * gain.abs();
            if speed.abs() > limit {
                factor = factor.min(limit / speed.abs());
            }
        }
        speeds.map(|speed| factor * speed)
    }

    /// Returns the duties of the left and the right wheel for body velocities, as [`Wheels::speeds`].
    ///
    /// A speed below half of `min_speed` becomes 0, and a speed between that and `min_speed` becomes `min_speed`.
    #[must_use]
    pub fn duties(&self, forward: f32, turn: f32) -> [f32; 2] {
        let [left, right] = self.speeds(forward, turn);
        [self.duty(left, self.gain[0]), self.duty(right, self.gain[1])]
    }

    /// Returns the speeds of the wheels at these duties in m/s.
    #[must_use]
    pub fn rim_speeds(&self, duties: [f32; 2]) -> [f32; 2] {
        [self.rim_speed(duties[0], self.gain[0]), self.rim_speed(duties[1], self.gain[1])]
    }

    fn rim_speed(&self, duty: f32, gain: f32) -> f32 {
        let share = (duty.abs() - self.dead_zone) / (1.0 - self.dead_zone);
        // Half of the smallest step of a motor board is lost in its rounding.
        if duty == 0.0 || share < -0.01 {
            return 0.0;
        }
        gain * (self.min_speed + share.max(0.0) * (self.full_speed - self.min_speed)).copysign(duty)
    }

    fn duty(&self, speed: f32, gain: f32) -> f32 {
        let nominal = speed / gain;
        let slowness = nominal.abs() - self.min_speed;
        if nominal == 0.0 || slowness < -0.5 * self.min_speed {
            return 0.0;
        }
        let share = slowness.max(0.0) / (self.full_speed - self.min_speed);
        let duty = self.dead_zone + share * (1.0 - self.dead_zone);
        duty.min(1.0).copysign(nominal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHEELS: Wheels =
        Wheels { track: 0.1, full_speed: 0.4, min_speed: 0.08, dead_zone: 0.2, gain: [1.0; 2] };

    fn assert_near(found: [f32; 2], expected: [f32; 2]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1.0e-6, "{found}, expected {expected}");
        }
    }

    #[test]
    fn a_turn_to_the_left_turns_the_right_wheel_faster() {
        assert_near(WHEELS.speeds(0.2, 1.0), [0.15, 0.25]);
        assert_near(WHEELS.speeds(0.0, -2.0), [0.1, -0.1]);
    }

    #[test]
    fn duties_are_linear_above_the_dead_zone() {
        assert_near(WHEELS.duties(0.08, 0.0), [0.2; 2]);
        assert_near(WHEELS.duties(0.24, 0.0), [0.6; 2]);
        assert_near(WHEELS.duties(-0.4, 0.0), [-1.0; 2]);
        // Slower than the slowest speed: that speed or rest, whichever is closer.
        assert_near(WHEELS.duties(0.05, 0.0), [0.2; 2]);
        assert_near(WHEELS.duties(-0.05, 0.0), [-0.2; 2]);
        assert_near(WHEELS.duties(0.03, 0.0), [0.0; 2]);
        assert_near(WHEELS.duties(0.0, 0.0), [0.0; 2]);
    }

    #[test]
    fn saturation_keeps_the_curvature() {
        let [left, right] = WHEELS.speeds(0.6, 4.0);
        assert_near([left, right], [0.2, 0.4]);
        let slow_right = Wheels { gain: [1.0, 0.5], ..WHEELS };
        assert_near(slow_right.speeds(0.4, 0.0), [0.2; 2]);
        assert_near(slow_right.duties(0.4, 0.0), [0.5, 1.0]);
    }

    #[test]
    fn speeds_follow_from_duties() {
        let wheels = Wheels { gain: [-1.0, 0.8], ..WHEELS };
        for forward in [-0.3, -0.1, 0.0, 0.15] {
            assert_near(wheels.rim_speeds(wheels.duties(forward, 0.0)), [forward; 2]);
        }
        assert_near(WHEELS.rim_speeds([0.1, -1.0]), [0.0, -0.4]);
    }

    #[test]
    fn gains_correct_each_wheel_and_reverse_it() {
        let wheels = Wheels { gain: [-1.0, 0.8], ..WHEELS };
        let [left, right] = wheels.duties(0.24, 0.0);
        assert_near([left, right], [-0.6, 0.2 + (0.3 - 0.08) / 0.32 * 0.8]);
    }

    #[test]
    fn a_velocity_that_is_not_finite_stops() {
        for (forward, turn) in [(f32::NAN, 0.0), (0.1, f32::INFINITY), (f32::NEG_INFINITY, 1.0)] {
            assert_eq!(WHEELS.duties(forward, turn), [0.0; 2]);
        }
    }

    #[test]
    fn impossible_wheels_are_not_valid() {
        assert!(WHEELS.is_valid() && Wheels::IDEAL.is_valid());
        let invalid = [
            Wheels { track: 0.0, ..WHEELS },
            Wheels { full_speed: f32::NAN, ..WHEELS },
            Wheels { min_speed: 0.4, ..WHEELS },
            Wheels { dead_zone: 1.0, ..WHEELS },
            Wheels { gain: [1.0, 0.0], ..WHEELS },
            Wheels { gain: [f32::INFINITY, 1.0], ..WHEELS },
        ];
        assert!(invalid.iter().all(|wheels| !wheels.is_valid()));
    }
}
