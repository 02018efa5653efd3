//! The fast path for robots that forget what neighbours said from tick to tick: as on the profile `exact`, through an air that harms
//! nothing. Thousands to millions of them.
//!
//! A robot is what it keeps by itself and the numbers of its neighbours, an eighth of a node. To think, it takes a seat at a desk, a
//! node of the core's that was another robot's a moment ago: recalls itself, hears its neighbours, and the core's own tick does the rest.
//! The desk stays in the nearest cache. A test holds these swarms to nodes that are robots all the time ([`super::typed`]).
//!
//! Robots have numbers of 32 bits, addresses 16: the lower half of a number. All that a node makes of an address is an order, so that is
//! enough where the upper halves of all around a robot are the same. Where they are not, these are numbered from zero in their
//! order while the robot thinks.

use wdgnn_core::{
    codec::{Exact, Parts},
    node::{BeaconOf, Node, memory::Memory},
    passage::{Pass as _, Passage},
    ports::Sensed,
    robot::NEIGHBOURS,
    task::NodeId,
    tensor::Tensor as _,
    tick::{self, Hearing, PortErrors},
    wide::Model,
};

use super::{
    share::Share,
    typed::{CHUNKS, Motors, PARALLEL_ROBOTS},
};
use crate::{
    air::blueprint::Blueprint,
    error::Result,
    links::Links,
    scene::{Flown, Inside, Scene, Swarm, View},
};

/// Nodes of one model that are robots in turn.
#[allow(missing_debug_implementations, reason = "swarms are told apart by what they do")]
pub struct Packed<T: Flown, M: Model> {
    blueprint: Blueprint<M, T>,
    robots: Vec<Robot<M, T>>,
    /// What everybody says in a tick; nothing of a robot that is blind.
    said: Vec<Option<BeaconOf<M, T>>>,
    /// The tick in which it was said.
    tick: u32,
    desks: Vec<Desk<M, T>>,
    learns: bool,
    /// So many bits of a number are an address.
    bits: u32,
    /// Who is flown here; everybody where there is no other process.
    mine: Option<Vec<bool>>,
}

/// What there is of a robot that does not think.
struct Robot<M: Model, T: Flown> {
    memory: Memory<M, T>,
    /// How many neighbours it has.
    count: u8,
    /// Their numbers, ascending.
    neighbours: [u32; NEIGHBOURS],
}

/// Where robots think, one after the other.
struct Desk<M: Model, T: Flown> {
    node: Node<M, T, NEIGHBOURS, Exact>,
    /// Who is around, where addresses have to be given.
    around: Vec<u32>,
    bits: u32,
}

impl<T, M> Packed<T, M>
where
    T: Flown,
    M: Model<Features = T::Features, Output = T::Output> + Copy,
{
    /// A swarm of one model at its start.
    #[must_use]
    pub fn new(blueprint: &Blueprint<M, T>, learns: bool, start: &[T::State]) -> Self {
        let robot = |state: &T::State| Robot {
            memory: blueprint.node(0, *state, Exact).remember(),
            count: 0,
            neighbours: [0; NEIGHBOURS],
        };
        let robots = start.iter().map(robot).collect();
        let bits = NodeId::BITS;
        let (said, desks) = (Vec::new(), Vec::new());
        Self { blueprint: *blueprint, robots, said, tick: 0, desks, learns, bits, mine: None }
    }
}

impl<T: Flown, M: Model> Packed<T, M> {
    /// Whether robots are spread over threads, over how many desks, and how many there are at each.
    fn spread(&self) -> (bool, usize, usize) {
        let threads = rayon::current_num_threads();
        let parallel = self.robots.len() >= PARALLEL_ROBOTS && threads > 1;
        let shares = if parallel { CHUNKS * threads } else { 1 };
        (parallel, shares, self.robots.len().div_ceil(shares).max(1))
    }
}

impl<M: Model, T: Flown> Robot<M, T> {
    fn neighbours(&self) -> &[u32] {
        &self.neighbours[..usize::from(self.count)]
    }
}

impl<T, M> Desk<M, T>
where
    T: Flown,
    M: Model<Features = T::Features, Output = T::Output> + Copy,
{
    /// The first half of a tick: what a robot says.
    fn speak(
        &mut self,
        own: u32,
        robot: &mut Robot<M, T>,
        tick: u32,
        state: T::State,
        said: &mut Option<BeaconOf<M, T>>,
    ) {
        let address = (own & ((1 << self.bits) - 1)) as NodeId;
        self.node.recall(address, &robot.memory);
        self.node.sense(tick, Some(Sensed::now(state)));
        *said = if self.node.speaks() { Some(self.node.beacon()) } else { None };
        self.node.remember_senses(&mut robot.memory);
    }

    /// The second half, of robot number `own`.
    fn think(
        &mut self,
        own: u32,
        robot: &mut Robot<M, T>,
        links: &Links,
        said: &[Option<BeaconOf<M, T>>],
        command: &mut T::Output,
    ) {
        let linked = links.of(own as usize);
        let all = [linked.first(), linked.last(), robot.neighbours().first(), robot.neighbours().last()];
        let half = own >> self.bits;
        if all.into_iter().flatten().all(|number| number >> self.bits == half) {
            let (bits, rest) = (self.bits, (1 << self.bits) - 1);
            let address = |number: u32| (number & rest) as NodeId;
            self.conclude::<false>(
                (own, robot, linked, said),
                address,
                |address| half << bits | u32::from(address),
                command,
            );
            return;
        }
        let mut around = std::mem::take(&mut self.around);
        around.clear();
        around.extend(linked.iter().chain(robot.neighbours()).chain([&own]));
        around.sort_unstable();
        around.dedup();
        let address = |number: u32| around.partition_point(|other| *other < number) as NodeId;
        self.conclude::<true>(
            (own, robot, linked, said),
            address,
            |address| around[usize::from(address)],
            command,
        );
        self.around = around;
    }

    /// The same under these addresses; `RENAMED`, where they are not what everybody said.
    #[inline]
    fn conclude<const RENAMED: bool>(
        &mut self,
        (own, robot, linked, said): Situation<'_, M, T>,
        address: impl Fn(u32) -> NodeId,
        number: impl Fn(NodeId) -> u32,
        command: &mut T::Output,
    ) {
        let node = &mut self.node;
        node.recall(address(own), &robot.memory);
        node.expect(robot.neighbours().iter().map(|number| address(*number)));
        let mut hearing = Hearing::default();
        for (other, beacon) in
            linked.iter().filter_map(|other| Some((*other, said[*other as usize].as_ref()?)))
        {
            hearing.heard += 1;
            let heard = if RENAMED {
                node.accept_parts(&BeaconOf::<M, T> { sender: address(other), ..*beacon }, Parts::ALL)
            } else {
                node.accept_parts(beacon, Parts::ALL)
            };
            if let Err(refusal) = heard {
                hearing.refused.count(refusal);
            }
        }
        tick::conclude(node, &mut Motors(command), &hearing, PortErrors::default());
        robot.count = 0;
        for (place, neighbour) in robot.neighbours.iter_mut().zip(node.neighbours()) {
            *place = number(neighbour.beacon.sender);
            robot.count += 1;
        }
        node.remember_in(&mut robot.memory);
    }
}

/// A robot's number, itself, whom it hears, and what everybody said.
type Situation<'a, M, T> = (u32, &'a mut Robot<M, T>, &'a [u32], &'a [Option<BeaconOf<M, T>>]);

impl<T, M> Swarm<T> for Packed<T, M>
where
    T: Flown,
    M: Model<Features = T::Features, Output = T::Output> + Copy + Send + Sync,
{
    fn fly(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Output>) -> Result {
        self.speak(scene)?;
        self.listen(scene, commands)
    }

    fn robot(&self, robot: usize) -> Option<View<'_, T>> {
        let Robot { memory, .. } = self.robots.get(robot)?;
        let said = |number: &u32| {
            let beacon = self.said.get(*number as usize)?.as_ref()?;
            Some((*number, self.tick, &beacon.state))
        };
        let inside = Inside {
            state: memory.state(),
            output: memory.output(),
            taps: M::first_taps(memory.chains()),
            counted: self.robots[robot].neighbours().iter().filter_map(said).collect(),
            exchanged: true,
        };
        let (wide, offline) = (memory.wide().numbers(), self.blueprint.model.offline().numbers());
        Some(View { wide, offline, inside: Some(inside) })
    }

    fn learns(&self) -> bool {
        self.learns
    }
}

impl<T, M> Share<T> for Packed<T, M>
where
    T: Flown,
    M: Model<Features = T::Features, Output = T::Output> + Copy + Send + Sync,
{
    fn sees_everybody(&self) -> bool {
        false
    }

    fn take(&mut self, mine: &[bool]) {
        self.mine = Some(mine.to_vec());
    }

    fn speak(&mut self, scene: &Scene<'_, T::State>) -> Result {
        let (parallel, shares, some) = self.spread();
        let Self { blueprint, robots, said, desks, bits, mine, .. } = self;
        while desks.len() < shares {
            let node = blueprint.node(0, scene.states.first().copied().unwrap_or_else(zero), Exact);
            desks.push(Desk { node, around: Vec::new(), bits: *bits });
        }
        self.tick = scene.tick;
        said.resize_with(robots.len(), || None);
        let mine = mine.as_deref();
        let speak = |((desk, first), ((robots, states), said)): Speaking<'_, M, T>| {
            for (((own, robot), state), said) in (first..).zip(robots).zip(states).zip(said) {
                if mine.is_none_or(|mine| mine[own as usize]) {
                    desk.speak(own, robot, scene.tick, *state, said);
                }
            }
        };
        let speakers = robots.chunks_mut(some).zip(scene.states.chunks(some)).zip(said.chunks_mut(some));
        spread(parallel, desks.iter_mut().zip((0..).step_by(some)).zip(speakers), speak);
        Ok(())
    }

    fn words(&mut self, robot: usize, passage: &mut Passage<'_>) {
        let silent = BeaconOf::<M, T>::silent(zero());
        passage.option(&mut self.said[robot], silent, |passage, beacon| beacon.pass(passage));
    }

    fn listen(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Output>) -> Result {
        let (parallel, _, some) = self.spread();
        let Self { robots, said, desks, mine, .. } = self;
        commands.clear();
        commands.resize(robots.len(), T::nothing());
        let (said, mine) = (&said[..], mine.as_deref());
        let think = |((desk, first), (robots, commands)): Thinking<'_, M, T>| {
            for ((own, robot), command) in (first..).zip(robots).zip(commands) {
                if mine.is_none_or(|mine| mine[own as usize]) {
                    desk.think(own, robot, scene.links, said, command);
                }
            }
        };
        let seats = desks.iter_mut().zip((0..).step_by(some));
        spread(parallel, seats.zip(robots.chunks_mut(some).zip(commands.chunks_mut(some))), think);
        Ok(())
    }

    fn pass(&mut self, robot: usize, passage: &mut Passage<'_>) {
        let Robot { memory, count, neighbours } = &mut self.robots[robot];
        memory.pass(passage);
        *count = passage.count(usize::from(*count), NEIGHBOURS) as u8;
        neighbours[..usize::from(*count)].iter_mut().for_each(|number| passage.word(number));
    }

    fn give(&mut self, robot: usize, here: bool) {
        if let Some(mine) = &mut self.mine {
            mine[robot] = here;
        }
    }

    fn pass_common(&mut self, _: &mut Passage<'_>) {}

    fn wide_numbers(&self) -> usize {
        self.blueprint.model.offline().numbers().len()
    }

    fn present(&self, _: usize) -> bool {
        true
    }
}

fn zero<S: wdgnn_core::task::State>() -> S {
    S::zero()
}

/// A desk, the number of the first of its robots, they themselves, what they sense, and where what they say goes.
type Speaking<'a, M, T> = (
    (&'a mut Desk<M, T>, u32),
    ((&'a mut [Robot<M, T>], &'a [<T as wdgnn_core::Task>::State]), &'a mut [Option<BeaconOf<M, T>>]),
);

/// The same with their commands.
type Thinking<'a, M, T> =
    ((&'a mut Desk<M, T>, u32), (&'a mut [Robot<M, T>], &'a mut [<T as wdgnn_core::Task>::Output]));

/// Does every piece of work, on all threads or on this one.
fn spread<W: Send>(parallel: bool, work: impl Iterator<Item = W> + Send, each: impl Fn(W) + Sync) {
    if !parallel {
        work.for_each(each);
        return;
    }
    let each = &each;
    rayon::scope(|scope| {
        for piece in work {
            scope.spawn(move |_| each(piece));
        }
    });
}

#[cfg(test)]
mod tests {
    use wdgnn_core::{
        Task as _,
        behaviour::Behaviour,
        flocking::Flocking,
        robot::{ModelOf, Onboard},
        shape::Shape,
    };

    use super::*;
    use crate::{
        flight::{Aloft, Start},
        models,
        recipe::{Architecture, RecipeName},
        seeds::{Purpose, generator},
        swarm::typed::{Online, Typed},
        world::{Condition, flock::Flock},
    };

    /// Everything that is to be seen of robots, as bits.
    fn seen(aloft: &Aloft<Flock>, swarm: &dyn Swarm<Flocking>) -> Vec<u32> {
        let mut seen: Vec<u32> = aloft.commands.as_flattened().iter().map(|x| x.to_bits()).collect();
        for robot in 0..aloft.states.len() {
            let View { wide, inside, .. } = swarm.robot(robot).unwrap();
            let Inside { output, taps, counted, exchanged, .. } = inside.unwrap();
            let numbers = wide.iter().chain(output).chain(taps).map(|x| x.to_bits());
            seen.extend(numbers.chain([exchanged.into()]));
            for (number, heard, state) in counted {
                seen.extend([number, heard, state.position[0].to_bits(), state.velocity[1].to_bits()]);
            }
        }
        seen
    }

    /// Flies robots that are nodes all the time and robots at desks side by side.
    fn check(condition: Condition, bits: u32, threads: usize) {
        let file = models::shipped(RecipeName::Ours, Architecture::WdGnn).unwrap();
        let weights = file.weights();
        let model: ModelOf<'_, Flocking> =
            <<Flocking as Onboard>::Shape as Shape<Flocking>>::from_weights(&weights).unwrap();
        let behaviour = Behaviour::new(weights.header.learning);
        assert!(behaviour.forgets() && behaviour.learning.step > 0.0);
        let task = Flocking::from_settings(&weights.header.task.numbers);
        let blueprint = Blueprint { model, task, checksum: 0, behaviour };
        let start =
            Start::<Flock>::draw(&Flock::default(), &condition, &mut generator(4, Purpose::Testing, 0))
                .unwrap();
        let mut nodes = Typed::<_, _, Exact>::new(&blueprint, Online::Decentralised, &start.states);
        let mut packed = Packed { bits, ..Packed::new(&blueprint, true, &start.states) };
        let mut flights = [start.begin(), start.begin()];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut crowded = false;
        for tick in 0..condition.ticks {
            let [one, other] = &mut flights;
            one.think(&mut nodes).unwrap();
            pool.install(|| other.think(&mut packed)).unwrap();
            assert!(seen(one, &nodes) == seen(other, &packed), "{condition:?}, tick {tick}");
            crowded |= (0..condition.robots).any(|robot| one.links.of(robot).len() > NEIGHBOURS);
            one.go(&task);
            other.go(&task);
        }
        assert_eq!(crowded, condition.radius > 3.0, "{condition:?}");
    }

    #[test]
    fn robots_at_desks_do_what_nodes_do_to_the_last_bit() {
        let calm = Condition { robots: 50, ticks: 60, ..Condition::PAPER };
        check(calm, 16, 1);
        // More robots around than a table holds, who come and go.
        let crowd = Condition { robots: 150, radius: 3.5, speed: 20.0, ticks: 40 };
        for (bits, threads) in [(16, 1), (16, 3), (6, 1), (3, 2)] {
            check(crowd, bits, threads);
        }
    }
}
