//! Who speaks in the air, where, as far as frames tell: opened by the PC, which has the key.

use wdgnn_core::{task::NodeId, tasks::flocking::Motion};
use wdgnn_link::{error::Refusal, header::Identity, security::key::Key};

use super::counts::{Seen, Sightings};
use crate::sniff::{Ear, ProfileName};

/// What a frame tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sight {
    /// Whose it is, if its seal could be opened: clocks go by it.
    pub who: Option<Identity>,
    /// Where its sender says that it is.
    pub place: Option<[f32; 2]>,
}

/// Looks at frames.
#[derive(Clone, Debug)]
pub struct Lookout {
    ear: Ear,
    robots: NodeId,
    simulated: Vec<NodeId>,
    /// Who was seen.
    pub sightings: Sightings,
}

impl Lookout {
    /// For so many robots, of which these are simulated.
    #[must_use]
    pub fn new(key: Option<Key>, robots: NodeId, simulated: Vec<NodeId>) -> Self {
        let mut ear = Ear::new(0);
        (ear.key, ear.profile) = (key, Some(ProfileName::Dot154));
        Self { ear, robots, simulated, sightings: Sightings::default() }
    }

    /// Looks at what a robot's broadcast carries, said by a real one or by one that is simulated here.
    pub fn see(&mut self, content: &[u8], real: bool) -> Sight {
        let sighting = self.ear.listen(content);
        // One that is not newer than the last is still a swarm member's: the rhythm knows what was held back.
        let opened = matches!(sighting.refused, None | Some(Refusal::Replayed | Refusal::Old));
        let Some(origin) = sighting.origin.filter(|origin| opened && origin.sender < self.robots) else {
            return Sight::default();
        };
        let who = Some(Identity { sender: origin.sender, boot: origin.boot, sequence: origin.sequence });
        let said = sighting.content.as_ref();
        let motion = said.map(|said| Motion { position: said.position, velocity: said.velocity });
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
