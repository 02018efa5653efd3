//! Density of interest in a square: a uniform background and moving peaks.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use crate::world::SceneDisc;

/// Side of the square in meters.
pub const SIDE_METRES: f32 = 10.0;
/// Number of samples per side.
const PLACES: u16 = 40;
/// Background density, relative to the center of a peak.
const GROUND: f64 = 0.05;
/// Number of peaks.
const PEAKS: usize = 4;
/// Length of a tick in seconds, for the motion of peaks.
const TICK_SECONDS: f32 = 0.1;

/// Gaussian peak that moves on a circle.
#[derive(Clone, Copy, Debug, PartialEq)]
struct DensityPeak {
    center: [f32; 2],
    radius: f32,
    /// Initial angle in radians.
    angle: f32,
    /// Angular velocity in radians per second.
    speed: f32,
    width: f32,
    height: f32,
}

impl DensityPeak {
    fn at(&self, tick: u32) -> [f32; 2] {
        let angle = self.angle + self.speed * TICK_SECONDS * tick as f32;
        // libm gives identical fields on every machine.
        [self.center[0] + self.radius * libm::cosf(angle), self.center[1] + self.radius * libm::sinf(angle)]
    }
}

/// Density of interest.
#[derive(Clone, Debug, Default)]
pub struct Field {
    peaks: Vec<DensityPeak>,
}

/// Samples of the density that are nearest to one robot.
#[derive(Clone, Copy, Debug, Default)]
pub struct CellMass {
    /// Sum of the density.
    pub mass: f64,
    /// Sum of the density times position.
    moment: [f64; 2],
}

impl CellMass {
    /// Returns the vector from `position` to the cell's centroid; zero for an empty cell.
    pub fn way(&self, position: [f32; 2]) -> [f32; 2] {
        if self.mass <= 0.0 {
            return [0.0; 2];
        }
        [0, 1].map(|axis| (self.moment[axis] / self.mass) as f32 - position[axis])
    }
}

impl Field {
    /// Draws a random field.
    pub fn draw(random: &mut ChaCha8Rng) -> Self {
        let heap = |_| DensityPeak {
            center: [0, 1].map(|_| random.random_range(0.25 * SIDE_METRES..0.75 * SIDE_METRES)),
            radius: random.random_range(0.0..0.25 * SIDE_METRES),
            angle: random.random_range(0.0..std::f32::consts::TAU),
            speed: random.random_range(-0.1..0.1),
            width: random.random_range(0.7..1.5),
            height: random.random_range(0.5..1.0),
        };
        Self { peaks: (0..PEAKS).map(heap).collect() }
    }

    /// Samples the density on a grid.
    pub fn look(&self, tick: u32) -> FieldSamples {
        let step = SIDE_METRES / f32::from(PLACES);
        let peaks: Vec<([f32; 2], f32, f32)> =
            self.peaks.iter().map(|heap| (heap.at(tick), heap.width, heap.height)).collect();
        let middle = |index: u16| (f32::from(index) + 0.5) * step;
        let all = (0..PLACES).flat_map(|x| (0..PLACES).map(move |y| [middle(x), middle(y)]));
        let seen = all.map(|place| {
            let there = peaks.iter().map(|(center, width, height)| {
                let squared = (place[0] - center[0]).powi(2) + (place[1] - center[1]).powi(2);
                f64::from(height * libm::expf(-squared / (2.0 * width * width)))
            });
            (place, GROUND + there.sum::<f64>())
        });
        FieldSamples(seen.collect())
    }

    /// Returns the peaks for drawing.
    pub fn spots(&self, tick: u32) -> Vec<SceneDisc> {
        let spot = |heap: &DensityPeak| SceneDisc {
            at: heap.at(tick),
            radius: 2.0 * heap.width,
            weight: heap.height,
        };
        self.peaks.iter().map(spot).collect()
    }
}

/// Grid points and their densities.
#[derive(Clone, Debug)]
pub struct FieldSamples(Vec<([f32; 2], f64)>);

impl FieldSamples {
    /// Returns the sum of the density.
    pub fn mass(&self) -> f64 {
        self.0.iter().map(|(_, mass)| mass).sum()
    }

    /// Returns the density-weighted mean squared distance to the nearest robot.
    pub fn cost(&self, robots: &[[f32; 2]]) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for &(place, mass) in &self.0 {
            let nearest = nearest(place, robots).map_or(f32::INFINITY, |(_, squared)| squared);
            sum += mass * f64::from(nearest);
            total += mass;
        }
        sum / total
    }

    /// Assigns each sample within `reach` of a robot to its nearest robot.
    pub fn parts(&self, robots: &[[f32; 2]], reach: f32) -> Vec<CellMass> {
        let mut parts = vec![CellMass::default(); robots.len()];
        for &(place, mass) in &self.0 {
            if let Some((robot, squared)) = nearest(place, robots)
                && squared <= reach * reach
            {
                let part = &mut parts[robot];
                part.mass += mass;
                part.moment = [0, 1].map(|axis| part.moment[axis] + mass * f64::from(place[axis]));
            }
        }
        parts
    }
}

/// Returns the robot nearest to a place and its squared distance; the first one of a tie.
fn nearest(place: [f32; 2], robots: &[[f32; 2]]) -> Option<(usize, f32)> {
    let mut best = None;
    for (robot, at) in robots.iter().enumerate() {
        let squared = (place[0] - at[0]).powi(2) + (place[1] - at[1]).powi(2);
        if best.is_none_or(|(_, least)| squared < least) {
            best = Some((robot, squared));
        }
    }
    best
}
