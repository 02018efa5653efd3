//! A robot: `wdgnn-core` on a Cortex-M board.
//!
//! * `robot` — the robot, top to bottom, for any task. `robot!` makes an image of it.
//! * `board` — what differs from chip to chip, one folder each, chosen by a cargo feature. The only place for `unsafe`.
//! * [`io`] — drivers for any chip: a drive, a companion computer, radios. Their messages are in `wdgnn-protocol`.
//! * `link` — the link profile and the key of an image, chosen when it is built.

#![no_std]
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub use wdgnn_core;
pub use wdgnn_protocol;

// `panic-never` is a proof by linking, and stands in place of a board.
#[cfg(all(target_os = "none", not(feature = "panic-never")))]
pub mod board;
pub mod io;
#[cfg(all(target_os = "none", not(feature = "panic-never")))]
pub mod link;
#[cfg(all(target_os = "none", not(feature = "panic-never")))]
pub mod robot;

/// What `robot!` needs in a crate that depends on nothing but this one.
#[cfg(target_os = "none")]
#[doc(hidden)]
pub mod __private {
    pub use cortex_m_rt::entry;
}
