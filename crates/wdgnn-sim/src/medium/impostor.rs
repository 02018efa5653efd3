//! Compromised robot that impersonates others or invents robots (Sybil attack).
//!
//! A spoofing robot sends one frame in the name of each robot, so that receivers reject the true
//! sender's next frames as replayed. A Sybil robot invents robots around a victim, so that they
//! displace the victim's true neighbors.

use rand::RngExt as _;
use wdgnn_core::task::{NodeId, State};

use super::{adversary::Adversary, options::Faults};
use crate::{
    scene::{Frame, Scene, StateLayout},
    seeds::{Purpose, generator},
};

/// Ticks by which spoofed frames are ahead of time.
///
/// The largest values exceed what receivers accept; the smaller ones are tried for receivers that
/// reject them.
const AHEAD_TICKS: [u32; 4] = [50, 10, 2, 0];
/// Default distance of invented robots from the victim in meters.
const SYBIL_METRES: f32 = 0.5;
/// Robots impersonated in one tick, few enough that receivers examine all frames.
const ADDRESSES_PER_TICK: usize = 50;

/// Compromised robot that sends frames with other sender addresses.
#[derive(Clone, Debug)]
pub struct Impostor {
    robot: usize,
    robots: usize,
    spoof: Option<u32>,
    sybil: u32,
    /// Distance of invented robots from the victim in meters.
    distance: f32,
    layout: StateLayout,
    victim: Option<usize>,
    /// Addresses in use: first of robots out of the victim's range, then of no robot.
    addresses: Vec<NodeId>,
}

impl Impostor {
    /// Creates the impostor of swarm number `swarm`, if the faults include one.
    pub fn new(faults: &Faults, layout: &StateLayout, swarm: u64, robots: usize) -> Option<Self> {
        let robot = impostor(faults, swarm, robots)?;
        let (spoof, sybil, distance) =
            (faults.spoof, faults.sybil, faults.sybil_distance.unwrap_or(SYBIL_METRES));
        Some(Self {
            robot,
            robots,
            spoof,
            sybil,
            distance,
            layout: layout.clone(),
            victim: None,
            addresses: Vec::new(),
        })
    }

    /// Returns the impostor's robot id.
    pub fn robot(&self) -> usize {
        self.robot
    }

    /// Returns frames in the names of existing robots, with their true states.
    ///
    /// Each frame has the highest boot count and the newest acceptable sequence number.
    pub fn spoofed_frames<S: State>(
        &self, scene: &Scene<'_, S>, adversary: &mut dyn Adversary,
    ) -> Vec<Frame> {
        let Some(since) = self.spoof.and_then(|from| scene.tick.checked_sub(from)) else { return Vec::new() };
        let first = (since as usize).saturating_mul(ADDRESSES_PER_TICK);
        let addresses = (first..self.robots.min(first.saturating_add(ADDRESSES_PER_TICK)))
            .filter(|name| *name != self.robot);
        let mut frames = Vec::new();
        for name in addresses {
            let state = scene.states[name].to_array();
            let frame =
                |ahead| adversary.impersonate(name as NodeId, u32::MAX, scene.tick, ahead, state.as_ref());
            frames.extend(AHEAD_TICKS.map(frame).into_iter().flatten());
        }
        frames
    }

    /// Returns frames of invented robots on a circle around the victim, for robots in range.
    ///
    /// The victim is the robot nearest to the impostor at the start. Invented robots move as the
    /// victim does.
    pub fn sybil_frames<S: State>(
        &mut self, scene: &Scene<'_, S>, adversary: &mut dyn Adversary,
    ) -> Vec<Frame> {
        let nearest = || {
            let distance_to = |other: &u32| {
                crate::links::distance(&scene.places[self.robot], &scene.places[*other as usize])
            };
            let others = scene.links.of(self.robot).iter();
            others.min_by(|a, b| distance_to(a).total_cmp(&distance_to(b))).map(|other| *other as usize)
        };
        self.victim = self.victim.or_else(nearest);
        let (Some(victim), sybil) = (self.victim, self.sybil) else { return Vec::new() };
        if self.addresses.is_empty() {
            let near = scene.links.of(victim);
            let far = |name: &usize| ![self.robot, victim].contains(name) && !near.contains(&(*name as u32));
            let addresses = (0..self.robots).filter(far).chain(self.robots..);
            self.addresses = addresses.map(|name| name as NodeId).take(sybil as usize).collect();
        }
        let mut frames = Vec::new();
        for (number, &name) in self.addresses.iter().enumerate() {
            let mut numbers = scene.states[victim].to_array();
            let angle = core::f32::consts::TAU * number as f32 / sybil as f32;
            let place = numbers.as_mut().get_mut(self.layout.position.clone()).unwrap_or_default();
            let offset = [self.distance * libm::cosf(angle), self.distance * libm::sinf(angle)];
            place.iter_mut().zip(offset).for_each(|(x, offset)| *x += offset);
            frames.extend(adversary.impersonate(name, 0, scene.tick, 0, numbers.as_ref()));
        }
        frames
    }
}

/// Draws the impostor of swarm number `swarm`, if the faults include one.
pub fn impostor(faults: &Faults, swarm: u64, robots: usize) -> Option<usize> {
    let any = robots > 0 && (faults.spoof.is_some() || faults.sybil > 0);
    any.then(|| generator(faults.seed, Purpose::Impostors, swarm).random_range(0..robots))
}
