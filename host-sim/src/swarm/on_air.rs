//! A swarm that talks byte by byte, with everything that goes wrong.

use std::collections::BTreeMap;

use wdgnn_core::{flocking::Motion, seal::Key, task::NodeId, tensor::Tensor as _, wide::Model};

use super::{
    mailbox::Frame,
    medium::{Blueprint, Medium, NOWHERE},
    options::Faults,
    robot::AirRobot,
    tally::Tally,
};
use crate::{
    flight::{Pilot, Scene},
    profiles::LinkCodec,
    swarm::disagreement,
};

/// A simulated swarm's key. Real swarms have their own, from a file.
pub const KEY: Key = *b"simulated swarm.";

/// Robots in the air.
#[derive(Debug)]
pub struct AirSwarm<M: Model, P: LinkCodec> {
    medium: Medium<M, P::Sealed>,
    robots: Vec<AirRobot<M, P>>,
    learns: bool,
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
        let (medium, members) = Medium::new(blueprint, faults, swarm, start.len());
        let robots = (0..).zip(start).zip(members);
        let robots = robots.map(|((id, motion), member)| AirRobot::new(&blueprint, id, *motion, member));
        Self {
            medium,
            robots: robots.collect(),
            learns,
            killed: vec![None; start.len()],
            returning: Vec::new(),
            deceived: BTreeMap::new(),
            tally: Tally::default(),
        }
    }

    /// Does to single robots what is to be done before this tick.
    fn intervene(&mut self, scene: &Scene<'_>) {
        for robot in self.medium.faults.events.kills_at(scene.tick) {
            self.robots[robot].node = None;
            self.killed[robot] = Some(scene.tick);
        }
        for robot in self.medium.faults.events.reboots_at(scene.tick) {
            if self.robots[robot].node.is_some() {
                self.robots[robot].start(&self.medium.blueprint, robot as NodeId, scene.motions[robot]);
                self.returning.push((robot, scene.tick));
            }
        }
    }

    /// Looks at everybody after a tick.
    fn inspect(&mut self, scene: &Scene<'_>) {
        let mut deceived = BTreeMap::new();
        for (robot, lies) in self.robots.iter().zip(&self.medium.liars) {
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
            for neighbour in
                node.neighbours().filter(|other| !lies && other.heard == node.tick() && other.known > 0)
            {
                let liar = self.medium.liars[usize::from(neighbour.beacon.sender)];
                let words = if liar { &mut self.tally.lies } else { &mut self.tally.truths };
                words.told += 1;
                words.refused += u64::from(neighbour.proven == 0);
            }
            let liars = |id: NodeId| !lies && self.medium.liars[usize::from(id)];
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
        let rounding = 1.0e-6 * self.medium.blueprint.model.offline().norm();
        tally.learned_alone += u64::from(alone && before.distance(node.wide()) > rounding);
        let limit = self.medium.blueprint.task.limit;
        let ball =
            self.medium.blueprint.behaviour.learning.ball * self.medium.blueprint.model.offline().norm();
        let sound = report.command.iter().all(|u| u.abs() <= limit)
            && node.wide().admissible()
            // Rounding on the ball's surface.
            && (ball <= 0.0 || node.wide().distance(self.medium.blueprint.model.offline()) <= 1.001 * ball);
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
        let sensed = self.medium.sense(scene.motions);
        let said: Vec<Vec<Frame>> = (self.robots.iter_mut().zip(&sensed))
            .map(|(robot, motion)| robot.speak(scene.tick, *motion))
            .collect();
        let robots = &mut self.robots;
        let forged =
            self.medium.carry(scene, &said, |robot, frame| robots[robot].mailbox().put(frame.clone()));
        self.tally.forged += forged as u64;
        commands.clear();
        commands.extend((0..self.robots.len()).map(|robot| self.conclude(robot)));
        self.inspect(scene);
    }

    fn disagreement(&self) -> Option<f64> {
        let offline = f64::from(self.medium.blueprint.model.offline().norm());
        let honest = self.robots.iter().zip(&self.medium.liars).filter(|(_, lies)| !**lies);
        let nodes: Vec<_> = honest.filter_map(|(robot, _)| robot.node.as_ref()).collect();
        if !self.learns || offline == 0.0 || nodes.is_empty() {
            return None;
        }
        Some(disagreement(nodes.iter().map(|node| node.wide())) / offline)
    }

    fn tally(&self) -> Option<Tally> {
        let replayed = self.robots.iter().map(AirRobot::replayed).sum();
        Some(Tally { replayed, ..self.tally.clone() })
    }
}
