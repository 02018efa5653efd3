//! Fast path for robots without per-neighbor state: profile `exact`, no faults.
//!
//! Swarms have thousands to millions of robots. Each robot holds its own state and its neighbors'
//! numbers, an eighth of a node. All beacons are in one array, which receivers read in place with
//! the core's own tick. A test compares these swarms with nodes that have tables
//! ([`super::typed`]).
//!
//! Robot numbers have 32 bits and addresses 16: the lower half of the number. Neighbors are in
//! ascending order of numbers.

use wdgnn_core::{model::Model, task::NodeId, tensor::Tensor as _};
use wdgnn_link::{
    encoding::{Codec as _, exact::Exact},
    header::Parts,
};
use wdgnn_robot::{
    control_loop::{self, Hearing, PortErrors},
    node::{BeaconOf, Kind, memory::Memory, overhearing::Overhearing},
    onboard::NEIGHBOURS,
    ports::Sensed,
};

use crate::{
    error::Result,
    medium::robot_config::RobotConfig,
    ports::RecordingActuator,
    scene::{ParamView, RobotInternals, Scene, SimTask, Swarm},
    threads::{MIN_PARALLEL_TICKS, chunk_len, for_each_chunk},
};

/// Robots of one model that read beacons in place.
#[allow(missing_debug_implementations, reason = "contains trait objects and functions")]
pub struct Packed<T: SimTask, M: Model> {
    config: RobotConfig<M, T>,
    robots: Vec<Robot<M, T>>,
    /// Beacon of each robot; `None` for robots without a state or with an implausible one.
    said: Vec<Option<BeaconOf<M, T>>>,
    /// Tick of the beacons.
    tick: u32,
    learns: bool,
}

/// State of one robot.
struct Robot<M: Model, T: SimTask> {
    memory: Memory<M, T>,
    /// Number of neighbors.
    count: u8,
    /// Numbers of the neighbors, ascending.
    neighbours: [u32; NEIGHBOURS],
}

impl<T, M> Packed<T, M>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Output> + Copy,
{
    /// Creates a swarm with these initial states.
    pub fn new(config: &RobotConfig<M, T>, learns: bool, start: &[T::State]) -> Self {
        let kind = kind(config);
        let robots = start.iter().map(|state| Robot::new(kind, *state)).collect();
        let said = start.iter().map(|_| None).collect();
        Self { config: *config, robots, said, tick: 0, learns }
    }

    /// Runs the first half of a tick: robots sense and send.
    fn speak(&mut self, scene: &Scene<'_, T::State>)
    where
        M: Send + Sync,
    {
        let chunk = chunk_len(self.robots.len(), MIN_PARALLEL_TICKS);
        let Self { config, robots, said, .. } = self;
        self.tick = scene.tick;
        let kind = kind(config);
        let speak = |(first, ((robots, states), said)): Speaking<'_, M, T>| {
            for (((own, robot), state), said) in (first..).zip(robots).zip(states).zip(said) {
                robot.speak(kind, own, scene.tick, *state, said);
            }
        };
        let speakers = robots.chunks_mut(chunk).zip(scene.states.chunks(chunk)).zip(said.chunks_mut(chunk));
        for_each_chunk((0..).step_by(chunk).zip(speakers), speak);
    }

    /// Runs the second half of a tick: robots receive, act and learn.
    fn listen(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Output>)
    where
        M: Send + Sync,
    {
        let chunk = chunk_len(self.robots.len(), MIN_PARALLEL_TICKS);
        let Self { config, robots, said, .. } = self;
        commands.clear();
        commands.resize(robots.len(), T::zero_command());
        let (kind, said) = (kind(config), &said[..]);
        let think = |(first, (robots, commands)): Thinking<'_, M, T>| {
            let mut room = Vec::with_capacity(NEIGHBOURS);
            for ((own, robot), command) in (first..).zip(robots).zip(commands) {
                robot.think(kind, scene.links.of(own), said, &mut room, command);
            }
        };
        let thinkers = robots.chunks_mut(chunk).zip(commands.chunks_mut(chunk));
        for_each_chunk((0..).step_by(chunk).zip(thinkers), think);
    }
}

impl<T, M> Robot<M, T>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Output>,
{
    /// Creates a robot with an initial state.
    fn new(kind: Kind<'_, M, T>, state: T::State) -> Self {
        Self { memory: Memory::new(kind, 0, state), count: 0, neighbours: [0; NEIGHBOURS] }
    }

    fn neighbours(&self) -> &[u32] {
        &self.neighbours[..usize::from(self.count)]
    }

    /// Runs the first half of a tick: robot number `own` writes its beacon to `said`.
    fn speak(
        &mut self,
        kind: Kind<'_, M, T>,
        own: u32,
        tick: u32,
        state: T::State,
        said: &mut Option<BeaconOf<M, T>>,
    ) {
        self.memory.sense(kind, tick, Some(Sensed::now(state)));
        *said = None;
        if self.memory.speaks(kind) {
            let beacon = said.insert(self.memory.beacon(kind, own as NodeId, Exact::FRAMES));
            if !kind.believes(beacon, Parts::ALL) {
                *said = None;
            }
        }
    }

    /// Runs the second half of a tick: the robot receives its neighbors' beacons.
    ///
    /// `said` holds all beacons, `linked` the robots in range. `room` is a buffer.
    fn think<'a>(
        &mut self,
        kind: Kind<'_, M, T>,
        linked: &[u32],
        said: &'a [Option<BeaconOf<M, T>>],
        room: &mut Vec<&'a BeaconOf<M, T>>,
        command: &mut T::Output,
    ) {
        self.listen_to(linked, said, room);
        let mut robot = Overhearing::<_, _, NEIGHBOURS>::new(kind, &mut self.memory, room);
        let hearing = Hearing { heard: linked.len() as u32, ..Hearing::default() };
        control_loop::conclude(&mut robot, &mut RecordingActuator(command), &hearing, PortErrors::default());
    }

    /// Replaces the neighbors by the linked robots that sent a beacon.
    ///
    /// As in a node's table, previous neighbors keep their places, and new ones get only free
    /// places.
    fn listen_to<'a>(
        &mut self,
        linked: &[u32],
        said: &'a [Option<BeaconOf<M, T>>],
        room: &mut Vec<&'a BeaconOf<M, T>>,
    ) {
        let mut free = NEIGHBOURS - usize::from(self.count);
        let before = (linked.len() > free).then_some(self.neighbours);
        let before = before.as_ref().map(|all| &all[..usize::from(self.count)]);
        room.clear();
        for &other in linked {
            let Some(beacon) = &said[other as usize] else { continue };
            if before.is_some_and(|before| before.binary_search(&other).is_err()) {
                if free == 0 {
                    continue;
                }
                free -= 1;
            }
            self.neighbours[room.len()] = other;
            room.push(beacon);
        }
        self.count = room.len() as u8;
    }
}

impl<T, M> Swarm<T> for Packed<T, M>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Output> + Copy + Send + Sync,
{
    fn fly(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Output>) -> Result {
        self.speak(scene);
        self.listen(scene, commands);
        Ok(())
    }

    fn robot(&self, robot: usize) -> Option<ParamView<'_>> {
        let Robot { memory, .. } = self.robots.get(robot)?;
        Some(ParamView { wide: memory.wide().numbers(), offline: self.config.model.offline().numbers() })
    }

    fn internals(&self, robot: usize) -> Option<RobotInternals<'_, T>> {
        let robot = self.robots.get(robot)?;
        let said = |number: &u32| {
            let beacon = self.said.get(*number as usize)?.as_ref()?;
            Some((*number, self.tick, &beacon.state))
        };
        Some(RobotInternals {
            state: robot.memory.state(),
            output: robot.memory.output(),
            taps: M::first_taps(robot.memory.chains()),
            neighbors: robot.neighbours().iter().filter_map(said).collect(),
            has_exchanged: true,
        })
    }

    fn learns(&self) -> bool {
        self.learns
    }
}

fn kind<M: Model, T: SimTask>(config: &RobotConfig<M, T>) -> Kind<'_, M, T> {
    Kind::new(&config.model, &config.task, &config.behaviour)
}

/// First robot number of a chunk, its robots, sensed states and beacons.
type Speaking<'a, M, T> =
    (u32, ((&'a mut [Robot<M, T>], &'a [<T as wdgnn_core::Task>::State]), &'a mut [Option<BeaconOf<M, T>>]));

/// First robot number of a chunk, its robots and commands.
type Thinking<'a, M, T> = (usize, (&'a mut [Robot<M, T>], &'a mut [<T as wdgnn_core::Task>::Output]));

#[cfg(test)]
mod tests {
    use wdgnn_core::{Task as _, model::shape::Shape, tasks::flocking::Flocking};
    use wdgnn_robot::{
        config::Behaviour,
        onboard::{ModelOf, Onboard},
    };

    use super::*;
    use crate::{
        episode::{Episode, RunningEpisode},
        models,
        recipe::{Architecture, RecipeName},
        seeds::{Purpose, generator},
        swarm::typed::{Online, Typed},
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
        let weights = file.weights();
        let model: ModelOf<'_, Flocking> =
            <<Flocking as Onboard>::Shape as Shape<Flocking>>::from_weights(&weights).unwrap();
        let behaviour = Behaviour::new(weights.header.learning);
        assert!(behaviour.forgets() && behaviour.learning.step > 0.0);
        let task = Flocking::from_settings(&weights.header.task.numbers);
        let config = RobotConfig { model, task, checksum: 0, behaviour };
        let start =
            Episode::<Flock>::draw(&Flock::default(), &scenario, &mut generator(4, Purpose::Testing, 0))
                .unwrap();
        let mut nodes = Typed::<_, _, Exact>::new(&config, Online::Decentralized, &start.states);
        let mut packed = Packed::new(&config, true, &start.states);
        let mut flights = [start.begin(), start.begin()];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut crowded = false;
        for tick in 0..scenario.ticks {
            let [one, other] = &mut flights;
            one.decide(&mut nodes).unwrap();
            pool.install(|| other.decide(&mut packed)).unwrap();
            assert!(seen(one, &nodes) == seen(other, &packed), "{scenario:?}, tick {tick}");
            crowded |= (0..scenario.robots).any(|robot| one.links.of(robot).len() > NEIGHBOURS);
            one.advance(&task);
            other.advance(&task);
        }
        assert_eq!(crowded, scenario.radius > 3.0, "{scenario:?}");
    }

    #[test]
    fn packed_robots_equal_nodes_bit_for_bit() {
        let calm = Scenario { robots: 50, ticks: 60, ..Scenario::PAPER };
        check(calm, 1);
        // More robots in range than a table holds, with changing neighbors.
        let crowd = Scenario { robots: 150, radius: 3.5, speed: 20.0, ticks: 40 };
        for threads in [1, 3] {
            check(crowd, threads);
        }
    }
}
