//! What went through a gateway, by direction.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use wdgnn_core::{task::NodeId, tasks::flocking::Motion};
use wdgnn_link::error::{Refusal, Refusals};

/// What came of frames and messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Frames of others that the gateway heard.
    pub heard: u64,
    /// Those of them that came after the tick had been closed that they belong to: taken up in the next one, as what they are.
    pub late_up: u64,
    /// Broadcasts that are no robot's.
    pub foreign: u64,
    /// Frames that the gateway's radio could not read.
    pub spoilt: u64,
    /// Frames that were handed to the gateway.
    pub given: u64,
    /// Those that were sent, ...
    pub sent: u64,
    /// ... that found the channel occupied, ...
    pub busy: u64,
    /// ... that came when their slot had begun, and were dropped, ...
    pub late_down: u64,
    /// ... and that the gateway had no room for.
    pub refused_down: u64,
    /// Frames that were lost between the gateway's radio and the line.
    pub lost: u64,
    /// Messages that the gateway, or this program, could not read.
    pub damaged: u64,
    /// Ticks of simulated robots, of all of them.
    pub robot_ticks: u64,
    /// Frames that simulated robots took in, of real ones and of each other.
    pub taken_of_real: u64,
    /// Likewise.
    pub taken_of_simulated: u64,
    /// Frames that they did not hear because their senders say that they are out of range.
    pub beyond: u64,
}

/// What simulated robots refused, by name.
pub fn by_name(refused: &Refusals) -> BTreeMap<&'static str, u32> {
    refused.iter().map(|(reason, count): (Refusal, u32)| (reason.name(), count)).collect()
}

/// What is known of a robot that is not simulated: what it says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Where it says that it is.
    pub motion: Motion,
    /// The tick of its last frame.
    pub tick: u32,
    /// Its frames that could be opened.
    pub frames: u64,
}

/// Everybody who was seen, and who is said to be somebody else.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sightings {
    /// By address.
    pub real: BTreeMap<NodeId, Seen>,
    /// Addresses of simulated robots that somebody else speaks with, too.
    pub taken: BTreeSet<NodeId>,
}
