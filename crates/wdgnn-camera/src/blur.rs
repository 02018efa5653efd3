//! Lens blur and motion blur: samples of a pixel over its area and the exposure time.

use crate::pattern::Pattern;

/// Samples of a pixel that contains an edge.
pub const SAMPLES: usize = 32;

/// Point of a plate at a pixel, with its derivatives by column and row.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    pub point: [f32; 2],
    pub by_column: [f32; 2],
    pub by_row: [f32; 2],
}

/// Position in the pixel and time in the exposure of a sample.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Position relative to the center of the pixel, in pixels.
    pub offset: [f32; 2],
    /// Share of the exposure time, from −½ to ½.
    time: f64,
}

/// Samples with a normal distribution over the pixel and its lens blur, symmetric about the center
/// of pixel and exposure.
pub fn samples(blur_px: f64) -> [Sample; SAMPLES] {
    // The variance of a pixel's square is 1/12.
    let deviation = libm::sqrt(blur_px * blur_px + 1.0 / 12.0);
    // Additive recurrence with the powers of 1/1.2207…, the root of x⁴ = x + 1.
    let step = [1, 2, 3].map(|power| 1.0 / libm::pow(1.220_744_084_605_759_5, f64::from(power)));
    let half: Vec<[f64; 3]> = (1..=SAMPLES / 2)
        .map(|index| {
            let [a, b, time] = step.map(|step| (0.5 + step * index as f64) % 1.0);
            [normal_quantile(a), normal_quantile(b), time - 0.5]
        })
        .collect();
    // Few samples miss the tails, so that their deviation is scaled to the wanted one.
    let scale = [0, 1].map(|axis| {
        let squares: f64 = half.iter().map(|sample| sample[axis] * sample[axis]).sum();
        deviation / libm::sqrt(squares / half.len() as f64)
    });
    core::array::from_fn(|at| {
        let [x, y, time] = half[at % (SAMPLES / 2)];
        let sign = if at < SAMPLES / 2 { 1.0 } else { -1.0 };
        let offset = [sign * scale[0] * x, sign * scale[1] * y].map(|pixels| pixels as f32);
        Sample { offset, time: sign * time }
    })
}

/// Inverse of the normal distribution, by bisection of the error function.
fn normal_quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-4.0, 4.0);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        let below = f64::midpoint(1.0, libm::erf(middle / core::f64::consts::SQRT_2));
        if below < share { low = middle } else { high = middle }
    }
    low
}

/// Planar motion, applied to points in the coordinates of a moving plate.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    cosine: f32,
    sine: f32,
    offset: [f32; 2],
}

impl Motion {
    /// Motion for `time` seconds with constant velocity in the plate's axes.
    pub fn new([x, y, turn]: [f64; 3], time: f64) -> Self {
        let angle = turn * time;
        let [sine, cosine] = [libm::sin(angle), libm::cos(angle)];
        // Integral of the rotation over the time, by its series where the angle is small.
        let small = angle.abs() < 1e-6;
        let [a, b] = if small { [1.0, angle / 2.0] } else { [sine / angle, (1.0 - cosine) / angle] };
        let offset = [time * (a * x - b * y), time * (b * x + a * y)].map(|number| number as f32);
        Self { cosine: cosine as f32, sine: sine as f32, offset }
    }

    /// Coordinates after the motion of a point that stands still.
    #[inline]
    pub fn apply(&self, point: [f32; 2]) -> [f32; 2] {
        self.turn([point[0] - self.offset[0], point[1] - self.offset[1]])
    }

    /// Coordinates after the motion of a difference of two points.
    #[inline]
    pub fn turn(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        [self.cosine * x + self.sine * y, self.cosine * y - self.sine * x]
    }
}

/// Samples of a moving plate. Lists of numbers let the compiler compute several at once.
pub struct Blur {
    x: [f32; SAMPLES],
    y: [f32; SAMPLES],
    offset_x: [f32; SAMPLES],
    offset_y: [f32; SAMPLES],
    cosine: [f32; SAMPLES],
    sine: [f32; SAMPLES],
    reach_px: f32,
    reach: f32,
    turn: f32,
}

impl Blur {
    pub fn new(samples: &[Sample; SAMPLES], twist: [f64; 3], time_s: f64) -> Self {
        let motions = samples.map(|sample| Motion::new(twist, sample.time * time_s));
        let largest = |of: &dyn Fn(usize) -> f32| (0..SAMPLES).map(of).fold(0.0, f32::max);
        Self {
            x: samples.map(|sample| sample.offset[0]),
            y: samples.map(|sample| sample.offset[1]),
            offset_x: motions.map(|motion| motion.offset[0]),
            offset_y: motions.map(|motion| motion.offset[1]),
            cosine: motions.map(|motion| motion.cosine),
            sine: motions.map(|motion| motion.sine),
            reach_px: largest(&|at| samples[at].offset[0].abs().max(samples[at].offset[1].abs())),
            reach: largest(&|at| motions[at].offset[0].abs() + motions[at].offset[1].abs()),
            turn: largest(&|at| motions[at].sine.abs()),
        }
    }

    /// Distance from the center of a pixel within which its samples lie.
    #[inline]
    pub fn reach(&self, hit: &Hit) -> f32 {
        let spread = |axis: usize| hit.by_column[axis].abs() + hit.by_row[axis].abs();
        let turned = self.turn * (hit.point[0].abs() + hit.point[1].abs());
        spread(0).max(spread(1)) * self.reach_px + self.reach + turned
    }

    /// Mean reflectance of a pixel, zero where the plate is not, and the share that the plate
    /// covers.
    #[inline]
    pub fn average(&self, hit: &Hit, pattern: &Pattern) -> (f32, f32) {
        let (mut x, mut y) = ([0.0; SAMPLES], [0.0; SAMPLES]);
        for at in 0..SAMPLES {
            let near = |axis: usize| {
                hit.point[axis] + hit.by_column[axis] * self.x[at] + hit.by_row[axis] * self.y[at]
            };
            let [from_x, from_y] = [near(0) - self.offset_x[at], near(1) - self.offset_y[at]];
            x[at] = self.cosine[at] * from_x + self.sine[at] * from_y;
            y[at] = self.cosine[at] * from_y - self.sine[at] * from_x;
        }
        let (sum, covered) = pattern.sum(&x, &y);
        (sum / SAMPLES as f32, covered / SAMPLES as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_centered_with_the_deviation_of_pixel_and_blur() {
        let samples = samples(0.5);
        let mean = |value: &dyn Fn(&Sample) -> f64| samples.iter().map(value).sum::<f64>() / SAMPLES as f64;
        for axis in 0..2 {
            assert!(mean(&|s| f64::from(s.offset[axis])).abs() < 1e-7);
            let variance = mean(&|s| f64::from(s.offset[axis]).powi(2));
            assert!((variance - 0.25 - 1.0 / 12.0).abs() < 1e-6, "{variance}");
        }
        let correlation = mean(&|s| f64::from(s.offset[0] * s.offset[1])) * 3.0;
        assert!(correlation.abs() < 0.1, "{correlation}");
        assert!(mean(&|s| s.time).abs() < 1e-12);
        let variance = mean(&|s| s.time * s.time);
        assert!((variance - 1.0 / 12.0).abs() < 0.004, "{variance}");
    }

    #[test]
    fn motion_matches_a_quarter_circle() {
        // 1 m/s forward along y and π/2 rad/s for one second: a circle of radius 2/π to the left.
        let motion = Motion::new([0.0, 1.0, core::f64::consts::FRAC_PI_2], 1.0);
        let radius = core::f32::consts::FRAC_2_PI;
        assert!((motion.offset[0] + radius).abs() < 1e-6 && (motion.offset[1] - radius).abs() < 1e-6);
        // The plate now points to −x: one meter further, a point is ahead.
        let [x, y] = motion.apply([-radius - 1.0, radius]);
        assert!(x.abs() < 1e-6 && (y - 1.0).abs() < 1e-6, "{x} {y}");
        let straight = Motion::new([0.3, 0.0, 0.0], 0.5);
        assert_eq!(straight.offset, [0.15, 0.0]);
    }
}
