//! Fleets: robots that run the firmware's own tick, frame by frame, in this process or each in an emulator of its own.
//!
//! Both give the same bits: that is what [`digest`] is for.

pub mod air;
pub mod body;
pub mod digest;
pub mod emulated;
pub mod events;
pub mod image;
pub mod log;
pub mod mission;
pub mod native;
pub mod outcome;
pub mod patrol;
pub mod qemu;
pub mod recorded;

use wdgnn_core::flocking::Motion;

pub use self::outcome::Outcome;
use crate::{air::mailbox::Frame, error::Result};

/// Robots that fly together. A robot that is gone says nothing and does nothing; the others fly on.
pub trait Fleet {
    /// Everybody senses and speaks, each at the tick that its clock shows: the frames of every robot, none of those that are gone or
    /// do not speak in this tick.
    fn speak(&mut self, ticks: &[u32], motions: &[Motion]) -> Vec<Vec<Frame>>;

    /// Everybody hears, acts and learns: `heard` holds the frames that reach each robot, in order.
    fn hear(&mut self, heard: &[Vec<Frame>]) -> Vec<Option<Outcome>>;

    /// Takes a robot out of the sky.
    fn kill(&mut self, robot: usize);

    /// Switches a robot off and on again. It comes back with what it has stored.
    ///
    /// # Errors
    /// When it does not come back.
    fn reboot(&mut self, robot: usize) -> Result;

    /// Who was lost without being asked to, each with a sentence that says how, since this was last asked.
    fn casualties(&mut self) -> Vec<String>;
}
