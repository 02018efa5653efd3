//! Who speaks in the air, where, as far as frames tell: opened by the PC, which has the key.

use std::{collections::HashMap, fmt};

use wdgnn_core::{
    filter::{NoChain, Stacked},
    message::Beacon,
    task::NodeId,
    tasks::flocking::Motion,
    tensor::Filter,
};
use wdgnn_link::{
    encoding::{Codec as _, half::Dot154},
    error::Refusal,
    header::{Identity, Link, Parts, Profile},
    security::{group_key::Sealed, key::Key},
};
use wdgnn_robot::onboard::{FEATURES, OUTPUTS, TAPS};

use super::counts::{Seen, Sightings};

type Taps = Stacked<TAPS, FEATURES, NoChain>;
type Wide = Filter<TAPS, FEATURES, OUTPUTS>;

/// What a frame tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sight {
    /// Whose it is, if its seal could be opened: clocks go by it.
    pub who: Option<Identity>,
    /// Where its sender says that it is.
    pub place: Option<[f32; 2]>,
}

/// Looks at frames.
#[derive(Clone)]
pub struct Lookout {
    key: Option<Key>,
    /// Sequence number of each sender's newest frame.
    newest: HashMap<NodeId, u32>,
    robots: NodeId,
    simulated: Vec<NodeId>,
    /// Who was seen.
    pub sightings: Sightings,
}

impl fmt::Debug for Lookout {
    /// Leaves out the key.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Lookout").field("sightings", &self.sightings).finish_non_exhaustive()
    }
}

impl Lookout {
    /// For so many robots, of which these are simulated.
    pub fn new(key: Option<Key>, robots: NodeId, simulated: Vec<NodeId>) -> Self {
        Self { key, newest: HashMap::new(), robots, simulated, sightings: Sightings::default() }
    }

    /// Sender and motion of a frame, of any model; `None` where it cannot be read or opened.
    fn decode(&self, frame: &[u8]) -> Option<(Identity, Motion)> {
        let identity = Dot154::identity(frame, 0)?;
        let link = Link { profile: Profile::Dot154, checksum: Dot154::checksum(frame)? };
        // A lookout has no clock: every frame is read at its own tick.
        let tick = identity.sequence;
        let decoded: Result<(Beacon<Motion, Taps, Wide>, Parts), Refusal> = match &self.key {
            Some(key) => Sealed::new(Dot154::default(), key).decode(&link, tick, frame),
            None => Dot154::default().decode(&link, tick, frame),
        };
        decoded.ok().map(|(beacon, _)| (identity, beacon.state))
    }

    /// Looks at what a robot's broadcast carries, said by a real one or by one that is simulated here.
    pub fn see(&mut self, content: &[u8], real: bool) -> Sight {
        let Some((origin, motion)) = self.decode(content) else { return Sight::default() };
        // A frame that is not newer than its sender's last still comes from a member, but its motion does not count.
        let newer = self.newest.get(&origin.sender).is_none_or(|newest| origin.sequence > *newest);
        if newer {
            self.newest.insert(origin.sender, origin.sequence);
        }
        if origin.sender >= self.robots {
            return Sight::default();
        }
        let (who, motion) = (Some(origin), newer.then_some(motion));
        if !real {
            return Sight { who, place: motion.map(|motion| motion.position) };
        }
        if self.simulated.contains(&origin.sender) {
            self.sightings.taken.insert(origin.sender);
            return Sight { who, place: None };
        }
        let known = self.sightings.real.get(&origin.sender);
        let frames = known.map_or(0, |seen| seen.frames) + u64::from(motion.is_some());
        let motion = motion.or(known.map(|seen| seen.motion));
        if let Some(motion) = motion {
            self.sightings.real.insert(origin.sender, Seen { motion, tick: origin.sequence, frames });
        }
        Sight { who, place: motion.map(|motion| motion.position) }
    }
}
