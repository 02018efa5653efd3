//! Swarms whose messages stay in memory, over a medium without faults: the fast path.
//!
//! ```text
//! every tick:  sense, write messages │ read those of the neighbors, act, learn │ centralized rule
//! ```
//!
//! [`ArrayRobot`]s read the messages of their neighbors in place; [`TableRobot`]s copy them into a
//! neighbor table, after each message was encoded and decoded as its link profile does. Tests compare
//! both with each other and with robots that exchange bytes ([`super::native`]).
//!
//! Robot numbers have 32 bits and addresses 16: the lower half of the number.

mod array;
mod table;

use wdgnn_core::{
    agent::{Agent, Config},
    model::Model,
    task::Task,
    tensor::Tensor as _,
};
use wdgnn_robot::config::RobotConfig;

pub(super) use self::table::internals;
pub use self::{array::ArrayRobot, table::TableRobot};
use crate::{
    error::Result,
    links::Links,
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

/// Changes the state in the messages of liars, by the robot's index.
pub type Falsify<'a, S> = &'a (dyn Fn(usize, &mut S) + Sync);

/// Robot that finds the messages of its neighbors in memory.
pub trait MemoryRobot<M: Model, T: SimTask>: Send + Sync {
    /// Messages of one robot in one tick.
    type Sent: Default + Send + Sync;

    /// Begins a tick in a sensed state. Replaces the robot's messages in `sent`.
    fn begin_tick(
        &mut self, config: &RobotConfig<M, T>, number: u32, tick: u32, state: T::State, sent: &mut Self::Sent,
    );

    /// States in a robot's messages, to falsify.
    fn states(sent: &mut Self::Sent) -> impl Iterator<Item = &mut T::State>;

    /// Ends a tick with the messages of the robots in `linked`: receives, acts and learns.
    fn end_tick(&mut self, config: &RobotConfig<M, T>, linked: &[u32], sent: &[Self::Sent]) -> T::Command;

    /// State, parameters and taps.
    fn agent(&self) -> &Agent<M, T>;

    /// State, parameters and taps, mutable.
    fn agent_mut(&mut self) -> &mut Agent<M, T>;

    /// Internal values after a tick.
    fn internals<'a>(&'a self, sent: &'a [Self::Sent]) -> RobotInternals<'a, T>;
}

/// Robots of one model with messages in memory.
#[allow(missing_debug_implementations, reason = "contains trait objects and functions")]
pub struct InMemory<M: Model, T: SimTask, R: MemoryRobot<M, T>> {
    config: RobotConfig<M, T>,
    robots: Vec<R>,
    /// Messages of each robot.
    sent: Vec<R::Sent>,
    online: Online<T>,
}

impl<M, T, R> InMemory<M, T, R>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command> + Copy + Send + Sync,
    R: MemoryRobot<M, T>,
{
    fn with_robots(config: &RobotConfig<M, T>, online: Online<T>, robots: Vec<R>) -> Self {
        let sent = robots.iter().map(|_| R::Sent::default()).collect();
        Self { config: *config, robots, sent, online }
    }

    /// Robots of the swarm.
    pub fn robots(&self) -> &[R] {
        &self.robots
    }

    /// Robots of the swarm, to change between ticks.
    pub fn robots_mut(&mut self) -> &mut [R] {
        &mut self.robots
    }

    /// Removes a robot. Those after it move up.
    pub fn remove(&mut self, robot: usize) {
        self.robots.remove(robot);
        self.sent.remove(robot);
    }

    /// Runs one tick with the messages of liars falsified.
    pub fn run_tick(
        &mut self, tick: u32, states: &[T::State], links: &Links, falsify: Option<Falsify<'_, T::State>>,
        commands: &mut Vec<T::Command>,
    ) {
        let Self { config, robots, sent, online } = self;
        let some = chunk_len(robots.len(), MIN_PARALLEL_TICKS);
        let begin = |(first, ((robots, states), sent)): Senders<'_, T, R, R::Sent>| {
            for (((number, robot), state), sent) in (first..).zip(robots).zip(states).zip(sent) {
                robot.begin_tick(config, number as u32, tick, *state, sent);
                if let Some(falsify) = falsify {
                    R::states(sent).for_each(|state| falsify(number, state));
                }
            }
        };
        let senders = robots.chunks_mut(some).zip(states.chunks(some)).zip(sent.chunks_mut(some));
        for_each_chunk((0..).step_by(some).zip(senders), begin);
        commands.clear();
        commands.resize(robots.len(), T::zero_command());
        let sent = &sent[..];
        let end = |(first, (robots, commands)): Actors<'_, T, R>| {
            for ((number, robot), command) in (first..).zip(robots).zip(commands) {
                *command = robot.end_tick(config, links.of(number), sent);
            }
        };
        let actors = robots.chunks_mut(some).zip(commands.chunks_mut(some));
        for_each_chunk((0..).step_by(some).zip(actors), end);
        if let Online::Centralized(step, rule) = *online {
            let agents = robots.iter_mut().map(R::agent_mut).collect();
            learn_centrally(&config.agent, agents, step, rule, commands);
        }
    }
}

/// First number, robots, their sensed states, and places for their messages.
type Senders<'a, T, R, S> = (usize, ((&'a mut [R], &'a [<T as Task>::State]), &'a mut [S]));
/// First number, robots, and places for their commands.
type Actors<'a, T, R> = (usize, (&'a mut [R], &'a mut [<T as Task>::Command]));

impl<M, T, R> Swarm<T> for InMemory<M, T, R>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command> + Copy + Send + Sync,
    R: MemoryRobot<M, T>,
{
    fn fly(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Command>) -> Result {
        self.run_tick(scene.tick, scene.states, scene.links, None, commands);
        Ok(())
    }

    fn robot(&self, robot: usize) -> Option<ParamView<'_>> {
        let wide = self.robots.get(robot)?.agent().wide().numbers();
        Some(ParamView { wide, offline: self.config.agent.model.offline().numbers() })
    }

    fn internals(&self, robot: usize) -> Option<RobotInternals<'_, T>> {
        Some(self.robots.get(robot)?.internals(&self.sent))
    }

    fn learns(&self) -> bool {
        !matches!(self.online, Online::Off)
    }
}

/// Takes one step of the centralized rule (eq. `onlinelearning`).
fn learn_centrally<M, T>(
    config: &Config<M, T>, mut agents: Vec<&mut Agent<M, T>>, step: f32, rule: CentralRule<T>,
    commands: &[T::Command],
) where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command>,
{
    let Some(first) = agents.first() else { return };
    let mut wide = *first.wide();
    let states: Vec<T::State> = agents.iter().map(|agent| *agent.state()).collect();
    let outputs: Vec<T::Command> = agents.iter().map(|agent| *agent.unsaturated()).collect();
    let gradients = rule(&config.task, &states, &outputs, commands, config.learning.through_clamp);
    for (agent, gradient) in agents.iter().zip(&gradients) {
        config.model.descend(&mut wide, agent.taps(), &config.model.gradient(gradient), step);
    }
    for agent in &mut agents {
        agent.set_wide(&wide);
    }
}
