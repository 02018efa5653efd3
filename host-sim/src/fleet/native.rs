//! Robots in this process: the firmware's node, tick and frames, with ports made of memory.

use std::{collections::VecDeque, convert::Infallible};

use firmware::emulation::Outcome;
use wdgnn_core::{
    codec::Exact,
    flocking::Motion,
    ports::{Actuator, Ports, Radio, Sensor, Store},
    restart,
    robot::{self, BUFFER_BYTES, Robot},
    task::NodeId,
    tick::{self, PortErrors},
    weights::Weights,
};

use super::Fleet;
use crate::{error::Result, model::ModelFile};

/// Robots in this process.
#[derive(Debug)]
pub struct Native<'w> {
    weights: Weights<'w>,
    robots: Vec<Option<NativeRobot<'w>>>,
}

impl<'w> Native<'w> {
    /// As many robots as asked for, all flying `model`.
    ///
    /// # Errors
    /// [`crate::error::Error::Model`] when it is a model for other robots.
    pub fn new(model: &'w ModelFile, robots: usize) -> Result<Self> {
        let weights = model.weights();
        let start = |id| NativeRobot::start(id, &weights, Memory::default()).map(Some);
        let robots = (0..).take(robots).map(start).collect::<std::result::Result<_, _>>();
        Ok(Self { weights, robots: robots.map_err(|source| model.unusable(source))? })
    }
}

impl Fleet for Native<'_> {
    fn speak(&mut self, tick: u32, motions: &[Motion]) -> Vec<Option<Vec<u8>>> {
        let robots = self.robots.iter_mut().zip(motions);
        robots.map(|(robot, motion)| robot.as_mut().and_then(|robot| robot.speak(tick, *motion))).collect()
    }

    fn hear(&mut self, heard: &[Vec<&[u8]>]) -> Vec<Option<Outcome>> {
        let robots = self.robots.iter_mut().zip(heard);
        robots.map(|(robot, frames)| robot.as_mut().map(|robot| robot.hear(frames))).collect()
    }

    fn kill(&mut self, robot: usize) {
        self.robots[robot] = None;
    }

    fn reboot(&mut self, robot: usize) -> Result {
        if let Some(off) = self.robots[robot].take() {
            self.robots[robot] = NativeRobot::start(off.node.id(), &self.weights, off.memory).ok();
        }
        Ok(())
    }

    fn casualties(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// One robot in this process.
#[derive(Debug)]
pub struct NativeRobot<'w> {
    node: Robot<'w>,
    errors: PortErrors,
    air: Air,
    memory: Memory,
}

impl<'w> NativeRobot<'w> {
    /// Starts a robot as the firmware does.
    ///
    /// # Errors
    /// When the model is for other robots.
    pub fn start(
        id: NodeId,
        weights: &Weights<'w>,
        mut memory: Memory,
    ) -> std::result::Result<Self, wdgnn_core::weights::WeightsError> {
        let mut node = robot::robot(id, weights, Exact)?;
        // The memory's errors are `Infallible`; a record of another model leaves the offline parameters in place.
        let _resumed = restart::resume(&mut node, &mut memory, &mut [0; BUFFER_BYTES]);
        Ok(Self { node, errors: PortErrors::default(), air: Air::default(), memory })
    }

    /// The first half of a tick: the robot's frame, if it speaks in this tick.
    pub fn speak(&mut self, tick: u32, motion: Motion) -> Option<Vec<u8>> {
        let mut ports = Ports {
            radio: &mut self.air,
            sensor: &mut Eyes(motion),
            actuator: &mut Motors,
            store: &mut self.memory,
        };
        self.errors = tick::open(&mut self.node, tick, &mut ports, &mut [0; BUFFER_BYTES]);
        self.air.said.take()
    }

    /// The second half of a tick.
    pub fn hear(&mut self, frames: &[&[u8]]) -> Outcome {
        self.air.heard = frames.iter().map(|frame| frame.to_vec()).collect();
        let mut ports = Ports {
            radio: &mut self.air,
            sensor: &mut Eyes(*self.node.state()),
            actuator: &mut Motors,
            store: &mut self.memory,
        };
        let report = tick::close(&mut self.node, &mut ports, &mut [0; BUFFER_BYTES], self.errors);
        self.air.heard.clear();
        Outcome::new(&report, self.node.wide())
    }
}

#[derive(Debug, Default)]
struct Air {
    said: Option<Vec<u8>>,
    heard: VecDeque<Vec<u8>>,
}

impl Radio for Air {
    type Error = Infallible;

    fn send(&mut self, frame: &[u8]) -> std::result::Result<(), Infallible> {
        self.said = Some(frame.to_vec());
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> std::result::Result<Option<usize>, Infallible> {
        Ok(self.heard.pop_front().map(|frame| {
            buffer.iter_mut().zip(&frame).for_each(|(to, from)| *to = *from);
            frame.len()
        }))
    }
}

struct Eyes(Motion);

impl Sensor<Motion> for Eyes {
    type Error = Infallible;

    fn sense(&mut self) -> std::result::Result<Motion, Infallible> {
        Ok(self.0)
    }
}

/// The command is in the tick's outcome.
struct Motors;

impl Actuator<[f32; 2]> for Motors {
    type Error = Infallible;

    fn act(&mut self, _: &[f32; 2]) -> std::result::Result<(), Infallible> {
        Ok(())
    }
}

/// What a robot keeps while it is off.
#[derive(Clone, Debug, Default)]
pub struct Memory(Option<Vec<u8>>);

impl Store for Memory {
    type Error = Infallible;

    fn load(&mut self, buffer: &mut [u8]) -> std::result::Result<Option<usize>, Infallible> {
        Ok(self.0.as_ref().map(|bytes| {
            buffer.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            bytes.len()
        }))
    }

    fn save(&mut self, bytes: &[u8]) -> std::result::Result<(), Infallible> {
        self.0 = Some(bytes.to_vec());
        Ok(())
    }
}
