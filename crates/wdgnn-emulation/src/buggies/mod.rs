//! Buggies: robots with two wheels under a camera.
//!
//! [`native`] runs them in this process under a camera without images, for figures over many starts. [`chips`] runs their
//! image on emulated chips: a source of poses ([`eye`], or [`tracker`] on rendered images) feeds the gateway's chip, the robots' chips drive motor boards, and
//! wheels turn on the [`floor`].

pub mod camera;
pub mod chips;
pub mod eye;
pub mod floor;
pub mod native;
pub mod score;
pub mod tracker;
pub mod twin;
