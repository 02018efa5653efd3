//! Robot firmware: `wdgnn-core` on Cortex-M boards.
//!
//! * `robot` — the main program, for any task. `robot!` builds an image.
//! * `board` — boards, one folder each, selected by a cargo feature. The only module with `unsafe`
//!   code.
//! * [`io`] — board-independent drivers: companion link, wheels under a camera, gateway.
//!   `wdgnn-protocol` defines the messages.
//! * `link` — link profile and group key of the image, selected at build time.

#![no_std]
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub use wdgnn_core;
pub use wdgnn_protocol;

#[cfg(target_os = "none")]
pub mod board;
pub mod io;
#[cfg(target_os = "none")]
pub mod link;
#[cfg(target_os = "none")]
pub mod robot;

/// Items used by `robot!` in crates that depend only on this one.
#[cfg(target_os = "none")]
#[doc(hidden)]
pub mod __private {
    pub use cortex_m_rt::entry;
}
