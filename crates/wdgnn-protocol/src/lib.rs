//! Message formats shared by both ends of a link.
//!
//! * [`mac`] — the header of a robot's broadcast on IEEE 802.15.4.
//! * [`companion`] — serial messages between a robot and its companion computer.
//! * [`event`] — messages between a radio gateway and a PC.
//! * [`tracker`] — messages between a tracking system and its gateway.
//! * [`mod@line`] — the framing of messages on serial lines.
//! * [`emulation`] — pipe messages between the simulator and an emulated robot.
//!
//! This crate encodes and decodes messages; `firmware` and `host-sim` transport them.

#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs, clippy::missing_errors_doc)]

pub mod companion;
pub mod emulation;
pub mod event;
pub mod line;
pub mod mac;
pub mod tracker;
