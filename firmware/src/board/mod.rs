//! Boards: the hardware of a robot, one folder per board.

use wdgnn_core::task::NodeId;
#[cfg(sealed)]
use wdgnn_link::security::ccm::BlockCipher;
use wdgnn_link::security::key::Key;
use wdgnn_robot::{control_loop::TickReport, onboard::OnboardTask, ports::Clock};

use crate::link::Robot;

/// Hardware of a robot. A board supports every task for whose state and command it has
/// [`Ports`](wdgnn_robot::ports::Ports).
pub trait Board: Clock + Sized {
    /// Block cipher that seals frames.
    #[cfg(sealed)]
    type Cipher: BlockCipher;

    /// Initializes the board.
    fn init() -> Self;

    /// Stops after a fatal error that was logged.
    fn halt() -> !;

    /// Block cipher with the group key.
    #[cfg(sealed)]
    fn cipher(key: &Key) -> Self::Cipher;

    /// Address of the robot.
    fn id(&self) -> NodeId;

    /// Swarm size, for addresses from 0; 0 accepts every address.
    fn swarm_size(&self) -> NodeId;

    /// Personal key for key rotation, and the epoch of the image's group key.
    fn personal_key(&self) -> Option<(Key, u8)>;

    /// Pairwise keys that authenticate the peers, by address; empty without peer authentication.
    fn roster(&self) -> &'static [Key];

    /// Boot count for a robot without a stored one. It must not lead to a reused sequence number.
    fn fallback_boot_count(&mut self) -> u32;

    /// Called once before the first tick. `resumed` is true if the parameters come from the store.
    fn on_ready<T: OnboardTask>(&mut self, robot: &Robot<'_, T>, resumed: bool);

    /// Called before each tick.
    fn before_tick<T: OnboardTask>(&mut self, robot: &mut Robot<'_, T>, buffer: &mut [u8]);

    /// Called after each tick.
    fn after_tick<T: OnboardTask>(&mut self, robot: &Robot<'_, T>, report: &TickReport<T::Command>);
}

#[cfg(feature = "nrf52")]
mod nrf52;

/// Defines a board with an nRF52 from its wiring: the items of [`nrf52::Wiring`].
#[cfg(feature = "nrf52")]
macro_rules! nrf52_board {
    ($($wiring:item)*) => {
        pub use super::nrf52::Sink;
        use super::nrf52::{Led, Nrf52, Pin, Wiring};
        #[cfg(feature = "buggy")]
        use super::nrf52::{Matrix, Parts};

        /// This board.
        pub type ThisBoard = Nrf52<Wires>;

        /// Wiring of the board.
        #[derive(Debug)]
        pub struct Wires;

        impl Wiring for Wires {
            $($wiring)*
        }
    };
}

macro_rules! boards {
    ($($feature:literal: $folder:ident),+ $(,)?) => {
        $(
            #[cfg(feature = $feature)]
            mod $folder;
            #[cfg(feature = $feature)]
            use $folder as this;
        )+
    };
}

// Each board has a cargo feature named after its folder. build.rs checks that exactly one is
// selected.
boards! {
    "board-qemu": qemu,
    "board-nrf52840": nrf52840,
    "board-nrf52840-dongle": nrf52840_dongle,
    "board-feather-nrf52840": feather_nrf52840,
    "board-microbit-v2": microbit_v2,
}

mod log;

use this::Sink;
pub use this::ThisBoard;
#[cfg(feature = "buggy")]
use this::Wires;
