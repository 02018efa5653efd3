//! Swarms of robots in emulators.
//!
//! [`emulated`] runs the firmware image in QEMU: [`Robots`] on the radio medium of native ones.

pub mod capture;
pub mod emulated;
pub mod image;
pub mod log;
pub mod qemu;
pub mod watchdog;

pub use wdgnn_sim::swarm::{
    Acquaintance, Outcome, Robots, Thoughts, Waking, digest, handicapped, native, networks, on_air, outcome,
    torn, typed,
};
