//! Swarms of robots in emulators.
//!
//! [`emulated`] runs the firmware image in QEMU: [`Robots`] on the radio medium of native ones.

pub mod emulated;
pub mod image;
pub mod log;
pub mod qemu;

pub use wdgnn_sim::swarm::{
    NeighborStatus, Robots, TickInput, TickOutcome, TrustSnapshot, digest, faulty_hardware, native, networks,
    outcome, radio_swarm, torn, typed,
};
