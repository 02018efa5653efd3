//! Map of a large swarm: deviation of velocities from the swarm's mean by square.

use serde::Serialize;

/// Mean number of robots per square.
const ROBOTS: usize = 8;

/// Largest number of squares per side, for the size of the page.
const WIDEST: usize = 96;

/// Deviations in m/s at the ends of the color scale, as in `swarm.js`. The scale is logarithmic.
const DEVIATIONS: [f64; 2] = [0.05, 5.0];

/// Letter of each shade.
const SHADES: &[u8; 48] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijkl";

/// Letter of an empty square.
const NOBODY: char = '.';

/// Map over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Map {
    /// Squares per side.
    side: usize,
    /// Width of a square.
    meters: f64,
    /// A letter per square and recorded tick, row by row from the top.
    frames: Vec<String>,
}

impl Map {
    /// Creates an empty map for a number of robots.
    pub fn new(robots: usize) -> Self {
        Self { side: (robots / ROBOTS).isqrt().clamp(1, WIDEST), meters: 0.0, frames: Vec::new() }
    }

    /// Records a tick. The map follows the swarm's center with the initial scale.
    pub fn observe(&mut self, robots: impl Iterator<Item = ([f32; 2], [f32; 2])> + Clone) {
        let mut sums = [[0.0; 2]; 2];
        let mut count = 0.0;
        for (place, velocity) in robots.clone() {
            for (sums, numbers) in sums.iter_mut().zip([place, velocity]) {
                sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += f64::from(number));
            }
            count += 1.0;
        }
        let [center, mean] = sums.map(|sums| sums.map(|sum| sum / count));
        let off =
            |numbers: [f32; 2], from: [f64; 2]| [0, 1].map(|axis| f64::from(numbers[axis]) - from[axis]);
        if self.frames.is_empty() {
            let farthest =
                robots.clone().flat_map(|(place, _)| off(place, center)).map(f64::abs).fold(0.0, f64::max);
            self.meters = (2.1 * farthest / self.side as f64).max(1.0e-3);
        }
        let half = self.side as f64 / 2.0;
        let mut squares = vec![(0.0, 0_u32); self.side * self.side];
        for (place, velocity) in robots {
            let [x, y] = off(place, center).map(|meters| meters / self.meters);
            let (column, row) = (half + x, half - y);
            if column >= 0.0 && row >= 0.0 && (column as usize) < self.side && (row as usize) < self.side {
                let (sum, count) = &mut squares[row as usize * self.side + column as usize];
                let [x, y] = off(velocity, mean);
                *sum += x.hypot(y);
                *count += 1;
            }
        }
        let letter =
            |(sum, count): (f64, u32)| if count == 0 { NOBODY } else { shade(sum / f64::from(count)) };
        self.frames.push(squares.into_iter().map(letter).collect());
    }

    /// Returns the width of a square in words.
    pub fn square(&self) -> String {
        format!("{:.1} m", self.meters)
    }
}

/// Returns the letter of a deviation.
fn shade(deviation: f64) -> char {
    let [low, high] = DEVIATIONS;
    let share = (deviation.max(low) / low).ln() / (high / low).ln();
    let last = SHADES.len() - 1;
    char::from(SHADES[((share * last as f64).round() as usize).min(last)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_have_the_shade_of_their_robots() {
        let mut map = Map::new(32);
        assert_eq!(map.side, 2);
        // Two robots at the lower left disagree with one at the upper right; the mean velocity is
        // (1, 0).
        let robots = [([0.0, 0.0], [0.0, 0.0]), ([0.1, 0.0], [0.0, 0.0]), ([4.0, 6.0], [3.0, 0.0])];
        map.observe(robots.into_iter());
        let [one, two] = [1.0, 2.0].map(shade);
        assert_eq!(map.frames, [format!(".{two}{one}.")]);
        // All robots have moved on and agree.
        map.observe(robots.into_iter().map(|([x, y], _)| ([x + 100.0, y], [3.0, 0.0])));
        assert_eq!(map.frames[1], ".00.");
    }

    #[test]
    fn shades_are_logarithmic_between_two_ends() {
        assert_eq!([0.0, 0.05, 5.0, 1.0e9, f64::NAN].map(shade), ['0', '0', 'l', 'l', '0']);
        assert_eq!(shade(0.5), char::from(SHADES[24]));
    }

    #[test]
    fn a_million_robots_fit_into_a_page() {
        assert_eq!((Map::new(1_000_000).side, Map::new(2000).side, Map::new(0).side), (96, 15, 1));
    }
}
