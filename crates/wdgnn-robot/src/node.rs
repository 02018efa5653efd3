//! One robot: its state between ticks, and the verbs of a tick.
//!
//! The verbs are called in the order in which [`Node`] lists them; [`crate::control_loop`] does so against a robot's ports.

use crate::tasks::{Consistency, RobotTask};
use crate::{
    config::Behavior,
    neighbors::{Neighbor, Neighbors},
};
use wdgnn_core::{
    adaptation::LocalAdaptation,
    message::Message,
    model::Model,
    task::{NodeId, Task},
    tensor::Tensor as _,
};
use wdgnn_link::{
    encoding::{Codec, exact::Exact},
    header::Link,
    security::key_ring::KEPT_BYTES,
};

mod kind;
pub mod memory;
mod obedience;
pub mod overhearing;
mod proven;
mod senses;
mod talk;
mod temper;
mod think;
mod thinks;

pub use kind::Kind;
use memory::Memory;
pub use memory::Past;
pub use thinks::{ConsensusReport, Thinks};

/// The beacon of a node with model `M` and task `T`.
pub type MessageOf<M, T> = Message<<T as Task>::State, <M as Model>::Taps, <M as Model>::Wide>;

/// A neighbor of a node with model `M` and task `T`.
pub type NeighbourOf<M, T> =
    Neighbor<<T as Task>::State, <M as Model>::Taps, <M as Model>::Wide, <T as Consistency>::Stats>;

/// The table of neighbors of a node with model `M` and task `T`.
type Table<M, T, const N: usize> =
    Neighbors<<T as Task>::State, <M as Model>::Taps, <M as Model>::Wide, N, <T as Consistency>::Stats>;

/// What a node is made of.
#[derive(Clone, Copy, Debug)]
pub struct Settings<M, T: RobotTask, P = Exact> {
    /// Its address.
    pub id: NodeId,
    /// Its network.
    pub model: M,
    /// What the network is for.
    pub task: T,
    /// The checksum of the weight file, by which nodes recognise each other.
    pub checksum: u32,
    /// How it behaves, apart from its network and its task.
    pub behavior: Behavior,
    /// Where it is taken to be before it has sensed anything.
    pub state: T::State,
    /// Its link profile.
    pub codec: P,
}

/// One robot with model `M`, task `T`, room for `N` neighbors, and the link profile `P`.
///
/// The verbs of a tick, in order: [`sense`](Self::sense), [`speak`](Self::speak), [`hear`](Self::hear) each frame,
/// [`settle`](Self::settle), [`observe`](Self::observe), [`aggregate`](Self::aggregate), [`infer`](Self::infer),
/// [`guard`](Self::guard), [`learn`](Self::learn), [`agree`](Self::agree). The [front page](crate) has two robots that call
/// them; here is one that hears nobody:
///
/// ```
/// use wdgnn_core::{
///     Activation, Flocking, Folded, Layer, Learning, Metric, Motion, Network, Scale, Top,
/// };
/// use wdgnn_link::{FrameError, encoding::exact::Exact};
/// use wdgnn_robot::{
///     Behavior, Node, node::Settings, ports::Sensed, safety::gate::{Isolation, Verdict},
/// };
///
/// type Net<'w> = Network<'w, 6, 2, 2, 2, Layer<'w, 2, 6, 2, Top>>;
/// let numbers = [0.1; Net::NUMBERS];
/// let network = Net::over(&numbers, Activation::Relu, Scale::Sum).unwrap();
/// let model = Folded::new(network, Metric::Paper);
/// let flying = Motion { position: [0.0, 0.0], velocity: [2.0, 0.0] };
/// let behavior = Behavior::new(Learning::OFF);
/// let task = Flocking::DEFAULT;
/// let settings = Settings { id: 1, model, task, checksum: 0, behavior, state: flying, codec: Exact };
/// let mut node = Node::<_, _, 16>::new(settings);
///
/// assert!(node.sense(0, Some(Sensed::now(flying))));
/// assert_eq!(node.hear(&mut [1, 2, 3]), Err(FrameError::TooShort));
/// node.settle();
/// let features = node.observe();
/// node.aggregate();
/// node.infer(&features);
/// assert_eq!(node.guard(), ([0.0, 0.0], Verdict::Alone(Isolation::Hold)));
/// ```
#[derive(Debug)]
pub struct Node<M: Model, T: RobotTask, const N: usize, P = Exact> {
    id: NodeId,
    model: M,
    task: T,
    codec: P,
    link: Link,
    behavior: Behavior,
    /// What lasts from tick to tick, besides neighbors.
    memory: Memory<M, T>,
    /// The norm of the offline parameters.
    reach: f32,
    neighbors: Table<M, T, N>,
    /// What a frame is read into. Only what it carries means anything, and only while it is heard.
    heard: Scratch<MessageOf<M, T>>,
}

/// Robots that are switched on within so many ticks of each other come to one time whoever speaks first: a minute.
const AGREED_TICKS: u32 = 6_000;

/// The kind of a node, whatever is done to its memory meanwhile.
macro_rules! kind_of {
    ($node:ident) => {
        Kind { model: &$node.model, task: &$node.task, behavior: &$node.behavior, reach: $node.reach }
    };
}
use kind_of;

/// Something that is no part of what a node knows.
struct Scratch<T>(T);

impl<T> core::fmt::Debug for Scratch<T> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("Scratch")
    }
}

impl<M, T, const N: usize> Node<M, T, N>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
{
    /// The length of this node's frames in bytes.
    pub const FRAME_BYTES: usize = wdgnn_link::encoding::exact::frame_bytes::<T::State, M::Taps, M::Wide>();
}

impl<M, T, const N: usize, P> Node<M, T, N, P>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    P: Codec,
{
    /// A node that starts from the offline parameters.
    #[must_use]
    pub fn new(settings: Settings<M, T, P>) -> Self {
        let Settings { id, model, task, checksum, behavior, state, codec } = settings;
        Self::assemble(id, model, task, checksum, behavior, state, codec)
    }

    /// The same, one by one: on a robot's stack, settings would lie beside the network that they are made of, 216 bytes more.
    #[inline]
    pub(crate) fn assemble(
        id: NodeId,
        model: M,
        task: T,
        checksum: u32,
        behavior: Behavior,
        state: T::State,
        codec: P,
    ) -> Self {
        let wide = *model.offline();
        Self {
            memory: Memory::starting(id, &task, wide, state),
            id,
            model,
            task,
            codec,
            link: Link { profile: P::profile(M::FOLDED), checksum },
            behavior,
            reach: wide.norm(),
            neighbors: Neighbors::new(),
            heard: Scratch(Message::silent(state)),
        }
    }

    /// The length of this node's longest frame in bytes: what a buffer must hold, and a byte more to see what is too long.
    #[must_use]
    pub fn frame_bytes() -> usize {
        P::bytes::<T::State, M::Taps, M::Wide>()
    }

    /// The node's address.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The network.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The task.
    pub fn task(&self) -> &T {
        &self.task
    }

    /// The task, to change between ticks (such as the signal of a node that is given its next problem).
    pub fn task_mut(&mut self) -> &mut T {
        &mut self.task
    }

    /// How the node behaves.
    pub fn behavior(&self) -> &Behavior {
        &self.behavior
    }

    /// How the node behaves, to change between ticks: the step size γ_t of a schedule of your own.
    pub fn behaviour_mut(&mut self) -> &mut Behavior {
        &mut self.behavior
    }

    /// What this node's frames are recognised by.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// The tick that the node is in.
    pub fn tick(&self) -> u32 {
        self.memory.tick
    }

    /// How often the node was started.
    pub fn boot(&self) -> u32 {
        self.memory.boot
    }

    /// The robot's own state.
    pub fn state(&self) -> &T::State {
        &self.memory.state
    }

    /// Takes note of what is left of the battery, in percent, where that is known.
    pub fn set_battery(&mut self, left: Option<u8>) {
        self.memory.battery = left;
    }

    /// The network's raw output at this tick.
    pub fn output(&self) -> &M::Output {
        &self.memory.output
    }

    /// The taps z of all layers.
    pub fn chains(&self) -> &M::Taps {
        &self.memory.chains
    }

    /// The neighbors in ascending id.
    pub fn neighbors(&self) -> core::slice::Iter<'_, NeighbourOf<M, T>> {
        self.neighbors.iter()
    }

    /// The wide parameters.
    pub fn wide(&self) -> &M::Wide {
        &self.memory.wide
    }

    /// What the robot has learned about itself.
    pub fn personal(&self) -> &LocalAdaptation<M::Output> {
        &self.memory.personal
    }

    /// Takes up what a robot has learned about itself before a restart. Refuses what its rule does not allow.
    pub fn set_personal(&mut self, bias: M::Output, gain: f32) -> bool {
        let restored = LocalAdaptation::restored(bias, gain, &self.behavior.learning);
        self.memory.personal = restored.unwrap_or(self.memory.personal);
        restored.is_some()
    }

    /// Replaces the wide parameters: after a restart, or by a centralised rule. Refuses parameters that are not admissible.
    pub fn set_wide(&mut self, wide: &M::Wide) -> bool {
        let admissible = wide.admissible();
        if admissible {
            self.memory.wide = *wide;
        }
        admissible
    }

    /// Gives the node another turn: with an exchange in every d-th tick, it has them in ticks turn, turn + d, …. For radios that keep
    /// slots.
    pub fn set_turn(&mut self, turn: u32) {
        self.memory.turn = turn;
    }

    /// The swarm has so many robots, with addresses from 0 on: where frames are sealed, nobody else is heard. 0 hears everybody.
    pub fn set_robots(&mut self, robots: NodeId) {
        self.codec.set_robots(robots);
    }

    /// Which of the swarm's keys is in use: 0 is the first one, and the only one where keys do not change.
    pub fn epoch(&self) -> u8 {
        self.codec.epoch()
    }

    /// Whether a key has come, or come into use, that no record has yet: it is to be kept at once ([`restart`](crate::persist)). `saved` says
    /// that it was. [`tick::run`](crate::control_loop::run) sees to it by itself.
    pub fn keys_unsaved(&mut self, saved: bool) -> bool {
        self.codec.keys_unsaved(saved)
    }

    /// Where frames are made and read.
    pub(crate) fn codec(&mut self) -> &mut P {
        &mut self.codec
    }

    /// What is to be kept of keys over a restart, where they change.
    pub(crate) fn kept_keys(&self) -> Option<[u8; KEPT_BYTES]> {
        self.codec.kept_keys()
    }

    /// Takes up what is known of the swarm's time from before the start.
    pub fn set_past(&mut self, past: Past) {
        self.memory.past = past;
    }

    /// Where a robot's clock begins that knows no better. Nothing was ever said by it from here on, so that the swarm's time never comes
    /// twice, and every recording is of an earlier one. Who is there already is behind that, and is followed.
    pub fn first_tick(&self) -> u32 {
        self.memory.past.until
    }

    /// Whatever was said before this tick is a recording. For a minute, robots that were switched on one after the other may still be
    /// about to agree.
    pub(crate) fn passed_for_sure(&self) -> u32 {
        self.memory.past.since.saturating_add(self.memory.lived.saturating_sub(AGREED_TICKS))
    }

    /// What the next start will know of the swarm's time, if it is to say nothing for `ahead` ticks from now. The swarm's time goes on by
    /// as much as a robot has lived through, at least: whatever it is told, it takes nothing from before for a recording.
    pub(crate) fn past_for(&self, ahead: u32) -> Past {
        let lived = self
            .memory
            .past
            .since
            .saturating_add(self.memory.lived)
            .min(self.memory.tick.max(self.memory.past.since));
        let said = self.memory.tick.max(self.memory.past.until);
        Past { since: lived, until: self.memory.past.until.max(said.saturating_add(ahead)) }
    }

    /// Marks a restart: frames' numbers begin anew under another boot count.
    pub fn set_boot(&mut self, boot: u32) {
        self.memory.boot = boot;
        self.memory.sequence = 0;
    }
}
