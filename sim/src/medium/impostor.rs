//! An insider that speaks in others' names: in everybody's, once, so that nobody is heard again; or in names that it invents, beside
//! a victim, so that nobody else is.

use rand::RngExt as _;
use wdgnn_core::task::{NodeId, State};

use super::{
    adversary::Adversary,
    options::{BESIDE_METRES, Faults},
};
use crate::{
    scene::{Frame, Scene, StateLayout},
    seeds::{Purpose, generator},
};

/// By how many ticks a spoofed frame is ahead: as far as anybody might believe, and less where that is refused.
const AHEAD_TICKS: [u32; 4] = [50, 10, 2, 0];
/// Names that are spoofed in one tick: all frames of them are looked at.
const NAMES_PER_TICK: usize = 50;

/// An insider that speaks in others' names.
#[derive(Clone, Debug)]
pub struct Impostor {
    robot: usize,
    robots: usize,
    spoof: Option<u32>,
    sybil: u32,
    /// How far from the victim invented robots are, in metres.
    beside: f32,
    layout: StateLayout,
    victim: Option<usize>,
    /// The names that it takes: of robots that the victim does not hear, then such as nobody has.
    names: Vec<NodeId>,
}

impl Impostor {
    /// The one of swarm number `swarm`, if there is one.
    pub fn new(faults: &Faults, layout: &StateLayout, swarm: u64, robots: usize) -> Option<Self> {
        let robot = impostor(faults, swarm, robots)?;
        let (spoof, sybil, beside) = (faults.spoof, faults.sybil, faults.sybil_at.unwrap_or(BESIDE_METRES));
        Some(Self {
            robot,
            robots,
            spoof,
            sybil,
            beside,
            layout: layout.clone(),
            victim: None,
            names: Vec::new(),
        })
    }

    /// Who it is.
    pub fn robot(&self) -> usize {
        self.robot
    }

    /// What it says in the names of robots that are there, to everybody: each name's state as it is, in a frame of the last boot there
    /// can be, as new as is believed.
    pub fn spoof<S: State>(&self, scene: &Scene<'_, S>, adversary: &mut dyn Adversary) -> Vec<Frame> {
        let Some(since) = self.spoof.and_then(|from| scene.tick.checked_sub(from)) else { return Vec::new() };
        let first = (since as usize).saturating_mul(NAMES_PER_TICK);
        let names =
            (first..self.robots.min(first.saturating_add(NAMES_PER_TICK))).filter(|name| *name != self.robot);
        let mut frames = Vec::new();
        for name in names {
            let state = scene.states[name].numbers();
            let say = |ahead| adversary.speak_as(name as NodeId, u32::MAX, scene.tick, ahead, state.as_ref());
            frames.extend(AHEAD_TICKS.map(say).into_iter().flatten());
        }
        frames
    }

    /// What it says in names that nobody around has, to whom it reaches: robots all around the one that was next to it at the start, which
    /// fly as that one does.
    pub fn invent<S: State>(&mut self, scene: &Scene<'_, S>, adversary: &mut dyn Adversary) -> Vec<Frame> {
        let nearest = || {
            let distance = |other: &u32| {
                crate::links::distance(&scene.places[self.robot], &scene.places[*other as usize])
            };
            let others = scene.links.of(self.robot).iter();
            others.min_by(|a, b| distance(a).total_cmp(&distance(b))).map(|other| *other as usize)
        };
        self.victim = self.victim.or_else(nearest);
        let (Some(victim), sybil) = (self.victim, self.sybil) else { return Vec::new() };
        if self.names.is_empty() {
            let near = scene.links.of(victim);
            let far = |name: &usize| ![self.robot, victim].contains(name) && !near.contains(&(*name as u32));
            let names = (0..self.robots).filter(far).chain(self.robots..);
            self.names = names.map(|name| name as NodeId).take(sybil as usize).collect();
        }
        let mut frames = Vec::new();
        for (number, &name) in self.names.iter().enumerate() {
            let mut numbers = scene.states[victim].numbers();
            let angle = core::f32::consts::TAU * number as f32 / sybil as f32;
            let place = numbers.as_mut().get_mut(self.layout.position.clone()).unwrap_or_default();
            let beside = [self.beside * libm::cosf(angle), self.beside * libm::sinf(angle)];
            place.iter_mut().zip(beside).for_each(|(x, beside)| *x += beside);
            frames.extend(adversary.speak_as(name, 0, scene.tick, 0, numbers.as_ref()));
        }
        frames
    }
}

/// Who speaks in others' names in swarm number `swarm`, if anybody does.
pub fn impostor(faults: &Faults, swarm: u64, robots: usize) -> Option<usize> {
    let any = robots > 0 && (faults.spoof.is_some() || faults.sybil > 0);
    any.then(|| generator(faults.seed, Purpose::Impostors, swarm).random_range(0..robots))
}
