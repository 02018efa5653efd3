//! What both ends of a wire must know.
//!
//! * [`mac`] — the header of a robot's broadcast on IEEE 802.15.4.
//! * [`companion`] — what a robot and its companion computer say to each other over a serial line.
//! * [`gateway`] — what a PC with simulated robots and the board that stands between it and the air say to each other.
//! * [`emulation`] — what an emulated robot and the simulator say to each other over pipes.
//!
//! Messages and their bytes; what moves them is in `firmware` and `host-sim`.

#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs, clippy::missing_errors_doc)]

pub mod companion;
pub mod emulation;
pub mod gateway;
pub mod mac;
