//! Robots in this process: the firmware's node, tick and frames, with ports made of memory.

use wdgnn_core::{
    codec::{Codec, Exact},
    flocking::Motion,
    robot::{self, BUFFER_BYTES, Robot},
    seal::Key,
    task::NodeId,
    weights::Weights,
};

use super::{Fleet, Outcome, body::Body};
use crate::{
    air::mailbox::{Frame, Mailbox},
    error::Result,
    model::ModelFile,
    profiles::FlownCodec,
};

/// Robots in this process that speak by the codec `C`.
#[derive(Debug)]
pub struct Native<'w, C> {
    weights: Weights<'w>,
    key: Key,
    robots: Vec<Option<NativeRobot<'w, C>>>,
}

impl<'w, C: FlownCodec> Native<'w, C> {
    /// As many robots as asked for, all flying `model`, with the swarm's key.
    ///
    /// # Errors
    /// [`crate::error::Error::Model`] when it is a model for other robots.
    pub fn new(model: &'w ModelFile, key: &Key, robots: usize) -> Result<Self> {
        let weights = model.weights();
        let start = |id| NativeRobot::start(id, &weights, C::with_key(key), Body::default()).map(Some);
        let robots = (0..).take(robots).map(start).collect::<std::result::Result<_, _>>();
        Ok(Self { weights, key: *key, robots: robots.map_err(|source| model.unusable(source))? })
    }
}

impl<C: FlownCodec> Fleet for Native<'_, C> {
    fn speak(&mut self, ticks: &[u32], motions: &[Motion]) -> Vec<Vec<Frame>> {
        let senses = ticks.iter().zip(motions);
        let robots = self.robots.iter_mut().zip(senses);
        let said = robots.map(|(robot, (tick, motion))| Some(robot.as_mut()?.speak(*tick, *motion)));
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
            self.robots[robot] = NativeRobot::start(off.node.id(), &self.weights, codec, off.body).ok();
        }
        Ok(())
    }

    fn casualties(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// One robot in this process.
#[derive(Debug)]
pub struct NativeRobot<'w, C = Exact> {
    node: Robot<'w, C>,
    air: Mailbox,
    body: Body,
}

impl<'w, C: Codec> NativeRobot<'w, C> {
    /// Starts a robot as the firmware does.
    ///
    /// # Errors
    /// When the model is for other robots.
    pub fn start(
        id: NodeId,
        weights: &Weights<'w>,
        codec: C,
        mut body: Body,
    ) -> std::result::Result<Self, wdgnn_core::weights::WeightsError> {
        let mut node = robot::robot(id, weights, codec)?;
        body.resume(&mut node, &mut [0; BUFFER_BYTES]);
        Ok(Self { node, air: Mailbox::default(), body })
    }

    /// The first half of a tick: the robot's frames, none if it does not speak in this tick.
    pub fn speak(&mut self, tick: u32, motion: Motion) -> Vec<Frame> {
        self.body.open(&mut self.node, &mut self.air, tick, motion, &mut [0; BUFFER_BYTES]);
        self.air.take_said()
    }

    /// The second half of a tick.
    pub fn hear(&mut self, frames: &[Frame]) -> Outcome {
        for frame in frames {
            self.air.put(frame.clone());
        }
        let report = self.body.close(&mut self.node, &mut self.air, &mut [0; BUFFER_BYTES]);
        self.air.clear();
        Outcome::new(&report, self.node.wide().rows())
    }
}
