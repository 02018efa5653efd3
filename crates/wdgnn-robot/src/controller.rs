//! Controller of one robot: agent, state estimation and safety, without radio and neighbor table.
//!
//! A [`Robot`](crate::robot::Robot) adds a link and a table. A simulator with all messages in one array
//! keeps a controller per robot, an eighth of the memory of a robot, and passes it a view of the array.

use core::iter::Empty;

use wdgnn_core::{
    agent::{Agent, ConsensusReport},
    message::AgentMessage,
    model::Model,
    neighbors::Neighbors,
    task::NodeId,
    tensor::Array as _,
};
use wdgnn_link::header::OBSTACLE_ONLY;

use crate::{
    config::{RobotConfig, TrustPolicy},
    estimation::{actuator_monitor::ActuatorMonitor, body::BodyResponse, state_estimator::OwnTrack},
    safety::gate::{Surroundings, Verdict},
    tasks::RobotTask,
};

/// Time of the swarm as known from before a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredTime {
    /// The swarm has passed this tick: earlier frames are recordings.
    pub since: u32,
    /// The robot has sent no frame at or after this tick.
    pub until: u32,
}

/// Robots that a controller avoids and does not follow.
#[derive(Debug)]
pub struct Obstacles<B, S> {
    /// All robots nearby, trusted or not; `None` under [`Trust::All`](crate::config::Trust::All).
    pub robots: Option<B>,
    /// Robots that approach without a proven identity, where others have proved theirs.
    pub strangers: Option<S>,
}

impl<X> Obstacles<Empty<X>, Empty<X>> {
    /// No obstacles besides the trusted neighbors.
    pub const NONE: Self = Self { robots: None, strangers: None };
}

/// One robot's agent, state estimation and safety.
#[derive(Clone, Copy, Debug)]
pub struct Controller<M: Model, T: RobotTask> {
    /// Algorithm 1.
    pub agent: Agent<M, T>,
    /// Residue of the ticks in which the robot sends.
    pub(crate) turn: u32,
    /// Ticks without trusted neighbors.
    pub(crate) isolated_ticks: u32,
    /// Age of the state in ticks; `u32::MAX` before the first measurement.
    pub(crate) state_age: u32,
    pub(crate) uptime_ticks: u32,
    pub(crate) past: StoredTime,
    pub(crate) own_track: OwnTrack<T>,
    pub(crate) monitor: ActuatorMonitor<T::Command>,
    pub(crate) body: BodyResponse<T::Command>,
    /// Charge of the battery in percent, if known.
    pub(crate) battery: Option<u8>,
}

impl<M, T> Controller<M, T>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
{
    /// A controller with the offline parameters, in `state`.
    #[inline]
    pub fn new<P: TrustPolicy>(config: &RobotConfig<M, T, P>, id: NodeId, state: T::State) -> Self {
        Self {
            agent: Agent::new(&config.agent, state),
            turn: id.into(),
            isolated_ticks: 0,
            state_age: u32::MAX,
            uptime_ticks: 0,
            past: StoredTime::default(),
            own_track: OwnTrack::new(state),
            monitor: ActuatorMonitor::INITIAL,
            body: BodyResponse(T::Command::ZERO),
            battery: None,
        }
    }

    /// Whether the robot sends, and its taps advance, in this tick.
    ///
    /// Robots take turns: with an interval of d, the robot with address i exchanges in ticks i, i + d, …
    #[inline]
    pub fn exchanges_this_tick<P: TrustPolicy>(&self, config: &RobotConfig<M, T, P>) -> bool {
        let interval = config.exchange_interval.max(1);
        self.agent.tick() % interval == self.turn % interval
    }

    /// Whether the robot sends a message in this tick.
    ///
    /// A blind robot sends nothing, unless others should avoid it where it came to rest.
    pub fn sends_this_tick<P: TrustPolicy>(&self, config: &RobotConfig<M, T, P>) -> bool {
        self.exchanges_this_tick(config) && (!self.is_blind(config) || self.is_resting(config))
    }

    /// Message of this tick.
    #[inline]
    pub fn message<P: TrustPolicy>(
        &self, config: &RobotConfig<M, T, P>, sender: NodeId,
    ) -> AgentMessage<M, T> {
        let mut message = self.agent.message(sender);
        if self.is_obstacle_only(config) {
            message.degree = OBSTACLE_ONLY;
        }
        message
    }

    /// Counts the ticks without trusted neighbors.
    #[inline]
    pub fn update_isolation(&mut self, is_isolated: bool) {
        let elapsed = self.agent.elapsed_ticks();
        self.isolated_ticks = if is_isolated { self.isolated_ticks.saturating_add(elapsed) } else { 0 };
    }

    /// Computes the command for the actuators: the agent's decision after the safety gate.
    ///
    /// The command of a blind robot is zero: no command is safe.
    #[inline]
    pub fn decide<P: TrustPolicy, const N: usize>(
        &mut self, config: &RobotConfig<M, T, P>, neighbors: &Neighbors<'_, M, T, N>,
        obstacles: Obstacles<impl Iterator<Item = T::State>, impl Iterator<Item = T::State>>,
    ) -> (T::Command, Verdict) {
        self.agent.decide(&config.agent, neighbors);
        self.guard(config, neighbors, obstacles)
    }

    /// Limits the agent's decision to a safe command.
    #[inline]
    pub(crate) fn guard<P: TrustPolicy, const N: usize>(
        &self, config: &RobotConfig<M, T, P>, neighbors: &Neighbors<'_, M, T, N>,
        obstacles: Obstacles<impl Iterator<Item = T::State>, impl Iterator<Item = T::State>>,
    ) -> (T::Command, Verdict) {
        if self.is_blind(config) {
            return (T::Command::ZERO, Verdict::Blind);
        }
        let surroundings = Surroundings {
            task: &config.agent.task,
            own: self.agent.state(),
            obstacles,
            level: config.failsafe.level(self.state_age, self.battery),
            isolation: config.isolation.phase(self.isolated_ticks),
        };
        surroundings.guard(neighbors.states(), self.agent.unsaturated())
    }

    /// Learns: local adaptation and Algorithm 1. A blind robot learns nothing.
    #[inline]
    pub fn learn<P: TrustPolicy, const N: usize>(
        &mut self, config: &RobotConfig<M, T, P>, neighbors: &Neighbors<'_, M, T, N>,
    ) -> ConsensusReport {
        if self.is_blind(config) {
            return ConsensusReport::default();
        }
        if !self.is_unsure(config) {
            self.agent.adapt(&config.agent, neighbors);
        }
        self.agent.learn(&config.agent, neighbors)
    }
}
