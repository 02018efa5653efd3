//! Robots in this process that exchange frames, with the firmware's tick and codecs.

use wdgnn_core::{
    model::Model,
    task::{NodeId, State},
    tensor::Tensor as _,
};
use wdgnn_link::{
    encoding::{exact, half::MAX_TAG_LEN},
    link::RadioLink as _,
    security::{key::Key, key_update::personal_key},
};
use wdgnn_robot::{onboard::MAX_BUFFER_LEN, safety::gate::Verdict};

use super::{NeighborStatus, Robots, TickInput, TickOutcome, TrustSnapshot, in_memory::internals, torn};
use crate::{
    error::Result,
    medium::{
        adversary::is_forged_state,
        any_link::{OwnKeys, RobotKeys},
        key_operator::{self, MASTER},
        options::Faults,
        peripherals::Peripherals,
        robot_config::{SimRobot, SwarmConfig},
        rx_queue::TickRadio,
    },
    profiles::Profile,
    scene::{Frame, RobotInternals, SimTask},
};

/// Robots in this process that exchange frames as bytes.
#[allow(missing_debug_implementations, reason = "contains trait objects and functions")]
pub struct Native<T: SimTask, M: Model<Features = T::Features, Output = T::Command>> {
    configs: Vec<SwarmConfig<M, T>>,
    profile: Profile,
    /// Group key; `None` for open links.
    key: Option<Key>,
    /// Whether the group key can change.
    rekeyed: bool,
    /// Whether peers are authenticated.
    proofs: bool,
    robots: Vec<Option<NativeRobot<T, M>>>,
}

impl<T, M> Native<T, M>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command> + Copy,
{
    /// Creates one robot per configuration.
    ///
    /// `faults` determine whether the group key can change and whether peers are authenticated.
    pub fn new(
        configs: Vec<SwarmConfig<M, T>>, profile: Profile, key: Option<&Key>, faults: &Faults,
    ) -> Self {
        let (rekeyed, proofs) = (faults.rekey.is_some(), faults.peer_auth);
        let robots = Vec::with_capacity(configs.len());
        let mut all = Self { configs, profile, key: key.copied(), rekeyed, proofs, robots };
        let start = |robot| Some(all.start(robot, Peripherals::default()));
        let robots = (0..all.configs.len()).map(start).collect();
        all.robots = robots;
        all
    }

    /// Starts a robot with its peripherals.
    fn start(&self, robot: usize, peripherals: Peripherals) -> NativeRobot<T, M> {
        let name = robot as NodeId;
        let own = (self.rekeyed || self.proofs).then(|| OwnKeys {
            name,
            personal: personal_key(&MASTER, name),
            epoch: 0,
            roster: if self.proofs { key_operator::peer_keys(name) } else { &[] },
        });
        let keys = self.key.as_ref().map(|group| RobotKeys { group, own });
        let mut robot = self.configs[robot].build(name, T::State::zero(), self.profile, keys);
        robot.link_mut().security_mut().set_swarm_size(stored_swarm_size(self.configs.len()));
        NativeRobot::start(robot, peripherals)
    }

    /// Starts a robot that was switched off.
    fn restart(&mut self, robot: usize, off: NativeRobot<T, M>) {
        self.robots[robot] = Some(self.start(robot, off.peripherals));
    }
}

impl<T, M> Robots<T> for Native<T, M>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command> + Copy + Send,
{
    fn begin_tick(&mut self, inputs: &[Option<TickInput<T::State>>]) -> Vec<Vec<Frame>> {
        let robots = self.robots.iter_mut().zip(inputs);
        let sent = robots.map(|(robot, inputs)| Some(robot.as_mut()?.begin_tick((*inputs)?)));
        sent.map(Option::unwrap_or_default).collect()
    }

    fn end_tick(&mut self, heard: &[Option<Vec<Frame>>]) -> Vec<Option<TickOutcome>> {
        let robots = self.robots.iter_mut().zip(heard);
        robots.map(|(robot, frames)| Some(robot.as_mut()?.hear(frames.as_ref()?))).collect()
    }

    fn kill(&mut self, robot: usize) {
        self.robots[robot] = None;
    }

    fn reboot(&mut self, robot: usize) -> Result {
        if let Some(off) = self.robots[robot].take() {
            self.restart(robot, off);
        }
        Ok(())
    }

    fn brown_out(&mut self, robot: usize) -> Result {
        if let Some(mut off) = self.robots[robot].take() {
            off.peripherals.tear(torn);
            self.restart(robot, off);
        }
        Ok(())
    }

    fn trust_snapshot(&self, robot: usize) -> Option<TrustSnapshot> {
        Some(self.robots.get(robot)?.as_ref()?.trust_snapshot())
    }

    fn internals(&self, robot: usize) -> Option<RobotInternals<'_, T>> {
        Some(internals(&self.robots.get(robot)?.as_ref()?.robot))
    }
}

/// Returns the swarm size as robots store it; 0 if it exceeds the address space.
pub fn stored_swarm_size(robots: usize) -> NodeId {
    NodeId::try_from(robots).unwrap_or(0)
}

/// One robot in this process.
#[allow(missing_debug_implementations, reason = "contains trait objects and functions")]
pub struct NativeRobot<T: SimTask, M: Model<Features = T::Features, Output = T::Command>> {
    robot: SimRobot<M, T>,
    peripherals: Peripherals,
    verdict: Verdict,
}

impl<T, M> NativeRobot<T, M>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command> + Copy,
{
    /// Length of the firmware's buffer: a frame of the profile `exact`, its tag and one byte.
    ///
    /// The extra byte reveals longer frames.
    const BUFFER_LEN: usize = exact::frame_len::<T::State, M::Taps, M::Wide>() + MAX_TAG_LEN + 1;

    /// Starts a robot as the firmware does.
    pub fn start(mut robot: SimRobot<M, T>, mut peripherals: Peripherals) -> Self {
        peripherals.resume(&mut robot, &mut [0; MAX_BUFFER_LEN][..Self::BUFFER_LEN]);
        Self { robot, peripherals, verdict: Verdict::Clear }
    }

    /// Returns the robot's trust in its neighbors.
    pub fn trust_snapshot(&self) -> TrustSnapshot {
        let Self { robot, verdict, .. } = self;
        let neighbors = robot.neighbors().map(|other| NeighborStatus {
            sender: other.message.sender,
            heard_now: other.last_received == robot.tick(),
            is_checked: other.compared_ticks > 0,
            is_plausible: other.plausible_frames > 0,
            is_trusted: other.is_trusted,
            is_forged: is_forged_state(&other.message.state),
        });
        TrustSnapshot {
            verdict: *verdict,
            epoch: robot.link().security().key_epoch(),
            neighbors: neighbors.collect(),
        }
    }

    /// Starts a tick with a working sensor, and returns the robot's frames.
    pub fn speak(&mut self, tick: u32, state: T::State) -> Vec<Frame> {
        self.begin_tick(TickInput::new(tick, state))
    }

    /// Starts a tick, and returns the robot's frames; none if it does not send in this tick.
    pub fn begin_tick(&mut self, inputs: TickInput<T::State>) -> Vec<Frame> {
        let buffer = &mut [0; MAX_BUFFER_LEN][..Self::BUFFER_LEN];
        let mut radio = TickRadio::default();
        self.peripherals.open(&mut self.robot, &mut radio, inputs.tick, inputs.sensed, buffer);
        radio.sent
    }

    /// Ends a tick with the received frames.
    pub fn hear(&mut self, frames: &[Frame]) -> TickOutcome {
        let buffer = &mut [0; MAX_BUFFER_LEN][..Self::BUFFER_LEN];
        let report = self.peripherals.close(&mut self.robot, &mut TickRadio::receiving(frames), buffer);
        self.verdict = report.verdict;
        TickOutcome::new(&report, self.robot.agent().wide().numbers())
    }
}

#[cfg(test)]
mod tests {
    use wdgnn_core::tasks::flocking::Flocking;
    use wdgnn_link::error::FrameError;
    use wdgnn_robot::onboard;

    use super::*;
    use crate::{
        models,
        recipe::{Architecture, RecipeName},
    };

    #[test]
    fn frames_longer_than_the_firmware_buffer_are_rejected() {
        let file = models::shipped(RecipeName::Through, Architecture::WdGnn).unwrap();
        let robot = onboard::config_from_weights::<Flocking>(&file.weights()).unwrap();
        let config = SwarmConfig { robot, checksum: 0 };
        let robot = config.build(1, State::zero(), Profile::Exact, None);
        let mut robot = NativeRobot::start(robot, Peripherals::default());
        robot.speak(0, State::zero());
        // The second frame is shorter than some other task's frames and has an unknown version.
        let outcome = robot.hear(&[[0xff; 400].as_slice().into(), [0xff; 300].as_slice().into()]);
        let rejected = |reason: FrameError| outcome.counts.rejected[reason as usize];
        assert_eq!(
            (rejected(FrameError::Trailing), rejected(FrameError::Version)),
            (1, 1),
            "{:?}",
            outcome.counts
        );
    }
}
