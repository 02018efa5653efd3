//! Robots in this process that exchange frames, with the firmware's tick and codecs.

use wdgnn_core::{
    model::Model,
    task::{NodeId, State},
    tensor::Tensor as _,
};
use wdgnn_link::{
    encoding::half::TAG_BYTES,
    security::{key::Key, key_update::personal_key},
};
use wdgnn_robot::{
    node::Node,
    onboard::{LONGEST_BUFFER, NEIGHBOURS},
    safety::gate::Verdict,
};

use super::{NeighborStatus, Robots, TickInput, TickOutcome, TrustSnapshot, torn, typed::internals};
use crate::{
    error::Result,
    medium::{
        adversary::is_forged_state,
        key_operator::{self, MASTER},
        options::Faults,
        peripherals::Peripherals,
        robot_config::RobotConfig,
        rx_queue::TickRadio,
    },
    profiles::{RobotKeyring, SimCodec},
    scene::{Frame, RobotInternals, SimTask},
};

/// Robots in this process with the codec `C`.
#[allow(missing_debug_implementations, reason = "contains trait objects and functions")]
pub struct Native<T: SimTask, M: Model, C> {
    configs: Vec<RobotConfig<M, T>>,
    key: Key,
    /// Whether the group key can change.
    rekeyed: bool,
    /// Whether peers must prove their identity.
    proofs: bool,
    robots: Vec<Option<NativeRobot<T, M, C>>>,
}

impl<T, M, C> Native<T, M, C>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Output> + Copy,
    C: SimCodec,
{
    /// Creates robots with one configuration each.
    ///
    /// `faults` selects whether the group key can change and whether peers must prove their identity.
    pub fn new(configs: Vec<RobotConfig<M, T>>, key: &Key, faults: &Faults) -> Self {
        let (rekeyed, proofs) = (faults.rekey.is_some(), faults.proofs);
        let mut all = Self { key: *key, rekeyed, proofs, robots: Vec::with_capacity(configs.len()), configs };
        let start = |robot| Some(all.start(robot, Peripherals::default()));
        let robots = (0..all.configs.len()).map(start).collect();
        all.robots = robots;
        all
    }

    /// Starts a robot with its ports.
    fn start(&self, robot: usize, body: Peripherals) -> NativeRobot<T, M, C> {
        let name = robot as NodeId;
        let codec = if self.rekeyed || self.proofs {
            let roster = if self.proofs { key_operator::peer_keys(name) } else { &[] };
            C::with_own(
                &self.key,
                &RobotKeyring { name, personal: personal_key(&MASTER, name), epoch: 0, roster },
            )
        } else {
            C::with_key(&self.key)
        };
        let codec = codec.among(stored_swarm_size(self.configs.len()));
        NativeRobot::start(&self.configs[robot], name, codec, body)
    }

    /// Restarts a robot that was switched off.
    fn restart(&mut self, robot: usize, off: NativeRobot<T, M, C>) {
        self.robots[robot] = Some(self.start(robot, off.body));
    }
}

impl<T, M, C> Robots<T> for Native<T, M, C>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Output> + Copy + Send,
    C: SimCodec,
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
            off.body.tear(torn);
            self.restart(robot, off);
        }
        Ok(())
    }

    fn trust_snapshot(&self, robot: usize) -> Option<TrustSnapshot> {
        Some(self.robots.get(robot)?.as_ref()?.trust_snapshot())
    }

    fn internals(&self, robot: usize) -> Option<RobotInternals<'_, T>> {
        Some(internals(&self.robots.get(robot)?.as_ref()?.node))
    }
}

/// Returns the swarm size as robots store it; 0 if it exceeds the address space.
pub fn stored_swarm_size(robots: usize) -> NodeId {
    NodeId::try_from(robots).unwrap_or(0)
}

/// One robot in this process.
#[allow(missing_debug_implementations, reason = "contains trait objects and functions")]
pub struct NativeRobot<T: SimTask, M: Model, C> {
    node: Node<M, T, NEIGHBOURS, C>,
    body: Peripherals,
    verdict: Verdict,
}

impl<T, M, C> NativeRobot<T, M, C>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Output> + Copy,
    C: SimCodec,
{
    /// Length of the firmware's buffer: a frame of the profile `exact`, its tag and one byte.
    ///
    /// The extra byte reveals longer frames.
    const BUFFER_BYTES: usize = <Node<M, T, NEIGHBOURS>>::FRAME_BYTES + TAG_BYTES + 1;

    /// Starts a robot as the firmware does.
    pub fn start(config: &RobotConfig<M, T>, id: NodeId, codec: C, mut body: Peripherals) -> Self {
        let mut node = config.node(id, T::State::zero(), codec);
        body.resume(&mut node, &mut [0; LONGEST_BUFFER][..Self::BUFFER_BYTES]);
        Self { node, body, verdict: Verdict::Clear }
    }

    /// Returns the robot's trust in its neighbors.
    pub fn trust_snapshot(&self) -> TrustSnapshot {
        let Self { node, verdict, .. } = self;
        let neighbors = node.neighbours().map(|other| NeighborStatus {
            sender: other.beacon.sender,
            heard_now: other.heard == node.tick(),
            is_checked: other.known > 0,
            is_plausible: other.proven > 0,
            is_trusted: other.counts,
            is_forged: is_forged_state(&other.beacon.state),
        });
        TrustSnapshot { verdict: *verdict, epoch: node.epoch(), neighbors: neighbors.collect() }
    }

    /// Starts a tick with a working sensor, and returns the robot's frames.
    pub fn speak(&mut self, tick: u32, state: T::State) -> Vec<Frame> {
        self.begin_tick(TickInput::new(tick, state))
    }

    /// Starts a tick, and returns the robot's frames; none if it does not send in this tick.
    pub fn begin_tick(&mut self, inputs: TickInput<T::State>) -> Vec<Frame> {
        let buffer = &mut [0; LONGEST_BUFFER][..Self::BUFFER_BYTES];
        let mut radio = TickRadio::default();
        self.body.open(&mut self.node, &mut radio, inputs.tick, inputs.sensed, buffer);
        radio.sent
    }

    /// Ends a tick with the received frames.
    pub fn hear(&mut self, frames: &[Frame]) -> TickOutcome {
        let buffer = &mut [0; LONGEST_BUFFER][..Self::BUFFER_BYTES];
        let report = self.body.close(&mut self.node, &mut TickRadio::receiving(frames), buffer);
        self.verdict = report.verdict;
        TickOutcome::new(&report, self.node.wide().numbers())
    }
}

#[cfg(test)]
mod tests {
    use wdgnn_core::{model::shape::Shape, online::Learning, tasks::flocking::Flocking};
    use wdgnn_link::{encoding::exact::Exact, error::Refusal};
    use wdgnn_robot::{config::Behaviour, onboard::Onboard};

    use super::*;
    use crate::{
        models,
        recipe::{Architecture, RecipeName},
    };

    #[test]
    fn frames_longer_than_the_firmware_buffer_are_rejected() {
        let file = models::shipped(RecipeName::Ours, Architecture::WdGnn).unwrap();
        let weights = file.weights();
        let model = <<Flocking as Onboard>::Shape as Shape<Flocking>>::from_weights(&weights).unwrap();
        let behaviour = Behaviour::new(Learning::OFF);
        let config = RobotConfig { model, task: Flocking::DEFAULT, checksum: 0, behaviour };
        let mut robot = NativeRobot::start(&config, 1, Exact, Peripherals::default());
        robot.speak(0, State::zero());
        // The second frame is shorter than some other task's frames and has an unknown version.
        let outcome = robot.hear(&[[0xff; 400].as_slice().into(), [0xff; 300].as_slice().into()]);
        let refused = |reason: Refusal| outcome.counts.refused[reason as usize];
        assert_eq!((refused(Refusal::Trailing), refused(Refusal::Version)), (1, 1), "{:?}", outcome.counts);
    }
}
