//! A robot: `wdgnn-core` on a Cortex-M board.
//!
//! * [`board`] — what differs from chip to chip, one file each, chosen by a cargo feature. The only place for `unsafe`.
//! * [`io`] — drivers for any chip: a drive, a companion computer, radios. Their messages are in `wdgnn-protocol`.
//! * `link` — the link profile and the key of an image, chosen when it is built.
//! * `bin/robot.rs` — the robot, top to bottom.

#![no_std]
#![deny(unsafe_code)]
#![warn(missing_docs)]

#[cfg(target_os = "none")]
pub mod board;
pub mod io;
#[cfg(target_os = "none")]
pub mod link;
