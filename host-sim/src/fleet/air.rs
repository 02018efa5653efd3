//! The air between a fleet's robots: what each of them hears of what the others said, whatever they run on.
//!
//! Robots hear it through the same radios with faults as simulated ones; this program listens for them and hands over what it
//! heard. It holds the swarm's key, so it can play the insider too: it opens what a liar said, changes it and seals it again.

use wdgnn_core::{
    codec::Codec as _,
    flocking::{Flocking, Motion},
    node::BeaconOf,
    ports::Radio as _,
    robot::{self, BUFFER_BYTES, RobotModel},
    seal::Key,
};

use crate::{
    air::{
        insider::Insider,
        mailbox::Frame,
        medium::{Blueprint, Medium, RobotRadio},
        options::Faults,
    },
    error::{Error, Result},
    fleet::events::Events,
    flight::Scene,
    model::ModelFile,
    profiles::FlownCodec,
    swarm::LONGEST_FRAME,
};

/// The air between robots that speak by the codec `C`.
#[derive(Debug)]
pub struct FleetAir<'w, C> {
    medium: Medium<RobotModel<'w>, C>,
    ears: Vec<Ear<C>>,
}

/// What the air is to one robot.
#[derive(Debug)]
struct Ear<C> {
    radio: RobotRadio,
    ahead: u32,
    insider: Option<Insider<C>>,
}

impl<'w, C: FlownCodec> FleetAir<'w, C> {
    /// The air of so many robots that fly `model`.
    ///
    /// # Errors
    /// [`Error::Model`] when it is a model for other robots.
    pub fn new(model: &'w ModelFile, key: &Key, faults: &Faults, robots: usize) -> Result<Self> {
        let weights = model.weights();
        let robot = robot::robot(0, &weights, C::with_key(key)).map_err(|source| model.unusable(source))?;
        let (network, task, behaviour) = (*robot.model(), *robot.task(), *robot.behaviour());
        let blueprint = Blueprint { model: network, task, checksum: weights.checksum, behaviour, key: *key };
        let (medium, members) = Medium::new(blueprint, faults, 0, robots);
        let ears = members.into_iter().map(|member| Ear {
            radio: member.radio,
            ahead: member.ahead,
            insider: member.lie.map(|lie| Insider { codec: C::with_key(key), lie: Some(lie) }),
        });
        Ok(Self { medium, ears: ears.collect() })
    }

    /// What is done to single robots.
    #[must_use]
    pub fn events(&self) -> &Events {
        &self.medium.faults.events
    }

    /// What the robots' clocks show at `tick`.
    #[must_use]
    pub fn clocks(&self, tick: u32) -> Vec<u32> {
        self.ears.iter().map(|ear| tick + ear.ahead).collect()
    }

    /// What the robots sense of where they are and how they move.
    pub fn sense(&mut self, motions: &[Motion]) -> Vec<Motion> {
        self.medium.sense(motions)
    }

    /// What everybody hears of what everybody said.
    ///
    /// # Errors
    /// [`Error::Usage`] when robots have another key.
    pub fn carry(&mut self, scene: &Scene<'_>, mut said: Vec<Vec<Frame>>) -> Result<Vec<Vec<Frame>>> {
        self.lie(scene.tick, &mut said)?;
        let ears = &mut self.ears;
        self.medium.carry(scene, &said, |robot, frame| {
            ears[robot].radio.inner().inner().put(frame.clone());
        });
        Ok(self.ears.iter_mut().map(|ear| listen(&mut ear.radio)).collect())
    }

    /// Changes what liars said.
    fn lie(&mut self, tick: u32, said: &mut [Vec<Frame>]) -> Result {
        let (link, every) = (self.medium.link(), self.medium.blueprint.behaviour.interval.max(1));
        for (ear, frames) in self.ears.iter_mut().zip(said) {
            let Some(insider) = &mut ear.insider else { continue };
            let now = tick + ear.ahead;
            for (index, frame) in (0..).zip(frames) {
                let opened = insider.decode(&link, now, frame);
                let (beacon, _): (BeaconOf<RobotModel<'w>, Flocking>, _) = opened
                    .map_err(|_| Error::usage("the firmware image was built with another key than --key"))?;
                let mut buffer = [0; BUFFER_BYTES];
                if let Some(length) = insider.encode(&link, &beacon, now / every, index, &mut buffer) {
                    *frame = buffer[..length].into();
                }
            }
        }
        Ok(())
    }
}

/// Everything that is heard in one listening window.
fn listen(radio: &mut RobotRadio) -> Vec<Frame> {
    let mut buffer = [0; LONGEST_FRAME];
    std::iter::from_fn(|| match radio.receive(&mut buffer) {
        // A mailbox's errors are `Infallible`.
        Ok(received) => received.map(|received| buffer[..received.length].into()),
    })
    .collect()
}
