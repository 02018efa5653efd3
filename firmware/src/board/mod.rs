//! What differs from board to board. Each gives a `Board` of the same shape: the ports of a robot, a clock, an address.

#[cfg(all(feature = "board-qemu", feature = "board-nrf52840"))]
compile_error!("choose one board: add --no-default-features to --features board-nrf52840");
#[cfg(not(any(feature = "board-qemu", feature = "board-nrf52840", feature = "panic-never")))]
compile_error!("choose a board: --features board-qemu or --features board-nrf52840");

#[cfg(feature = "board-qemu")]
mod qemu;
#[cfg(feature = "board-qemu")]
pub use qemu::Board;
#[cfg(feature = "board-nrf52840")]
mod nrf52840;
#[cfg(feature = "board-nrf52840")]
pub use nrf52840::Board;

/// What seals this board's frames.
#[cfg(all(feature = "board-nrf52840", sealed))]
pub use nrf52840::aes::ChipAes as Cipher;
/// What seals this board's frames.
#[cfg(all(not(feature = "board-nrf52840"), sealed))]
pub use wdgnn_core::cipher::Aes as Cipher;
