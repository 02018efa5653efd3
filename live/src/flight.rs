//! A flight without an end: a world, its robots, whoever flies them, and everything that is done to them on the way.

use std::collections::VecDeque;

use wdgnn_core::task::{NodeId, State as _, Task as _};
use wdgnn_sim::{
    episode::{Episode, closeness, disagreement},
    error::Result,
    links::Links,
    model::ModelFile,
    scene::{Scene, Swarm},
    seeds::{Purpose, generator},
    swarm::networks,
    world::{OutputOf, Scenario, SceneDisc, StateOf, SwarmOf, World},
};

use crate::{
    chance::{About, Chance},
    knobs::{Controller, Knobs},
    motors::Motors,
    robots::{Kept, Robots},
};

/// What liars add to their velocity, in m/s: what the simulator's liars say.
const FALSE_SPEED: f32 = 5.0;
/// And to their position where robots tell no velocity, in metres.
const FALSE_METRES: f32 = 2.0;

/// Numbers per robot that are shown: place, velocity, gain, flags, address.
pub const SHOWN: usize = 9;

/// A robot of the swarm.
#[derive(Clone, Copy, Debug)]
struct Member {
    id: NodeId,
    lies: bool,
    /// Which side of a cut it is on.
    east: bool,
}

/// Who flies.
enum Crew<W: World> {
    Robots(Robots<W::Task>),
    Somebody(SwarmOf<'static, W>),
}

/// What was measured at the last tick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Figures {
    /// The world's score; less is better.
    pub score: f64,
    /// Pairs nearer than 0.2 m.
    pub close_pairs: f64,
    /// How far parameters are apart, relative to those that were trained.
    pub disagreement: f64,
    /// The mean gain of the robots' own networks.
    pub gain: f64,
    /// Into how many groups the swarm has fallen that cannot hear of each other.
    pub groups: f64,
    /// Robots that are there.
    pub robots: f64,
    /// Seconds flown.
    pub seconds: f64,
}

/// A flight of the world `W`.
#[allow(missing_debug_implementations, reason = "swarms are told apart by what they do")]
pub struct Flight<W: World> {
    world: W,
    condition: Scenario,
    task: W::Task,
    model: &'static ModelFile,
    controller: Controller,
    crew: Crew<W>,
    members: Vec<Member>,
    states: Vec<StateOf<W>>,
    /// Places at the last tick's begin, from which velocities are told where robots have none.
    before: Vec<[f32; 3]>,
    commands: Vec<OutputOf<W>>,
    motors: Motors<W::Task>,
    /// Who is in range of whom.
    range: Links,
    cut: bool,
    tick: u32,
    chance: Chance,
}

impl<W: World> Flight<W> {
    /// A start under `condition` and a seed.
    pub fn new(
        model: &'static ModelFile,
        condition: Scenario,
        seed: u64,
        controller: Controller,
    ) -> Result<Self> {
        let drawn = Episode::draw(&W::default(), &condition, &mut generator(seed, Purpose::Testing, 0))?;
        let member = |id| Member { id, lies: false, east: false };
        let mut flight = Self {
            task: networks::task(model)?,
            crew: Crew::Robots(Robots::new(model, controller, &[])?),
            members: (0..).take(drawn.states.len()).map(member).collect(),
            before: drawn.states.iter().map(W::place).collect(),
            world: drawn.world,
            states: drawn.states,
            condition,
            model,
            controller,
            commands: Vec::new(),
            motors: Motors::default(),
            range: Links::default(),
            cut: false,
            tick: 0,
            chance: Chance(seed),
        };
        flight.assemble()?;
        flight.look(condition.radius);
        Ok(flight)
    }

    /// Robots, or somebody else, from where everybody is.
    fn assemble(&mut self) -> Result {
        self.crew = match self.controller {
            Controller::Averaging | Controller::Expert => Crew::Somebody(self.somebody()),
            network => {
                let start: Vec<_> =
                    self.members.iter().map(|member| member.id).zip(self.states.iter().copied()).collect();
                Crew::Robots(Robots::new(self.model, network, &start)?)
            }
        };
        Ok(())
    }

    /// The expert, or the plainest rival: the one-hop one of those that average over hops, or whoever is not the expert.
    fn somebody(&self) -> SwarmOf<'static, W> {
        let baselines = W::baselines();
        let expert = |rival: &&wdgnn_sim::world::Baseline<W>| rival.name == "expert";
        let chosen = if self.controller == Controller::Expert {
            baselines.iter().find(expert)
        } else {
            let one_hop = baselines.iter().find(|rival| rival.name == "averaging-1-hop");
            one_hop.or_else(|| baselines.iter().find(|rival| !expert(rival)))
        };
        chosen.map_or_else(
            || unreachable!("every world here has baselines"),
            |rival| (rival.make)(&self.world, &self.task),
        )
    }

    /// Who hears whom at this tick.
    fn heard(&self, knobs: &Knobs) -> Option<Links> {
        let apart = |a: &Member, b: &Member| self.cut && a.east != b.east;
        (self.cut || knobs.loss > 0.0).then(|| {
            self.range.filtered(|to, from| {
                let (hearer, speaker) = (&self.members[to as usize], &self.members[from as usize]);
                let chance =
                    || self.chance.uniform(About::Loss, self.tick, hearer.id.into(), speaker.id.into());
                !apart(hearer, speaker) && (knobs.loss <= 0.0 || chance() >= knobs.loss)
            })
        })
    }

    /// What robots sense of themselves.
    fn sensed(&mut self, knobs: &Knobs) -> Vec<StateOf<W>> {
        let mut sensed = Vec::new();
        self.world.sense(self.tick, &self.states, &mut sensed);
        if knobs.noise > 0.0 {
            for (state, member) in sensed.iter_mut().zip(&self.members) {
                change::<W>(state, |axis, x| {
                    *x += knobs.noise * self.chance.normal(About::Noise, self.tick, member.id.into(), axis);
                });
            }
        }
        sensed
    }

    /// Commands of everybody at this tick.
    fn command(&mut self, knobs: &Knobs) -> Result {
        let sensed = self.sensed(knobs);
        let heard = self.heard(knobs);
        let links = heard.as_ref().unwrap_or(&self.range);
        let members = &self.members;
        match &mut self.crew {
            Crew::Robots(robots) => {
                let lie = |robot: usize, state: &mut StateOf<W>| lie::<W>(&members[robot], state);
                robots.fly(self.tick, &sensed, links, lie, &mut self.commands);
            }
            Crew::Somebody(somebody) => {
                let mut told = sensed;
                told.iter_mut().zip(members).for_each(|(state, member)| lie::<W>(member, state));
                let scene = Scene { tick: self.tick, states: &told, places: &self.before, links };
                somebody.fly(&scene, &mut self.commands)?;
            }
        }
        Ok(())
    }

    /// Who is in range of whom.
    fn look(&mut self, range: f32) {
        self.condition.radius = range;
        let places: Vec<[f32; 3]> = self.states.iter().map(W::place).collect();
        self.world.links(self.tick, &places, &self.condition, &mut self.range);
    }

    /// What robots commanded in the last tick, and their parameters: for the digest.
    pub fn deeds(&self, mut see: impl FnMut(&[f32], &[f32])) {
        if let Crew::Robots(robots) = &self.crew {
            for (robot, command) in self.commands.iter().enumerate() {
                if let Some(view) = robots.robot(robot) {
                    see(command.as_ref(), view.wide);
                }
            }
        }
    }

    /// One tick: who hears whom, what they sense, what they command; then the world moves. `see` is asked in between.
    pub fn tick(&mut self, knobs: &Knobs, see: impl FnOnce(&Self)) -> Result {
        self.before.clear();
        self.before.extend(self.states.iter().map(W::place));
        self.look(knobs.range);
        self.command(knobs)?;
        see(self);
        self.motors.act(knobs, self.chance, self.members.iter().map(|member| member.id), &mut self.commands);
        self.world.step(&self.task, self.tick, &mut self.states, &self.commands);
        self.tick += 1;
        Ok(())
    }

    fn robot(&self, id: NodeId) -> Option<usize> {
        self.members.iter().position(|member| member.id == id)
    }

    fn groups(&self) -> usize {
        let robots = self.range.robots();
        let mut reached = vec![false; robots];
        let mut groups = 0;
        for first in 0..robots {
            groups += usize::from(!reached[first]);
            let mut open = VecDeque::from([first]);
            while let Some(robot) = open.pop_front() {
                if !std::mem::replace(&mut reached[robot], true) {
                    let near = self.range.of(robot).iter().map(|&other| other as usize);
                    open.extend(
                        near.filter(|other| {
                            !self.cut || self.members[robot].east == self.members[*other].east
                        }),
                    );
                }
            }
        }
        groups
    }
}

/// What a page does with a flight, whatever its world.
pub trait Show {
    /// Flies so many ticks.
    fn step(&mut self, knobs: &Knobs, ticks: u32) -> Result;
    /// Has somebody else fly from now on.
    fn hand_over(&mut self, controller: Controller) -> Result;
    /// Starts anew; who has learned something keeps it.
    fn land(&mut self, condition: Scenario, seed: u64) -> Result;
    /// Takes a robot out.
    fn kill(&mut self, id: NodeId);
    /// Pushes a robot: a change of its velocity in m/s, or of its place in metres where it tells no velocity.
    fn push(&mut self, id: NodeId, change: [f32; 2]);
    /// Has a robot lie, or not.
    fn set_liar(&mut self, id: NodeId, lies: bool);
    /// Cuts the swarm in two, such that these robots no longer hear the others; an empty list ends it.
    fn cut(&mut self, east: &[NodeId]);
    /// Half of the robots, the eastern one.
    fn eastern(&self) -> Vec<NodeId>;
    /// Everybody, [`SHOWN`] numbers each.
    fn show(&self, numbers: &mut Vec<f32>);
    /// Pairs in range.
    fn pairs(&self, pairs: &mut Vec<u32>);
    /// What there is to see besides robots: x, y, radius and weight of each spot.
    fn scenery(&self, numbers: &mut Vec<f32>);
    /// What was measured.
    fn figures(&self) -> Figures;
    /// Seconds from one tick to the next.
    fn period(&self) -> f32;
}

impl<W: World> Show for Flight<W> {
    fn step(&mut self, knobs: &Knobs, ticks: u32) -> Result {
        (0..ticks).try_for_each(|_| self.tick(knobs, |_| {}))?;
        self.look(knobs.range);
        Ok(())
    }

    fn hand_over(&mut self, controller: Controller) -> Result {
        self.controller = controller;
        self.assemble()
    }

    fn land(&mut self, condition: Scenario, seed: u64) -> Result {
        let mut next = Self::new(self.model, condition, seed, self.controller)?;
        if let (Crew::Robots(before), Crew::Robots(after)) = (&self.crew, &mut next.crew) {
            let kept: Vec<Kept<W::Task>> = before.kept();
            after.resume(&kept);
        }
        *self = next;
        Ok(())
    }

    fn kill(&mut self, id: NodeId) {
        let Some(robot) = self.robot(id) else { return };
        self.members.remove(robot);
        self.states.remove(robot);
        self.before.remove(robot);
        self.motors.remove(robot);
        match &mut self.crew {
            Crew::Robots(robots) => robots.remove(robot),
            // Whoever has no robots starts anew with those that are left.
            Crew::Somebody(_) => self.crew = Crew::Somebody(self.somebody()),
        }
        self.look(self.condition.radius);
    }

    fn push(&mut self, id: NodeId, push: [f32; 2]) {
        if let Some(robot) = self.robot(id) {
            change::<W>(&mut self.states[robot], |axis, x| {
                *x += push.get(axis as usize).copied().unwrap_or_default();
            });
        }
    }

    fn set_liar(&mut self, id: NodeId, lies: bool) {
        if let Some(robot) = self.robot(id) {
            self.members[robot].lies = lies;
        }
    }

    fn cut(&mut self, east: &[NodeId]) {
        self.cut = !east.is_empty();
        for member in &mut self.members {
            member.east = east.contains(&member.id);
        }
    }

    fn eastern(&self) -> Vec<NodeId> {
        let mut places: Vec<(f32, NodeId)> = self
            .states
            .iter()
            .zip(&self.members)
            .map(|(state, member)| (W::place(state)[0], member.id))
            .collect();
        places.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        places.split_off(places.len() / 2).into_iter().map(|(_, id)| id).collect()
    }

    fn show(&self, numbers: &mut Vec<f32>) {
        numbers.clear();
        let layout = W::layout();
        let period = self.task.period();
        for (robot, (state, member)) in self.states.iter().zip(&self.members).enumerate() {
            let place = W::place(state);
            let mut velocity = [0, 1, 2].map(|axis| (place[axis] - self.before[robot][axis]) / period);
            let told = state.numbers();
            if let Some(told) = told.as_ref().get(layout.velocity.clone()).filter(|told| !told.is_empty()) {
                velocity = [0, 1, 2].map(|axis| told.get(axis).copied().unwrap_or_default());
            }
            let gain = if let Crew::Robots(robots) = &self.crew { robots.gain(robot) } else { 1.0 };
            let flags = f32::from(u8::from(member.lies)) + 2.0 * f32::from(u8::from(self.cut && member.east));
            numbers.extend(place.into_iter().chain(velocity).chain([gain, flags, member.id.into()]));
        }
    }

    fn pairs(&self, pairs: &mut Vec<u32>) {
        pairs.clear();
        let apart = |(a, b): &(usize, usize)| self.cut && self.members[*a].east != self.members[*b].east;
        let heard = self.range.pairs().filter(|pair| !apart(pair));
        pairs.extend(heard.flat_map(|(a, b)| [a as u32, b as u32]));
    }

    fn scenery(&self, numbers: &mut Vec<f32>) {
        numbers.clear();
        for SceneDisc { at: [x, y], radius, weight } in self.world.scene_discs(self.tick) {
            numbers.extend([x, y, radius, weight]);
        }
    }

    fn figures(&self) -> Figures {
        let places: Vec<[f32; 3]> = self.states.iter().map(W::place).collect();
        let (_, [_, close, _]) = closeness(&places, &self.range, |_| true);
        let robots = self.states.len();
        let (apart, gain) = match &self.crew {
            Crew::Robots(crew) => {
                let gains: f64 = (0..robots).map(|robot| f64::from(crew.gain(robot))).sum();
                (disagreement(crew, robots).unwrap_or_default(), gains / robots.max(1) as f64)
            }
            Crew::Somebody(_) => (0.0, 1.0),
        };
        Figures {
            score: self.world.score(self.tick, &self.states),
            close_pairs: f64::from(close),
            disagreement: apart,
            gain,
            groups: self.groups() as f64,
            robots: robots as f64,
            seconds: f64::from(self.tick) * f64::from(self.task.period()),
        }
    }

    fn period(&self) -> f32 {
        self.task.period()
    }
}

/// Changes a state's velocity, or its place where it has none, axis by axis.
fn change<W: World>(state: &mut StateOf<W>, mut change: impl FnMut(u32, &mut f32)) {
    let layout = W::layout();
    let range = if layout.velocity.is_empty() { layout.position } else { layout.velocity };
    let mut numbers = state.numbers();
    let some = numbers.as_mut().get_mut(range).unwrap_or_default();
    (0..).zip(some).for_each(|(axis, x)| change(axis, x));
    *state = StateOf::<W>::from_numbers(numbers);
}

/// What a member tells in place of its state, if it lies: always the same lie, and another one than its neighbour's.
fn lie<W: World>(member: &Member, state: &mut StateOf<W>) {
    if member.lies {
        let by = if W::layout().velocity.is_empty() { FALSE_METRES } else { FALSE_SPEED };
        change::<W>(state, |axis, x| *x += if (u32::from(member.id) >> axis) & 1 == 0 { by } else { -by });
    }
}

#[cfg(test)]
mod tests;
