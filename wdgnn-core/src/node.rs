//! One robot: its state between ticks, and the verbs of a tick.
//!
//! The verbs are called in the order in which they stand here; [`crate::tick`] does so against a robot's ports.

use heapless::Vec;

use crate::{
    behaviour::Behaviour,
    codec::{Codec, Exact, Identity, Parts},
    consensus::{self, Opinion},
    message::{Beacon, Link},
    neighbours::{Heard, Neighbour, Neighbours},
    online,
    personal::Personal,
    ports::Sensed,
    refusal::Refusal,
    safety::{self, Verdict},
    seal::WINDOW_TICKS,
    taps::{self, Chains as _},
    task::{Isolation, NodeId, Numbers, State, Task},
    tensor::Tensor,
    wide::Model,
};

/// The beacon of a node with model `M` and task `T`.
pub type BeaconOf<M, T> = Beacon<<T as Task>::State, <M as Model>::Chains, <M as Model>::Wide>;

/// A neighbour of a node with model `M` and task `T`.
pub type NeighbourOf<M, T> =
    Neighbour<<T as Task>::State, <M as Model>::Chains, <M as Model>::Wide, <T as Task>::Evidence>;

/// The table of neighbours of a node with model `M` and task `T`.
type Table<M, T, const N: usize> =
    Neighbours<<T as Task>::State, <M as Model>::Chains, <M as Model>::Wide, N, <T as Task>::Evidence>;

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

/// One robot with model `M`, task `T`, room for `N` neighbours, and the link profile `P`.
///
/// The verbs of a tick, in order: [`sense`](Self::sense), [`speak`](Self::speak), [`hear`](Self::hear) each frame,
/// [`settle`](Self::settle), [`observe`](Self::observe), [`aggregate`](Self::aggregate), [`infer`](Self::infer),
/// [`guard`](Self::guard), [`learn`](Self::learn), [`agree`](Self::agree). The [front page](crate) has two robots that call
/// them; here is one that hears nobody:
///
/// ```
/// use wdgnn_core::{
///     Activation, Behaviour, Flocking, Folded, Layer, Learning, Metric, Motion, Network, Node, Refusal, Scale, Top,
///     ports::Sensed, safety::Verdict, task::Isolation,
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
/// assert!(node.sense(0, Some(Sensed::now(flying))));
/// assert_eq!(node.hear(&mut [1, 2, 3]), Err(Refusal::TooShort));
/// node.settle();
/// let features = node.observe();
/// node.aggregate();
/// node.infer(&features);
/// assert_eq!(node.guard(), ([0.0, 0.0], Verdict::Alone(Isolation::Hold)));
/// ```
#[derive(Debug)]
pub struct Node<M: Model, T: Task, const N: usize, P = Exact> {
    id: NodeId,
    model: M,
    task: T,
    codec: P,
    link: Link,
    behaviour: Behaviour,
    tick: u32,
    /// Ticks since the one before: more than one where some were skipped.
    passed: u32,
    /// The residue of the ticks in which it speaks.
    turn: u32,
    boot: u32,
    sequence: u32,
    degree: u8,
    alone: u32,
    /// The age of the state in ticks; without end while none was ever sensed.
    age: u32,
    /// The first tick.
    began: Option<u32>,
    state: T::State,
    chains: M::Chains,
    /// The taps as they stood at the last exchange, which the next beacon tells: kept where those of this tick differ.
    told: Option<M::Chains>,
    wide: M::Wide,
    /// The norm of the offline parameters.
    reach: f32,
    factor: M::Factor,
    output: M::Output,
    /// What the robot has learned about itself.
    personal: Personal<M::Output>,
    /// Its state one tick before, for what came of its commands.
    before: T::State,
    neighbours: Table<M, T, N>,
    /// What a frame is read into. Only what it carries means anything, and only while it is heard.
    heard: Scratch<BeaconOf<M, T>>,
}

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
    T: Task<Features = M::Features, Output = M::Output>,
{
    /// The length of this node's frames in bytes.
    pub const FRAME_BYTES: usize = BeaconOf::<M, T>::BYTES;

    /// A node that starts from the offline parameters at rest in `state`, on the `exact` link profile.
    ///
    /// `weights` is the checksum of the weight file, by which nodes recognise each other.
    #[must_use]
    pub fn new(id: NodeId, model: M, task: T, weights: u32, behaviour: Behaviour, state: T::State) -> Self {
        Self::with_codec(id, model, task, weights, behaviour, state, Exact)
    }
}

impl<M, T, const N: usize, P> Node<M, T, N, P>
where
    M: Model,
    T: Task<Features = M::Features, Output = M::Output>,
    P: Codec,
{
    /// A node that starts from the offline parameters at rest in `state`, on any link profile.
    #[must_use]
    pub fn with_codec(
        id: NodeId,
        model: M,
        task: T,
        weights: u32,
        behaviour: Behaviour,
        state: T::State,
        codec: P,
    ) -> Self {
        let wide = *model.offline();
        let output = task.fallback(&state, Isolation::Hold);
        Self {
            id,
            model,
            task,
            codec,
            link: Link { profile: P::profile(M::FOLDED), model: weights },
            behaviour,
            tick: 0,
            passed: 1,
            turn: id.into(),
            boot: 0,
            sequence: 0,
            degree: 0,
            alone: 0,
            age: u32::MAX,
            began: None,
            state,
            chains: taps::Chains::ZERO,
            told: None,
            wide,
            reach: wide.norm(),
            factor: Tensor::ZERO,
            output,
            personal: Personal::NOTHING,
            before: state,
            neighbours: Neighbours::new(),
            heard: Scratch(Beacon::silent(state)),
        }
    }

    /// The length of this node's longest frame in bytes: what a buffer must hold, and a byte more to see what is too long.
    #[must_use]
    pub fn frame_bytes() -> usize {
        P::bytes::<T::State, M::Chains, M::Wide>()
    }

    /// Sense: takes over the robot's own state at `tick`, carried on by its age. A state that is not admissible is refused; without
    /// one, the last one is carried on by the ticks that have passed, until it is too old ([`Behaviour::blind`]).
    pub fn sense(&mut self, tick: u32, sensed: Option<Sensed<T::State>>) -> bool {
        self.before = self.state;
        self.passed = self.began.map_or(1, |_| tick.saturating_sub(self.tick));
        self.tick = tick;
        self.began.get_or_insert(tick);
        let oldest = self.behaviour.blind;
        let sensed = sensed.filter(|sensed| sensed.state.admissible());
        let (state, behind, age) = if let Some(Sensed { state, age }) = sensed {
            (state, age.min(oldest), age)
        } else {
            let further = self.passed.min(oldest.saturating_sub(self.age));
            (self.state, further, self.age.saturating_add(self.passed))
        };
        self.state = self.task.carry_on(&state, behind);
        self.age = age;
        sensed.is_some()
    }

    /// Whether the robot does not know where it is: its state is older than [`Behaviour::blind`], or none was ever sensed. It then says
    /// nothing, because a position that is none helps nobody, learns nothing, and is to be brought to rest. The next state that is
    /// sensed ends it.
    #[must_use]
    pub fn blind(&self) -> bool {
        self.age > self.behaviour.blind
    }

    /// Whether it is the node's turn to speak, and its taps advance, in this tick. Nodes take turns: where there is an exchange in
    /// every d-th tick, the node with address i has it in ticks i, i + d, …, so that the air is used evenly, unless
    /// [`set_turn`](Self::set_turn) gave it another.
    #[must_use]
    pub fn exchanges(&self) -> bool {
        let every = self.behaviour.exchange.max(1);
        self.tick % every == self.turn % every
    }

    /// Whether the node has something to say in this tick: it is its turn, and it is not blind.
    #[must_use]
    pub fn speaks(&self) -> bool {
        self.exchanges() && !self.blind()
    }

    /// Speak: the beacon of this tick, as a value. Taps and parameters are those of the end of the last exchange and tick.
    ///
    /// Its sequence is at least the tick's, so that it tells the time, and never one that was used before.
    pub fn beacon(&mut self) -> BeaconOf<M, T> {
        self.sequence = self.sequence.max(self.tick.saturating_mul(P::FRAMES));
        let beacon = Beacon {
            sender: self.id,
            boot: self.boot,
            sequence: self.sequence,
            degree: self.degree,
            state: self.state,
            chains: *self.told.as_ref().unwrap_or(&self.chains),
            wide: self.wide,
        };
        self.sequence = self.sequence.saturating_add(1);
        beacon
    }

    /// Speak: the beacon of this tick, written to `buffer`. `None` when it is shorter than [`Node::frame_bytes`].
    pub fn speak(&mut self, buffer: &mut [u8]) -> Option<usize> {
        self.speak_frame(0, buffer)
    }

    /// Speak: one of the frames of this tick's beacon, for profiles that have several.
    #[inline(never)] // its stack is given back before the next verb
    pub fn speak_frame(&mut self, index: u32, buffer: &mut [u8]) -> Option<usize> {
        let beacon = self.beacon();
        let exchange = self.tick / self.behaviour.exchange.max(1);
        self.codec.encode(&self.link, &beacon, exchange, index, buffer)
    }

    /// Hear: takes in one frame. A sealed one is opened in place.
    ///
    /// # Errors
    /// Why it was refused. Nothing has changed then, except that whoever said something implausible has to prove itself anew, and
    /// that a sealed frame that was good in itself is not heard again.
    #[inline(never)] // its stack is given back before the next verb
    pub fn hear(&mut self, frame: &mut [u8]) -> Result<(), Refusal> {
        let Scratch(beacon) = &mut self.heard;
        let parts = self.codec.read(&self.link, self.tick, frame, beacon)?;
        let Scratch(beacon) = &self.heard;
        let now = self.judge(beacon, parts)?;
        Self::keep(&mut self.neighbours, &self.task, self.behaviour.probation, &now, beacon, parts)
    }

    /// Who sent a frame that was refused as [`Refusal::Untimely`], if it is a swarm member: its clock is another, or one's own. A recording
    /// of somebody who was heard since is nobody's. Changes nothing.
    #[inline(never)] // likewise
    pub fn vouch(&mut self, frame: &[u8]) -> Option<Identity> {
        self.codec.vouch(&self.link, frame)
    }

    /// Hear: takes in a beacon that was decoded and checked already.
    ///
    /// # Errors
    /// As [`Node::hear`].
    pub fn accept(&mut self, beacon: BeaconOf<M, T>) -> Result<(), Refusal> {
        self.accept_parts(&beacon, Parts::ALL)
    }

    /// Hear: takes in parts of a beacon that was decoded and checked already.
    ///
    /// # Errors
    /// As [`Node::hear`].
    pub fn accept_parts(&mut self, beacon: &BeaconOf<M, T>, parts: Parts) -> Result<(), Refusal> {
        let now = self.judge(beacon, parts)?;
        Self::keep(&mut self.neighbours, &self.task, self.behaviour.probation, &now, beacon, parts)
    }

    /// Whether a beacon can be an honest neighbour's, and what has become of its state by now.
    fn judge(&self, beacon: &BeaconOf<M, T>, parts: Parts) -> Result<Heard<T::State>, Refusal> {
        if beacon.sender == self.id {
            return Err(Refusal::Echo);
        }
        if !self.believable(beacon, parts) {
            return Err(Refusal::Implausible);
        }
        let age = self.age_of(beacon.sequence);
        let state = self.task.carry_on(&beacon.state, age.min(self.behaviour.hold));
        Ok(Heard { tick: self.tick, said: self.tick.saturating_sub(age), state })
    }

    /// Takes a beacon into the table.
    fn keep(
        neighbours: &mut Table<M, T, N>,
        task: &T,
        probation: u8,
        now: &Heard<T::State>,
        beacon: &BeaconOf<M, T>,
        parts: Parts,
    ) -> Result<(), Refusal> {
        if parts == Parts::ALL && probation == 0 {
            return neighbours.hear(now, beacon);
        }
        let follow = |track: &_, said: &T::State, silent: u32, known: u8, evidence: &mut _| {
            if probation == 0 {
                return (*said, true);
            }
            // To the tick before, from where the task goes on; for two windows at most, so that skipped ticks cost no time.
            let before = silent.saturating_sub(1).min(2 * WINDOW_TICKS);
            task.follow(&task.carry_on(track, before), said, silent, known, evidence)
        };
        neighbours.hear_parts(now, beacon, parts, follow)
    }

    /// How many ticks ago a frame was said, by its sequence. One from the future is of now; so is one from so long ago that its sender
    /// must have another clock, which a sealed link would have refused.
    fn age_of(&self, sequence: u32) -> u32 {
        let age = self.tick.saturating_sub(sequence / P::FRAMES);
        if age > WINDOW_TICKS { 0 } else { age }
    }

    /// Whether an honest robot can have such taps and parameters. Its parameters never leave the ball.
    fn believable(&self, beacon: &BeaconOf<M, T>, parts: Parts) -> bool {
        let Behaviour { learning, largest_tap, .. } = &self.behaviour;
        if *largest_tap > 0.0 && beacon.chains.largest(parts.taps) > *largest_tap {
            return false;
        }
        if learning.clip <= 0.0 || learning.ball <= 0.0 {
            return true;
        }
        // Half precision may put a parameter on the ball's surface a little outside.
        let radius = learning.ball * self.reach * 1.01;
        consensus::distance(&beacon.wide, self.model.offline(), parts.wide) <= radius
    }

    /// Ends hearing: forgets who was silent for too long, and decides who counts. Returns how many were forgotten.
    pub fn settle(&mut self) -> usize {
        let task = &self.task;
        let forgotten = self
            .neighbours
            .settle(self.tick, self.behaviour.hold, |state, ticks| task.carry_on(state, ticks));
        let Behaviour { hold, probation, .. } = self.behaviour;
        let flown = self.began.map_or(0, |began| self.tick.saturating_sub(began));
        let new_here = flown <= hold || self.neighbours.iter().all(|n| n.proven < probation);
        self.neighbours.judge(|n| n.proven >= probation || (new_here && !n.doubted));
        let alone = self.trusted().next().is_none();
        self.alone = if alone { self.alone.saturating_add(self.passed) } else { 0 };
        forgotten
    }

    /// The neighbours that count, from [`settle`](Self::settle) on: all of them, or those that have proven themselves. To a node
    /// that is new, also those that have not contradicted themselves.
    pub fn trusted(&self) -> impl Iterator<Item = &NeighbourOf<M, T>> + Clone {
        self.neighbours.iter().filter(|neighbour| neighbour.counts)
    }

    fn states(&self) -> impl Iterator<Item = &T::State> + Clone {
        self.trusted().map(|neighbour| &neighbour.beacon.state)
    }

    /// Observe: x(t).
    pub fn observe(&self) -> M::Features {
        self.task.observe(&self.state, self.states())
    }

    /// Aggregate: taps 1…K of z(t) from the neighbours' z of one exchange earlier. Between exchanges they stay.
    pub fn aggregate(&mut self) {
        if self.exchanges() {
            let heard = self.trusted().map(|n| (&n.beacon.chains, self.task.weight(n.beacon.sender)));
            let own = self.told.as_ref().unwrap_or(&self.chains);
            self.chains = taps::aggregate(own, heard, self.model.scale());
        }
    }

    /// Infer: the network's raw output.
    #[inline(never)] // its stack is given back before the next verb
    pub fn infer(&mut self, features: &M::Features) -> M::Output {
        if self.exchanges() {
            self.told = None;
        } else {
            self.told.get_or_insert(self.chains);
        }
        self.output = self.model.infer(&self.wide, features, &mut self.chains);
        if self.behaviour.learning.personal() {
            self.personal.apply(&mut self.output);
        }
        self.output
    }

    /// Guard: the command for the motors. Zeros while the node is blind: there is no command that is safe.
    pub fn guard(&self) -> (M::Output, Verdict) {
        if self.blind() {
            return (Numbers::ZERO, Verdict::Blind);
        }
        let isolation = self.behaviour.patience.phase(self.alone);
        safety::guard(&self.task, &self.state, self.states(), &self.output, isolation)
    }

    /// Learn: the gradient of the local loss with respect to the wide parameters. Returns the gradient with respect to the
    /// output. Alone, there is nothing to learn from.
    pub fn learn(&mut self) -> M::Output {
        let rule = self.behaviour.learning;
        let gradient = self.task.gradient(&self.state, self.states(), &self.output, rule.through_clamp);
        self.factor = self.model.gradient(&gradient);
        if rule.personal() && !self.blind() {
            self.learn_personally(&gradient);
        }
        gradient
    }

    /// Learn: the personal part. What a robot does alone, or what somebody else made of its command, teaches it nothing.
    #[inline(never)] // its stack is given back before the next verb
    fn learn_personally(&mut self, gradient: &M::Output) {
        let rule = self.behaviour.learning;
        if self.alone > 0 {
            return;
        }
        if rule.personal_step > 0.0 {
            self.personal.descend(gradient, rule.personal_step, rule.personal_clip);
        }
        if rule.heeds && self.passed == 1 {
            let outcome = self.task.outcome(&self.before, &self.state, self.states());
            self.personal.heed(outcome);
        }
    }

    /// Agree: averages the wide parameters with those of the neighbours heard in this tick and takes the learning step. A blind
    /// node does neither: its gradient is that of a place where it is not.
    #[inline(never)] // its stack is given back before the next verb
    pub fn agree(&mut self) -> Agreement {
        if self.blind() {
            return Agreement::default();
        }
        let rule = &self.behaviour.learning;
        let offline = self.model.offline();
        let mut degree = 0;
        let mut opinions: Vec<Opinion<'_>, N> = Vec::new();
        for n in self.neighbours.iter().filter(|neighbour| neighbour.counts) {
            degree += 1;
            if n.heard == self.tick {
                // There is room for all.
                let Beacon { wide, degree, .. } = &n.beacon;
                let _ = opinions.push(Opinion { wide: wide.numbers(), degree: *degree, fresh: n.fresh });
            }
        }
        let mut agreement = Agreement { mixed: opinions.len() as u8, ..Agreement::default() };
        let wide = &mut self.wide;
        let step = rule.step_at(self.tick);
        let own = (step > 0.0 && rule.ridge > 0.0).then_some(*wide);
        consensus::mix(rule.mixing, wide, self.degree, &opinions, rule.clip * self.reach);
        if let Some(own) = own {
            online::pull(wide, &own, offline, step * rule.ridge);
        }
        if step > 0.0 {
            self.model.descend(wide, &self.chains, &self.factor, step);
        }
        if rule.ball > 0.0 {
            agreement.projected = online::project(wide, offline, rule.ball * self.reach);
        }
        if !wide.admissible() {
            *wide = *offline;
            agreement.reset = true;
        }
        self.degree = degree;
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
    pub fn neighbours(&self) -> core::slice::Iter<'_, NeighbourOf<M, T>> {
        self.neighbours.iter()
    }

    /// The local loss, if the robot were to do `command` now.
    pub fn loss(&self, command: &M::Output) -> f32 {
        self.task.loss(&self.state, self.states(), command)
    }

    /// The wide parameters.
    pub fn wide(&self) -> &M::Wide {
        &self.wide
    }

    /// What the robot has learned about itself.
    pub fn personal(&self) -> &Personal<M::Output> {
        &self.personal
    }

    /// Takes up what a robot has learned about itself before a restart. Refuses what its rule does not allow.
    pub fn set_personal(&mut self, bias: M::Output, gain: f32) -> bool {
        let restored = Personal::restored(bias, gain, &self.behaviour.learning);
        self.personal = restored.unwrap_or(self.personal);
        restored.is_some()
    }

    /// Replaces the wide parameters: after a restart, or by a centralised rule. Refuses parameters that are not admissible.
    pub fn set_wide(&mut self, wide: &M::Wide) -> bool {
        let admissible = wide.admissible();
        if admissible {
            self.wide = *wide;
        }
        admissible
    }

    /// Gives the node another turn: with an exchange in every d-th tick, it has them in ticks turn, turn + d, …. For radios that keep
    /// slots.
    pub fn set_turn(&mut self, turn: u32) {
        self.turn = turn;
    }

    /// Marks a restart: receivers take frames of a later boot for newer, whatever their sequence.
    pub fn set_boot(&mut self, boot: u32) {
        self.boot = boot;
        self.sequence = 0;
    }
}
