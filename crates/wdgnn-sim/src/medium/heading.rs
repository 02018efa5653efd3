//! Heading errors: robots whose coordinate frame is rotated.
//!
//! The sensed velocity is rotated by an angle, the command by its opposite.

use rand::RngExt as _;

use super::{
    fault_value::FaultValue,
    options::Faults,
    shares::{self, share},
};
use crate::seeds::{Purpose, generator};

/// Heading error of a share of the swarm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeadingError {
    /// Absolute angle in degrees.
    pub degrees: f32,
    /// Share of the swarm.
    pub share: f64,
}

impl FaultValue for HeadingError {
    const FORM: &'static str =
        "DEGREES:SHARE with up to 180 degrees and a share between 0 and 1, such as 30:0.2";

    fn parse(text: &str) -> Option<Self> {
        let (degrees, part) = text.split_once(':')?;
        let degrees = degrees.parse().ok().filter(|degrees| (0.0..=180.0).contains(degrees))?;
        Some(Self { degrees, share: share(part)? })
    }

    fn text(&self) -> String {
        format!("{}:{}", self.degrees, self.share)
    }
}

/// Cosine and sine of a rotation; `None` for no rotation.
pub type Rotation = Option<[f32; 2]>;

/// Draws the rotation of each robot of swarm number `swarm`, with a random sign.
pub fn draw_rotations(faults: &Faults, swarm: u64, robots: usize) -> Vec<Rotation> {
    let affected = affected_robots(faults, swarm, robots);
    let degrees = faults.heading_error.map_or(0.0, |error| error.degrees);
    // Signs have their own random stream.
    let mut random = generator(faults.seed, Purpose::Headings, swarm | 1 << 63);
    let signs: Vec<f32> = affected.iter().map(|_| if random.random_bool(0.5) { 1.0 } else { -1.0 }).collect();
    let turn = |(affected, sign): (&bool, f32)| {
        let angle = sign * degrees.to_radians();
        affected.then(|| [libm::cosf(angle), libm::sinf(angle)])
    };
    affected.iter().zip(signs).map(turn).collect()
}

/// Draws the robots with a heading error.
pub fn affected_robots(faults: &Faults, swarm: u64, robots: usize) -> Vec<bool> {
    let share = faults.heading_error.map(|error| error.share);
    shares::of(share, faults.seed, Purpose::Headings, swarm, robots)
}

/// Rotates a vector in the plane of its first two axes.
pub fn rotate(vector: &mut [f32], by: Rotation) {
    if let ([x, y, ..], Some([cosine, sine])) = (vector, by) {
        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_turn_by_hand() {
        let mut vector = [3.0, 4.0, 5.0];
        rotate(&mut vector, Some([0.0, 1.0]));
        assert_eq!(vector, [-4.0, 3.0, 5.0]);
        rotate(&mut vector, None);
        assert_eq!(vector, [-4.0, 3.0, 5.0]);
        rotate(&mut [], Some([0.0, 1.0]));
    }

    #[test]
    fn a_share_of_robots_is_rotated_in_either_direction() {
        let faults = Faults { seed: 3, ..Faults::parse("heading-error=30:0.4").unwrap() };
        let rotations: Vec<[f32; 2]> = draw_rotations(&faults, 0, 50).into_iter().flatten().collect();
        assert_eq!(rotations.len(), 20);
        assert!(
            rotations
                .iter()
                .all(|[cosine, sine]| (cosine - 0.866).abs() < 1.0e-3 && (sine.abs() - 0.5).abs() < 1.0e-3)
        );
        assert!(
            rotations.iter().any(|[_, sine]| *sine > 0.0) && rotations.iter().any(|[_, sine]| *sine < 0.0)
        );
    }
}
