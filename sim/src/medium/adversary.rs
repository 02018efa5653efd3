//! Voices that are not a robot's own: a stranger without the swarm's key, and insiders who hold it and lie.
//!
//! They speak by the swarm's codec, in its network's dimensions. All that depends on those is here, so that the rest of the air is
//! compiled once per task.

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

/// The key of somebody else.
const WRONG_KEY: Key = *b"somebody else's.";

/// Forged frames say that they come from here, in metres: if a robot ever has such a neighbour, it was fooled.
const NOWHERE: f32 = 50_000.0;

/// Who can speak as the swarm's robots do.
pub trait Adversary: Send {
    /// Whose frame this is: see [`wdgnn_link::encoding::Codec::identity`].
    fn identity(&self) -> fn(&[u8]) -> Option<Identity>;

    /// Whose frame this says that it is at a robot's tick `now`, and of which tick, as its sequence.
    fn says(&self, now: u32, frame: &[u8]) -> Option<Identity>;

    /// Whether somebody with the key has made a frame that is heard at a robot's tick `now`.
    fn vouches(&mut self, now: u32, frame: &[u8]) -> bool;

    /// The radio that it is made for.
    fn radio(&self) -> Option<Radio>;

    /// Bytes of a tag, where frames are sealed.
    fn tag_bytes(&self) -> usize;

    /// A frame in a robot's name from somebody without the key, from nowhere, newer than that robot's own: `skew` is by how much
    /// clocks differ.
    fn forge(&mut self, sender: NodeId, tick: u32, skew: u32) -> Option<Frame>;

    /// A frame in any name from somebody with the key, as of `ahead` ticks after `tick`, of this boot or the last that the profile's
    /// frames can tell. Its sender is where the numbers of `state` say, and has learned nothing.
    fn speak_as(&mut self, name: NodeId, boot: u32, tick: u32, ahead: u32, state: &[f32]) -> Option<Frame>;

    /// Tells robot number `robot` what to lie about.
    fn teach(&mut self, robot: usize, lie: Lie);

    /// Opens the frames that a robot said at its tick `now`, changes them and seals them again, if it is a liar.
    fn lie(&mut self, robot: usize, now: u32, frames: &mut [Frame]) -> Result;
}

/// A voice of robots by one blueprint that speak by the codec `C`.
#[allow(missing_debug_implementations, reason = "voices are told apart by what they say")]
pub struct CodecAdversary<T, M, C> {
    config: RobotConfig<M, T>,
    link: Link,
    stranger: C,
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
    /// The voice of a swarm with this key.
    pub fn new(config: RobotConfig<M, T>, key: &Key) -> Self {
        let link = Link { profile: C::profile(M::FOLDED), checksum: config.checksum };
        let [stranger, insider] = [&WRONG_KEY, key].map(C::with_key);
        Self { config, link, stranger, insider, key: *key, insiders: Vec::new() }
    }

    /// A frame with the offline parameters, sealed by `codec`.
    fn say(
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

    fn says(&self, now: u32, frame: &[u8]) -> Option<Identity> {
        let who = C::identity(frame, now)?;
        Some(Identity { sequence: who.sequence / C::FRAMES, ..who })
    }

    fn vouches(&mut self, now: u32, frame: &[u8]) -> bool {
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
        self.say(&self.stranger, sender, 0, sequence, tick, nowhere::<T::State>())
    }

    fn speak_as(&mut self, name: NodeId, boot: u32, tick: u32, ahead: u32, state: &[f32]) -> Option<Frame> {
        let mut numbers = <T::State as State>::Numbers::ZERO;
        numbers.as_mut().iter_mut().zip(state).for_each(|(to, from)| *to = *from);
        let state = T::State::from_numbers(numbers);
        let sequence = (tick + ahead) * C::FRAMES;
        let say = |boot| self.say(&self.insider, name, boot, sequence, tick, state);
        // Short headers tell no more than 16 bits of it.
        say(boot).or_else(|| say(boot & 0xffff))
    }

    fn teach(&mut self, robot: usize, lie: Lie) {
        if self.insiders.len() <= robot {
            self.insiders.resize_with(robot + 1, || None);
        }
        self.insiders[robot] = Some(Insider { codec: C::with_key(&self.key), lie: Some(lie) });
    }

    fn lie(&mut self, robot: usize, now: u32, frames: &mut [Frame]) -> Result {
        let Some(Some(insider)) = self.insiders.get_mut(robot) else { return Ok(()) };
        let every = self.config.behaviour.interval.max(1);
        let proves = |frame: &Frame| frame.first().is_some_and(|first| first & MARK != 0);
        // A robot that lies can prove who it is as well as any other: such frames stay as they are.
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

/// A state from which nobody can be heard: where it says that it is, there is nobody.
fn nowhere<S: State>() -> S {
    let mut numbers = S::Numbers::ZERO;
    numbers.as_mut().fill(NOWHERE);
    S::from_numbers(numbers)
}

/// Whether a state is that of a forged frame.
pub fn is_nowhere<S: State>(state: &S) -> bool {
    state.numbers().as_ref().first().is_some_and(|x| *x > NOWHERE / 2.0)
}
