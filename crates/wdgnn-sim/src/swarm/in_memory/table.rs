//! Robots with neighbor tables: any profile, any trust, any exchange interval.

use wdgnn_core::{
    agent::Agent,
    filter::DelayLines as _,
    message::{AgentMessage, Message},
    model::Model,
    task::{NodeId, State as _},
};
use wdgnn_link::link::{MessageLink as _, RadioLink as _, Reception};
use wdgnn_robot::{config::RobotConfig, onboard::MAX_BUFFER_LEN, ports::Measurement, safety::gate::Verdict};

use super::{InMemory, MemoryRobot, Online};
use crate::{
    medium::{
        any_link::{AnyLink, AnyLinkOf},
        robot_config::{SimRobot, SwarmConfig},
    },
    profiles::Profile,
    scene::{RobotInternals, SimTask},
};

/// Robot with a neighbor table.
#[allow(missing_debug_implementations, reason = "contains trait objects")]
pub struct TableRobot<M: Model<Features = T::Features, Output = T::Command>, T: SimTask> {
    /// Robot of the firmware.
    pub robot: SimRobot<M, T>,
    /// Decoder of the robot's frames; `None` on `exact`, where encoding changes no bit.
    decoder: Option<AnyLinkOf<M, T>>,
}

impl<M, T> InMemory<M, T, TableRobot<M, T>>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command> + Copy + Send + Sync,
{
    /// Creates a swarm with these addresses and initial states.
    pub fn with_tables(
        config: &SwarmConfig<M, T>, profile: Profile, online: Online<T>,
        start: impl Iterator<Item = (NodeId, T::State)>,
    ) -> Self {
        let decoder = || (profile != Profile::Exact).then(|| AnyLink::open(profile, config.checksum));
        let robot =
            |(id, state)| TableRobot { robot: config.build_open(id, state, profile), decoder: decoder() };
        Self::with_robots(&config.robot, online, start.map(robot).collect())
    }
}

impl<M, T> MemoryRobot<M, T> for TableRobot<M, T>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command> + Send + Sync,
{
    /// Message of each frame, as its receivers decode it.
    type Sent = Vec<(AgentMessage<M, T>, Reception)>;

    fn begin_tick(
        &mut self, _: &RobotConfig<M, T>, _: u32, tick: u32, state: T::State, sent: &mut Self::Sent,
    ) {
        let Self { robot, decoder } = self;
        robot.sense(tick, Some(Measurement::now(state)));
        sent.clear();
        if !robot.sends_this_tick() {
            return;
        }
        let Some(decoder) = decoder else {
            let message = robot.message();
            return sent.push((message, Reception::whole(message.tick)));
        };
        for index in 0..decoder.frames_per_exchange() {
            let mut buffer = [0; MAX_BUFFER_LEN];
            let frame = robot.send(index, &mut buffer).and_then(|length| buffer.get_mut(..length));
            let mut message = Message::empty(T::State::zero());
            let received = frame.and_then(|frame| decoder.receive(tick, frame, &mut message).ok());
            sent.extend(received.map(|reception| (message, reception)));
        }
    }

    fn states(sent: &mut Self::Sent) -> impl Iterator<Item = &mut T::State> {
        sent.iter_mut().map(|(message, _)| &mut message.state)
    }

    fn end_tick(&mut self, _: &RobotConfig<M, T>, linked: &[u32], sent: &[Self::Sent]) -> T::Command {
        let robot = &mut self.robot;
        for (message, reception) in linked.iter().filter_map(|other| sent.get(*other as usize)).flatten() {
            // A rejected message is a missing edge, as on the radio.
            let _ = robot.receive_decoded(message, reception);
        }
        robot.end_receive();
        let (command, verdict) = robot.decide();
        robot.set_executed_command((verdict != Verdict::Blind).then_some(command));
        robot.learn();
        command
    }

    fn agent(&self) -> &Agent<M, T> {
        self.robot.agent()
    }

    fn agent_mut(&mut self) -> &mut Agent<M, T> {
        self.robot.agent_mut()
    }

    fn internals<'a>(&'a self, _: &'a [Self::Sent]) -> RobotInternals<'a, T> {
        internals(&self.robot)
    }
}

/// Returns the internal values of a robot.
pub fn internals<M, T>(robot: &SimRobot<M, T>) -> RobotInternals<'_, T>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command>,
{
    let trusted = robot.trusted();
    RobotInternals {
        state: robot.agent().state(),
        output: robot.agent().unsaturated(),
        taps: robot.agent().taps().first_layer(),
        neighbors: trusted.map(|n| (n.message.sender.into(), n.last_received, &n.message.state)).collect(),
        has_exchanged: robot.exchanges_this_tick(),
    }
}
