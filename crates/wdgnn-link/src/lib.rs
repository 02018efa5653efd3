//! Messages of [`wdgnn_core`] as bytes on a radio: encodings, security, time slots.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod encoding;
pub mod error;
pub mod frames;
pub mod header;
pub mod security;
pub mod tdma;

pub use error::{FrameError, FrameErrorCounts};
