//! Configuration of a robot: network, task, learning rule, and everything around them.

use core::fmt::Debug;

use wdgnn_core::{
    agent::Config,
    message::AgentMessage,
    model::Model,
    online::{Learning, consensus},
    task::Task,
};
use wdgnn_link::{header::Payload, link::MessageLink};

use crate::{
    neighbors::max_tap,
    safety::{failsafe::Failsafe, gate::IsolationLimits},
    tasks::RobotTask,
};

/// Ticks for which silent neighbors are kept where exchanges are rare: 0.15 s.
const HOLD_TICKS: u32 = 15;
/// Ticks for which silent neighbors are kept on a lossy radio.
const ROBUST_HOLD_TICKS: u32 = 19;
/// Limits of the learning rule under [`Trust::Robust`].
///
/// With both, swarms with a fifth of liars succeeded in every flight.
const ROBUST_CLIP: f32 = 0.02;
const ROBUST_BALL: f32 = 0.3;
/// Largest tap of an honest flocking robot. None reached 50 in flights under the paper's condition.
pub const MAX_TAP: f32 = 100.0;
/// Ticks for which a robot flies on by its last measurement: 0.25 s.
///
/// At its largest acceleration of 10 m/s², it can then be 0.3 m from its predicted position, twice the
/// separation of robots.
pub const MAX_STATE_AGE_TICKS: u32 = 25;
/// [`MAX_STATE_AGE_TICKS`] under [`Trust::Robust`]: 1 s.
///
/// The robot slows down after the first quarter. It predicts its state from its own commands, and its
/// messages mark it as an obstacle.
pub const ROBUST_STATE_AGE_TICKS: u32 = 100;

/// Treatment of received messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trust {
    /// All messages count, as in the paper.
    All,
    /// Messages are compared with earlier messages and with the median of all neighbors.
    Robust(RobustConfig),
}

/// Settings of [`Trust::Robust`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RobustConfig {
    /// Number of consecutive plausible frames after which a neighbor counts.
    ///
    /// After its start, a robot accepts newcomers at once while it keeps silent neighbors, and then
    /// until one neighbor has completed its probation: at first, all neighbors are newcomers.
    pub probation_frames: u8,
    /// Largest plausible tap.
    pub max_tap: f32,
}

impl RobustConfig {
    /// One frame of probation, taps up to [`MAX_TAP`].
    pub const DEFAULT: Self = Self { probation_frames: 1, max_tap: MAX_TAP };
}

impl TrustPolicy for Trust {
    #[inline]
    fn robust(&self) -> Option<&RobustConfig> {
        if let Self::Robust(config) = self { Some(config) } else { None }
    }
}

/// Choice between [`Trust::All`] and [`Trust::Robust`], at run time or at compile time.
pub trait TrustPolicy: Copy + Debug {
    /// Settings of robust trust; `None` if all messages count.
    fn robust(&self) -> Option<&RobustConfig>;

    /// Whether robust statistics are used.
    #[inline]
    fn is_robust(&self) -> bool {
        self.robust().is_some()
    }

    /// Number of plausible frames after which a neighbor counts.
    #[inline]
    fn probation_frames(&self) -> u8 {
        self.robust().map_or(0, |config| config.probation_frames)
    }
}

/// [`Trust::All`] at compile time: a robot with it contains no code of robust trust.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrustAll;

impl TrustPolicy for TrustAll {
    #[inline]
    fn robust(&self) -> Option<&RobustConfig> {
        None
    }
}

/// Everything that the robots of a swarm have in common.
#[derive(Clone, Copy, Debug)]
pub struct RobotConfig<M, T, P = Trust> {
    /// Network, task and learning rule.
    pub agent: Config<M, T>,
    /// Treatment of received messages.
    pub trust: P,
    /// Control ticks per exchange: the robot sends, and its taps advance, once per interval.
    pub exchange_interval: u32,
    /// Ticks for which a silent neighbor is kept.
    pub hold_ticks: u32,
    /// Largest age of the robot's own state in ticks.
    ///
    /// Beyond it, the robot is blind: it sends and learns nothing, and the actuator stops.
    pub max_state_age_ticks: u32,
    /// Behavior without neighbors.
    pub isolation: IsolationLimits,
    /// Conditions under which the robot slows down or stops.
    pub failsafe: Failsafe,
    /// Lag of the body in seconds; 0 for a body without lag.
    pub lag: f32,
}

/// Types of a robot, named by its configuration.
pub trait RobotTypes {
    /// Network.
    type Model: Model;
    /// Task.
    type Task: RobotTask<Features = <Self::Model as Model>::Features, Command = <Self::Model as Model>::Output>;
    /// Choice of trust.
    type Trust: TrustPolicy;
}

impl<M, T, P> RobotTypes for RobotConfig<M, T, P>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    P: TrustPolicy,
{
    type Model = M;
    type Task = T;
    type Trust = P;
}

/// Configuration of a robot with the types `C`.
pub type ConfigOf<C> =
    RobotConfig<<C as RobotTypes>::Model, <C as RobotTypes>::Task, <C as RobotTypes>::Trust>;
/// State of a robot with the types `C`.
pub type StateOf<C> = <<C as RobotTypes>::Task as Task>::State;
/// Command of a robot with the types `C`.
pub type CommandOf<C> = <<C as RobotTypes>::Task as Task>::Command;
/// Message of a robot with the types `C`.
pub type RobotMessage<C> = AgentMessage<<C as RobotTypes>::Model, <C as RobotTypes>::Task>;

/// Link for the messages of a robot with the types `C`.
pub trait LinkOf<C: RobotTypes>:
    MessageLink<StateOf<C>, <C::Model as Model>::Taps, <C::Model as Model>::Wide>
{
}

impl<C: RobotTypes, L> LinkOf<C> for L where
    L: MessageLink<StateOf<C>, <C::Model as Model>::Taps, <C::Model as Model>::Wide>
{
}

impl<M, T> RobotConfig<M, T> {
    /// The paper's robot: an exchange in every tick, no silent neighbors, trust in all.
    ///
    /// A frame that is not received is a missing edge.
    pub const fn new(agent: Config<M, T>) -> Self {
        Self {
            agent,
            trust: Trust::All,
            exchange_interval: 1,
            hold_ticks: 0,
            max_state_age_ticks: MAX_STATE_AGE_TICKS,
            isolation: IsolationLimits::DEFAULT,
            failsafe: Failsafe::DEFAULT,
            lag: 0.0,
        }
    }

    /// Sets the exchange interval, and keeps silent neighbors between exchanges.
    ///
    /// They are kept over as many lost exchanges as fit into 15 ticks, and at least until the next one.
    ///
    /// ```
    /// # use wdgnn_core::{agent::Config, online::Learning};
    /// # use wdgnn_robot::config::RobotConfig;
    /// # let agent = Config { model: (), task: (), learning: Learning::OFF, offline_norm: 0.0 };
    /// let config = RobotConfig::new(agent);
    /// assert_eq!(config.with_exchange_interval(5).hold_ticks, 14);
    /// assert_eq!(config.with_exchange_interval(2).hold_ticks, 13);
    /// assert_eq!(config.with_exchange_interval(1).hold_ticks, 0);
    /// ```
    #[must_use]
    pub fn with_exchange_interval(mut self, interval: u32) -> Self {
        (self.exchange_interval, self.hold_ticks) = (1, 0);
        if interval > 1 {
            let held = if interval > HOLD_TICKS { 1 } else { HOLD_TICKS / interval };
            (self.exchange_interval, self.hold_ticks) =
                (interval, held.saturating_mul(interval).saturating_sub(1));
        }
        self
    }

    /// Sets the lag of the body in seconds.
    #[must_use]
    pub const fn with_lag(mut self, lag: f32) -> Self {
        self.lag = lag;
        self
    }

    /// Settings for a radio with losses, faults and liars.
    ///
    /// | setting | value |
    /// |---|---|
    /// | `trust` | [`RobustConfig::DEFAULT`] |
    /// | `hold_ticks` | at least 19: losses cost little, and a dead neighbor is evicted within 20 |
    /// | `failsafe` | slows down [`MAX_STATE_AGE_TICKS`] after the last measurement |
    /// | `max_state_age_ticks` | [`ROBUST_STATE_AGE_TICKS`] |
    /// | `learning.clip` | 2 % of the offline norm per tick between exchanges |
    /// | `learning.ball` | at most 30 % of the offline norm |
    ///
    /// A rule with step size 0 keeps its clip and its ball.
    #[must_use]
    pub fn robust(mut self) -> Self {
        let learning = &mut self.agent.learning;
        if learning.step > 0.0 {
            let ball = if learning.ball > 0.0 { learning.ball } else { ROBUST_BALL };
            learning.ball = ball.min(ROBUST_BALL);
            learning.clip = ROBUST_CLIP * self.exchange_interval as f32;
        }
        self.hold_ticks = self.hold_ticks.max(ROBUST_HOLD_TICKS);
        self.max_state_age_ticks = self.max_state_age_ticks.max(ROBUST_STATE_AGE_TICKS);
        self.trust = Trust::Robust(RobustConfig::DEFAULT);
        self.failsafe.max_age_ticks = MAX_STATE_AGE_TICKS;
        self
    }

    /// Plain averaging without clip and ball, and trust in all messages, as in the paper.
    #[must_use]
    pub fn without_robustness(mut self) -> Self {
        let learning = &mut self.agent.learning;
        *learning = Learning { clip: 0.0, ball: 0.0, ..*learning };
        self.trust = Trust::All;
        self
    }

    /// Whether no message outlives its tick: the robot needs no table of neighbors.
    pub fn is_memoryless(&self) -> bool {
        self.exchange_interval <= 1 && self.hold_ticks == 0 && !self.trust.is_robust()
    }
}

impl<M, T, P> RobotConfig<M, T, P> {
    /// This configuration with another network and another treatment of received messages.
    #[must_use]
    #[inline]
    pub fn with<N, Q>(self, network: impl FnOnce(M) -> N, trust: Q) -> RobotConfig<N, T, Q> {
        let Config { model, task, learning, offline_norm } = self.agent;
        RobotConfig {
            agent: Config { model: network(model), task, learning, offline_norm },
            trust,
            exchange_interval: self.exchange_interval,
            hold_ticks: self.hold_ticks,
            max_state_age_ticks: self.max_state_age_ticks,
            isolation: self.isolation,
            failsafe: self.failsafe,
            lag: self.lag,
        }
    }
}

impl<M: Model, T: RobotTask, P: TrustPolicy> RobotConfig<M, T, P> {
    /// Whether an honest robot can have these taps and parameters.
    ///
    /// The parameters of an honest robot never leave the ball.
    #[inline]
    pub fn is_plausible(&self, message: &AgentMessage<M, T>, payload: Payload) -> bool {
        let Config { model, learning, offline_norm, .. } = &self.agent;
        if let Some(robust) = self.trust.robust()
            && robust.max_tap > 0.0
            && max_tap(&message.taps, payload.taps) > robust.max_tap
        {
            return false;
        }
        if learning.clip <= 0.0 || learning.ball <= 0.0 {
            return true;
        }
        // Half precision may move a parameter on the surface of the ball slightly outside.
        let radius = learning.ball * offline_norm * 1.01;
        consensus::is_within_distance(&message.wide, model.offline(), payload.wide, radius)
    }
}
