//! Pinhole camera with the lens distortion of OpenCV: three radial and two tangential coefficients.
//!
//! Pixel (0, 0) is the center of the first pixel. The camera's axes point right, down and forward.

/// Lens: focal length and distortion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lens {
    /// Focal length in pixels, horizontal and vertical.
    pub focal: [f64; 2],
    /// Principal point in pixels.
    pub center: [f64; 2],
    /// Distortion k₁, k₂, p₁, p₂, k₃ in OpenCV's order.
    pub distortion: [f64; 5],
}

/// Maximum number of iterations of [`Lens::ray`], which ends when a step is below [`PRECISION`]. A
/// webcam's lens (k₁ = −0.3) needs 30 at its corners.
const MAX_ITERATIONS: usize = 60;
/// In units of the focal length: 10⁻⁶ pixels.
const PRECISION: f64 = 1e-9;

impl Lens {
    /// Lens without distortion and with the principal point in the middle of the image.
    pub fn pinhole(focal: f64, size: [usize; 2]) -> Self {
        let center = size.map(|pixels| (pixels as f64 - 1.0) / 2.0);
        Self { focal: [focal; 2], center, distortion: [0.0; 5] }
    }

    /// Pixel of the direction (x, y, 1).
    pub fn pixel(&self, ray: [f64; 2]) -> [f64; 2] {
        let [radial, tx, ty] = self.deviation(ray);
        [
            self.focal[0] * (ray[0] * radial + tx) + self.center[0],
            self.focal[1] * (ray[1] * radial + ty) + self.center[1],
        ]
    }

    /// Direction (x, y, 1) of a pixel, by fixed-point iteration. Distortion that folds the image
    /// has no unique direction; [`Self::pixel`] reveals it.
    pub fn ray(&self, pixel: [f64; 2]) -> [f64; 2] {
        let seen = [0, 1].map(|axis| (pixel[axis] - self.center[axis]) / self.focal[axis]);
        let mut ray = seen;
        for _ in 0..MAX_ITERATIONS {
            let [radial, tx, ty] = self.deviation(ray);
            let next = [(seen[0] - tx) / radial, (seen[1] - ty) / radial];
            let step = (next[0] - ray[0]).abs() + (next[1] - ray[1]).abs();
            ray = next;
            if step < PRECISION {
                break;
            }
        }
        ray
    }

    /// Radial factor and tangential offsets of a direction.
    fn deviation(&self, [x, y]: [f64; 2]) -> [f64; 3] {
        let [k1, k2, p1, p2, k3] = self.distortion;
        let square = x * x + y * y;
        let radial = 1.0 + square * (k1 + square * (k2 + square * k3));
        let tx = 2.0 * p1 * x * y + p2 * (square + 2.0 * x * x);
        let ty = p1 * (square + 2.0 * y * y) + 2.0 * p2 * x * y;
        [radial, tx, ty]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distortion_matches_a_hand_worked_example() {
        let lens =
            Lens { focal: [100.0, 200.0], center: [50.0, 60.0], distortion: [0.1, 0.2, 0.01, 0.02, 0.4] };
        // r² = 0.25; radial = 1 + 0.025 + 0.0125 + 0.00625 = 1.04375;
        // tx = 2·0.01·0.12 + 0.02·(0.25 + 0.18) = 0.011; ty = 0.01·(0.25 + 0.32) + 2·0.02·0.12 =
        // 0.0105.
        let [x, y] = lens.pixel([0.3, 0.4]);
        assert!((x - (100.0 * (0.3 * 1.04375 + 0.011) + 50.0)).abs() < 1e-12, "{x}");
        assert!((y - (200.0 * (0.4 * 1.04375 + 0.0105) + 60.0)).abs() < 1e-12, "{y}");
    }

    #[test]
    fn rays_of_the_corners_of_a_webcam_hit_their_pixels() {
        let size = [1280, 720];
        let lens = Lens { distortion: [-0.3, 0.12, 0.001, -0.0005, -0.02], ..Lens::pinhole(900.0, size) };
        for pixel in [[0.0, 0.0], [1279.0, 0.0], [0.0, 719.0], [640.0, 360.0], [1279.0, 719.0]] {
            let back = lens.pixel(lens.ray(pixel));
            assert!((0..2).all(|axis| (back[axis] - pixel[axis]).abs() < 1e-3), "{back:?}");
        }
    }
}
