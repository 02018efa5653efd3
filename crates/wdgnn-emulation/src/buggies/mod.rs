//! Buggies: robots with two wheels under a camera.

pub mod camera;
pub mod floor;
pub mod native;
pub mod score;
