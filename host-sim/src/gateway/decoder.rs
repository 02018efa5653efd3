//! Decoder of all frames on the channel, with the swarm key.

use std::{collections::HashMap, fmt};

use wdgnn_core::{
    filter::{NoDelayLine, Stacked},
    message::Message,
    task::NodeId,
    tasks::flocking::Motion,
    tensor::Filter,
};
use wdgnn_link::{
    encoding::{Codec as _, half::Dot154},
    error::FrameError,
    header::{Identity, Link, Payload, Profile},
    security::{group_key::Sealed, key::Key},
};
use wdgnn_robot::onboard::{FEATURES, OUTPUTS, TAPS};

use super::counts::{RealRobot, Sightings};

type Taps = Stacked<TAPS, FEATURES, NoDelayLine>;
type Wide = Filter<TAPS, FEATURES, OUTPUTS>;

/// Content of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameContent {
    /// Sender, if the frame is authentic: clocks synchronize to it.
    pub who: Option<Identity>,
    /// Reported motion of the sender.
    pub place: Option<[f32; 2]>,
}

/// Frame decoder.
#[derive(Clone)]
pub struct FrameDecoder {
    key: Option<Key>,
    /// Sequence number of each sender's newest frame.
    newest: HashMap<NodeId, u32>,
    robots: NodeId,
    simulated: Vec<NodeId>,
    /// Robots that were heard.
    pub sightings: Sightings,
}

impl fmt::Debug for FrameDecoder {
    /// Omits the key.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FrameDecoder").field("sightings", &self.sightings).finish_non_exhaustive()
    }
}

impl FrameDecoder {
    /// Creates a decoder for a number of robots, some of them simulated.
    pub fn new(key: Option<Key>, robots: NodeId, simulated: Vec<NodeId>) -> Self {
        Self { key, newest: HashMap::new(), robots, simulated, sightings: Sightings::default() }
    }

    /// Returns sender and motion of a frame of any model; `None` if it is unreadable or not
    /// authentic.
    fn decode(&self, frame: &[u8]) -> Option<(Identity, Motion)> {
        let identity = Dot154::identity(frame, 0)?;
        let link = Link { profile: Profile::Dot154, checksum: Dot154::checksum(frame)? };
        // The decoder has no clock: it reads each frame at the frame's tick.
        let tick = identity.sequence;
        let decoded: Result<(Message<Motion, Taps, Wide>, Payload), FrameError> = match &self.key {
            Some(key) => Sealed::new(Dot154::default(), key).decode(&link, tick, frame),
            None => Dot154::default().decode(&link, tick, frame),
        };
        decoded.ok().map(|(beacon, _)| (identity, beacon.state))
    }

    /// Decodes a broadcast of a real or simulated robot.
    pub fn observe(&mut self, content: &[u8], real: bool) -> FrameContent {
        let Some((origin, motion)) = self.decode(content) else { return FrameContent::default() };
        // Frames that are not newer are authentic, but their motion is ignored.
        let newer = self.newest.get(&origin.sender).is_none_or(|newest| origin.sequence > *newest);
        if newer {
            self.newest.insert(origin.sender, origin.sequence);
        }
        if origin.sender >= self.robots {
            return FrameContent::default();
        }
        let (who, motion) = (Some(origin), newer.then_some(motion));
        if !real {
            return FrameContent { who, place: motion.map(|motion| motion.position) };
        }
        if self.simulated.contains(&origin.sender) {
            self.sightings.taken.insert(origin.sender);
            return FrameContent { who, place: None };
        }
        let known = self.sightings.real.get(&origin.sender);
        let frames = known.map_or(0, |seen| seen.frames) + u64::from(motion.is_some());
        let motion = motion.or(known.map(|seen| seen.motion));
        if let Some(motion) = motion {
            self.sightings.real.insert(origin.sender, RealRobot { motion, tick: origin.sequence, frames });
        }
        FrameContent { who, place: motion.map(|motion| motion.position) }
    }
}
