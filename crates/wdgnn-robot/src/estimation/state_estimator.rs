//! Estimation of the robot's own state from measurements and commands.
//!
//! Without a measurement, the state is predicted from the robot's own command. Under
//! [`Trust::Robust`](crate::config::Trust::Robust), measurements are compared with the robot's own
//! track, as messages of neighbors are. Two failures of sensors are detected:
//!
//! * Measurements that repeat bit for bit while the robot moves: the sensor is frozen, and the
//!   measurement is ignored.
//! * Positions that contradict velocities: the velocity is derived from the positions.

use wdgnn_core::{model::Model, task::State as _};

use crate::{
    config::{RobotConfig, TrustPolicy},
    controller::Controller,
    ports::Measurement,
    safety::gate::IsolationPhase,
    tasks::RobotTask,
};

/// Measurements after which the noise of the sensors is known.
const CALIBRATION_UPDATES: u8 = 25;

/// Ticks without an update after which a track restarts.
const TRACK_TIMEOUT_TICKS: u32 = 50;

/// Ticks for which a blind robot reports where it came to rest: 30 s. Later it may have been carried.
const RESTING_TICKS: u32 = 3_000;

/// Ticks after which a braking robot is at rest, at any speed.
const BRAKING_TICKS: u32 = 10;

/// Track of the robot's own state, with which measurements are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnTrack<T: RobotTask> {
    /// Filtered state at the last measurement.
    pub(crate) state: T::State,
    pub(crate) stats: T::Stats,
    /// Last measurement, predicted over its age.
    measured: T::State,
    /// Tick of the last measurement.
    tick: u32,
    /// Number of updates, up to 255.
    updates: u8,
    /// Whether the measurements repeat bit for bit.
    is_frozen: bool,
}

impl<T: RobotTask> OwnTrack<T> {
    /// A track before the first measurement.
    pub(crate) fn new(state: T::State) -> Self {
        let stats = T::Stats::default();
        Self { state, stats, measured: state, tick: 0, updates: 0, is_frozen: false }
    }
}

impl<M, T> Controller<M, T>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
{
    /// Begins a tick with a measurement, if there is one. Returns whether it is usable.
    ///
    /// A measurement with a number that is not admissible is ignored.
    pub fn sense<P: TrustPolicy>(
        &mut self, config: &RobotConfig<M, T, P>, tick: u32, measurement: Option<Measurement<T::State>>,
    ) -> bool {
        let was_blind = self.is_blind(config);
        self.agent.begin_tick(tick);
        self.uptime_ticks = self.uptime_ticks.saturating_add(1);
        if config.lag > 0.0 {
            let (elapsed, period) = (self.agent.elapsed_ticks(), config.agent.task.period());
            self.body.follow(self.agent.executed_command(), elapsed, period, config.lag);
        }
        let measurement = measurement.filter(|sensed| sensed.state.is_admissible());
        let Some(Measurement { state, age }) = measurement else {
            self.predict(config);
            return false;
        };
        let task = &config.agent.task;
        self.agent.set_state(task.predict(&state, age.min(config.max_state_age_ticks)));
        if was_blind && !self.own_track.is_frozen {
            // The robot's own commands did not cause the change from its last known state.
            self.agent.forget_history();
        }
        let previous_age = core::mem::replace(&mut self.state_age, age);
        let is_measured = !config.trust.is_robust() || self.check_measurement(config, previous_age);
        if is_measured && config.lag > 0.0 {
            self.agent.set_state(task.lead(self.agent.state(), &self.body.0, config.lag));
        }
        if config.trust.is_robust() {
            self.monitor_actuators(config);
        }
        true
    }

    /// Whether the state is too old: [`RobotConfig::max_state_age_ticks`].
    #[inline]
    pub fn is_blind<P: TrustPolicy>(&self, config: &RobotConfig<M, T, P>) -> bool {
        self.state_age > config.max_state_age_ticks
    }

    /// Predicts the state from the executed command.
    fn predict<P: TrustPolicy>(&mut self, config: &RobotConfig<M, T, P>) {
        let (task, state) = (&config.agent.task, *self.agent.state());
        let elapsed = self.agent.elapsed_ticks();
        let ticks = elapsed.min(config.max_state_age_ticks.saturating_sub(self.state_age));
        let predicted = match self.agent.executed_command() {
            Some(command) => task.predict_with_command(&state, command, ticks),
            // The actuator stops the robot about as fast as the robot would.
            None if self.is_blind(config) && config.trust.is_robust() => {
                let braking = task.fallback_command(&state, IsolationPhase::Stop);
                task.predict_with_command(&state, &braking, elapsed.min(BRAKING_TICKS))
            }
            None => task.predict(&state, ticks),
        };
        self.agent.set_state(predicted);
        self.state_age = self.state_age.saturating_add(elapsed);
    }

    /// Compares the measurement with the robot's own track. `previous_age` is the age of the state before it.
    ///
    /// Returns false if the sensor is frozen and the state is a prediction.
    #[inline(never)] // returns its stack before the next step
    fn check_measurement<P: TrustPolicy>(
        &mut self, config: &RobotConfig<M, T, P>, previous_age: u32,
    ) -> bool {
        let (task, tick, state) = (&config.agent.task, self.agent.tick(), *self.agent.state());
        let OwnTrack { state: track, stats, measured, tick: updated, updates, is_frozen } =
            &mut self.own_track;
        let repeated = core::mem::replace(measured, state) == state;
        let silent_ticks = tick.saturating_sub(*updated);
        if *updates == 0 || silent_ticks == 0 || (silent_ticks > TRACK_TIMEOUT_TICKS && !repeated) {
            self.own_track = OwnTrack { tick, updates: 1, ..OwnTrack::new(state) };
            return true;
        }
        let before = task.predict(track, silent_ticks.min(TRACK_TIMEOUT_TICKS).saturating_sub(1));
        let mut new_stats = *stats;
        let (filtered, is_plausible) =
            task.check_own(&before, &state, silent_ticks, *updates, &mut new_stats);
        *is_frozen = repeated && (*is_frozen || !is_plausible);
        if *is_frozen {
            self.agent.set_state(*self.agent.previous_state());
            self.state_age = previous_age;
            self.predict(config);
            return false;
        }
        (*stats, *track, *updated, *updates) = (new_stats, filtered, tick, updates.saturating_add(1));
        let state = if is_plausible || *updates < CALIBRATION_UPDATES {
            task.bias_corrected(&filtered, stats)
        } else {
            task.velocity_from_positions(&state, stats)
        };
        self.agent.set_state(state);
        true
    }

    /// Compares the motion since the previous tick with the command executed in it.
    fn monitor_actuators<P: TrustPolicy>(&mut self, config: &RobotConfig<M, T, P>) {
        let (task, state) = (&config.agent.task, self.agent.state());
        let realized = task.realized_command(self.agent.previous_state(), state);
        let is_known = self.agent.elapsed_ticks() == 1 && self.state_age == 0;
        let tick = self.agent.executed_command().zip(realized.as_ref()).filter(|_| is_known);
        self.monitor.update(task, state, tick);
    }

    /// Whether others must avoid the robot and must not follow it.
    ///
    /// Its position is uncertain, or its actuators do not follow.
    pub fn is_obstacle_only<P: TrustPolicy>(&self, config: &RobotConfig<M, T, P>) -> bool {
        config.trust.is_robust() && (self.is_unsure(config) || self.monitor.has_failed())
    }

    /// Whether a blind robot is at rest at its predicted position and still reports it.
    pub(crate) fn is_resting<P: TrustPolicy>(&self, config: &RobotConfig<M, T, P>) -> bool {
        config.trust.is_robust() && self.state_age <= RESTING_TICKS
    }

    /// Whether the state is too old to learn from.
    pub(crate) fn is_unsure<P: TrustPolicy>(&self, config: &RobotConfig<M, T, P>) -> bool {
        self.is_blind(config) || self.state_age > config.failsafe.max_age_ticks
    }
}
