//! A swarm that talks byte by byte, with everything that goes wrong.

use std::collections::BTreeMap;

use rand::{RngExt as _, seq::SliceRandom as _};
use rand_chacha::ChaCha8Rng;
use wdgnn_core::{
    Beacon,
    codec::Codec as _,
    flocking::{Motion, SLACK_METRES, TRACK_SECONDS},
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
    robot::{AirRobot, Blueprint},
    tally::Tally,
};
use crate::{
    flight::{Pilot, Scene},
    profiles::LinkCodec,
    seeds::{Purpose, generator},
    swarm::LONGEST_FRAME,
};

/// A simulated swarm's key. Real swarms have their own, from a file.
pub const KEY: Key = *b"simulated swarm.";
/// The key of somebody else.
const WRONG_KEY: Key = *b"somebody else's.";

/// The stream of random numbers that is not one robot's own.
const EVERYBODY: u64 = 0xffff_ffff;

/// Forged frames say that they come from here, in metres: if a robot ever has such a neighbour, it was fooled.
const NOWHERE: f32 = 50_000.0;

/// What state liars say: faster by this much per axis, in m/s;
const FALSE_SPEED: f32 = 5.0;
/// somewhere else within so many metres, the radio's range;
const JUMP_METRES: f32 = 2.0;
/// taps of this size.
const FALSE_TAPS: f32 = 10_000.0;

/// Robots in the air.
#[derive(Debug)]
pub struct AirSwarm<M: Model, P: LinkCodec> {
    blueprint: Blueprint<M>,
    robots: Vec<AirRobot<M, P>>,
    liars: Vec<bool>,
    faults: Faults,
    learns: bool,
    forger: P::Sealed,
    random: ChaCha8Rng,
    /// In a partition, the side that each robot is on.
    sides: Vec<bool>,
    killed: Vec<Option<u32>>,
    /// Robots that were restarted, each with the tick, until they are back.
    returning: Vec<(usize, u32)>,
    /// How often in a row an honest robot has believed a liar.
    deceived: BTreeMap<(NodeId, NodeId), u32>,
    tally: Tally,
}

impl<M, P> AirSwarm<M, P>
where
    M: Model<Features = [f32; 6], Output = [f32; 2]> + Copy,
    P: LinkCodec,
{
    /// Swarm number `swarm` at its start; `learns` tells whether its robots' parameters can differ.
    pub fn new(blueprint: Blueprint<M>, faults: &Faults, swarm: u64, learns: bool, start: &[Motion]) -> Self {
        let mut random = generator(faults.seed, Purpose::Air, swarm << 32 | EVERYBODY);
        let liars = liars(faults, start.len(), &mut random);
        let mut lies = 0;
        let robots = (0..).zip(start).zip(&liars).map(|((id, motion), lies_too): ((NodeId, _), _)| {
            let lie = lies_too.then(|| lie(&blueprint, faults, lies));
            lies += usize::from(*lies_too);
            let own = generator(faults.seed, Purpose::Air, swarm << 32 | u64::from(id));
            let air = Faulty::new(Mailbox::default(), faults.radio, P::identity, own);
            let radio = Replaying::new(air, faults.replay);
            let ahead = random.random_range(0..=2 * faults.skew);
            AirRobot::new(&blueprint, id, *motion, lie, radio, ahead)
        });
        Self {
            blueprint,
            robots: robots.collect(),
            liars,
            faults: faults.clone(),
            learns,
            forger: P::sealed(&WRONG_KEY),
            random,
            sides: Vec::new(),
            killed: vec![None; start.len()],
            returning: Vec::new(),
            deceived: BTreeMap::new(),
            tally: Tally::default(),
        }
    }

    /// Does to single robots what is to be done before this tick.
    fn intervene(&mut self, scene: &Scene<'_>) {
        for robot in self.faults.events.kills_at(scene.tick) {
            self.robots[robot].node = None;
            self.killed[robot] = Some(scene.tick);
        }
        for robot in self.faults.events.reboots_at(scene.tick) {
            if self.robots[robot].node.is_some() {
                self.robots[robot].start(&self.blueprint, robot as NodeId, scene.motions[robot]);
                self.returning.push((robot, scene.tick));
            }
        }
        if self.faults.partition.as_ref().is_some_and(|ticks| ticks.start == scene.tick) {
            // West and east of the middle robot.
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

    /// Frames with a wrong key: from nowhere, in the name of robots that are there, newer than theirs.
    fn forge(&mut self, tick: u32) -> Vec<Frame> {
        let Some(link) = self.robots.iter().find_map(|robot| robot.node.as_ref()).map(|node| *node.link())
        else {
            return Vec::new();
        };
        let count = self.faults.forge;
        (0..count)
            .filter_map(|_| {
                let sender = self.random.random_range(0..self.robots.len()) as NodeId;
                let sequence = (tick + self.faults.skew) * P::FRAMES + P::FRAMES;
                let state = Motion { position: [NOWHERE; 2], velocity: [0.0; 2] };
                let (chains, wide) = (M::Chains::ZERO, *self.blueprint.model.offline());
                let beacon = Beacon { sender, boot: 0, sequence, degree: 0, state, chains, wide };
                let mut buffer = [0; LONGEST_FRAME];
                let length = self.forger.encode(&link, &beacon, tick, 0, &mut buffer)?;
                buffer.get(..length).map(Frame::from)
            })
            .collect()
    }

    /// Looks at everybody after a tick.
    fn inspect(&mut self, scene: &Scene<'_>) {
        let mut deceived = BTreeMap::new();
        for (robot, lies) in self.robots.iter().zip(&self.liars) {
            let Some(node) = &robot.node else { continue };
            for neighbour in node.neighbours() {
                let other = usize::from(neighbour.beacon.sender);
                if neighbour.beacon.state.position[0] > NOWHERE / 2.0 {
                    self.tally.fooled += 1;
                }
                if let Some(Some(tick)) = self.killed.get(other) {
                    self.tally.longest_stale = self.tally.longest_stale.max(scene.tick - tick);
                }
            }
            let liars = |id: NodeId| !lies && self.liars[usize::from(id)];
            for liar in node.trusted().filter(|other| liars(other.beacon.sender)) {
                let pair = (node.id(), liar.beacon.sender);
                let before = self.deceived.get(&pair).copied().unwrap_or_default();
                let times = before + u32::from(liar.heard == node.tick());
                self.tally.longest_deceived = self.tally.longest_deceived.max(times);
                deceived.insert(pair, times);
            }
        }
        self.deceived = deceived;
        let returning = std::mem::take(&mut self.returning);
        for (robot, since) in returning {
            self.tally.longest_return = self.tally.longest_return.max(scene.tick - since);
            if !self.is_back(robot, scene) {
                self.returning.push((robot, since));
            }
        }
    }

    fn is_back(&self, robot: usize, scene: &Scene<'_>) -> bool {
        let counts_somebody =
            self.robots[robot].node.as_ref().is_some_and(|node| node.trusted().next().is_some());
        let in_range = scene.links.of(robot);
        let counted = in_range.iter().filter(|&&other| {
            let node = self.robots[other as usize].node.as_ref();
            node.is_some_and(|node| node.trusted().any(|n| usize::from(n.beacon.sender) == robot))
        });
        // Nobody in range is nobody to be back with.
        in_range.is_empty() || (counts_somebody && 2 * counted.count() >= in_range.len())
    }

    /// Closes a robot's tick and checks what must always hold.
    fn conclude(&mut self, index: usize) -> [f32; 2] {
        let robot = &mut self.robots[index];
        let before = robot.node.as_ref().map(|node| *node.wide());
        let Some(report) = robot.hear() else { return [0.0; 2] };
        let (Some(node), Some(before)) = (&robot.node, before) else { return [0.0; 2] };
        let tally = &mut self.tally;
        tally.heard += u64::from(report.heard);
        tally.most_heard = tally.most_heard.max(report.heard);
        tally.refused.add(&report.refused);
        tally.judge(report.verdict);
        let alone = node.trusted().next().is_none();
        // A projection onto the ball rounds anew in every tick.
        let rounding = 1.0e-6 * self.blueprint.model.offline().norm();
        tally.learned_alone += u64::from(alone && before.distance(node.wide()) > rounding);
        let limit = self.blueprint.task.limit;
        let ball = self.blueprint.behaviour.learning.ball * self.blueprint.model.offline().norm();
        let sound = report.command.iter().all(|u| u.abs() <= limit)
            && node.wide().admissible()
            // Rounding on the ball's surface.
            && (ball <= 0.0 || node.wide().distance(self.blueprint.model.offline()) <= 1.001 * ball);
        tally.violations += u64::from(!sound);
        report.command
    }
}

impl<M, P> Pilot for AirSwarm<M, P>
where
    M: Model<Features = [f32; 6], Output = [f32; 2]> + Copy,
    P: LinkCodec,
{
    fn fly(&mut self, scene: &Scene<'_>, commands: &mut Vec<[f32; 2]>) {
        self.intervene(scene);
        let said: Vec<Vec<Frame>> = (self.robots.iter_mut().zip(scene.motions))
            .map(|(robot, motion)| robot.speak(scene.tick, *motion))
            .collect();
        let exchanges = scene.tick.is_multiple_of(self.blueprint.behaviour.exchange.max(1));
        let forged = if exchanges { self.forge(scene.tick) } else { Vec::new() };
        for robot in 0..self.robots.len() {
            // Lies come first: were they believed, they would displace what is true.
            self.tally.forged += forged.len() as u64;
            for frame in &forged {
                self.robots[robot].mailbox().put(frame.clone());
            }
            for &other in scene.links.of(robot) {
                if self.carries(scene.tick, other as usize, robot) {
                    for frame in &said[other as usize] {
                        self.robots[robot].mailbox().put(frame.clone());
                    }
                }
            }
        }
        commands.clear();
        commands.extend((0..self.robots.len()).map(|robot| self.conclude(robot)));
        self.inspect(scene);
    }

    fn disagreement(&self) -> Option<f64> {
        let offline = f64::from(self.blueprint.model.offline().norm());
        let honest = self.robots.iter().zip(&self.liars).filter(|(_, lies)| !**lies);
        let nodes: Vec<_> = honest.filter_map(|(robot, _)| robot.node.as_ref()).collect();
        if !self.learns || offline == 0.0 || nodes.is_empty() {
            return None;
        }
        let mut mean = M::Wide::ZERO;
        for node in &nodes {
            mean.add_scaled(node.wide(), 1.0 / nodes.len() as f32);
        }
        let squares: f64 = nodes.iter().map(|node| f64::from(node.wide().distance(&mean)).powi(2)).sum();
        Some((squares / nodes.len() as f64).sqrt() / offline)
    }

    fn tally(&self) -> Option<Tally> {
        let replayed = self.robots.iter().map(|robot| robot.radio.played_frames()).sum();
        Some(Tally { replayed, ..self.tally.clone() })
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
            let time = blueprint.behaviour.exchange.max(1) as f32 * blueprint.task.period;
            let miss = 0.25 * blueprint.task.limit * time * time + SLACK_METRES;
            let speed = 0.95 * miss / TRACK_SECONDS.max(time);
            Lie::Velocity([speed, -speed])
        }
        Some(About::Subtle) => Lie::Taps(0.95 * blueprint.behaviour.largest_tap),
        _ => match number % 3 {
            0 => Lie::Velocity([FALSE_SPEED, -FALSE_SPEED]),
            1 => Lie::Jumps(JUMP_METRES),
            _ => Lie::Taps(FALSE_TAPS),
        },
    }
}
