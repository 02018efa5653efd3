//! The air of one swarm: what reaches whom, what strangers and impostors put into it, and who lies.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::task::NodeId;
use wdgnn_robot::{
    config::LARGEST_TAP,
    tasks::flocking::{BIAS_METERS, TRACK_SECONDS},
};

use super::{
    adversary::Adversary,
    clocks::Clocks,
    connectivity::Connectivity,
    contention::Contention,
    faulty_link::FaultyLink,
    heading,
    impostor::{Impostor, impostor},
    insider::Lie,
    key_operator::KeyOperator,
    options::{About, Faults},
    replay_attack::ReplayAttack,
    robot_clock,
    robot_config::SharedConfig,
    rx_queue::RxQueue,
    shares,
};
use crate::{
    error::Result,
    scene::{Frame, Scene, SimTask, StateLayout},
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
pub type RobotRadio = ReplayAttack<FaultyLink<RxQueue>>;

/// The air of a swarm.
#[allow(missing_debug_implementations, reason = "voices are told apart by what they say")]
pub struct Medium<'a, T> {
    /// What its robots have in common.
    pub common: SharedConfig<T>,
    /// What goes wrong.
    pub faults: Faults,
    /// Who lies.
    pub liars: Vec<bool>,
    /// Who can speak as robots do.
    pub adversary: Box<dyn Adversary + 'a>,
    random: ChaCha8Rng,
    connectivity: Connectivity,
    /// Where frames that overlap are lost.
    contention: Option<Contention>,
    /// Who speaks in others' names.
    pub impostor: Option<Impostor>,
    /// Who brings a new key.
    key_operator: Option<KeyOperator>,
}

/// What an air is to its robots, each for itself.
#[derive(Debug)]
pub struct Receivers {
    /// Their radios.
    pub radios: Vec<RobotRadio>,
    /// Their clocks.
    pub clocks: Clocks,
}

impl<'a, T: SimTask> Medium<'a, T> {
    /// The air of swarm number `swarm`, and what it is to each of its robots.
    pub fn new(
        common: SharedConfig<T>,
        mut adversary: Box<dyn Adversary + 'a>,
        layout: &StateLayout,
        faults: &Faults,
        swarm: u64,
        robots: usize,
    ) -> (Self, Receivers) {
        let mut random = generator(faults.seed, Purpose::Air, swarm << 32 | EVERYBODY);
        let liars = liars(faults, robots, &mut random);
        let identity = adversary.identity();
        let mut lies = 0;
        let (mut radios, mut ahead) = (Vec::with_capacity(robots), Vec::with_capacity(robots));
        for (robot, lies_too) in liars.iter().enumerate() {
            if *lies_too {
                adversary.teach(robot, lie(&common, layout, faults, lies));
                lies += 1;
            }
            let own = generator(faults.seed, Purpose::Air, swarm << 32 | robot as u64);
            let air = FaultyLink::new(RxQueue::default(), faults.radio, identity, own);
            radios.push(ReplayAttack::new(air, faults.replay));
            ahead.push(random.random_range(0..=2 * faults.skew));
        }
        let timing = robot_clock::timing(common.task.period(), common.behaviour.interval);
        let clocks = Clocks::new(&faults.clocks, faults.seed, swarm, ahead, timing);
        let contention = adversary
            .radio()
            .filter(|_| faults.collisions)
            .map(|radio| Contention::new(radio, common.task.period(), faults.seed, swarm));
        let key_operator = KeyOperator::new(faults, adversary.tag_bytes(), robots);
        let medium = Self {
            key_operator,
            common,
            liars,
            adversary,
            random,
            connectivity: Connectivity::new(faults, swarm),
            contention,
            impostor: Impostor::new(faults, layout, swarm, robots),
            faults: faults.clone(),
        };
        (medium, Receivers { radios, clocks })
    }

    /// Whether a robot tells where it is.
    pub fn truthful(&self, robot: usize) -> bool {
        let lies = self.faults.liars.is_some_and(|liars| matches!(liars.about, About::State));
        !(lies && self.liars[robot])
    }

    /// Whether the air carries from one robot to another at this tick.
    pub fn carries(&self, tick: u32, from: usize, to: usize) -> bool {
        self.connectivity.carries(&self.faults, tick, from, to)
    }

    /// Whose frame this is.
    pub fn speaker(&self, frame: &[u8]) -> Option<usize> {
        Some(self.adversary.identity()(frame)?.sender.into())
    }

    /// Changes what a liar said at its tick `now`.
    pub fn lie(&mut self, robot: usize, now: u32, frames: &mut [Frame]) -> Result {
        self.adversary.lie(robot, now, frames)
    }

    /// Lets everybody hear what reaches it: what strangers and impostors say, and what others `said`. Returns how many frames were
    /// forged.
    pub fn carry(
        &mut self,
        scene: &Scene<'_, T::State>,
        said: &[Vec<Frame>],
        mut put: impl FnMut(usize, &Frame),
    ) -> usize {
        self.connectivity.begin(&self.faults, scene);
        let exchanges = scene.tick.is_multiple_of(self.common.behaviour.interval.max(1));
        let forged = if exchanges { self.forge(scene.tick) } else { Vec::new() };
        let brought = self.key_operator.as_mut().filter(|_| exchanges);
        let brought =
            brought.and_then(|key_operator| Some((key_operator.listener, key_operator.say(scene.tick)?)));
        let Self { adversary, impostor, .. } = self;
        let spoofed = impostor.as_ref().map_or(Vec::new(), |one| one.spoof(scene, adversary.as_mut()));
        let invented = match impostor {
            Some(one) if exchanges => one.invent(scene, adversary.as_mut()),
            _ => Vec::new(),
        };
        if let Some(contention) = &mut self.contention {
            contention.send(scene.links, said);
        }
        if self.connectivity.deaf() {
            return 0;
        }
        if let Some((listener, frame)) = &brought {
            put(*listener, frame);
        }
        for robot in 0..said.len() {
            // Lies come first: were they believed, they would displace what is true.
            for frame in forged.iter().chain(&spoofed) {
                put(robot, frame);
            }
            for &other in scene.links.of(robot) {
                let other = other as usize;
                if !self.connectivity.carries(&self.faults, scene.tick, other, robot) {
                    continue;
                }
                if self.impostor.as_ref().is_some_and(|one| one.robot() == other) {
                    for frame in &invented {
                        put(robot, frame);
                    }
                }
                for (index, frame) in said[other].iter().enumerate() {
                    let collides = |air: &Contention| air.collides(scene.links, robot, other, index);
                    if !self.contention.as_ref().is_some_and(collides) {
                        put(robot, frame);
                    }
                }
            }
        }
        forged.len() * said.len()
    }

    /// Frames of somebody without the swarm's key, in the name of robots that are there.
    fn forge(&mut self, tick: u32) -> Vec<Frame> {
        let (robots, skew) = (self.liars.len(), self.faults.skew);
        let forge = |_| {
            let sender = self.random.random_range(0..robots) as NodeId;
            self.adversary.forge(sender, tick, skew)
        };
        (0..self.faults.forge).filter_map(forge).collect()
    }
}

/// The robots of swarm number `swarm` that lie or are at fault, are taken out, out of contact or late: what they do themselves does not
/// count.
pub fn odd_ones_out(faults: &Faults, swarm: u64, robots: usize) -> Vec<bool> {
    let mut odd = liars(faults, robots, &mut generator(faults.seed, Purpose::Air, swarm << 32 | EVERYBODY));
    let lots = [
        faults.drives.failing(faults.seed, swarm, robots),
        faults.senses.failing(faults.seed, swarm, robots),
        heading::drawn_robots(faults.senses.heading, faults.seed, swarm, robots),
        late(faults, swarm, robots),
    ];
    for lot in lots {
        odd.iter_mut().zip(lot).for_each(|(odd, drawn)| *odd |= drawn);
    }
    let gone = faults.events.kills.iter().map(|kill| kill.robot);
    let silent = faults.events.drops.iter().map(|drop| drop.robot);
    let expelled = faults.expelled.iter().copied();
    gone.chain(silent)
        .chain(expelled)
        .chain(impostor(faults, swarm, robots))
        .for_each(|robot| odd[robot] = true);
    odd
}

/// Who joins in flight.
pub fn late(faults: &Faults, swarm: u64, robots: usize) -> Vec<bool> {
    shares::of(faults.join.map(|join| join.share), faults.seed, Purpose::Joins, swarm, robots)
}

/// Who lies: a share of the swarm, drawn by lot.
fn liars(faults: &Faults, robots: usize, random: &mut ChaCha8Rng) -> Vec<bool> {
    shares::draw(faults.liars.map_or(0.0, |liars| liars.share), robots, random)
}

/// The lie of the `number`-th liar: of all kinds, in turn.
fn lie<T: SimTask>(common: &SharedConfig<T>, layout: &StateLayout, faults: &Faults, number: usize) -> Lie {
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
            let miss = 0.25 * LARGEST_ACCELERATION * time * time + BIAS_METERS;
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
