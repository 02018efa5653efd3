//! Density of interest in a square: a uniform background and four moving peaks.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_sim::world::SceneDisc;

use crate::task::{Cell, Coverage};

/// Side of the square in meters.
pub const SIDE: f32 = 10.0;
/// Grid points per side.
const POINTS: u16 = 40;
/// Background density, relative to the center of a peak.
const BACKGROUND: f64 = 0.05;

/// Density of interest over time: Gaussian peaks.
#[derive(Clone, Debug, Default)]
pub struct Density(Vec<Peak>);

/// Gaussian peak that moves on a circle.
#[derive(Clone, Copy, Debug)]
struct Peak {
    center: [f32; 2],
    radius: f32,
    /// Initial angle in radians.
    angle: f32,
    /// Angular velocity in radians per second.
    speed: f32,
    width: f32,
    height: f32,
}

impl Density {
    /// Draws random peaks.
    pub fn draw(random: &mut ChaCha8Rng) -> Self {
        let peak = |_| Peak {
            center: [0, 1].map(|_| random.random_range(0.25 * SIDE..0.75 * SIDE)),
            radius: random.random_range(0.0..0.25 * SIDE),
            angle: random.random_range(0.0..std::f32::consts::TAU),
            speed: random.random_range(-0.1..0.1),
            width: random.random_range(0.7..1.5),
            height: random.random_range(0.5..1.0),
        };
        Self((0..4).map(peak).collect())
    }

    /// Peaks at a tick, as discs of two widths.
    pub fn discs(&self, tick: u32) -> Vec<SceneDisc> {
        let disc = |peak: &Peak| {
            let angle = peak.angle + peak.speed * Coverage::PERIOD * tick as f32;
            // libm gives identical densities on every machine.
            let offset = [libm::cosf(angle), libm::sinf(angle)].map(|x| peak.radius * x);
            let at = [peak.center[0] + offset[0], peak.center[1] + offset[1]];
            SceneDisc { at, radius: 2.0 * peak.width, weight: peak.height }
        };
        self.0.iter().map(disc).collect()
    }

    /// Grid points and their densities.
    fn samples(&self, tick: u32) -> Vec<([f32; 2], f64)> {
        let peaks = self.discs(tick);
        let center = |index: u16| (f32::from(index) + 0.5) * (SIDE / f32::from(POINTS));
        let points = (0..POINTS).flat_map(|x| (0..POINTS).map(move |y| [center(x), center(y)]));
        let density = |point: [f32; 2]| {
            let heights = peaks.iter().map(|SceneDisc { at, radius, weight }| {
                let width = radius / 2.0;
                f64::from(weight * libm::expf(-squared_distance(point, *at) / (2.0 * width * width)))
            });
            BACKGROUND + heights.sum::<f64>()
        };
        points.map(|point| (point, density(point))).collect()
    }

    /// Density-weighted mean squared distance to the nearest robot.
    pub fn cost(&self, tick: u32, robots: &[Cell]) -> f64 {
        let (mut sum, mut mass) = (0.0, 0.0);
        for (point, density) in self.samples(tick) {
            sum += density * f64::from(nearest(point, robots).map_or(f32::INFINITY, |(_, squared)| squared));
            mass += density;
        }
        sum / mass
    }

    /// Cells of the robots: grid points within `range` meters that are nearest to each robot.
    pub fn cells(&self, tick: u32, robots: &[Cell], range: f32) -> Vec<Cell> {
        let (mut sums, mut total) = (vec![[0.0; 3]; robots.len()], 0.0);
        for (point, density) in self.samples(tick) {
            total += density;
            if let Some((robot, squared)) = nearest(point, robots)
                && squared <= range * range
            {
                let [mass, x, y] = sums[robot];
                let [dx, dy] = point.map(|x| density * f64::from(x));
                sums[robot] = [mass + density, x + dx, y + dy];
            }
        }
        let cell = |(&Cell { position, .. }, [mass, x, y]): (&Cell, [f64; 3])| {
            let to_center = [(x / mass) as f32 - position[0], (y / mass) as f32 - position[1]];
            let mass_share = (mass / (total / robots.len() as f64)) as f32;
            Cell { position, to_center: if mass > 0.0 { to_center } else { [0.0; 2] }, mass: mass_share }
        };
        robots.iter().zip(sums).map(cell).collect()
    }
}

/// Robot nearest to a point and its squared distance; the first one of a tie.
fn nearest(point: [f32; 2], robots: &[Cell]) -> Option<(usize, f32)> {
    let squared = robots.iter().map(|robot| squared_distance(point, robot.position));
    squared.enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b))
}

fn squared_distance(a: [f32; 2], b: [f32; 2]) -> f32 {
    (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)
}
