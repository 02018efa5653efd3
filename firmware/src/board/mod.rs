//! What differs from board to board: the ports of a robot, a clock, an address.

use wdgnn_core::{
    ports::{Clock, Ports, Radio, Store},
    robot::{Onboard, Robot},
    task::NodeId,
    tick::Report,
};

use crate::link::Link;

/// What a robot needs of its board. A board flies every task whose state its sensor senses and whose commands its actuator obeys.
pub trait Board: Clock + Sized {
    /// Carries frames.
    type Radio: Radio;
    /// Senses states.
    type Sensor;
    /// Obeys commands.
    type Actuator;
    /// Keeps parameters over a restart.
    type Store: Store;

    /// Starts the board.
    fn init() -> Self;

    /// There is nothing to fly with: the reason has been logged.
    fn give_up() -> !;

    /// The robot's address.
    fn id(&self) -> NodeId;

    /// Where parameters are kept over a restart.
    fn store(&mut self) -> &mut Self::Store;

    /// A boot count for a robot whose store knows none, so that no frame's number comes twice.
    fn unstored_boot(&mut self) -> u32;

    /// The robot is ready, with parameters that it took up from the store or with those of its weight file.
    fn ready<T: Onboard>(&mut self, robot: &Robot<'_, Link, T>, resumed: bool);

    /// Before a tick.
    fn prepare<T: Onboard>(&mut self, robot: &mut Robot<'_, Link, T>, buffer: &mut [u8]);

    /// The robot's ports for a tick.
    fn ports(&mut self) -> PortsOf<'_, Self>;

    /// A tick is finished.
    fn finish<T: Onboard>(&mut self, robot: &Robot<'_, Link, T>, report: &Report<T::Output>);
}

/// The ports of a board.
pub type PortsOf<'a, B> =
    Ports<'a, <B as Board>::Radio, <B as Board>::Sensor, <B as Board>::Actuator, <B as Board>::Store>;

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
pub use qemu::Qemu as ThisBoard;
#[cfg(feature = "board-qemu")]
use qemu::Sink;
#[cfg(feature = "nrf52")]
mod nrf52;
#[cfg(feature = "nrf52")]
pub use nrf52::Nrf52 as ThisBoard;
#[cfg(feature = "nrf52")]
use nrf52::Sink;

/// What seals this board's frames.
#[cfg(all(feature = "nrf52", sealed))]
pub use nrf52::aes::ChipAes as Cipher;
/// What seals this board's frames.
#[cfg(all(not(feature = "nrf52"), sealed))]
pub use wdgnn_core::cipher::Aes as Cipher;
