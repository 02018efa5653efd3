//! Swarms of robots on emulated microcontrollers, besides those in this process.
//!
//! [`emulated`] is the firmware's image on QEMU: [`Robots`] that talk through the same air as native ones.

pub mod capture;
pub mod emulated;
pub mod image;
pub mod log;
pub mod qemu;
pub mod watchdog;

pub use wdgnn_sim::swarm::{
    NeighborStatus, Robots, TickInput, TickOutcome, TrustSnapshot, digest, faulty_hardware, native, networks,
    outcome, radio_swarm, torn, typed,
};
