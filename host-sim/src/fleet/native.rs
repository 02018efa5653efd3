//! Robots in this process: the firmware's node, tick and frames, with ports made of memory.

use std::convert::Infallible;

use firmware::emulation::Outcome;
use wdgnn_core::{
    codec::{Codec, Exact},
    flocking::Motion,
    ports::{Actuator, Ports, Sensor, Store},
    restart,
    robot::{self, BUFFER_BYTES, Robot},
    seal::Key,
    task::NodeId,
    tick::{self, PortErrors},
    weights::Weights,
};

use super::Fleet;
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
        let start = |id| NativeRobot::start(id, &weights, C::with_key(key), Memory::default()).map(Some);
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
            self.robots[robot] = NativeRobot::start(off.node.id(), &self.weights, codec, off.memory).ok();
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
    errors: PortErrors,
    air: Mailbox,
    memory: Memory,
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
        mut memory: Memory,
    ) -> std::result::Result<Self, wdgnn_core::weights::WeightsError> {
        let mut node = robot::robot(id, weights, codec)?;
        // The memory's errors are `Infallible`; a record of another model leaves the offline parameters in place.
        let _resumed = restart::resume(&mut node, &mut memory, &mut [0; BUFFER_BYTES]);
        Ok(Self { node, errors: PortErrors::default(), air: Mailbox::default(), memory })
    }

    /// The first half of a tick: the robot's frames, none if it does not speak in this tick.
    pub fn speak(&mut self, tick: u32, motion: Motion) -> Vec<Frame> {
        let mut ports = Ports {
            radio: &mut self.air,
            sensor: &mut Eyes(motion),
            actuator: &mut Motors,
            store: &mut self.memory,
        };
        self.errors = tick::open(&mut self.node, tick, &mut ports, &mut [0; BUFFER_BYTES]);
        self.air.take_said()
    }

    /// The second half of a tick.
    pub fn hear(&mut self, frames: &[Frame]) -> Outcome {
        for frame in frames {
            self.air.put(frame.clone());
        }
        let mut ports = Ports {
            radio: &mut self.air,
            sensor: &mut Eyes(*self.node.state()),
            actuator: &mut Motors,
            store: &mut self.memory,
        };
        let report = tick::close(&mut self.node, &mut ports, &mut [0; BUFFER_BYTES], self.errors);
        self.air.clear();
        Outcome::new(&report, self.node.wide())
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
