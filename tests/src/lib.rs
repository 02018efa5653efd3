//! What the system tests share.

#[cfg(feature = "browser")]
pub mod browser;
pub mod model;
