//! One robot: its state between ticks, and the verbs of a tick.
//!
//! The verbs are called in the order in which they stand here; [`crate::tick`] does so against a robot's ports.

use crate::{
    consensus::{self, Opinion},
    message::{Beacon, Link, Profile},
    neighbours::{Neighbour, Neighbours},
    online::{self, Learning},
    refusal::Refusal,
    safety::{self, Patience, Verdict},
    taps,
    task::{Isolation, NodeId, State, Task},
    tensor::Tensor,
    wide::Model,
};

/// The beacon of a node with model `M` and task `T`.
pub type BeaconOf<M, T> = Beacon<<T as Task>::State, <M as Model>::Chains, <M as Model>::Wide>;

/// How a node behaves, apart from its network and its task.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Behaviour {
    /// Online learning.
    pub learning: Learning,
    /// Without neighbours.
    pub patience: Patience,
    /// For how many ticks a silent neighbour is held.
    pub hold: u32,
}

impl Behaviour {
    /// The learning rule of a weight file, nobody held: a frame that is not heard is a missing edge.
    #[must_use]
    pub const fn new(learning: Learning) -> Self {
        Self { learning, patience: Patience::DEFAULT, hold: 0 }
    }
}

/// What learning did in a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Agreement {
    /// How many neighbours' parameters were mixed in.
    pub mixed: u8,
    /// The parameters had left the ball around the offline value and were brought back.
    pub projected: bool,
    /// The parameters were no longer finite and were reset to the offline value.
    pub reset: bool,
}

/// One robot with model `M`, task `T` and room for `N` neighbours.
///
/// The verbs of a tick, in order: [`sense`](Self::sense), [`speak`](Self::speak), [`hear`](Self::hear) each frame,
/// [`settle`](Self::settle), [`observe`](Self::observe), [`aggregate`](Self::aggregate), [`infer`](Self::infer),
/// [`guard`](Self::guard), [`learn`](Self::learn), [`agree`](Self::agree). The [front page](crate) has two robots that call
/// them; here is one that hears nobody:
///
/// ```
/// use wdgnn_core::{
///     Activation, Behaviour, Flocking, Folded, Layer, Learning, Metric, Motion, Network, Node, Refusal, Scale, Top,
///     safety::Verdict, task::Isolation,
/// };
///
/// type Net<'w> = Network<'w, 6, 2, 2, 2, Layer<'w, 2, 6, 2, Top>>;
/// let numbers = [0.1; Net::NUMBERS];
/// let network = Net::over(&numbers, Activation::Relu, Scale::Sum).unwrap();
/// let model = Folded::new(network, Metric::Paper);
/// let flying = Motion { position: [0.0, 0.0], velocity: [2.0, 0.0] };
/// let behaviour = Behaviour::new(Learning::OFF);
/// let mut node = Node::<_, _, 16>::new(1, model, Flocking::DEFAULT, 0, behaviour, flying);
///
/// assert!(node.sense(0, Some(flying)));
/// assert_eq!(node.hear(b"noise"), Err(Refusal::TooShort));
/// node.settle();
/// let features = node.observe();
/// node.aggregate();
/// node.infer(&features);
/// assert_eq!(node.guard(), ([0.0, 0.0], Verdict::Alone(Isolation::Hold)));
/// ```
#[derive(Debug)]
pub struct Node<M: Model, T: Task, const N: usize> {
    id: NodeId,
    model: M,
    task: T,
    link: Link,
    behaviour: Behaviour,
    tick: u32,
    boot: u32,
    sequence: u32,
    degree: u8,
    alone: u32,
    state: T::State,
    chains: M::Chains,
    wide: M::Wide,
    factor: M::Factor,
    output: M::Output,
    neighbours: Neighbours<T::State, M::Chains, M::Wide, N>,
}

impl<M, T, const N: usize> Node<M, T, N>
where
    M: Model,
    T: Task<Features = M::Features, Output = M::Output>,
{
    /// The length of this node's frames in bytes.
    pub const FRAME_BYTES: usize = BeaconOf::<M, T>::BYTES;

    /// A node that starts from the offline parameters at rest in `state`.
    ///
    /// `weights` is the checksum of the weight file, by which nodes recognise each other.
    #[must_use]
    pub fn new(id: NodeId, model: M, task: T, weights: u32, behaviour: Behaviour, state: T::State) -> Self {
        let profile = if M::FOLDED { Profile::Exact } else { Profile::ExactUnfolded };
        let wide = *model.offline();
        let output = task.fallback(&state, Isolation::Hold);
        Self {
            id,
            model,
            task,
            link: Link { profile, model: weights },
            behaviour,
            tick: 0,
            boot: 0,
            sequence: 0,
            degree: 0,
            alone: 0,
            state,
            chains: taps::Chains::ZERO,
            wide,
            factor: Tensor::ZERO,
            output,
            neighbours: Neighbours::new(),
        }
    }

    /// Sense: takes over the robot's own state at `tick`. A state that is not admissible is refused, and the last one is
    /// carried on.
    pub fn sense(&mut self, tick: u32, state: Option<T::State>) -> bool {
        self.tick = tick;
        let sensed = state.filter(State::admissible);
        self.state = sensed.unwrap_or_else(|| self.task.extrapolate(&self.state));
        sensed.is_some()
    }

    /// Speak: the beacon of this tick, as a value. Taps and parameters are those of the end of the last tick.
    pub fn beacon(&mut self) -> BeaconOf<M, T> {
        let beacon = Beacon {
            sender: self.id,
            boot: self.boot,
            sequence: self.sequence,
            degree: self.degree,
            state: self.state,
            chains: self.chains,
            wide: self.wide,
        };
        self.sequence = self.sequence.wrapping_add(1);
        beacon
    }

    /// Speak: the beacon of this tick, written to `buffer`. `None` when it is shorter than [`Node::FRAME_BYTES`].
    pub fn speak(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let link = self.link;
        self.beacon().encode(&link, buffer)
    }

    /// Hear: takes in one frame.
    ///
    /// # Errors
    /// Why it was refused; nothing has changed then.
    pub fn hear(&mut self, frame: &[u8]) -> Result<(), Refusal> {
        let beacon = Beacon::decode(&self.link, frame)?;
        self.accept(beacon)
    }

    /// Hear: takes in a beacon that was decoded and checked already.
    ///
    /// # Errors
    /// Why it was refused; nothing has changed then.
    pub fn accept(&mut self, beacon: BeaconOf<M, T>) -> Result<(), Refusal> {
        if beacon.sender == self.id {
            return Err(Refusal::Echo);
        }
        self.neighbours.hear(self.tick, beacon)
    }

    /// Ends hearing: forgets who was silent for too long. Returns how many.
    pub fn settle(&mut self) -> usize {
        let task = &self.task;
        let forgotten =
            self.neighbours.settle(self.tick, self.behaviour.hold, |state| task.extrapolate(state));
        self.alone = if self.neighbours.is_empty() { self.alone.saturating_add(1) } else { 0 };
        forgotten
    }

    /// Observe: x(t).
    pub fn observe(&self) -> M::Features {
        self.task.observe(&self.state, states(&self.neighbours))
    }

    /// Aggregate: taps 1…K of z(t) from the neighbours' z(t−1).
    pub fn aggregate(&mut self) {
        let task = &self.task;
        let heard = self.neighbours.iter().map(|n| (&n.beacon.chains, task.weight(n.beacon.sender)));
        self.chains = taps::aggregate(heard, self.model.scale());
    }

    /// Infer: the network's raw output.
    pub fn infer(&mut self, features: &M::Features) -> M::Output {
        self.output = self.model.infer(&self.wide, features, &mut self.chains);
        self.output
    }

    /// Guard: the command for the motors.
    pub fn guard(&self) -> (M::Output, Verdict) {
        let isolation = self.behaviour.patience.phase(self.alone);
        safety::guard(&self.task, &self.state, states(&self.neighbours), &self.output, isolation)
    }

    /// Learn: the gradient of the local loss with respect to the wide parameters. Returns the gradient with respect to the
    /// output. Alone, there is nothing to learn from.
    pub fn learn(&mut self) -> M::Output {
        let through_clamp = self.behaviour.learning.through_clamp;
        let gradient = self.task.gradient(&self.state, states(&self.neighbours), &self.output, through_clamp);
        self.factor = self.model.gradient(&gradient);
        gradient
    }

    /// Agree: averages the wide parameters with those of the neighbours heard in this tick and takes the learning step.
    pub fn agree(&mut self) -> Agreement {
        let rule = &self.behaviour.learning;
        let offline = self.model.offline();
        let fresh = self.neighbours.iter().filter(|n| n.heard == self.tick);
        let opinions = fresh.map(|n| Opinion { wide: &n.beacon.wide, degree: n.beacon.degree });
        let reach = if rule.ball > 0.0 || rule.clip > 0.0 { offline.norm() } else { 0.0 };
        let mut agreement = Agreement { mixed: opinions.clone().count() as u8, ..Agreement::default() };
        let mut wide = consensus::mix(rule.mixing, &self.wide, self.degree, opinions, rule.clip * reach);
        let step = rule.step_at(self.tick);
        if step > 0.0 {
            if rule.ridge > 0.0 {
                online::pull(&mut wide, &self.wide, offline, step * rule.ridge);
            }
            self.model.descend(&mut wide, &self.chains, &self.factor, step);
        }
        if rule.ball > 0.0 {
            agreement.projected = online::project(&mut wide, offline, rule.ball * reach);
        }
        if !wide.admissible() {
            wide = *offline;
            agreement.reset = true;
        }
        self.wide = wide;
        self.degree = self.neighbours.len() as u8;
        agreement
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
    pub fn behaviour(&self) -> &Behaviour {
        &self.behaviour
    }

    /// How the node behaves, to change between ticks: the step size γ_t of a schedule of your own.
    pub fn behaviour_mut(&mut self) -> &mut Behaviour {
        &mut self.behaviour
    }

    /// What this node's frames are recognised by.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// The tick that the node is in.
    pub fn tick(&self) -> u32 {
        self.tick
    }

    /// How often the node was started.
    pub fn boot(&self) -> u32 {
        self.boot
    }

    /// The robot's own state.
    pub fn state(&self) -> &T::State {
        &self.state
    }

    /// The network's raw output at this tick.
    pub fn output(&self) -> &M::Output {
        &self.output
    }

    /// The taps z of all layers.
    pub fn chains(&self) -> &M::Chains {
        &self.chains
    }

    /// The neighbours in ascending id.
    pub fn neighbours(&self) -> core::slice::Iter<'_, Neighbour<T::State, M::Chains, M::Wide>> {
        self.neighbours.iter()
    }

    /// The local loss, if the robot were to do `command` now.
    pub fn loss(&self, command: &M::Output) -> f32 {
        self.task.loss(&self.state, states(&self.neighbours), command)
    }

    /// The wide parameters.
    pub fn wide(&self) -> &M::Wide {
        &self.wide
    }

    /// Replaces the wide parameters: after a restart, or by a centralised rule. Refuses parameters that are not admissible.
    pub fn set_wide(&mut self, wide: &M::Wide) -> bool {
        let admissible = wide.admissible();
        if admissible {
            self.wide = *wide;
        }
        admissible
    }

    /// Marks a restart: receivers take frames of a later boot for newer, whatever their sequence.
    pub fn set_boot(&mut self, boot: u32) {
        self.boot = boot;
        self.sequence = 0;
    }
}

fn states<S, C, W, const N: usize>(neighbours: &Neighbours<S, C, W, N>) -> impl Iterator<Item = &S> + Clone {
    neighbours.iter().map(|neighbour| &neighbour.beacon.state)
}
