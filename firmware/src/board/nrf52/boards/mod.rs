//! What differs from one nRF52 board to the next: where its line and its light are, and which flash is not the image's.

#[cfg(feature = "board-nrf52840")]
mod dk;
#[cfg(feature = "board-nrf52840")]
pub use dk::*;
#[cfg(feature = "board-nrf52840-dongle")]
mod dongle;
#[cfg(feature = "board-nrf52840-dongle")]
pub use dongle::*;
#[cfg(feature = "board-feather-nrf52840")]
mod feather;
#[cfg(feature = "board-feather-nrf52840")]
pub use feather::*;
#[cfg(feature = "board-microbit-v2")]
mod microbit;
#[cfg(feature = "board-microbit-v2")]
pub use microbit::*;
