//! The air of one swarm: who hears whom, what strangers put into it, who lies, and whose clock is off.

use rand::{RngExt as _, seq::SliceRandom as _};
use rand_chacha::ChaCha8Rng;
use wdgnn_core::{
    behaviour::LARGEST_TAP,
    flocking::{BIAS_METRES, TRACK_SECONDS},
    task::NodeId,
};

use super::{
    blueprint::Common,
    faulty::Faulty,
    insider::Lie,
    mailbox::Mailbox,
    options::{About, Faults},
    replaying::Replaying,
    senses::Senses,
    voice::Voice,
};
use crate::{
    error::Result,
    scene::{Flown, Frame, Layout, Scene},
    seeds::{Purpose, generator},
};

/// The stream of random numbers that is not one robot's own.
const EVERYBODY: u64 = 0xffff_ffff;

/// What state liars say: faster by this much per axis, in m/s;
const FALSE_SPEED: f32 = 5.0;
/// somewhere else within so many metres, the radio's range;
const JUMP_METRES: f32 = 2.0;
/// taps of this size.
const FALSE_TAPS: f32 = 10_000.0;

/// What a robot can do, in m/s²: the flocking robots' limit.
const LARGEST_ACCELERATION: f32 = 10.0;

/// A robot's radio: recordings are played beside what arrives of what the mailbox holds.
pub type RobotRadio = Replaying<Faulty<Mailbox>>;

/// What the air is to one robot.
#[derive(Debug)]
pub struct Member {
    /// Its radio.
    pub radio: RobotRadio,
    /// By how much its clock is ahead of the world's.
    pub ahead: u32,
}

/// The air of a swarm.
#[allow(missing_debug_implementations, reason = "voices are told apart by what they say")]
pub struct Medium<'a, T> {
    /// What its robots have in common.
    pub common: Common<T>,
    /// What goes wrong.
    pub faults: Faults,
    /// Who lies.
    pub liars: Vec<bool>,
    senses: Senses,
    voice: Box<dyn Voice + 'a>,
    random: ChaCha8Rng,
    /// In a partition, the side that each robot is on.
    sides: Vec<bool>,
}

impl<'a, T: Flown> Medium<'a, T> {
    /// The air of swarm number `swarm`, and what it is to each of its robots.
    pub fn new(
        common: Common<T>,
        mut voice: Box<dyn Voice + 'a>,
        layout: &Layout,
        faults: &Faults,
        swarm: u64,
        robots: usize,
    ) -> (Self, Vec<Member>) {
        let mut random = generator(faults.seed, Purpose::Air, swarm << 32 | EVERYBODY);
        let liars = liars(faults, robots, &mut random);
        let identity = voice.identity();
        let mut lies = 0;
        let mut members = Vec::with_capacity(robots);
        for (robot, lies_too) in liars.iter().enumerate() {
            if *lies_too {
                voice.teach(robot, lie(&common, layout, faults, lies));
                lies += 1;
            }
            let own = generator(faults.seed, Purpose::Air, swarm << 32 | robot as u64);
            let air = Faulty::new(Mailbox::default(), faults.radio, identity, own);
            let radio = Replaying::new(air, faults.replay);
            members.push(Member { radio, ahead: random.random_range(0..=2 * faults.skew) });
        }
        let senses = Senses::new(faults.noise, layout.clone(), faults.seed, swarm, robots);
        let faults = faults.clone();
        (Self { common, faults, liars, senses, voice, random, sides: Vec::new() }, members)
    }

    /// Changes what a liar said at its tick `now`.
    ///
    /// # Errors
    /// When robots have another key.
    pub fn lie(&mut self, robot: usize, now: u32, frames: &mut [Frame]) -> Result {
        self.voice.lie(robot, now, frames)
    }

    /// What the robots sense of where they are and how they move.
    pub fn sense(&mut self, states: &[T::State]) -> Vec<T::State> {
        self.senses.sense(states)
    }

    /// Lets everybody hear what reaches it: what strangers say, and what others `said`. Returns how many frames were forged.
    pub fn carry(
        &mut self,
        scene: &Scene<'_, T::State>,
        said: &[Vec<Frame>],
        mut put: impl FnMut(usize, &Frame),
    ) -> usize {
        self.part(scene);
        let exchanges = scene.tick.is_multiple_of(self.common.behaviour.interval.max(1));
        let forged = if exchanges { self.forge(scene.tick) } else { Vec::new() };
        for robot in 0..said.len() {
            // Lies come first: were they believed, they would displace what is true.
            for frame in &forged {
                put(robot, frame);
            }
            for &other in scene.links.of(robot) {
                if self.carries(scene.tick, other as usize, robot) {
                    said[other as usize].iter().for_each(|frame| put(robot, frame));
                }
            }
        }
        forged.len() * said.len()
    }

    /// Cuts the swarm in two when it is time: west and east of the middle robot.
    fn part(&mut self, scene: &Scene<'_, T::State>) {
        if self.faults.partition.as_ref().is_some_and(|ticks| ticks.start == scene.tick) {
            let mut easting: Vec<f32> = scene.places.iter().map(|place| place[0]).collect();
            easting.sort_unstable_by(f32::total_cmp);
            let middle = easting[easting.len() / 2];
            self.sides = scene.places.iter().map(|place| place[0] < middle).collect();
        }
    }

    /// Whether the air carries from one robot to another at this tick.
    fn carries(&self, tick: u32, from: usize, to: usize) -> bool {
        let events = &self.faults.events;
        let apart = self.faults.partition.as_ref().is_some_and(|ticks| ticks.contains(&tick))
            && self.sides[from] != self.sides[to];
        !(apart || events.silent(from, tick) || events.silent(to, tick))
    }

    /// Frames of somebody without the swarm's key, in the name of robots that are there.
    fn forge(&mut self, tick: u32) -> Vec<Frame> {
        let (robots, skew) = (self.liars.len(), self.faults.skew);
        let forge = |_| {
            let sender = self.random.random_range(0..robots) as NodeId;
            self.voice.forge(sender, tick, skew)
        };
        (0..self.faults.forge).filter_map(forge).collect()
    }
}

/// The robots of swarm number `swarm` that lie, are taken out or out of contact: what they do themselves does not count.
#[must_use]
pub fn odd_ones_out(faults: &Faults, swarm: u64, robots: usize) -> Vec<bool> {
    let mut odd = liars(faults, robots, &mut generator(faults.seed, Purpose::Air, swarm << 32 | EVERYBODY));
    let gone = faults.events.kills.iter().map(|kill| kill.robot);
    gone.chain(faults.events.drops.iter().map(|drop| drop.robot)).for_each(|robot| odd[robot] = true);
    odd
}

/// Who lies: a share of the swarm, drawn by lot.
fn liars(faults: &Faults, robots: usize, random: &mut ChaCha8Rng) -> Vec<bool> {
    let share = faults.liars.map_or(0.0, |liars| liars.share);
    let count = (share * robots as f64).round() as usize;
    let mut liars: Vec<bool> = (0..robots).map(|robot| robot < count).collect();
    liars.shuffle(random);
    liars
}

/// The lie of the `number`-th liar: of all kinds, in turn.
fn lie<T: Flown>(common: &Common<T>, layout: &Layout, faults: &Faults, number: usize) -> Lie {
    let (position, velocity) = (layout.position.clone(), layout.velocity.clone());
    match faults.liars.map(|liars| liars.about) {
        Some(About::Parameters) if number.is_multiple_of(2) => {
            // As far off as is believed, towards a swarm that does not react: all of them together.
            let ball = common.behaviour.learning.ball;
            let keep = if ball > 0.0 { 1.0 - 0.99 * ball } else { -1.0 };
            Lie::Parameters(common.offline.iter().map(|x| keep * x).collect())
        }
        Some(About::Parameters) => Lie::ParametersScaled(-10.0),
        Some(About::Subtle) if number.is_multiple_of(2) => {
            // As far as its track may miss its position in the long run.
            let time = common.behaviour.interval.max(1) as f32 * common.task.period();
            let miss = 0.25 * LARGEST_ACCELERATION * time * time + BIAS_METRES;
            let speed = 0.95 * miss / TRACK_SECONDS.max(time);
            Lie::Velocity(velocity, speed)
        }
        Some(About::Subtle) => Lie::Taps(0.95 * LARGEST_TAP),
        Some(About::Velocity(speed)) => Lie::Velocity(velocity, speed),
        _ => match number % 3 {
            0 => Lie::Velocity(velocity, FALSE_SPEED),
            1 => Lie::Jumps(position, JUMP_METRES),
            _ => Lie::Taps(FALSE_TAPS),
        },
    }
}
