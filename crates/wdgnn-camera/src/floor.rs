//! Floor textures: reflectance of the floor at a point, in meters.

/// Kind of floor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Floor {
    /// One gray.
    Plain,
    /// Fine irregular pattern.
    #[default]
    Carpet,
    /// Boards of 120 mm with grain and dark joints.
    Planks,
    /// Bright tiles of 300 mm with dark joints, which contain many squares.
    Tiles,
}

impl Floor {
    /// Reflectance at a point.
    pub fn reflectance(self, [x, y]: [f64; 2], seed: u64) -> f64 {
        match self {
            Self::Plain => 0.45,
            Self::Carpet => {
                0.3 + 0.12 * noise([x / 0.004, y / 0.004], seed)
                    + 0.08 * noise([x / 0.03, y / 0.03], seed + 1)
            }
            Self::Planks => {
                let board = libm::floor(y / 0.12);
                let along = x + 2.0 * hash(board as i64, 0, seed);
                let joint = (y / 0.12 - board) < 0.015 || (along / 0.9 - libm::floor(along / 0.9)) < 0.002;
                let tone =
                    0.42 + 0.14 * (hash(board as i64, libm::floor(along / 0.9) as i64, seed + 1) - 0.5);
                let grain = 0.12 * (noise([along / 0.08, y / 0.005], seed + 2) - 0.5);
                if joint { 0.12 } else { tone + grain }
            }
            Self::Tiles => {
                let tile = [x, y].map(|at| libm::floor(at / 0.3));
                let joint = [x / 0.3 - tile[0], y / 0.3 - tile[1]].into_iter().any(|phase| phase < 0.015);
                let tone = 0.62 + 0.06 * (hash(tile[0] as i64, tile[1] as i64, seed) - 0.5);
                if joint { 0.2 } else { tone + 0.04 * (noise([x / 0.01, y / 0.01], seed + 1) - 0.5) }
            }
        }
    }
}

/// Smooth noise between 0 and 1 with a period of one unit.
fn noise([x, y]: [f64; 2], seed: u64) -> f64 {
    let corner = [libm::floor(x), libm::floor(y)];
    let smooth = |t: f64| t * t * (3.0 - 2.0 * t);
    let (u, v) = (smooth(x - corner[0]), smooth(y - corner[1]));
    let at = |dx: i64, dy: i64| hash(corner[0] as i64 + dx, corner[1] as i64 + dy, seed);
    let row = |dy: i64| at(0, dy) * (1.0 - u) + at(1, dy) * u;
    row(0) * (1.0 - v) + row(1) * v
}

/// Number from 0 to 1 for a cell.
fn hash(x: i64, y: i64, seed: u64) -> f64 {
    let mixed = mix(seed ^ mix(x as u64 ^ mix(y as u64)));
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

/// Output function of the generator SplitMix64.
pub fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reflectances_are_plausible_and_repeat_with_the_seed() {
        for floor in [Floor::Plain, Floor::Carpet, Floor::Planks, Floor::Tiles] {
            let values = |seed| -> Vec<f64> {
                let point = |step: u32| [f64::from(step % 100) * 0.031 - 1.0, f64::from(step / 100) * 0.017];
                (0..10_000).map(|step| floor.reflectance(point(step), seed)).collect()
            };
            assert!(values(4).iter().all(|value| (0.05..0.75).contains(value)), "{floor:?}");
            assert_eq!(values(4), values(4));
            assert!(floor == Floor::Plain || values(4) != values(5), "{floor:?}");
        }
    }
}
