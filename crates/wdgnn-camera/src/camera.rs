//! Camera: lens, mounting and exposure.

use crate::{
    geometry::{Pose, Vector, cross, sub, transpose, unit},
    lens::Lens,
    sensor::Noise,
};

/// Camera over the arena.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Lens.
    pub lens: Lens,
    /// Width and height of the image in pixels.
    pub size: [usize; 2],
    /// Pose of the camera's axes (right, down, forward) in the world, whose z axis points up.
    pub pose: Pose,
    /// Exposure.
    pub exposure: Exposure,
}

/// Exposure of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exposure {
    /// Time in seconds during which every row collects light.
    pub time_s: f64,
    /// Time in seconds between the first and the last row of a rolling shutter; 0 for a global one.
    pub readout_s: f64,
    /// Linear brightness of an ideal white surface without vignette; the sensor resolves up to 1.
    pub brightness: f32,
    /// Standard deviation of the lens blur in pixels.
    pub blur_px: f64,
    /// Noise.
    pub noise: Noise,
    /// Loss of brightness in the corners of the image, 0 to 1.
    pub vignette: f32,
}

impl Default for Exposure {
    /// Webcam in a lit room: 8 ms, global shutter.
    fn default() -> Self {
        Self {
            time_s: 0.008,
            readout_s: 0.0,
            brightness: 0.75,
            blur_px: 0.5,
            noise: Noise::default(),
            vignette: 0.3,
        }
    }
}

/// The camera cannot take images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CameraError {
    /// The distortion maps two directions to one pixel.
    FoldedDistortion,
    /// Image without pixels.
    EmptyImage,
    /// The dictionary does not have the marker.
    UnknownMarker(u8),
}

impl core::fmt::Display for CameraError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::FoldedDistortion => f.write_str("the lens distortion folds the image"),
            Self::EmptyImage => f.write_str("the image has no pixels"),
            Self::UnknownMarker(id) => write!(f, "marker must be between 0 and 49, got {id}"),
        }
    }
}

impl core::error::Error for CameraError {}

/// Pose of a camera at `position` that looks at `target`; the direction `top` points up in the
/// image. `None` if the camera looks along `top`.
pub fn aimed(position: Vector, target: Vector, top: Vector) -> Option<Pose> {
    let forward = unit(sub(target, position))?;
    let right = unit(cross(forward, top))?;
    let down = cross(forward, right);
    Some(Pose { rotation: transpose([right, down, forward]), translation: position })
}

impl Camera {
    /// Directions (x, y, 1) of all pixels in the camera's axes, row by row.
    pub(crate) fn rays(&self) -> Result<Vec<[f32; 2]>, CameraError> {
        let [width, height] = self.size;
        if width < 2 || height < 2 {
            return Err(CameraError::EmptyImage);
        }
        let mut rays = Vec::with_capacity(width * height);
        for index in 0..width * height {
            let pixel = [(index % width) as f64, (index / width) as f64];
            let ray = self.lens.ray(pixel);
            let back = self.lens.pixel(ray);
            if (0..2).any(|axis| (back[axis] - pixel[axis]).abs() > 0.01 || !ray[axis].is_finite()) {
                return Err(CameraError::FoldedDistortion);
            }
            rays.push(ray.map(|number| number as f32));
        }
        Ok(rays)
    }

    /// Pixel of a point in the camera's axes; `None` behind the camera.
    pub(crate) fn project(&self, [x, y, z]: Vector) -> Option<[f64; 2]> {
        (z > 1e-3).then(|| self.lens.pixel([x / z, y / z]))
    }

    /// Pixel of a point in the world; `None` behind the camera.
    pub fn pixel(&self, point: Vector) -> Option<[f64; 2]> {
        let world =
            Pose { rotation: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], translation: point };
        self.project(self.pose.localize(&world).translation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn camera() -> Camera {
        let size = [1280, 720];
        let pose = aimed([0.5, 0.0, 2.0], [0.5, 0.0, 0.0], [0.0, 1.0, 0.0]).unwrap();
        Camera { lens: Lens::pinhole(900.0, size), size, pose, exposure: Exposure::default() }
    }

    #[test]
    fn a_camera_above_sees_x_to_the_right_and_y_up() {
        let camera = camera();
        let near = |a: Option<[f64; 2]>, b: [f64; 2]| {
            assert!((0..2).all(|axis| (a.unwrap()[axis] - b[axis]).abs() < 1e-9), "{a:?} {b:?}");
        };
        near(camera.pixel([0.5, 0.0, 0.0]), [639.5, 359.5]);
        // 0.1 m at 2 m and a focal length of 900: 45 pixels; at a height of 1 m: 90 pixels.
        near(camera.pixel([0.6, 0.1, 0.0]), [684.5, 314.5]);
        near(camera.pixel([0.6, 0.0, 1.0]), [729.5, 359.5]);
        assert_eq!(camera.pixel([0.0, 0.0, 3.0]), None);
        assert_eq!(aimed([0.0; 3], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]), None);
    }

    #[test]
    fn distortion_that_folds_the_image_is_an_error() {
        let mut camera = camera();
        camera.lens.distortion[0] = -0.9;
        assert_eq!(camera.rays().err(), Some(CameraError::FoldedDistortion));
    }
}
