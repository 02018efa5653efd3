//! Image sensor: gamma curve, quantization and noise.
//!
//! Images in progress hold gamma-coded brightness in 1/64 of a gray level.

use crate::floor::mix;

/// Fractions of a gray level in an image in progress.
pub const FRACTION: f32 = 64.0;
/// Exponent of a webcam's gamma curve.
const GAMMA: f64 = 2.2;
/// Entries of the table of normal numbers.
const TABLE: usize = 1 << 16;

/// Standard deviation of the noise in gray levels; in between, it changes linearly with the gray
/// level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// At black.
    pub black: f32,
    /// At white.
    pub white: f32,
}

impl Default for Noise {
    /// Assumption for a webcam in a lit room.
    fn default() -> Self {
        Self { black: 2.5, white: 2.0 }
    }
}

/// Sensor with tables of its curve and its noise.
#[derive(Clone, Debug)]
pub struct Sensor {
    curve: Vec<u16>,
    /// Standard normal numbers, in 1/32.
    normal: Vec<i16>,
    noise: Noise,
    seed: u64,
}

impl Sensor {
    /// Creates the tables.
    pub fn new(noise: Noise, seed: u64) -> Self {
        let code = |linear: f64| libm::pow(linear, 1.0 / GAMMA) * 255.0 * f64::from(FRACTION);
        let curve = (0..=4096).map(|step| code(f64::from(step) / 4096.0) as u16).collect();
        // Box–Muller transform.
        let uniform = |index: u64| (mix(seed ^ mix(index)) >> 11) as f64 / (1_u64 << 53) as f64;
        let normal = (0..TABLE as u64)
            .map(|index| {
                let radius = libm::sqrt(-2.0 * libm::log(1.0 - uniform(2 * index)));
                let angle = core::f64::consts::TAU * uniform(2 * index + 1);
                libm::round(32.0 * radius * libm::cos(angle)) as i16
            })
            .collect();
        Self { curve, normal, noise, seed }
    }

    /// Gamma-coded brightness of a linear one; 1 is the brightest that the sensor resolves.
    #[inline]
    pub fn code(&self, linear: f32) -> u16 {
        let at = linear.clamp(0.0, 1.0) * 4096.0;
        let below = (at as usize).min(4095);
        let [low, high] = [self.curve[below], self.curve[below + 1]].map(f32::from);
        (low + (high - low) * (at - below as f32) + 0.5) as u16
    }

    /// Quantizes an image of rows of `width` pixels and adds the noise of image `number`.
    pub fn expose(&self, coded: &[u16], width: usize, number: u64, gray: &mut [u8]) {
        // Fixed point: 1/64 gray level = noise in 1/32 × deviation in 1/256 / 128.
        let black = (self.noise.black * 256.0) as i32;
        let slope = ((self.noise.white - self.noise.black) * 256.0) as i32;
        for (row, (coded, gray)) in coded.chunks(width).zip(gray.chunks_mut(width)).enumerate() {
            let random = mix(self.seed ^ mix(number ^ mix(row as u64)));
            // Each row reads the table from another place, wrapping around.
            let start = random as usize % TABLE;
            let (tail, head) = (&self.normal[start..], &self.normal[..]);
            let split = tail.len().min(coded.len());
            let add = |coded: &[u16], normal: &[i16], gray: &mut [u8]| {
                for ((&coded, &normal), gray) in coded.iter().zip(normal).zip(gray) {
                    let level = i32::from(coded);
                    let deviation = black + ((slope * level) >> 14);
                    let noisy = level + ((i32::from(normal) * deviation) >> 7) + 32;
                    *gray = (noisy >> 6).clamp(0, 255) as u8;
                }
            };
            let (near, far) = gray.split_at_mut(split);
            add(&coded[..split], tail, near);
            add(&coded[split..], head, far);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_has_the_stated_deviation_and_no_bias() {
        let sensor = Sensor::new(Noise { black: 4.0, white: 2.0 }, 3);
        for (level, expected) in [(40_u16, 3.69), (128, 3.0), (200, 2.43)] {
            let mut gray = vec![0; 200 * 500];
            sensor.expose(&vec![level * 64; gray.len()], 200, 0, &mut gray);
            let differences = gray.iter().map(|&gray| f64::from(gray) - f64::from(level));
            let mean = differences.clone().sum::<f64>() / 1e5;
            let deviation = (differences.map(|d| (d - mean) * (d - mean)).sum::<f64>() / 1e5).sqrt();
            assert!(mean.abs() < 0.06, "{mean}");
            // Rounding adds 1/12 to the variance.
            let expected = f64::sqrt(expected * expected + 1.0 / 12.0);
            assert!((deviation / expected - 1.0).abs() < 0.02, "{deviation} {expected}");
        }
    }

    #[test]
    fn images_differ_by_number_and_repeat_with_it() {
        let sensor = Sensor::new(Noise::default(), 1);
        let image = |number| {
            let mut gray = vec![0; 3_000];
            sensor.expose(&[8_000; 3_000], 100, number, &mut gray);
            gray
        };
        assert_eq!(image(7), image(7));
        assert_ne!(image(7), image(8));
    }

    #[test]
    fn curve_is_a_gamma_curve() {
        let sensor = Sensor::new(Noise::default(), 1);
        assert_eq!((sensor.code(0.0), sensor.code(1.0), sensor.code(7.0)), (0, 255 * 64, 255 * 64));
        // (1/4)^(1/2.2) = 0.5325.
        assert!((f32::from(sensor.code(0.25)) / (255.0 * 64.0) - 0.5325).abs() < 1e-3);
    }
}
