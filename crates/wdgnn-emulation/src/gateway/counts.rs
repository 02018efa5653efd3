//! Counters of a gateway by direction.

use serde::{Serialize, Serializer};
use wdgnn_core::tasks::flocking::Motion;
use wdgnn_link::error::FrameErrorCounts;

use crate::counters::by_name;

/// Counters of frames and messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Frames of other robots that the gateway received.
    pub heard: u64,
    /// Frames received after their tick; they count for the next one.
    pub late_up: u64,
    /// Broadcasts of other devices.
    pub foreign: u64,
    /// Frames that the gateway's radio could not read.
    pub spoilt: u64,
    /// Frames passed to the gateway.
    pub given: u64,
    /// Frames passed to the gateway and sent.
    pub sent: u64,
    /// Frames dropped because the channel was busy.
    pub busy: u64,
    /// Frames dropped because their slot had begun.
    pub late_down: u64,
    /// Frames dropped because the gateway's queue was full.
    pub refused_down: u64,
    /// Frames lost between the gateway's radio and the serial line.
    pub lost: u64,
    /// Unreadable messages in both directions.
    pub damaged: u64,
    /// Frames of real robots that simulated robots accepted.
    pub taken_of_real: u64,
    /// Frames of simulated robots that simulated robots accepted.
    pub taken_of_simulated: u64,
    /// Frames from outside the radio range, by the sender's position.
    pub beyond: u64,
    /// Frames that simulated robots rejected, by reason.
    #[serde(serialize_with = "serialize_by_name")]
    pub refused: FrameErrorCounts,
}

fn serialize_by_name<S: Serializer>(counts: &FrameErrorCounts, to: S) -> Result<S::Ok, S::Error> {
    by_name(counts).serialize(to)
}

/// Last known state of a real robot, from its frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RealRobot {
    /// Motion in its last frame.
    pub motion: Motion,
    /// Tick of its last frame.
    pub tick: u32,
    /// Number of its authentic frames.
    pub frames: u64,
}
