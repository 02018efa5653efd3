//! Drive by which a camera measures wheels: steps of equal duties forward and backward, and a spin.
//!
//! `tools/tracker.py wheels` reads the log of such a drive.

/// Duty of the first step, difference between two steps, and their number.
const FIRST: f32 = 0.1;
const INCREASE: f32 = 0.05;
const STEPS: u32 = 9;
/// Hundredths of a second in which the robot drives, and stands afterwards.
const DRIVING: u32 = 80;
const STANDING: u32 = 40;
/// Duty of the spin to the left, and its length in hundredths of a second.
const SPIN: f32 = 0.4;
const SPINNING: u32 = 200;

/// Duties of the left and the right wheel at a time in hundredths of a second; `None` behind the end.
pub fn duties(time: u32) -> Option<[f32; 2]> {
    let part = DRIVING + STANDING;
    let (index, within) = (time / part, time % part);
    if index < 2 * STEPS {
        let duty = FIRST + INCREASE * (index / 2) as f32;
        let duty = if index.is_multiple_of(2) { duty } else { -duty };
        return Some(if within < DRIVING { [duty; 2] } else { [0.0; 2] });
    }
    (time < 2 * STEPS * part + SPINNING).then_some([-SPIN, SPIN])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_robot_returns_after_each_step_and_spins_at_the_end() {
        let mut sum = 0.0;
        for time in 0..2160 {
            let [left, right] = duties(time).unwrap();
            assert!(left == right && left.abs() <= 0.501);
            sum += left;
        }
        assert!(sum.abs() < 1.0e-3 && duties(0) == Some([0.1; 2]) && duties(100) == Some([0.0; 2]));
        assert_eq!((duties(2160), duties(2359), duties(2360)), (Some([-0.4, 0.4]), Some([-0.4, 0.4]), None));
    }
}
