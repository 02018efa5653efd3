//! Robots without neighbor tables: thousands to millions of them.
//!
//! On the profile `exact` with trust in all messages, no message outlives its tick. A robot is then a
//! [`Controller`], an eighth of the memory of a robot with a table, and [`Neighbors`] borrows the
//! messages of the other robots.

use wdgnn_core::{
    agent::Agent,
    filter::DelayLines as _,
    message::AgentMessage,
    model::Model,
    neighbors::{MAX_NEIGHBORS, Neighbor, Neighbors},
    task::NodeId,
    tensor::param_range::ParamRange,
};
use wdgnn_link::header::Payload;
use wdgnn_robot::{
    config::RobotConfig,
    controller::{Controller, Obstacles},
    ports::Measurement,
    safety::gate::Verdict,
};

use super::{InMemory, MemoryRobot, Online};
use crate::scene::{RobotInternals, SimTask};

/// Robot without a neighbor table.
#[allow(missing_debug_implementations, reason = "a large array")]
pub struct ArrayRobot<M: Model, T: SimTask> {
    controller: Controller<M, T>,
    /// Number of neighbors.
    count: u8,
    /// Numbers of the neighbors, ascending.
    neighbors: [u32; MAX_NEIGHBORS],
}

impl<M, T> InMemory<M, T, ArrayRobot<M, T>>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command> + Copy + Send + Sync,
{
    /// Creates a swarm with these initial states.
    pub fn with_array(config: &RobotConfig<M, T>, online: Online<T>, start: &[T::State]) -> Self {
        let robot = |state: &T::State| ArrayRobot {
            controller: Controller::new(config, 0, *state),
            count: 0,
            neighbors: [0; MAX_NEIGHBORS],
        };
        Self::with_robots(config, online, start.iter().map(robot).collect())
    }
}

impl<M, T> ArrayRobot<M, T>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command>,
{
    fn neighbors(&self) -> &[u32] {
        &self.neighbors[..usize::from(self.count)]
    }

    /// Replaces the neighbors by the linked robots that send. Returns a view of their messages.
    ///
    /// As in a robot's table, neighbors of the previous tick keep their entries until the end of
    /// reception, and newcomers take free entries.
    fn receive<'a>(
        &mut self, linked: &[u32], messages: &'a [Option<AgentMessage<M, T>>],
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

impl<M, T> MemoryRobot<M, T> for ArrayRobot<M, T>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command> + Send + Sync,
{
    /// Message of the robot; `None` without a state or with an implausible message.
    type Sent = Option<AgentMessage<M, T>>;

    fn begin_tick(
        &mut self, config: &RobotConfig<M, T>, number: u32, tick: u32, state: T::State, sent: &mut Self::Sent,
    ) {
        self.controller.sense(config, tick, Some(Measurement::now(state)));
        let message = self
            .controller
            .sends_this_tick(config)
            .then(|| self.controller.message(config, number as NodeId));
        *sent = message.filter(|message| config.is_plausible(message, Payload::ALL));
    }

    fn states(sent: &mut Self::Sent) -> impl Iterator<Item = &mut T::State> {
        sent.iter_mut().map(|message| &mut message.state)
    }

    fn end_tick(&mut self, config: &RobotConfig<M, T>, linked: &[u32], sent: &[Self::Sent]) -> T::Command {
        let neighbors = self.receive(linked, sent);
        let controller = &mut self.controller;
        controller.update_isolation(neighbors.is_empty());
        let (command, verdict) = controller.decide(config, &neighbors, Obstacles::NONE);
        controller.agent.set_executed_command((verdict != Verdict::Blind).then_some(command));
        controller.learn(config, &neighbors);
        command
    }

    fn agent(&self) -> &Agent<M, T> {
        &self.controller.agent
    }

    fn agent_mut(&mut self) -> &mut Agent<M, T> {
        &mut self.controller.agent
    }

    fn internals<'a>(&'a self, sent: &'a [Self::Sent]) -> RobotInternals<'a, T> {
        let agent = &self.controller.agent;
        let message = |number: &u32| {
            let message = sent.get(*number as usize)?.as_ref()?;
            Some((*number, agent.tick(), &message.state))
        };
        RobotInternals {
            state: agent.state(),
            output: agent.unsaturated(),
            taps: agent.taps().first_layer(),
            neighbors: self.neighbors().iter().filter_map(message).collect(),
            has_exchanged: true,
        }
    }
}

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
        scene::{ParamView, Swarm},
        seeds::{Purpose, generator},
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
        let file = models::shipped(RecipeName::Through, Architecture::WdGnn).unwrap();
        let robot = onboard::config_from_weights::<Flocking>(&file.weights()).unwrap();
        assert!(robot.is_memoryless() && robot.agent.learning.step > 0.0);
        let config = SwarmConfig { robot, checksum: 0 };
        let start =
            Episode::<Flock>::draw(&Flock::default(), &scenario, &mut generator(4, Purpose::Testing, 0))
                .unwrap();
        let online = Online::Decentralized;
        let places = (0..).zip(start.states.iter().copied());
        let mut tables = InMemory::with_tables(&config, Profile::Exact, online, places);
        let mut array = InMemory::with_array(&robot, online, &start.states);
        let mut flights = [start.begin(), start.begin()];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut crowded = false;
        for tick in 0..scenario.ticks {
            let [one, other] = &mut flights;
            one.decide(&mut tables).unwrap();
            pool.install(|| other.decide(&mut array)).unwrap();
            assert!(seen(one, &tables) == seen(other, &array), "{scenario:?}, tick {tick}");
            crowded |= (0..scenario.robots).any(|robot| one.links.of(robot).len() > MAX_NEIGHBORS);
            one.advance(&robot.agent.task);
            other.advance(&robot.agent.task);
        }
        assert_eq!(crowded, scenario.radius > 3.0, "{scenario:?}");
    }

    #[test]
    fn robots_with_and_without_tables_are_equal_bit_for_bit() {
        let calm = Scenario { robots: 50, ticks: 60, ..Scenario::PAPER };
        check(calm, 1);
        // More robots in range than a table holds, with changing neighbors.
        let crowd = Scenario { robots: 150, radius: 3.5, speed: 20.0, ticks: 40 };
        for threads in [1, 3] {
            check(crowd, threads);
        }
    }
}
