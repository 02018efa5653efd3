//! Adversaries: outsiders without the group key, and insiders that falsify data.
//!
//! They use the swarm's codec and its network's dimensions. All code that depends on these is here,
//! so that the rest of the medium is compiled once per task.

use wdgnn_core::{
    Beacon,
    filter::Chains as _,
    model::Model,
    task::{NodeId, State},
    tensor::Numbers as _,
};
use wdgnn_link::{
    encoding::{Codec as _, half::TAG_BYTES},
    header::{self, Identity, Link},
    security::{key::Key, peer_auth::MARK},
};
use wdgnn_robot::{node::BeaconOf, onboard::LONGEST_BUFFER};

use super::{
    insider::{Insider, Lie},
    robot_config::RobotConfig,
};
use crate::{
    error::{Error, Result},
    profiles::{Profile, SimCodec},
    radio::Radio,
    scene::{Frame, SimTask},
};

/// Key of outsiders.
const OUTSIDER_KEY: Key = *b"somebody else's.";

/// Position of forged frames in meters. A robot with such a neighbor accepted a forged frame.
const FORGED_POSITION_METRES: f32 = 50_000.0;

/// Source of hostile frames in a swarm's format.
pub trait Adversary: Send {
    /// Returns the function that reads a frame's sender.
    ///
    /// See [`wdgnn_link::encoding::Codec::identity`].
    fn identity(&self) -> fn(&[u8]) -> Option<Identity>;

    /// Returns the sender that a frame claims at tick `now`, with its tick as the sequence.
    fn claimed_identity(&self, now: u32, frame: &[u8]) -> Option<Identity>;

    /// Returns whether a frame received at tick `now` is authenticated by the group key.
    fn is_authentic(&mut self, now: u32, frame: &[u8]) -> bool;

    /// Returns the radio of the profile.
    fn radio(&self) -> Option<Radio>;

    /// Returns the length of authentication tags in bytes.
    fn tag_bytes(&self) -> usize;

    /// Returns a frame in a robot's name, made without the key, newer than the robot's own.
    ///
    /// Its state is far away. `skew` is the largest difference between clocks.
    fn forge(&mut self, sender: NodeId, tick: u32, skew: u32) -> Option<Frame>;

    /// Returns an authentic frame in any name, as of `ahead` ticks after `tick`.
    ///
    /// `state` holds the components of the claimed state. The parameters are those of the weight
    /// file. If the profile's frames cannot hold `boot`, its lower 16 bits are used.
    fn impersonate(&mut self, name: NodeId, boot: u32, tick: u32, ahead: u32, state: &[f32])
    -> Option<Frame>;

    /// Sets the lie of a robot.
    fn set_lie(&mut self, robot: usize, lie: Lie);

    /// Decrypts a liar's frames of its tick `now`, falsifies them and encrypts them again.
    fn falsify(&mut self, robot: usize, now: u32, frames: &mut [Frame]) -> Result;
}

/// Adversary for robots with one configuration and the codec `C`.
#[allow(missing_debug_implementations, reason = "contains trait objects and codecs")]
pub struct CodecAdversary<T, M, C> {
    config: RobotConfig<M, T>,
    link: Link,
    outsider: C,
    insider: C,
    key: Key,
    insiders: Vec<Option<Insider<C>>>,
}

impl<T, M, C> CodecAdversary<T, M, C>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Output> + Copy,
    C: SimCodec,
{
    /// Creates the adversary of a swarm with this key.
    pub fn new(config: RobotConfig<M, T>, key: &Key) -> Self {
        let link = Link { profile: C::profile(M::FOLDED), checksum: config.checksum };
        let [outsider, insider] = [&OUTSIDER_KEY, key].map(C::with_key);
        Self { config, link, outsider, insider, key: *key, insiders: Vec::new() }
    }

    /// Returns a frame with the offline parameters, sealed by `codec`.
    fn frame(
        &self,
        codec: &C,
        sender: NodeId,
        boot: u32,
        sequence: u32,
        tick: u32,
        state: T::State,
    ) -> Option<Frame> {
        let (chains, wide) = (M::Chains::ZERO, *self.config.model.offline());
        let beacon = Beacon { sender, boot, sequence, degree: 0, state, chains, wide };
        let mut buffer = [0; LONGEST_BUFFER];
        let length = codec.encode(&self.link, &beacon, tick, 0, &mut buffer)?;
        buffer.get(..length).map(Frame::from)
    }
}

impl<T, M, C> Adversary for CodecAdversary<T, M, C>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Output> + Copy + Send,
    C: SimCodec,
{
    fn identity(&self) -> fn(&[u8]) -> Option<Identity> {
        |frame| C::identity(frame, 0)
    }

    fn claimed_identity(&self, now: u32, frame: &[u8]) -> Option<Identity> {
        let who = C::identity(frame, now)?;
        Some(Identity { sequence: who.sequence / C::FRAMES, ..who })
    }

    fn is_authentic(&mut self, now: u32, frame: &[u8]) -> bool {
        self.insider.vouch(&self.link, now, 0, frame).is_some()
    }

    fn radio(&self) -> Option<Radio> {
        Profile::with_code(self.link.profile as u32)?.radio()
    }

    fn tag_bytes(&self) -> usize {
        if self.link.profile == header::Profile::Esb32 { 4 } else { TAG_BYTES }
    }

    fn forge(&mut self, sender: NodeId, tick: u32, skew: u32) -> Option<Frame> {
        let sequence = (tick + skew) * C::FRAMES + C::FRAMES;
        self.frame(&self.outsider, sender, 0, sequence, tick, forged_state::<T::State>())
    }

    fn impersonate(
        &mut self,
        name: NodeId,
        boot: u32,
        tick: u32,
        ahead: u32,
        state: &[f32],
    ) -> Option<Frame> {
        let mut numbers = <T::State as State>::Numbers::ZERO;
        numbers.as_mut().iter_mut().zip(state).for_each(|(to, from)| *to = *from);
        let state = T::State::from_numbers(numbers);
        let sequence = (tick + ahead) * C::FRAMES;
        let frame = |boot| self.frame(&self.insider, name, boot, sequence, tick, state);
        // Short headers hold only 16 bits of the boot count.
        frame(boot).or_else(|| frame(boot & 0xffff))
    }

    fn set_lie(&mut self, robot: usize, lie: Lie) {
        if self.insiders.len() <= robot {
            self.insiders.resize_with(robot + 1, || None);
        }
        self.insiders[robot] = Some(Insider { codec: C::with_key(&self.key), lie: Some(lie) });
    }

    fn falsify(&mut self, robot: usize, now: u32, frames: &mut [Frame]) -> Result {
        let Some(Some(insider)) = self.insiders.get_mut(robot) else { return Ok(()) };
        let every = self.config.behaviour.interval.max(1);
        let proves = |frame: &Frame| frame.first().is_some_and(|first| first & MARK != 0);
        // A lying robot can prove its own identity, so frames with proofs stay unchanged.
        for (index, frame) in (0..).zip(frames).filter(|(_, frame)| !proves(frame)) {
            let (beacon, _): (BeaconOf<M, T>, _) = insider
                .decode(&self.link, now, frame)
                .map_err(|_| Error::usage("the firmware image was built with another key than --key"))?;
            let mut buffer = [0; LONGEST_BUFFER];
            if let Some(length) = insider.encode(&self.link, &beacon, now / every, index, &mut buffer) {
                *frame = buffer[..length].into();
            }
        }
        Ok(())
    }
}

/// Returns the state of forged frames, out of every robot's range.
fn forged_state<S: State>() -> S {
    let mut numbers = S::Numbers::ZERO;
    numbers.as_mut().fill(FORGED_POSITION_METRES);
    S::from_numbers(numbers)
}

/// Returns whether a state is that of a forged frame.
pub fn is_forged_state<S: State>(state: &S) -> bool {
    state.numbers().as_ref().first().is_some_and(|x| *x > FORGED_POSITION_METRES / 2.0)
}
