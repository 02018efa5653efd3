//! Robots in this process that exchange decoded messages, over a medium without faults.
//!
//! Each message is encoded and decoded once per exchange, as its link profile does, and all robots in
//! range receive the result. On `exact` that changes no bit, so it is left out. A test compares these
//! swarms with robots that exchange bytes ([`super::native`]).

use wdgnn_core::{
    agent::{Agent, Config},
    message::{Message, MessageOf},
    model::Model,
    task::{NodeId, State as _, Task},
    tensor::Tensor as _,
};
use wdgnn_link::link::{MessageLink as _, RadioLink as _, Reception};
use wdgnn_robot::{onboard::MAX_BUFFER_LEN, ports::Measurement, robot::Robot, safety::gate::Verdict};

use crate::{
    error::Result,
    links::Links,
    medium::{
        any_link::{AnyLink, AnyLinkOf},
        robot_config::{SimRobot, SwarmConfig},
    },
    profiles::Profile,
    scene::{CentralRule, ParamView, RobotInternals, Scene, SimTask, Swarm},
    threads::{MIN_PARALLEL_TICKS, chunk_len, for_each_chunk},
};

/// Learning rule of a swarm.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "contains a function")]
pub enum Online<T: Task> {
    /// No learning.
    Off,
    /// Each robot learns and averages with its neighbors.
    Decentralized,
    /// One center sees the whole swarm (eq. `onlinelearning`), with this step size.
    Centralized(f32, CentralRule<T>),
}

/// First index, robots, and their commands.
type Chunk<'a, M, T> = (usize, (&'a mut [SimRobot<M, T>], &'a mut [<T as Task>::Command]));

/// Message of one frame; `None` if the robot does not send.
type Sent<M, T> = Option<(MessageOf<M, T>, Reception)>;

/// Robots of one model on one link profile.
#[allow(missing_debug_implementations, reason = "contains trait objects and functions")]
pub struct Typed<T: SimTask, M: Model<Features = T::Features, Output = T::Command>> {
    robots: Vec<SimRobot<M, T>>,
    profile: Profile,
    decoder: AnyLinkOf<M, T>,
    frames: usize,
    /// Messages of a tick, those of each robot in a row.
    sent: Vec<Sent<M, T>>,
    online: Online<T>,
}

impl<T, M> Typed<T, M>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command> + Copy,
{
    /// Creates a swarm of one model at its start.
    pub fn new(config: &SwarmConfig<M, T>, profile: Profile, online: Online<T>, start: &[T::State]) -> Self {
        let start = (0..).zip(start).map(|(id, state)| (id, *state));
        Self::with_addresses(config, profile, online, start)
    }

    /// Creates a swarm with these addresses and initial states.
    pub fn with_addresses(
        config: &SwarmConfig<M, T>,
        profile: Profile,
        online: Online<T>,
        start: impl Iterator<Item = (NodeId, T::State)>,
    ) -> Self {
        let robots: Vec<_> = start.map(|(id, state)| config.build_open(id, state, profile)).collect();
        let decoder: AnyLinkOf<M, T> = AnyLink::open(profile, config.checksum);
        let frames = decoder.frames_per_exchange() as usize;
        let sent = Vec::with_capacity(robots.len() * frames);
        Self { robots, profile, decoder, frames, sent, online }
    }

    /// Robots of the swarm.
    pub fn robots(&self) -> &[SimRobot<M, T>] {
        &self.robots
    }

    /// Robots of the swarm, to change or remove between ticks.
    pub fn robots_mut(&mut self) -> &mut Vec<SimRobot<M, T>> {
        &mut self.robots
    }

    /// Encodes and decodes the messages of one robot.
    fn send(&mut self, robot: usize) {
        let robot = &mut self.robots[robot];
        if self.profile == Profile::Exact {
            let message = robot.message();
            self.sent.push(Some((message, Reception::whole(message.tick))));
            return;
        }
        for index in 0..self.frames as u32 {
            let mut buffer = [0; MAX_BUFFER_LEN];
            let frame = robot.send(index, &mut buffer).and_then(|length| buffer.get_mut(..length));
            let mut message = Message::empty(T::State::zero());
            let tick = robot.tick();
            let received = frame.and_then(|frame| self.decoder.receive(tick, frame, &mut message).ok());
            self.sent.push(received.map(|reception| (message, reception)));
        }
    }

    /// Runs one tick. `falsify` changes the state in a robot's message, by the robot's index.
    pub fn run_tick(
        &mut self,
        tick: u32,
        states: &[T::State],
        links: &Links,
        mut falsify: impl FnMut(usize, &mut T::State),
        commands: &mut Vec<T::Command>,
    ) where
        M: Send + Sync,
    {
        self.sent.clear();
        for (index, state) in states.iter().enumerate().take(self.robots.len()) {
            let robot = &mut self.robots[index];
            robot.sense(tick, Some(Measurement::now(*state)));
            if robot.sends_this_tick() {
                let first = self.sent.len();
                self.send(index);
                for (message, _) in self.sent[first..].iter_mut().flatten() {
                    falsify(index, &mut message.state);
                }
            } else {
                self.sent.extend((0..self.frames).map(|_| None));
            }
        }
        commands.clear();
        commands.resize(self.robots.len(), T::zero_command());
        let (sent, frames) = (&self.sent, self.frames);
        let receive_and_act = |(first, (robots, commands)): Chunk<'_, M, T>| {
            for ((index, robot), command) in (first..).zip(robots).zip(commands) {
                for &other in links.of(index) {
                    let from = other as usize * frames;
                    for (message, reception) in
                        sent.get(from..from + frames).unwrap_or_default().iter().flatten()
                    {
                        // A rejected message is a missing edge, as on the radio.
                        let _ = robot.receive_decoded(message, reception);
                    }
                }
                robot.end_receive();
                let (decided, verdict) = robot.decide();
                *command = decided;
                robot.set_executed((verdict != Verdict::Blind).then_some(decided));
                robot.learn();
            }
        };
        let some = chunk_len(self.robots.len(), MIN_PARALLEL_TICKS);
        let actors = self.robots.chunks_mut(some).zip(commands.chunks_mut(some));
        for_each_chunk((0..).step_by(some).zip(actors), receive_and_act);
        if let (Online::Centralized(step, rule), Some(first)) = (self.online, self.robots.first()) {
            let config = first.config().agent;
            let agents = self.robots.iter_mut().map(Robot::agent_mut).collect();
            learn_centrally(&config, agents, step, rule, commands);
        }
    }
}

impl<T, M> Swarm<T> for Typed<T, M>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command> + Copy + Send + Sync,
{
    fn fly(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Command>) -> Result {
        self.run_tick(scene.tick, scene.states, scene.links, |_, _| {}, commands);
        Ok(())
    }
    fn robot(&self, robot: usize) -> Option<ParamView<'_>> {
        let robot = self.robots.get(robot)?;
        let offline = robot.config().agent.model.offline().numbers();
        Some(ParamView { wide: robot.agent().wide().numbers(), offline })
    }

    fn internals(&self, robot: usize) -> Option<RobotInternals<'_, T>> {
        self.robots.get(robot).map(internals)
    }

    fn learns(&self) -> bool {
        !matches!(self.online, Online::Off)
    }
}

/// Takes one step of the centralized rule (eq. `onlinelearning`).
pub(super) fn learn_centrally<M, T>(
    config: &Config<M, T>,
    mut agents: Vec<&mut Agent<M, T>>,
    step: f32,
    rule: CentralRule<T>,
    commands: &[T::Command],
) where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command>,
{
    let Some(first) = agents.first() else { return };
    let mut wide = *first.wide();
    let states: Vec<T::State> = agents.iter().map(|agent| *agent.state()).collect();
    let outputs: Vec<T::Command> = agents.iter().map(|agent| *agent.output()).collect();
    let gradients = rule(&config.task, &states, &outputs, commands, config.learning.through_clamp);
    for (agent, gradient) in agents.iter().zip(&gradients) {
        config.model.descend(&mut wide, agent.taps(), &config.model.gradient(gradient), step);
    }
    for agent in &mut agents {
        agent.set_wide(&wide);
    }
}

/// Returns the internal values of a robot.
pub(super) fn internals<M, T>(robot: &SimRobot<M, T>) -> RobotInternals<'_, T>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command>,
{
    let trusted = robot.trusted();
    RobotInternals {
        state: robot.agent().state(),
        output: robot.agent().output(),
        taps: M::first_line_taps(robot.agent().taps()),
        neighbors: trusted.map(|n| (n.message.sender.into(), n.last_received, &n.message.state)).collect(),
        has_exchanged: robot.exchanges_this_tick(),
    }
}
