//! Reception: frames into the neighbor table, and the end of reception.

use wdgnn_core::{filter::DelayLines as _, message::Message, model::Model, task::State as _, tensor::Array};
use wdgnn_link::{
    error::FrameError,
    header::{FrameId, MAX_PLAUSIBLE_AGE_TICKS, OBSTACLE_ONLY, Payload},
    link::Reception,
};

use super::Robot;
use crate::{
    config::{ConfigOf, LinkOf, RobotMessage, RobotTypes, StateOf, TrustPolicy as _},
    neighbors::{Arrival, TableOf},
    tasks::{MotionModel as _, PlausibilityChecks},
};

impl<C: RobotTypes, L: LinkOf<C>, const N: usize> Robot<C, L, N> {
    /// Receives one frame. A sealed frame is decrypted in place.
    ///
    /// # Errors
    /// The reason of the rejection. The table is then unchanged, with two exceptions: the sender of an
    /// implausible frame is on probation, and a sealed frame of another model ([`FrameError::Model`])
    /// updates the sender's state.
    #[inline(never)] // returns its stack before the next step
    pub fn receive(&mut self, frame: &mut [u8]) -> Result<(), FrameError> {
        let reception = self.link.receive(self.controller.agent.tick(), frame, &mut self.received)?;
        let message = &self.received;
        if !(self.link.is_sealed() && self.config.trust.is_robust() && message.state.is_admissible()) {
            reception.of_own_model()?;
        }
        let (arrival, is_plausible) = self.arrival(message, &reception)?;
        // The compiler then drops the code for parts of messages from robots without robust trust.
        let is_whole = self.link.sends_whole_messages() && !self.config.trust.is_robust();
        let payload = if is_whole { Payload::ALL } else { reception.payload };
        let payload = (is_whole || is_plausible).then_some(payload);
        let kept = if self.link.requires_proof() {
            self.update_identified(&arrival, payload, reception.is_proof)
        } else {
            let Self { config, controller, table, received, .. } = self;
            Self::update_table(table, config, &controller.own_track.stats, &arrival, received, payload)
        };
        kept.and(reception.of_own_model().map(|_| ()))
    }

    /// Receives a message that is already decoded.
    ///
    /// # Errors
    /// As [`Robot::receive`].
    pub fn receive_decoded(
        &mut self, message: &RobotMessage<C>, reception: &Reception,
    ) -> Result<(), FrameError> {
        let (arrival, is_plausible) = self.arrival(message, reception)?;
        let Self { config, controller, table, .. } = self;
        let payload = is_plausible.then_some(reception.payload);
        Self::update_table(table, config, &controller.own_track.stats, &arrival, message, payload)
    }

    /// Authenticates a frame that was rejected as [`FrameError::OutOfWindow`].
    ///
    /// Returns its sender and number if the sender is a member of the swarm with another clock, and the
    /// frame is no recording.
    #[inline(never)]
    pub fn authenticate_late_frame(&mut self, frame: &[u8]) -> Option<FrameId> {
        let (tick, since) = (self.tick(), self.recordings_before());
        self.link.authenticate_late_frame(tick, since, frame)
    }

    /// Predicts the state of a message to the current tick, and checks taps and parameters.
    ///
    /// Under robust trust, the sender of implausible taps or parameters is still an obstacle.
    fn arrival(
        &self, message: &RobotMessage<C>, reception: &Reception,
    ) -> Result<(Arrival<StateOf<C>>, bool), FrameError> {
        if message.sender == self.id {
            return Err(FrameError::OwnFrame);
        }
        let is_plausible = self.config.is_plausible(message, reception.payload);
        if !(is_plausible || self.config.trust.is_robust()) {
            return Err(FrameError::Implausible);
        }
        let tick = self.tick();
        // A frame from the future is of now. So is one that is so old that its sender has another clock.
        let age = tick.saturating_sub(message.tick);
        let age = if age > MAX_PLAUSIBLE_AGE_TICKS { 0 } else { age };
        let state = self.config.agent.task.predict(&message.state, age.min(self.config.hold_ticks));
        let arrival = Arrival {
            tick,
            sent: tick.saturating_sub(age),
            sequence: reception.sequence,
            state,
            shares_model: reception.shares_model,
        };
        Ok((arrival, is_plausible))
    }

    /// Updates the table by the plausible numbers of a message and its state.
    pub(super) fn update_table(
        table: &mut TableOf<C::Model, C::Task, N>, config: &ConfigOf<C>,
        own_stats: &<C::Task as PlausibilityChecks>::Stats, arrival: &Arrival<StateOf<C>>,
        message: &RobotMessage<C>, payload: Option<Payload>,
    ) -> Result<(), FrameError> {
        let task = &config.agent.task;
        if payload == Some(Payload::ALL) && config.trust.probation_frames() == 0 {
            return table.update(arrival, message);
        }
        let compare = |track: &_, reported: &StateOf<C>, silent: u32, compared: u8, stats: &mut _| {
            if config.trust.probation_frames() == 0 {
                return (*reported, true);
            }
            // The task continues from the tick before. A limit of one second bounds the time that
            // skipped ticks take.
            let before = silent.saturating_sub(1).min(2 * MAX_PLAUSIBLE_AGE_TICKS);
            task.check_neighbor(&task.predict(track, before), reported, silent, compared, stats, own_stats)
        };
        let updated = table.update_parts(arrival, message, payload.unwrap_or(Payload::STATE), compare);
        if payload.is_none() {
            table.distrust(message.sender);
            return updated.and(Err(FrameError::Implausible));
        }
        updated
    }

    /// Ends the reception of a tick: evicts silent neighbors, decides on trust, clips messages.
    ///
    /// Returns the number of evicted neighbors.
    pub fn end_receive(&mut self) -> usize {
        let tick = self.tick();
        let hold = self.config.hold_ticks;
        let task = &self.config.agent.task;
        let evicted = self.table.end_receive(tick, hold, |state, ticks| task.predict(state, ticks));
        if self.link.requires_proof() {
            self.evict_unidentified();
        }
        let proofs_count = self.link.requires_proof() && self.has_proven_neighbor();
        let (robust, probation) = (self.config.trust.is_robust(), self.config.trust.probation_frames());
        let flown_ticks = self.agent().first_tick().map_or(0, |first| tick.saturating_sub(first));
        let accepts_newcomers =
            flown_ticks <= hold || self.table.iter().all(|entry| entry.plausible_frames < probation);
        let link = &self.link;
        self.table.update_trust(|entry| {
            let Message { sender, degree, .. } = entry.message;
            let is_obstacle = (robust && degree == OBSTACLE_ONLY)
                || (proofs_count && !super::identities::is_proven(link, sender, tick));
            !is_obstacle
                && (entry.plausible_frames >= probation || (accepts_newcomers && !entry.has_contradicted))
        });
        if robust {
            let exchange = self.exchanges_this_tick();
            let Self { table, controller, config, .. } = self;
            let own_taps = exchange
                .then(|| controller.agent.transmitted())
                .filter(|_| <C::Model as Model>::Taps::LEN > 0);
            let stride = <<C::Model as Model>::Features as Array>::LEN;
            table.clip(&config.agent.task.clipped(), stride, own_taps);
        }
        let is_isolated = self.table.trusted().next().is_none();
        self.controller.update_isolation(is_isolated);
        evicted
    }
}
