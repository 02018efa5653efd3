//! Message formats shared by both ends of a link.
//!
//! * [`mac`] — the header of a robot's broadcast on IEEE 802.15.4.
//! * [`companion`] — serial messages between a robot and its companion computer.
//! * [`event`] — frames that a gateway received, decoded for programs on a PC.
//! * [`gateway`] — serial messages between a PC with simulated robots and a radio gateway.
//! * [`emulation`] — pipe messages between the simulator and an emulated robot.
//!
//! This crate encodes and decodes messages; `firmware` and `host-sim` transport them.

#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs, clippy::missing_errors_doc)]

pub mod companion;
pub mod emulation;
pub mod event;
pub mod gateway;
pub mod mac;
