//! The air of one swarm: who hears whom, what strangers put into it, who lies, and whose clock is off.

use rand::{RngExt as _, seq::SliceRandom as _};
use rand_chacha::ChaCha8Rng;
use wdgnn_core::{
    Beacon,
    behaviour::{Behaviour, LARGEST_TAP},
    flocking::{BIAS_METRES, Flocking, Motion, TRACK_SECONDS},
    message::Link,
    seal::Key,
    taps::Chains as _,
    task::NodeId,
    tensor::Tensor as _,
    wide::Model,
};

use super::{
    faulty::Faulty,
    insider::Lie,
    mailbox::{Frame, Mailbox},
    options::{About, Faults},
    replaying::Replaying,
    senses::Senses,
};
use crate::{
    flight::Scene,
    profiles::FlownCodec,
    seeds::{Purpose, generator},
    swarm::LONGEST_FRAME,
};

/// The key of somebody else.
const WRONG_KEY: Key = *b"somebody else's.";

/// The stream of random numbers that is not one robot's own.
const EVERYBODY: u64 = 0xffff_ffff;

/// Forged frames say that they come from here, in metres: if a robot ever has such a neighbour, it was fooled.
pub const NOWHERE: f32 = 50_000.0;

/// What state liars say: faster by this much per axis, in m/s;
const FALSE_SPEED: f32 = 5.0;
/// somewhere else within so many metres, the radio's range;
const JUMP_METRES: f32 = 2.0;
/// taps of this size.
const FALSE_TAPS: f32 = 10_000.0;

/// A robot's radio: recordings are played beside what arrives of what the mailbox holds.
pub type RobotRadio = Replaying<Faulty<Mailbox>>;

/// What every robot of a swarm is made of.
#[derive(Clone, Copy, Debug)]
pub struct Blueprint<M> {
    /// The network.
    pub model: M,
    /// The task.
    pub task: Flocking,
    /// The weight file's checksum.
    pub checksum: u32,
    /// How it behaves.
    pub behaviour: Behaviour,
    /// The swarm's key.
    pub key: Key,
}

/// What the air is to one robot.
#[derive(Debug)]
pub struct Member {
    /// Its radio.
    pub radio: RobotRadio,
    /// By how much its clock is ahead of the world's.
    pub ahead: u32,
    /// What it lies about, if it does.
    pub lie: Option<Lie>,
}

/// The air of a swarm whose robots speak by the codec `C`.
#[derive(Debug)]
pub struct Medium<M, C> {
    /// What its robots are made of.
    pub blueprint: Blueprint<M>,
    /// What goes wrong.
    pub faults: Faults,
    /// Who lies.
    pub liars: Vec<bool>,
    senses: Senses,
    stranger: C,
    random: ChaCha8Rng,
    /// In a partition, the side that each robot is on.
    sides: Vec<bool>,
}

impl<M: Model + Copy, C: FlownCodec> Medium<M, C> {
    /// The air of swarm number `swarm`, and what it is to each of its robots.
    pub fn new(blueprint: Blueprint<M>, faults: &Faults, swarm: u64, robots: usize) -> (Self, Vec<Member>) {
        let mut random = generator(faults.seed, Purpose::Air, swarm << 32 | EVERYBODY);
        let liars = liars(faults, robots, &mut random);
        let mut lies = 0;
        let members = (0..).zip(&liars).map(|(id, lies_too): (NodeId, _)| {
            let lie = lies_too.then(|| lie(&blueprint, faults, lies));
            lies += usize::from(*lies_too);
            let own = generator(faults.seed, Purpose::Air, swarm << 32 | u64::from(id));
            let air = Faulty::new(Mailbox::default(), faults.radio, C::identity, own);
            let radio = Replaying::new(air, faults.replay);
            Member { radio, ahead: random.random_range(0..=2 * faults.skew), lie }
        });
        let members = members.collect();
        let senses = Senses::new(faults.noise, faults.seed, swarm, robots);
        let (faults, stranger) = (faults.clone(), C::with_key(&WRONG_KEY));
        (Self { blueprint, faults, liars, senses, stranger, random, sides: Vec::new() }, members)
    }

    /// What the swarm's frames are recognised by.
    pub fn link(&self) -> Link {
        Link { profile: C::profile(M::FOLDED), checksum: self.blueprint.checksum }
    }

    /// What the robots sense of where they are and how they move.
    pub fn sense(&mut self, motions: &[Motion]) -> Vec<Motion> {
        self.senses.sense(motions)
    }

    /// Lets everybody hear what reaches it: what strangers say, and what others `said`. Returns how many frames were forged.
    pub fn carry(
        &mut self,
        scene: &Scene<'_>,
        said: &[Vec<Frame>],
        mut put: impl FnMut(usize, &Frame),
    ) -> usize {
        self.part(scene);
        let exchanges = scene.tick.is_multiple_of(self.blueprint.behaviour.interval.max(1));
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
    fn part(&mut self, scene: &Scene<'_>) {
        if self.faults.partition.as_ref().is_some_and(|ticks| ticks.start == scene.tick) {
            let mut easting: Vec<f32> = scene.motions.iter().map(|motion| motion.position[0]).collect();
            easting.sort_unstable_by(f32::total_cmp);
            let middle = easting[easting.len() / 2];
            self.sides = scene.motions.iter().map(|motion| motion.position[0] < middle).collect();
        }
    }

    /// Whether the air carries from one robot to another at this tick.
    fn carries(&self, tick: u32, from: usize, to: usize) -> bool {
        let events = &self.faults.events;
        let apart = self.faults.partition.as_ref().is_some_and(|ticks| ticks.contains(&tick))
            && self.sides[from] != self.sides[to];
        !(apart || events.silent(from, tick) || events.silent(to, tick))
    }

    /// Frames of somebody without the swarm's key: from nowhere, in the name of robots that are there, newer than theirs.
    fn forge(&mut self, tick: u32) -> Vec<Frame> {
        let link = self.link();
        let count = self.faults.forge;
        (0..count)
            .filter_map(|_| {
                let sender = self.random.random_range(0..self.liars.len()) as NodeId;
                let sequence = (tick + self.faults.skew) * C::FRAMES + C::FRAMES;
                let state = Motion { position: [NOWHERE; 2], velocity: [0.0; 2] };
                let (chains, wide) = (M::Chains::ZERO, *self.blueprint.model.offline());
                let beacon = Beacon { sender, boot: 0, sequence, degree: 0, state, chains, wide };
                let mut buffer = [0; LONGEST_FRAME];
                let length = self.stranger.encode(&link, &beacon, tick, 0, &mut buffer)?;
                buffer.get(..length).map(Frame::from)
            })
            .collect()
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
fn lie<M: Model>(blueprint: &Blueprint<M>, faults: &Faults, number: usize) -> Lie {
    match faults.liars.map(|liars| liars.about) {
        Some(About::Parameters) if number.is_multiple_of(2) => {
            // As far off as is believed, towards a swarm that does not react: all of them together.
            let ball = blueprint.behaviour.learning.ball;
            let keep = if ball > 0.0 { 1.0 - 0.99 * ball } else { -1.0 };
            Lie::Parameters(blueprint.model.offline().numbers().iter().map(|x| keep * x).collect())
        }
        Some(About::Parameters) => Lie::ParametersScaled(-10.0),
        Some(About::Subtle) if number.is_multiple_of(2) => {
            // As far as its track may miss its position in the long run.
            let time = blueprint.behaviour.interval.max(1) as f32 * blueprint.task.period;
            let miss = 0.25 * blueprint.task.limit * time * time + BIAS_METRES;
            let speed = 0.95 * miss / TRACK_SECONDS.max(time);
            Lie::Velocity([speed, -speed])
        }
        Some(About::Subtle) => Lie::Taps(0.95 * LARGEST_TAP),
        Some(About::Velocity(speed)) => Lie::Velocity([speed, -speed]),
        _ => match number % 3 {
            0 => Lie::Velocity([FALSE_SPEED, -FALSE_SPEED]),
            1 => Lie::Jumps(JUMP_METRES),
            _ => Lie::Taps(FALSE_TAPS),
        },
    }
}
