//! Robots without neighbor tables, over a medium without faults: thousands to millions of them.
//!
//! On the profile `exact` with trust in all messages, no message outlives its tick. A robot is then a
//! [`Controller`], an eighth of the memory of a robot with a table. All messages of a tick are in one
//! array, and each robot reads those of its neighbors there: [`Neighbors`] borrows them. A test
//! compares these swarms with robots that have tables ([`super::typed`]).
//!
//! Robot numbers have 32 bits and addresses 16: the lower half of the number. Neighbors are in
//! ascending order of numbers.

use wdgnn_core::{
    message::MessageOf,
    model::Model,
    neighbors::{MAX_NEIGHBORS, Neighbor, Neighbors},
    task::NodeId,
    tensor::{Tensor as _, param_range::ParamRange},
};
use wdgnn_link::header::Payload;
use wdgnn_robot::{
    config::RobotConfig,
    controller::{Controller, Obstacles},
    ports::Measurement,
    safety::gate::Verdict,
};

use super::typed::{Online, learn_centrally};
use crate::{
    error::Result,
    scene::{ParamView, RobotInternals, Scene, SimTask, Swarm},
    threads::{MIN_PARALLEL_TICKS, chunk_len, for_each_chunk},
};

/// Robots of one model that read messages in place.
#[allow(missing_debug_implementations, reason = "contains trait objects and functions")]
pub struct Packed<T: SimTask, M: Model> {
    config: RobotConfig<M, T>,
    robots: Vec<Robot<M, T>>,
    /// Message of each robot; `None` for robots without a state or with an implausible message.
    messages: Vec<Option<MessageOf<M, T>>>,
    /// Tick of the messages.
    tick: u32,
    online: Online<T>,
}

/// State of one robot.
struct Robot<M: Model, T: SimTask> {
    controller: Controller<M, T>,
    /// Number of neighbors.
    count: u8,
    /// Numbers of the neighbors, ascending.
    neighbors: [u32; MAX_NEIGHBORS],
}

impl<T, M> Packed<T, M>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command> + Copy,
{
    /// Creates a swarm with these initial states.
    pub fn new(config: &RobotConfig<M, T>, online: Online<T>, start: &[T::State]) -> Self {
        let robot = |state: &T::State| Robot {
            controller: Controller::new(config, 0, *state),
            count: 0,
            neighbors: [0; MAX_NEIGHBORS],
        };
        let robots = start.iter().map(robot).collect();
        let messages = start.iter().map(|_| None).collect();
        Self { config: *config, robots, messages, tick: 0, online }
    }

    /// Runs the first half of a tick: all robots send.
    fn send(&mut self, scene: &Scene<'_, T::State>)
    where
        M: Send + Sync,
    {
        let some = chunk_len(self.robots.len(), MIN_PARALLEL_TICKS);
        let Self { config, robots, messages, .. } = self;
        self.tick = scene.tick;
        let send = |(first, ((robots, states), messages)): Senders<'_, M, T>| {
            for (((number, robot), state), message) in (first..).zip(robots).zip(states).zip(messages) {
                *message = robot.send(config, number, scene.tick, *state);
            }
        };
        let senders = robots.chunks_mut(some).zip(scene.states.chunks(some)).zip(messages.chunks_mut(some));
        for_each_chunk((0..).step_by(some).zip(senders), send);
    }

    /// Runs the second half of a tick: all robots receive, act and learn.
    fn act(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Command>)
    where
        M: Send + Sync,
    {
        let some = chunk_len(self.robots.len(), MIN_PARALLEL_TICKS);
        let Self { config, robots, messages, .. } = self;
        commands.clear();
        commands.resize(robots.len(), T::zero_command());
        let messages = &messages[..];
        let act = |(first, (robots, commands)): Actors<'_, M, T>| {
            for ((number, robot), command) in (first..).zip(robots).zip(commands) {
                *command = robot.act(config, scene.links.of(number), messages);
            }
        };
        let actors = robots.chunks_mut(some).zip(commands.chunks_mut(some));
        for_each_chunk((0..).step_by(some).zip(actors), act);
    }
}

impl<T, M> Robot<M, T>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command>,
{
    fn neighbors(&self) -> &[u32] {
        &self.neighbors[..usize::from(self.count)]
    }

    /// Runs the first half of a tick: the message of robot number `number`.
    fn send(
        &mut self,
        config: &RobotConfig<M, T>,
        number: u32,
        tick: u32,
        state: T::State,
    ) -> Option<MessageOf<M, T>> {
        self.controller.sense(config, tick, Some(Measurement::now(state)));
        let message = self
            .controller
            .sends_this_tick(config)
            .then(|| self.controller.message(config, number as NodeId));
        message.filter(|message| config.is_plausible(message, Payload::ALL))
    }

    /// Runs the second half of a tick with the messages of the robots in `linked`.
    fn act(
        &mut self,
        config: &RobotConfig<M, T>,
        linked: &[u32],
        messages: &[Option<MessageOf<M, T>>],
    ) -> T::Command {
        let neighbors = self.receive(linked, messages);
        let controller = &mut self.controller;
        controller.update_isolation(neighbors.is_empty());
        let (command, verdict) = controller.decide(config, &neighbors, Obstacles::NONE);
        controller.agent.set_executed((verdict != Verdict::Blind).then_some(command));
        controller.learn(config, &neighbors);
        command
    }

    /// Replaces the neighbors by the linked robots that send. Returns a view of their messages.
    ///
    /// As in a robot's table, neighbors of the previous tick keep their entries until the end of
    /// reception, and newcomers take free entries.
    fn receive<'a>(
        &mut self,
        linked: &[u32],
        messages: &'a [Option<MessageOf<M, T>>],
    ) -> Neighbors<'a, M, T> {
        let mut free = MAX_NEIGHBORS - usize::from(self.count);
        let before = (linked.len() > free).then_some(self.neighbors);
        let before = before.as_ref().map(|all| &all[..usize::from(self.count)]);
        let mut view = Neighbors::none(true);
        for &other in linked {
            let Some(message) = &messages[other as usize] else { continue };
            if before.is_some_and(|before| before.binary_search(&other).is_err()) {
                if free == 0 {
                    continue;
                }
                free -= 1;
            }
            self.neighbors[view.len()] = other;
            view.push(Neighbor { message, shares_model: true, fresh: Some(ParamRange::ALL) });
        }
        self.count = view.len() as u8;
        view
    }
}

impl<T, M> Swarm<T> for Packed<T, M>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command> + Copy + Send + Sync,
{
    fn fly(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Command>) -> Result {
        self.send(scene);
        self.act(scene, commands);
        if let Online::Centralized(step, rule) = self.online {
            let agents = self.robots.iter_mut().map(|robot| &mut robot.controller.agent).collect();
            learn_centrally(&self.config.agent, agents, step, rule, commands);
        }
        Ok(())
    }

    fn robot(&self, robot: usize) -> Option<ParamView<'_>> {
        let Robot { controller, .. } = self.robots.get(robot)?;
        let offline = self.config.agent.model.offline().numbers();
        Some(ParamView { wide: controller.agent.wide().numbers(), offline })
    }

    fn internals(&self, robot: usize) -> Option<RobotInternals<'_, T>> {
        let robot = self.robots.get(robot)?;
        let message = |number: &u32| {
            let message = self.messages.get(*number as usize)?.as_ref()?;
            Some((*number, self.tick, &message.state))
        };
        let agent = &robot.controller.agent;
        Some(RobotInternals {
            state: agent.state(),
            output: agent.output(),
            taps: M::first_line_taps(agent.taps()),
            neighbors: robot.neighbors().iter().filter_map(message).collect(),
            has_exchanged: true,
        })
    }

    fn learns(&self) -> bool {
        !matches!(self.online, Online::Off)
    }
}

/// First number, robots, their measurements, and places for their messages.
type Senders<'a, M, T> = (
    u32,
    ((&'a mut [Robot<M, T>], &'a [<T as wdgnn_core::task::Task>::State]), &'a mut [Option<MessageOf<M, T>>]),
);

/// First number, robots, and places for their commands.
type Actors<'a, M, T> = (usize, (&'a mut [Robot<M, T>], &'a mut [<T as wdgnn_core::task::Task>::Command]));

#[cfg(test)]
mod tests {
    use wdgnn_core::tasks::flocking::Flocking;
    use wdgnn_robot::onboard;

    use super::*;
    use crate::{
        episode::{Episode, RunningEpisode},
        medium::robot_config::SwarmConfig,
        models,
        profiles::Profile,
        recipe::{Architecture, RecipeName},
        seeds::{Purpose, generator},
        swarm::typed::Typed,
        world::{Scenario, flock::Flock},
    };

    /// All observable values of robots, as bits.
    fn seen(running: &RunningEpisode<Flock>, swarm: &dyn Swarm<Flocking>) -> Vec<u32> {
        let mut seen: Vec<u32> = running.commands.as_flattened().iter().map(|x| x.to_bits()).collect();
        for robot in 0..running.states.len() {
            let ParamView { wide, .. } = swarm.robot(robot).unwrap();
            let RobotInternals { output, taps, neighbors, has_exchanged, .. } =
                swarm.internals(robot).unwrap();
            let numbers = wide.iter().chain(output).chain(taps).map(|x| x.to_bits());
            seen.extend(numbers.chain([has_exchanged.into()]));
            for (number, heard, state) in neighbors {
                seen.extend([number, heard, state.position[0].to_bits(), state.velocity[1].to_bits()]);
            }
        }
        seen
    }

    /// Compares robots with tables and robots without tables, tick by tick.
    fn check(scenario: Scenario, threads: usize) {
        let file = models::shipped(RecipeName::Ours, Architecture::WdGnn).unwrap();
        let robot = onboard::config_from_weights::<Flocking>(&file.weights()).unwrap();
        assert!(robot.is_memoryless() && robot.agent.learning.step > 0.0);
        let config = SwarmConfig { robot, checksum: 0 };
        let start =
            Episode::<Flock>::draw(&Flock::default(), &scenario, &mut generator(4, Purpose::Testing, 0))
                .unwrap();
        let online = Online::Decentralized;
        let mut typed = Typed::new(&config, Profile::Exact, online, &start.states);
        let mut packed = Packed::new(&robot, online, &start.states);
        let mut flights = [start.begin(), start.begin()];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut crowded = false;
        for tick in 0..scenario.ticks {
            let [one, other] = &mut flights;
            one.decide(&mut typed).unwrap();
            pool.install(|| other.decide(&mut packed)).unwrap();
            assert!(seen(one, &typed) == seen(other, &packed), "{scenario:?}, tick {tick}");
            crowded |= (0..scenario.robots).any(|robot| one.links.of(robot).len() > MAX_NEIGHBORS);
            one.advance(&robot.agent.task);
            other.advance(&robot.agent.task);
        }
        assert_eq!(crowded, scenario.radius > 3.0, "{scenario:?}");
    }

    #[test]
    fn packed_robots_equal_robots_with_tables_bit_for_bit() {
        let calm = Scenario { robots: 50, ticks: 60, ..Scenario::PAPER };
        check(calm, 1);
        // More robots in range than a table holds, with changing neighbors.
        let crowd = Scenario { robots: 150, radius: 3.5, speed: 20.0, ticks: 40 };
        for threads in [1, 3] {
            check(crowd, threads);
        }
    }
}
