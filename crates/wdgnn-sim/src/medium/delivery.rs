//! Frame delivery in one swarm: receivers of each frame, attackers and liars.

use std::sync::Arc;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::task::NodeId;
use wdgnn_robot::{
    config::MAX_TAP,
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
    insider::{About, Lie},
    key_operator::KeyOperator,
    motors,
    options::Faults,
    replay_attack::ReplayAttack,
    robot_clock,
    robot_config::SharedConfig,
    rx_queue::RxQueue,
    sensors, shares,
};
use crate::{
    error::Result,
    scene::{Frame, Scene, SimTask, StateLayout},
    seeds::{Purpose, generator},
};

/// Index of the random stream that is not specific to a robot.
const SWARM_STREAM: u64 = 0xffff_ffff;

/// Velocity offset of liars about their state, per axis in m/s.
const FALSE_SPEED: f32 = 5.0;
/// Largest position offset of liars about their state, in meters: the radio range.
const JUMP_METRES: f32 = 2.0;
/// Tap value of liars about their state.
const FALSE_TAPS: f32 = 10_000.0;

/// Acceleration limit of flocking robots in m/s².
const LARGEST_ACCELERATION: f32 = 10.0;

/// Receive path of a robot: queue, link faults, then recorded frames of a replay attack.
pub type RobotRadio = ReplayAttack<FaultyLink<RxQueue>>;

/// Radio medium of a swarm.
#[allow(missing_debug_implementations, reason = "contains trait objects and codecs")]
pub struct Medium<'a, T> {
    /// Configuration of the robots.
    pub common: SharedConfig<T>,
    /// Faults of the episode.
    pub faults: Faults,
    /// Whether each robot lies.
    pub liars: Vec<bool>,
    /// Source of forged, impersonated and falsified frames.
    pub adversary: Box<dyn Adversary + 'a>,
    random: ChaCha8Rng,
    connectivity: Connectivity,
    /// Collision model; `None` if collisions are off.
    contention: Option<Contention>,
    /// Impostor, if the faults include one.
    pub impostor: Option<Impostor>,
    /// Operator that distributes a new key, if the faults include a key change.
    key_operator: Option<KeyOperator>,
}

/// Per-robot receive paths and clocks.
#[derive(Debug)]
pub struct Receivers {
    /// Receive path of each robot.
    pub radios: Vec<RobotRadio>,
    /// Clocks of the robots.
    pub clocks: Clocks,
}

impl<'a, T: SimTask> Medium<'a, T> {
    /// Creates the medium of swarm number `swarm` and the receivers of its robots.
    pub fn new(
        common: SharedConfig<T>, mut adversary: Box<dyn Adversary + 'a>, layout: &StateLayout,
        faults: &Faults, swarm: u64, robots: usize,
    ) -> (Self, Receivers) {
        let mut random = generator(faults.seed, Purpose::Air, swarm << 32 | SWARM_STREAM);
        let liars = liars(faults, robots, &mut random);
        let reader = adversary.reader();
        let mut lies = 0;
        let shared = Arc::new(faults.clone());
        let (mut radios, mut ahead) = (Vec::with_capacity(robots), Vec::with_capacity(robots));
        for (robot, is_liar) in liars.iter().enumerate() {
            if *is_liar {
                adversary.set_lie(robot, lie(&common, layout, faults, lies));
                lies += 1;
            }
            let own = generator(faults.seed, Purpose::Air, swarm << 32 | robot as u64);
            let air = FaultyLink::new(RxQueue::default(), shared.clone(), reader, own);
            radios.push(ReplayAttack::new(air, faults.replay));
            ahead.push(random.random_range(0..=2 * faults.skew));
        }
        let timing = robot_clock::timing(common.task().period(), common.robot.exchange_interval);
        let clocks = Clocks::new(faults, swarm, ahead, timing);
        let contention = adversary
            .radio()
            .filter(|_| faults.collisions)
            .map(|radio| Contention::new(radio, common.task().period(), faults.seed, swarm));
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

    /// Returns whether a robot reports its true position.
    pub fn reports_true_position(&self, robot: usize) -> bool {
        let lies = self.faults.liars.is_some_and(|liars| matches!(liars.about, About::State));
        !(lies && self.liars[robot])
    }

    /// Returns whether frames from one robot can reach another one at this tick.
    pub fn carries(&self, tick: u32, from: usize, to: usize) -> bool {
        self.connectivity.carries(&self.faults, tick, from, to)
    }

    /// Returns the sender address of a frame.
    pub fn sender(&self, frame: &[u8]) -> Option<usize> {
        Some(self.adversary.reader()(frame, 0)?.sender.into())
    }

    /// Falsifies the frames that a liar sent at its tick `now`.
    pub fn falsify(&mut self, robot: usize, now: u32, frames: &mut [Frame]) -> Result {
        self.adversary.falsify(robot, now, frames)
    }

    /// Delivers frames of robots and attackers by calling `put` for each receiver.
    ///
    /// `said` holds each robot's frames. Returns the number of forged frames that were delivered.
    pub fn deliver(
        &mut self, scene: &Scene<'_, T::State>, said: &[Vec<Frame>], mut put: impl FnMut(usize, &Frame),
    ) -> usize {
        self.connectivity.begin_tick(&self.faults, scene);
        let exchanges = scene.tick.is_multiple_of(self.common.robot.exchange_interval.max(1));
        let forged = if exchanges { self.forge(scene.tick) } else { Vec::new() };
        let key_update = self.key_operator.as_mut().filter(|_| exchanges);
        let key_update = key_update
            .and_then(|key_operator| Some((key_operator.receiver, key_operator.next_frame(scene.tick)?)));
        let Self { adversary, impostor, .. } = self;
        let spoofed =
            impostor.as_ref().map_or(Vec::new(), |one| one.spoofed_frames(scene, adversary.as_mut()));
        let invented = match impostor {
            Some(one) if exchanges => one.sybil_frames(scene, adversary.as_mut()),
            _ => Vec::new(),
        };
        if let Some(contention) = &mut self.contention {
            contention.send(scene.links, said);
        }
        if self.connectivity.is_jammed() {
            return 0;
        }
        if let Some((listener, frame)) = &key_update {
            put(*listener, frame);
        }
        for robot in 0..said.len() {
            // False frames come first: if receivers accepted them, they would displace true ones.
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

    /// Returns frames in the names of existing robots, made without the group key.
    fn forge(&mut self, tick: u32) -> Vec<Frame> {
        let (robots, skew) = (self.liars.len(), self.faults.skew);
        let forge = |_| {
            let sender = self.random.random_range(0..robots) as NodeId;
            self.adversary.forge(sender, tick, skew)
        };
        (0..self.faults.forge).filter_map(forge).collect()
    }
}

/// Returns the robots of swarm number `swarm` that are faulty, hostile, absent or late.
///
/// Their own behavior does not count in the fault table.
pub fn excluded_robots(faults: &Faults, swarm: u64, robots: usize) -> Vec<bool> {
    let mut excluded =
        liars(faults, robots, &mut generator(faults.seed, Purpose::Air, swarm << 32 | SWARM_STREAM));
    let lots = [
        motors::failing(faults, swarm, robots),
        sensors::failing(faults, swarm, robots),
        heading::affected_robots(faults, swarm, robots),
        late_robots(faults, swarm, robots),
    ];
    for lot in lots {
        excluded.iter_mut().zip(lot).for_each(|(excluded, drawn)| *excluded |= drawn);
    }
    let gone = faults.kill.iter().map(|kill| kill.robot);
    let silent = faults.radio_outage.iter().map(|drop| drop.robot);
    let expelled = faults.expel.iter().copied();
    gone.chain(silent)
        .chain(expelled)
        .chain(impostor(faults, swarm, robots))
        .for_each(|robot| excluded[robot] = true);
    excluded
}

/// Draws the robots that are switched on during the episode.
pub fn late_robots(faults: &Faults, swarm: u64, robots: usize) -> Vec<bool> {
    shares::of(faults.join.map(|join| join.share), faults.seed, Purpose::Joins, swarm, robots)
}

/// Draws the liars.
fn liars(faults: &Faults, robots: usize, random: &mut ChaCha8Rng) -> Vec<bool> {
    shares::draw(faults.liars.map_or(0.0, |liars| liars.share), robots, random)
}

/// Returns the lie of the `number`-th liar; liars take turns through all kinds.
fn lie<T: SimTask>(common: &SharedConfig<T>, layout: &StateLayout, faults: &Faults, number: usize) -> Lie {
    let (position, velocity) = (layout.position.clone(), layout.velocity.clone());
    match faults.liars.map(|liars| liars.about) {
        Some(About::Parameters) if number.is_multiple_of(2) => {
            // Just inside the accepted ball, toward parameters of zero. All such liars agree.
            let ball = common.robot.agent.learning.ball;
            let keep = if ball > 0.0 { 1.0 - 0.99 * ball } else { -1.0 };
            Lie::Parameters(common.offline.iter().map(|x| keep * x).collect())
        }
        Some(About::Parameters) => Lie::ParametersScaled(-10.0),
        Some(About::Subtle) if number.is_multiple_of(2) => {
            // Just below the long-term position error that receivers accept for a track.
            let time = common.robot.exchange_interval.max(1) as f32 * common.task().period();
            let miss = 0.25 * LARGEST_ACCELERATION * time * time + BIAS_METERS;
            let speed = 0.95 * miss / TRACK_SECONDS.max(time);
            Lie::Velocity(velocity, speed)
        }
        Some(About::Subtle) => Lie::Taps(0.95 * MAX_TAP),
        Some(About::Velocity(speed)) => Lie::Velocity(velocity, speed),
        _ => match number % 3 {
            0 => Lie::Velocity(velocity, FALSE_SPEED),
            1 => Lie::Jumps(position, JUMP_METRES),
            _ => Lie::Taps(FALSE_TAPS),
        },
    }
}
