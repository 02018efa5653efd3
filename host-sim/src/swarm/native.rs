//! Robots in this process that speak in bytes: the firmware's node, tick and frames, with ports made of memory.

use wdgnn_core::{
    node::Node,
    robot::{LONGEST_BUFFER, NEIGHBOURS},
    safety::Verdict,
    seal::Key,
    task::{NodeId, State as _},
    tensor::Tensor as _,
    wide::Model,
};

use super::{Acquaintance, Outcome, Robots, Thoughts, typed::inside};
use crate::{
    air::{blueprint::Blueprint, body::Body, mailbox::Mailbox, voice::is_nowhere},
    error::Result,
    profiles::FlownCodec,
    scene::{Flown, Frame, Inside},
};

/// Robots in this process that speak by the codec `C`.
#[allow(missing_debug_implementations, reason = "robots are told apart by what they do")]
pub struct Native<T: Flown, M: Model, C> {
    blueprint: Blueprint<M, T>,
    key: Key,
    robots: Vec<Option<NativeRobot<T, M, C>>>,
}

impl<T, M, C> Native<T, M, C>
where
    T: Flown,
    M: Model<Features = T::Features, Output = T::Output> + Copy,
    C: FlownCodec,
{
    /// As many robots as asked for, all by one blueprint, with the swarm's key.
    #[must_use]
    pub fn new(blueprint: Blueprint<M, T>, key: &Key, robots: usize) -> Self {
        let start = |id| Some(NativeRobot::start(&blueprint, id, C::with_key(key), Body::default()));
        Self { blueprint, key: *key, robots: (0..).take(robots).map(start).collect() }
    }
}

impl<T, M, C> Robots<T> for Native<T, M, C>
where
    T: Flown,
    M: Model<Features = T::Features, Output = T::Output> + Copy + Send,
    C: FlownCodec,
{
    fn speak(&mut self, ticks: &[u32], states: &[T::State]) -> Vec<Vec<Frame>> {
        let senses = ticks.iter().zip(states);
        let robots = self.robots.iter_mut().zip(senses);
        let said = robots.map(|(robot, (tick, state))| Some(robot.as_mut()?.speak(*tick, *state)));
        said.map(Option::unwrap_or_default).collect()
    }

    fn hear(&mut self, heard: &[Vec<Frame>]) -> Vec<Option<Outcome>> {
        let robots = self.robots.iter_mut().zip(heard);
        robots.map(|(robot, frames)| robot.as_mut().map(|robot| robot.hear(frames))).collect()
    }

    fn kill(&mut self, robot: usize) {
        self.robots[robot] = None;
    }

    fn reboot(&mut self, robot: usize) -> Result {
        if let Some(off) = self.robots[robot].take() {
            let codec = C::with_key(&self.key);
            self.robots[robot] = Some(NativeRobot::start(&self.blueprint, off.node.id(), codec, off.body));
        }
        Ok(())
    }

    fn thoughts(&self, robot: usize) -> Option<Thoughts> {
        let NativeRobot { node, verdict, .. } = self.robots.get(robot)?.as_ref()?;
        let counted: Vec<NodeId> = node.trusted().map(|other| other.beacon.sender).collect();
        let known = node.neighbours().map(|other| Acquaintance {
            sender: other.beacon.sender,
            heard_now: other.heard == node.tick(),
            followed: other.known > 0,
            believed: other.proven > 0,
            counted: counted.contains(&other.beacon.sender),
            nowhere: is_nowhere(&other.beacon.state),
        });
        Some(Thoughts { verdict: *verdict, known: known.collect() })
    }

    fn inside(&self, robot: usize) -> Option<Inside<'_, T>> {
        Some(inside(&self.robots.get(robot)?.as_ref()?.node))
    }
}

/// One robot in this process.
#[allow(missing_debug_implementations, reason = "robots are told apart by what they do")]
pub struct NativeRobot<T: Flown, M: Model, C> {
    node: Node<M, T, NEIGHBOURS, C>,
    air: Mailbox,
    body: Body,
    verdict: Verdict,
}

impl<T, M, C> NativeRobot<T, M, C>
where
    T: Flown,
    M: Model<Features = T::Features, Output = T::Output> + Copy,
    C: FlownCodec,
{
    /// Starts a robot as the firmware does.
    #[must_use]
    pub fn start(blueprint: &Blueprint<M, T>, id: NodeId, codec: C, mut body: Body) -> Self {
        let mut node = blueprint.node(id, T::State::zero(), codec);
        body.resume(&mut node, &mut [0; LONGEST_BUFFER]);
        Self { node, air: Mailbox::default(), body, verdict: Verdict::Clear }
    }

    /// The first half of a tick: the robot's frames, none if it does not speak in this tick.
    pub fn speak(&mut self, tick: u32, state: T::State) -> Vec<Frame> {
        self.body.open(&mut self.node, &mut self.air, tick, state, &mut [0; LONGEST_BUFFER]);
        self.air.take_said()
    }

    /// The second half of a tick.
    pub fn hear(&mut self, frames: &[Frame]) -> Outcome {
        for frame in frames {
            self.air.put(frame.clone());
        }
        let report = self.body.close(&mut self.node, &mut self.air, &mut [0; LONGEST_BUFFER]);
        self.air.clear();
        self.verdict = report.verdict;
        Outcome::new(&report, self.node.wide().numbers())
    }
}
