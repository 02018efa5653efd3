//! What differs from board to board: the ports of a robot, a clock, an address.

use wdgnn_core::task::NodeId;
use wdgnn_link::security::{ccm::BlockCipher, key::Key};
use wdgnn_robot::{
    control_loop::Report,
    onboard::{Onboard, Robot},
    ports::{Clock, Ports, Radio, Store},
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
    /// Seals frames, where a key is in the image.
    type Cipher: BlockCipher;

    /// Starts the board.
    fn init() -> Self;

    /// There is nothing to fly with: the reason has been logged.
    fn give_up() -> !;

    /// What seals frames, with the swarm's key.
    fn cipher(key: &Key) -> Self::Cipher;

    /// The robot's address.
    fn id(&self) -> NodeId;

    /// How many robots the swarm has, with addresses from 0 on; 0 if nobody told.
    fn robots(&self) -> NodeId;

    /// The robot's personal key and the epoch of the swarm's key in this image, if it was told: where keys change in flight.
    fn personal(&self) -> Option<(Key, u8)>;

    /// The keys by which others prove their names to this robot, by name; none where names are not proven.
    fn roster(&self) -> &'static [Key];

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

// Each has a feature in Cargo.toml, by the name of its folder. That exactly one is chosen, build.rs sees to.
boards! {
    "board-qemu": qemu,
    "board-nrf52840": nrf52840,
    "board-nrf52840-dongle": nrf52840_dongle,
    "board-feather-nrf52840": feather_nrf52840,
    "board-microbit-v2": microbit_v2,
}

#[cfg(feature = "nrf52")]
mod nrf52;

mod log;

use this::Sink;
pub use this::ThisBoard;
