//! Adversaries: outsiders without the group key, and insiders that falsify data.
//!
//! They use the swarm's codec and its network's dimensions. All code that depends on these is here,
//! so that the rest of the medium is compiled once per task.

use wdgnn_core::{
    filter::DelayLines as _,
    message::{AgentMessage, Message},
    model::Model,
    task::{NodeId, State},
    tensor::Array as _,
};
use wdgnn_link::{
    encoding::half::MAX_TAG_LEN,
    header::FrameId,
    security::{key::Key, peer_auth::PROOF_MARK},
};

use super::{
    any_link::{FrameForge, forge},
    insider::Lie,
    robot_config::SwarmConfig,
};
use crate::{
    error::{Error, Result},
    profiles::Profile,
    radio::Radio,
    scene::{Frame, SimTask},
};

/// Key of outsiders.
const OUTSIDER_KEY: Key = *b"somebody else's.";

/// Position of forged frames in meters. A robot with such a neighbor accepted a forged frame.
const FORGED_POSITION_METRES: f32 = 50_000.0;

/// Source of hostile frames in a swarm's format.
pub trait Adversary: Send {
    /// Returns the function that reads a frame's sender and number, received at a tick.
    fn reader(&self) -> fn(&[u8], u32) -> Option<FrameId>;

    /// Returns the sender that a frame claims at tick `now`, with its tick as the sequence.
    fn claimed_identity(&self, now: u32, frame: &[u8]) -> Option<FrameId>;

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

/// Tools of attackers for messages of the model `M` and the task `T`.
type ForgeOf<M, T> =
    Box<dyn FrameForge<<T as wdgnn_core::task::Task>::State, <M as Model>::Taps, <M as Model>::Wide>>;

/// Adversary in a swarm with one configuration.
#[allow(missing_debug_implementations, reason = "contains trait objects")]
pub struct SwarmAdversary<T: SimTask, M: Model> {
    config: SwarmConfig<M, T>,
    profile: Profile,
    sealed: bool,
    key: Key,
    outsider: ForgeOf<M, T>,
    insider: ForgeOf<M, T>,
    liars: Vec<Option<Liar<M, T>>>,
}

/// Lying robot.
struct Liar<M: Model, T: SimTask> {
    forge: ForgeOf<M, T>,
    lie: Lie,
}

impl<T, M> SwarmAdversary<T, M>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command> + Copy,
{
    /// Creates the adversary of a swarm with this key, on sealed or open links.
    pub fn new(config: SwarmConfig<M, T>, profile: Profile, sealed: bool, key: &Key) -> Self {
        let [outsider, insider] =
            [&OUTSIDER_KEY, key].map(|key| forge(profile, config.checksum, sealed.then_some(key)));
        Self { config, profile, sealed, key: *key, outsider, insider, liars: Vec::new() }
    }

    /// Returns a frame with the offline parameters.
    fn frame(
        &self, forge: &ForgeOf<M, T>, sender: NodeId, boot: u32, sequence: u32, tick: u32, state: T::State,
    ) -> Option<Frame> {
        let (taps, wide) = (M::Taps::ZERO, *self.config.robot.agent.model.offline());
        let message = Message { sender, tick, degree: 0, state, taps, wide };
        forge.write(&message, boot, sequence, tick, 0).map(Frame::from)
    }
}

impl<T, M> Adversary for SwarmAdversary<T, M>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command> + Copy + Send,
{
    fn reader(&self) -> fn(&[u8], u32) -> Option<FrameId> {
        self.insider.reader()
    }

    fn claimed_identity(&self, now: u32, frame: &[u8]) -> Option<FrameId> {
        let id = self.insider.reader()(frame, now)?;
        Some(FrameId { sequence: id.sequence / self.insider.frames(), ..id })
    }

    fn is_authentic(&mut self, now: u32, frame: &[u8]) -> bool {
        self.insider.is_authentic(now, frame)
    }

    fn radio(&self) -> Option<Radio> {
        self.profile.radio()
    }

    fn tag_bytes(&self) -> usize {
        if self.profile == Profile::Esb32 { 4 } else { MAX_TAG_LEN }
    }

    fn forge(&mut self, sender: NodeId, tick: u32, skew: u32) -> Option<Frame> {
        let frames = self.outsider.frames();
        let sequence = (tick + skew) * frames + frames;
        self.frame(&self.outsider, sender, 0, sequence, tick, forged_state::<T::State>())
    }

    fn impersonate(
        &mut self, name: NodeId, boot: u32, tick: u32, ahead: u32, state: &[f32],
    ) -> Option<Frame> {
        let mut numbers = <T::State as State>::Array::ZERO;
        numbers.as_mut().iter_mut().zip(state).for_each(|(to, from)| *to = *from);
        let state = T::State::from_array(numbers);
        let sequence = (tick + ahead) * self.insider.frames();
        let frame = |boot| self.frame(&self.insider, name, boot, sequence, tick, state);
        // Short headers hold only 16 bits of the boot count.
        frame(boot).or_else(|| frame(boot & 0xffff))
    }

    fn set_lie(&mut self, robot: usize, lie: Lie) {
        if self.liars.len() <= robot {
            self.liars.resize_with(robot + 1, || None);
        }
        let forge = forge(self.profile, self.config.checksum, self.sealed.then_some(&self.key));
        self.liars[robot] = Some(Liar { forge, lie });
    }

    fn falsify(&mut self, robot: usize, now: u32, frames: &mut [Frame]) -> Result {
        let Some(Some(Liar { forge, lie })) = self.liars.get_mut(robot) else { return Ok(()) };
        let round = now / self.config.robot.exchange_interval.max(1);
        let proves = |frame: &Frame| frame.first().is_some_and(|first| first & PROOF_MARK != 0);
        // A lying robot can prove its own identity, so frames with proofs stay unchanged.
        for (index, frame) in (0..).zip(frames).filter(|(_, frame)| !proves(frame)) {
            let mut message = AgentMessage::<M, T>::empty(T::State::zero());
            let id = forge
                .read(now, frame, &mut message)
                .map_err(|_| Error::usage("the firmware image was built with another key than --key"))?;
            let sent = lie.apply(&message, round);
            if let Some(mut bytes) = forge.write(&sent, id.boot, id.sequence, round, index) {
                lie.patch(&mut bytes, forge.header_len());
                *frame = bytes.into();
            }
        }
        Ok(())
    }
}

/// Returns the state of forged frames, out of every robot's range.
fn forged_state<S: State>() -> S {
    let mut numbers = S::Array::ZERO;
    numbers.as_mut().fill(FORGED_POSITION_METRES);
    S::from_array(numbers)
}

/// Returns whether a state is that of a forged frame.
pub fn is_forged_state<S: State>(state: &S) -> bool {
    state.to_array().as_ref().first().is_some_and(|x| *x > FORGED_POSITION_METRES / 2.0)
}
