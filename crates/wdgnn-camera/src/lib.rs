//! Renderer of a camera's images of robots with ArUco markers on a floor.
//!
//! A [`renderer::Renderer`] draws the floor once and the robots per image: perspective, lens
//! distortion, lens blur, motion blur, rolling shutter, shadows, uneven light, gamma curve and
//! noise. Images are 8-bit gray. Equal arguments give equal images.
//!
//! ```
//! use wdgnn_camera::camera::{Camera, Exposure, aimed};
//! use wdgnn_camera::{lens::Lens, renderer::{Arena, Renderer, Robot}};
//!
//! let size = [320, 240];
//! let pose = aimed([0.0, 0.0, 1.0], [0.0; 3], [0.0, 1.0, 0.0]).unwrap();
//! let lens = Lens::pinhole(300.0, size);
//! let camera = Camera { lens, size, pose, exposure: Exposure::default() };
//! let mut renderer = Renderer::new(camera, Arena::default(), 1)?;
//! let robot = Robot { marker: 7, position: [0.1, 0.0], ..Robot::default() };
//! let image: &[u8] = renderer.render(&[robot], 0)?;
//! assert_eq!(image.len(), 320 * 240);
//! # Ok::<(), wdgnn_camera::camera::CameraError>(())
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod blur;
pub mod camera;
pub mod floor;
pub mod geometry;
pub mod lens;
pub mod marker;
pub mod pattern;
mod raster;
pub mod renderer;
pub mod sensor;
pub mod stream;

pub use raster::Plate;
