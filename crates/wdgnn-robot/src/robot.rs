//! One robot: controller, neighbor table and link.
//!
//! [`crate::control_loop`] calls the steps of a tick in order: [`Robot::sense`], [`Robot::send`],
//! [`Robot::receive`] for each frame, [`Robot::end_receive`], [`Robot::decide`], [`Robot::learn`].

use crate::{
    config::{CommandOf, ConfigOf, LinkOf, RobotConfig, RobotMessage, RobotTypes, StateOf, TrustPolicy},
    controller::{Controller, Obstacles, StoredTime},
    neighbors::{NeighborEntry, NeighborTable, TableOf},
    ports::Measurement,
    safety::gate::Verdict,
    tasks::{CollisionAvoidance as _, MotionModel as _, PlausibilityChecks, RobotTask},
};
use wdgnn_core::{
    adaptation::ActuatorCalibration,
    agent::{Agent, ConsensusReport},
    message::Message,
    model::Model,
    neighbors::{MAX_NEIGHBORS, Neighbors},
    online::Learning,
    task::NodeId,
};

mod identities;
mod receive;

/// Table entry of a robot with the types `C`.
pub type EntryOf<C> = NeighborEntry<
    StateOf<C>,
    <<C as RobotTypes>::Model as Model>::Taps,
    <<C as RobotTypes>::Model as Model>::Wide,
    <<C as RobotTypes>::Task as PlausibilityChecks>::Stats,
>;

/// A robot with the types of the configuration `C`, link `L` and up to `N` neighbors.
///
/// ```
/// use wdgnn_core::{
///     agent::Config,
///     filter::scale::Scale,
///     model::{GradientMetric, activation::Activation, shape::{OneLayer, Shape}},
///     online::Learning,
///     tasks::flocking::{Flocking, Motion},
/// };
/// use wdgnn_link::{encoding::exact::Exact, error::FrameError, link::Link};
/// use wdgnn_robot::{config::RobotConfig, ports::Measurement, robot::Robot, safety::gate::{IsolationPhase, Verdict}};
///
/// type Small = OneLayer<6, 2, 2, 2>;
/// let weights = [0.1; <Small as Shape<Flocking>>::WEIGHT_COUNT];
/// let model = <Small as Shape<Flocking>>::from_numbers(&weights, Activation::Relu, Scale::Sum, GradientMetric::Paper).unwrap();
/// let config = RobotConfig::new(Config::new(model, Flocking::DEFAULT, Learning::OFF));
/// let start = Motion { position: [0.0, 0.0], velocity: [2.0, 0.0] };
/// let mut robot: Robot<_, _> = Robot::new(1, config, Link::<Exact>::open(0), start);
///
/// assert!(robot.sense(0, Some(Measurement::now(start))));
/// assert_eq!(robot.receive(&mut [1, 2, 3]), Err(FrameError::TooShort));
/// robot.end_receive();
/// assert_eq!(robot.decide(), ([0.0, 0.0], Verdict::Alone(IsolationPhase::Hold)));
/// ```
#[derive(Debug)]
pub struct Robot<C: RobotTypes, L, const N: usize = MAX_NEIGHBORS> {
    // In this order, the compiler builds a robot in its place. In others, it copies it from the stack.
    controller: Controller<C::Model, C::Task>,
    table: TableOf<C::Model, C::Task, N>,
    config: ConfigOf<C>,
    /// Buffer for the message of a received frame. Its content is valid during reception only.
    received: RobotMessage<C>,
    link: L,
    id: NodeId,
}

/// Time after which robots that started one after the other agree on the time: one minute.
const START_TICKS: u32 = 6_000;

impl<M, T, P, L, const N: usize> Robot<RobotConfig<M, T, P>, L, N>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    P: TrustPolicy,
{
    /// A robot with the offline parameters, in `state`.
    #[inline]
    pub fn new(id: NodeId, config: RobotConfig<M, T, P>, link: L, state: T::State) -> Self {
        Self {
            id,
            controller: Controller::new(&config, id, state),
            config,
            link,
            table: NeighborTable::new(),
            received: Message::empty(state),
        }
    }
}

impl<C: RobotTypes, L: LinkOf<C>, const N: usize> Robot<C, L, N> {
    /// Begins a tick with a measurement, if there is one. Returns whether it is usable.
    pub fn sense(&mut self, tick: u32, measurement: Option<Measurement<StateOf<C>>>) -> bool {
        self.link.security_mut().begin_tick(tick);
        self.controller.sense(&self.config, tick, measurement)
    }

    /// Whether the robot sends a message in this tick.
    pub fn sends_this_tick(&self) -> bool {
        self.controller.sends_this_tick(&self.config)
    }

    /// Whether the robot sends, and its taps advance, in this tick.
    pub fn exchanges_this_tick(&self) -> bool {
        self.controller.exchanges_this_tick(&self.config)
    }

    /// Writes frame `index` of this tick's message. Returns its length, or `None` if it cannot be written.
    #[inline(never)] // returns its stack before the next step
    pub fn send(&mut self, index: u32, buffer: &mut [u8]) -> Option<usize> {
        let round = self.tick() / self.config.exchange_interval.max(1);
        self.link.send(&self.controller.message(&self.config, self.id), round, index, buffer)
    }

    /// Message of this tick.
    pub fn message(&self) -> RobotMessage<C> {
        self.controller.message(&self.config, self.id)
    }

    /// Computes the command for the actuators ([`Controller::decide`]).
    #[inline(never)] // returns its stack before the actuators are called
    pub fn decide(&mut self) -> (CommandOf<C>, Verdict) {
        let mut view = Neighbors::none(false);
        self.table.view_in(self.controller.agent.tick(), &mut view);
        view.exchange = self.exchanges_this_tick();
        self.controller.agent.decide(&self.config.agent, &view);
        let robot = &*self;
        let Self { config, controller, .. } = robot;
        let proofs_count = robot.link.requires_proof() && robot.has_proven_neighbor();
        let is_identified = move |sender| !proofs_count || robot.is_proven(sender);
        let robots = config.trust.is_robust().then(|| robot.obstacles(is_identified));
        let strangers = proofs_count.then(|| {
            let strangers = robot.obstacles(move |sender| !is_identified(sender));
            strangers.filter(|state| config.agent.task.is_approaching(controller.agent.state(), state))
        });
        controller.guard(config, &view, Obstacles { robots, strangers })
    }

    /// Neighbors with these addresses as obstacles, at their tracks or at their reported positions.
    fn obstacles(&self, includes: impl Fn(NodeId) -> bool) -> impl Iterator<Item = StateOf<C>> {
        let (task, agent) = (&self.config.agent.task, &self.controller.agent);
        self.table.iter().filter(move |entry| includes(entry.message.sender)).map(move |entry| {
            let track = task.predict(&entry.track.state, agent.tick().saturating_sub(entry.track.sent));
            if entry.is_trusted {
                track
            } else {
                task.obstacle_state(agent.state(), &track, &entry.track.stats)
            }
        })
    }

    /// Learns from this tick ([`Controller::learn`]).
    #[inline(never)]
    pub fn learn(&mut self) -> ConsensusReport {
        let mut view = Neighbors::none(false);
        self.table.view_in(self.controller.agent.tick(), &mut view);
        view.exchange = self.exchanges_this_tick();
        self.controller.learn(&self.config, &view)
    }

    /// Records the command that the actuators execute; `None` if it is unknown.
    pub fn set_executed_command(&mut self, command: Option<CommandOf<C>>) {
        self.controller.agent.set_executed_command(command);
    }

    /// Address of the robot.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// Configuration of the robot.
    pub fn config(&self) -> &ConfigOf<C> {
        &self.config
    }

    /// Configuration of the robot, to change between ticks.
    pub fn config_mut(&mut self) -> &mut ConfigOf<C> {
        &mut self.config
    }

    /// Link of the robot.
    pub fn link(&self) -> &L {
        &self.link
    }

    /// Link of the robot, mutable.
    pub fn link_mut(&mut self) -> &mut L {
        &mut self.link
    }

    /// Length of the longest frame in bytes.
    pub fn max_frame_len(&self) -> usize {
        self.link.max_frame_len()
    }

    /// State, parameters and taps of the robot.
    pub fn agent(&self) -> &Agent<C::Model, C::Task> {
        &self.controller.agent
    }

    /// State, parameters and taps of the robot, mutable.
    pub fn agent_mut(&mut self) -> &mut Agent<C::Model, C::Task> {
        &mut self.controller.agent
    }

    /// Control tick.
    pub fn tick(&self) -> u32 {
        self.controller.agent.tick()
    }

    /// Whether the robot does not know its state.
    pub fn is_blind(&self) -> bool {
        self.controller.is_blind(&self.config)
    }

    /// Sets the charge of the battery in percent, if known.
    pub fn set_battery(&mut self, charge: Option<u8>) {
        self.controller.battery = charge;
    }

    /// Neighbors in ascending address.
    pub fn neighbors(&self) -> core::slice::Iter<'_, EntryOf<C>> {
        self.table.iter()
    }

    /// Neighbors that count, from [`Robot::end_receive`] on.
    pub fn trusted(&self) -> impl Iterator<Item = &EntryOf<C>> + Clone {
        self.table.trusted()
    }

    /// Restores the local adaptation. Returns false if the learning rule does not allow it.
    pub fn restore_adaptation(&mut self, bias: CommandOf<C>, gain: f32) -> bool {
        let rule: &Learning = &self.config.agent.learning;
        let restored = ActuatorCalibration::from_stored(bias, gain, rule);
        if let Some(adaptation) = restored {
            self.controller.agent.set_adaptation(adaptation);
        }
        restored.is_some()
    }

    /// Sets the residue of the ticks in which the robot sends, for radios with time slots.
    pub fn set_exchange_phase(&mut self, turn: u32) {
        self.controller.turn = turn;
    }

    /// Sets the time known from before the start.
    pub fn set_stored_time(&mut self, past: StoredTime) {
        self.controller.past = past;
    }

    /// First tick this robot may use.
    ///
    /// It has never sent a frame at or after this tick, so sequence numbers cannot repeat and replayed
    /// frames are always older.
    pub fn first_tick(&self) -> u32 {
        self.controller.past.until
    }

    /// Tick before which frames are recordings.
    ///
    /// For a minute after the start, robots that started one after the other may not agree yet.
    pub fn recordings_before(&self) -> u32 {
        let Controller { past, uptime_ticks, .. } = &self.controller;
        past.since.saturating_add(uptime_ticks.saturating_sub(START_TICKS))
    }

    /// Time to store for the next start, if the robot sends nothing for `ahead` ticks from now.
    ///
    /// `since` grows with the robot's uptime, not with received frames.
    pub(crate) fn past_after(&self, ahead: u32) -> StoredTime {
        let Controller { past, uptime_ticks, .. } = &self.controller;
        let since = past.since.saturating_add(*uptime_ticks).min(self.tick().max(past.since));
        let sent = self.tick().max(past.until);
        StoredTime { since, until: past.until.max(sent.saturating_add(ahead)) }
    }
}
