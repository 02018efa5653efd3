//! Reception: frames into the neighbor table, and the end of reception.

use wdgnn_core::{
    filter::DelayLines as _,
    message::{Message, MessageOf},
    model::Model,
    task::State as _,
};
use wdgnn_link::{
    error::FrameError,
    header::{FrameId, OBSTACLE_ONLY, OTHER_CLOCK_TICKS, Payload},
    link::{MessageLink, Reception},
};

use super::Robot;
use crate::{
    config::{RobotConfig, TrustPolicy},
    neighbors::{Arrival, TableOf},
    tasks::RobotTask,
};

impl<M, T, L, const N: usize, P> Robot<M, T, L, N, P>
where
    M: Model,
    P: TrustPolicy,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    L: MessageLink<T::State, M::Taps, M::Wide>,
{
    /// Receives one frame. A sealed frame is decrypted in place.
    ///
    /// # Errors
    /// The reason of the rejection. The table is then unchanged, with two exceptions: the sender of an
    /// implausible frame is on probation, and a sealed frame of another model ([`FrameError::Model`])
    /// updates the sender's state.
    #[inline(never)] // returns its stack before the next step
    pub fn receive(&mut self, frame: &mut [u8]) -> Result<(), FrameError> {
        let result = self.link.receive(self.controller.agent.tick(), frame, &mut self.received);
        let message = &self.received;
        let other_model = result == Err(FrameError::Model)
            && self.link.is_sealed()
            && self.config.trust.is_robust()
            && message.state.is_admissible();
        let reception = if other_model { self.state_only(frame)? } else { result? };
        let (mut arrival, is_plausible) = self.arrival(message, &reception)?;
        arrival.shares_model = !other_model;
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
        if other_model { kept.and(Err(FrameError::Model)) } else { kept }
    }

    /// Reception of a frame of which only the state is used.
    fn state_only(&self, frame: &[u8]) -> Result<Reception, FrameError> {
        let FrameId { sequence, .. } = self.link.id(self.tick(), frame).ok_or(FrameError::TooShort)?;
        Ok(Reception { sequence, payload: Payload::STATE, is_proof: false })
    }

    /// Receives a message that is already decoded.
    ///
    /// # Errors
    /// As [`Robot::receive`].
    pub fn accept(&mut self, message: &MessageOf<M, T>, reception: &Reception) -> Result<(), FrameError> {
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
    pub fn authenticate(&mut self, frame: &[u8]) -> Option<FrameId> {
        let (tick, since) = (self.tick(), self.recordings_before());
        self.link.authenticate(tick, since, frame)
    }

    /// Predicts the state of a message to the current tick, and checks taps and parameters.
    ///
    /// Under robust trust, the sender of implausible taps or parameters is still an obstacle.
    fn arrival(
        &self,
        message: &MessageOf<M, T>,
        reception: &Reception,
    ) -> Result<(Arrival<T::State>, bool), FrameError> {
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
        let age = if age > OTHER_CLOCK_TICKS { 0 } else { age };
        let state = self.config.agent.task.predict(&message.state, age.min(self.config.hold_ticks));
        let arrival = Arrival {
            tick,
            sent: tick.saturating_sub(age),
            sequence: reception.sequence,
            state,
            shares_model: true,
        };
        Ok((arrival, is_plausible))
    }

    /// Updates the table by the plausible numbers of a message and its state.
    pub(super) fn update_table(
        table: &mut TableOf<M, T, N>,
        config: &RobotConfig<M, T, P>,
        own_stats: &T::Stats,
        arrival: &Arrival<T::State>,
        message: &MessageOf<M, T>,
        payload: Option<Payload>,
    ) -> Result<(), FrameError> {
        let task = &config.agent.task;
        if payload == Some(Payload::ALL) && config.trust.probation_frames() == 0 {
            return table.update(arrival, message);
        }
        let compare = |track: &_, reported: &T::State, silent: u32, compared: u8, stats: &mut _| {
            if config.trust.probation_frames() == 0 {
                return (*reported, true);
            }
            // The task continues from the tick before. A limit of one second bounds the time that
            // skipped ticks take.
            let before = silent.saturating_sub(1).min(2 * OTHER_CLOCK_TICKS);
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
            let exchange = self.has_turn();
            let Self { table, controller, config, .. } = self;
            let own_taps = exchange.then(|| controller.agent.transmitted()).filter(|_| M::Taps::LEN > 0);
            table.clip(config.agent.task.clipped_components(), own_taps);
        }
        let is_isolated = self.table.trusted().next().is_none();
        self.controller.update_isolation(is_isolated);
        evicted
    }
}
