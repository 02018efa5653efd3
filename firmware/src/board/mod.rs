//! What differs from board to board. Each gives a `Board` of the same shape: the ports of a robot, a clock, an address.

macro_rules! exactly_one {
    ($($board:literal),+) => {
        /// How many boards were chosen.
        const CHOSEN: usize = 0 $(+ cfg!(feature = $board) as usize)+;
        const _: () = assert!(CHOSEN > 0, concat!("choose a board: --features" $(, " ", $board)+));
        const _: () = assert!(CHOSEN < 2, "choose one board: add --no-default-features to --features");
    };
}

exactly_one!(
    "board-qemu",
    "board-nrf52840",
    "board-nrf52840-dongle",
    "board-feather-nrf52840",
    "board-microbit-v2",
    "panic-never"
);

#[cfg(any(feature = "board-qemu", feature = "nrf52"))]
mod log;
#[cfg(feature = "board-qemu")]
mod qemu;
#[cfg(feature = "board-qemu")]
pub use qemu::Board;
#[cfg(feature = "board-qemu")]
use qemu::Sink;
#[cfg(feature = "nrf52")]
mod nrf52;
#[cfg(feature = "nrf52")]
pub use nrf52::Board;
#[cfg(feature = "nrf52")]
use nrf52::Sink;

/// What seals this board's frames.
#[cfg(all(feature = "nrf52", sealed))]
pub use nrf52::aes::ChipAes as Cipher;
/// What seals this board's frames.
#[cfg(all(not(feature = "nrf52"), sealed))]
pub use wdgnn_core::cipher::Aes as Cipher;
