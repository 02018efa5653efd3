//! Swarms of the firmware image, next to native robots of [`wdgnn_sim`].
//!
//! | module | robots run |
//! |---|---|
//! | [`emulated`] | in QEMU, one process each ([`qemu`]), on the radio medium of native robots |
//! | [`chips`] | on emulated nRF52 chips, register by register, with companions and a shared radio channel |
//! | [`gateway`] | in this process, on the radio channel of real robots, through a gateway board |
//!
//! [`image`] builds the firmware, and [`log`] decodes its logs.

#![forbid(unsafe_code)]

pub mod buggies;
pub mod chips;
pub mod emulated;
pub mod gateway;
pub mod image;
pub mod log;
pub mod qemu;

use wdgnn_sim::{
    counters, episode, error, files, links, medium, model, profiles, scene, seeds, swarm, world,
};
