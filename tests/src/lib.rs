//! What the system tests share.

#[cfg(feature = "browser")]
pub mod browser;
#[cfg(feature = "c")]
pub mod c;
pub mod chips;
pub mod cycles;
pub mod golden;
pub mod image;
pub mod model;
pub mod module_graph;
pub mod robot;
