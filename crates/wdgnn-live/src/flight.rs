//! Endless episode: a world, its robots, their controller and the user's disturbances.

use std::{collections::VecDeque, iter};

use wdgnn_core::task::{NodeId, State as _};
use wdgnn_robot::tasks::MotionModel as _;
use wdgnn_sim::{
    episode::{Episode, closeness, disagreement},
    error::Result,
    links::Links,
    model::ModelFile,
    scene::{Scene, Swarm},
    seeds::{Purpose, generator},
    swarm::networks,
    world::{Environment, OutputOf, Scenario, SceneDisc, StateOf, SwarmOf},
};

use crate::{
    chance::{About, Chance},
    knobs::{Controller, Knobs},
    motors::Motors,
    robots::{self, Robots},
};

/// Velocity offset of liars in m/s, as in the simulator.
const FALSE_SPEED: f32 = 5.0;
/// Position offset of liars in meters, for states without velocity.
const FALSE_METRES: f32 = 2.0;

/// Values per robot for drawing: position, velocity, gain, flags and address.
pub const SHOWN: usize = 9;

/// Robot of the swarm.
#[derive(Clone, Copy, Debug)]
struct Member {
    id: NodeId,
    lies: bool,
    /// Side of the partition.
    east: bool,
}

/// Controller of the swarm.
enum Driver<W: Environment> {
    Robots(Robots<W::Task>),
    Baseline(SwarmOf<'static, W>),
}

/// Measurements of the last tick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Figures {
    /// Score of the world; lower is better.
    pub score: f64,
    /// Number of pairs closer than 0.2 m.
    pub close_pairs: f64,
    /// Disagreement of parameters, relative to the trained ones.
    pub disagreement: f64,
    /// Mean adaptation gain of the robots.
    pub gain: f64,
    /// Number of connected components of the swarm.
    pub groups: f64,
    /// Number of robots.
    pub robots: f64,
    /// Simulated time in seconds.
    pub seconds: f64,
}

/// Episode in the world `W`.
#[allow(missing_debug_implementations, reason = "contains trait objects and functions")]
pub struct Flight<W: Environment> {
    world: W,
    condition: Scenario,
    task: W::Task,
    model: &'static ModelFile,
    controller: Controller,
    driver: Driver<W>,
    members: Vec<Member>,
    states: Vec<StateOf<W>>,
    /// Positions at the start of the last tick, for velocities of states without velocity.
    before: Vec<[f32; 3]>,
    commands: Vec<OutputOf<W>>,
    motors: Motors<W::Task>,
    /// Robots in range of each other.
    range: Links,
    cut: bool,
    tick: u32,
    chance: Chance,
}

impl<W: Environment> Flight<W> {
    /// Creates an episode of `scenario` with a seed.
    pub fn new(
        model: &'static ModelFile, condition: Scenario, seed: u64, controller: Controller,
    ) -> Result<Self> {
        let drawn = Episode::draw(&W::default(), &condition, &mut generator(seed, Purpose::Testing, 0))?;
        let member = |id| Member { id, lies: false, east: false };
        let mut flight = Self {
            task: networks::task(model)?,
            driver: Driver::Robots(robots::robots(model, controller, iter::empty())?),
            members: (0..).take(drawn.states.len()).map(member).collect(),
            before: drawn.states.iter().map(W::position).collect(),
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
        flight.find_links(condition.radius);
        Ok(flight)
    }

    /// Creates the controller from the current states.
    fn assemble(&mut self) -> Result {
        self.driver = match self.controller {
            Controller::Averaging | Controller::Expert => Driver::Baseline(self.baseline()),
            network => {
                let ids = self.members.iter().map(|member| member.id);
                Driver::Robots(robots::robots(self.model, network, ids.zip(self.states.iter().copied()))?)
            }
        };
        Ok(())
    }

    /// Creates the expert or the simplest baseline.
    ///
    /// The simplest baseline is averaging over one hop, or else the first non-expert.
    fn baseline(&self) -> SwarmOf<'static, W> {
        let baselines = W::baselines();
        let expert = |baseline: &&wdgnn_sim::world::Baseline<W>| baseline.name == "expert";
        let chosen = if self.controller == Controller::Expert {
            baselines.iter().find(expert)
        } else {
            let one_hop = baselines.iter().find(|baseline| baseline.name == "averaging-1-hop");
            one_hop.or_else(|| baselines.iter().find(|baseline| !expert(baseline)))
        };
        chosen.map_or_else(
            || unreachable!("every world of the page has baselines"),
            |baseline| (baseline.make)(&self.world, &self.task),
        )
    }

    /// Returns the links over which frames arrive at this tick; `None` if no frame is lost.
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

    /// Returns the robots' sensed states.
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

    /// Computes the commands of this tick.
    fn command(&mut self, knobs: &Knobs) -> Result {
        let sensed = self.sensed(knobs);
        let heard = self.heard(knobs);
        let links = heard.as_ref().unwrap_or(&self.range);
        let members = &self.members;
        match &mut self.driver {
            Driver::Robots(robots) => {
                let lie = |robot: usize, state: &mut StateOf<W>| lie::<W>(&members[robot], state);
                robots.run_tick(self.tick, &sensed, links, Some(&lie), &mut self.commands);
            }
            Driver::Baseline(baseline) => {
                let mut told = sensed;
                told.iter_mut().zip(members).for_each(|(state, member)| lie::<W>(member, state));
                let scene = Scene { tick: self.tick, states: &told, places: &self.before, links };
                baseline.fly(&scene, &mut self.commands)?;
            }
        }
        Ok(())
    }

    /// Finds the robots in range of each other.
    fn find_links(&mut self, range: f32) {
        self.condition.radius = range;
        let places: Vec<[f32; 3]> = self.states.iter().map(W::position).collect();
        self.world.links(self.tick, &places, &self.condition, &mut self.range);
    }

    /// Calls `see` with each robot's last command and parameters, for the digest.
    pub fn each_robot(&self, mut see: impl FnMut(&[f32], &[f32])) {
        if let Driver::Robots(robots) = &self.driver {
            for (robot, command) in self.commands.iter().enumerate() {
                if let Some(view) = robots.robot(robot) {
                    see(command.as_ref(), view.wide);
                }
            }
        }
    }

    /// Runs one tick: links, sensing and commands, then `see`, then the world's step.
    pub fn tick(&mut self, knobs: &Knobs, see: impl FnOnce(&Self)) -> Result {
        self.before.clear();
        self.before.extend(self.states.iter().map(W::position));
        self.find_links(knobs.range);
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

/// Interface of the page to an episode in any world.
pub trait Show {
    /// Runs `ticks` ticks.
    fn step(&mut self, knobs: &Knobs, ticks: u32) -> Result;
    /// Changes the controller.
    fn hand_over(&mut self, controller: Controller) -> Result;
    /// Restarts the episode with the parameters that robots have learned.
    fn land(&mut self, condition: Scenario, seed: u64) -> Result;
    /// Removes a robot.
    fn kill(&mut self, id: NodeId);
    /// Pushes a robot by a change of velocity in m/s, or of position in meters without velocity.
    fn push(&mut self, id: NodeId, change: [f32; 2]);
    /// Sets whether a robot lies.
    fn set_liar(&mut self, id: NodeId, lies: bool);
    /// Cuts the links between these robots and the others; an empty list ends the partition.
    fn cut(&mut self, east: &[NodeId]);
    /// Returns the eastern half of the robots.
    fn eastern(&self) -> Vec<NodeId>;
    /// Writes each robot's [`SHOWN`] values.
    fn show(&self, numbers: &mut Vec<f32>);
    /// Writes the pairs in range.
    fn pairs(&self, pairs: &mut Vec<u32>);
    /// Writes x, y, radius and weight of each object besides robots.
    fn scenery(&self, numbers: &mut Vec<f32>);
    /// Returns the measurements.
    fn figures(&self) -> Figures;
    /// Returns the seconds per tick.
    fn period(&self) -> f32;
}

impl<W: Environment> Show for Flight<W> {
    fn step(&mut self, knobs: &Knobs, ticks: u32) -> Result {
        (0..ticks).try_for_each(|_| self.tick(knobs, |_| {}))?;
        self.find_links(knobs.range);
        Ok(())
    }

    fn hand_over(&mut self, controller: Controller) -> Result {
        self.controller = controller;
        self.assemble()
    }

    fn land(&mut self, condition: Scenario, seed: u64) -> Result {
        let mut next = Self::new(self.model, condition, seed, self.controller)?;
        if let (Driver::Robots(before), Driver::Robots(after)) = (&self.driver, &mut next.driver) {
            robots::restore(after, &robots::learned(before));
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
        match &mut self.driver {
            Driver::Robots(robots) => robots.remove(robot),
            // Baselines restart with the remaining robots.
            Driver::Baseline(_) => self.driver = Driver::Baseline(self.baseline()),
        }
        self.find_links(self.condition.radius);
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
            .map(|(state, member)| (W::position(state)[0], member.id))
            .collect();
        places.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        places.split_off(places.len() / 2).into_iter().map(|(_, id)| id).collect()
    }

    fn show(&self, numbers: &mut Vec<f32>) {
        numbers.clear();
        let layout = W::layout();
        let period = self.task.period();
        for (robot, (state, member)) in self.states.iter().zip(&self.members).enumerate() {
            let place = W::position(state);
            let mut velocity = [0, 1, 2].map(|axis| (place[axis] - self.before[robot][axis]) / period);
            let told = state.to_array();
            if let Some(told) = told.as_ref().get(layout.velocity.clone()).filter(|told| !told.is_empty()) {
                velocity = [0, 1, 2].map(|axis| told.get(axis).copied().unwrap_or_default());
            }
            let gain =
                if let Driver::Robots(robots) = &self.driver { robots::gain(robots, robot) } else { 1.0 };
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
        let places: Vec<[f32; 3]> = self.states.iter().map(W::position).collect();
        let (_, [_, close, _]) = closeness(&places, &self.range, |_| true);
        let robots = self.states.len();
        let (apart, gain) = match &self.driver {
            Driver::Robots(swarm) => {
                let gains: f64 = (0..robots).map(|robot| f64::from(robots::gain(swarm, robot))).sum();
                (disagreement(swarm, robots).unwrap_or_default(), gains / robots.max(1) as f64)
            }
            Driver::Baseline(_) => (0.0, 1.0),
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

/// Changes each axis of a state's velocity, or of its position without velocity.
fn change<W: Environment>(state: &mut StateOf<W>, mut change: impl FnMut(u32, &mut f32)) {
    let layout = W::layout();
    let range = if layout.velocity.is_empty() { layout.position } else { layout.velocity };
    let mut numbers = state.to_array();
    let some = numbers.as_mut().get_mut(range).unwrap_or_default();
    (0..).zip(some).for_each(|(axis, x)| change(axis, x));
    *state = StateOf::<W>::from_array(numbers);
}

/// Falsifies the state of a lying robot by a constant offset that depends on its address.
fn lie<W: Environment>(member: &Member, state: &mut StateOf<W>) {
    if member.lies {
        let by = if W::layout().velocity.is_empty() { FALSE_METRES } else { FALSE_SPEED };
        change::<W>(state, |axis, x| *x += if (u32::from(member.id) >> axis) & 1 == 0 { by } else { -by });
    }
}

#[cfg(test)]
mod tests;
