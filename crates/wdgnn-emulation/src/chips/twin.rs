//! Native robot with the inputs of an emulated chip: its commands must be equal, bit for bit.

use std::{collections::VecDeque, convert::Infallible, sync::Arc};

use wdgnn_core::{task::NodeId, tasks::flocking::Flocking, weights::Weights};
use wdgnn_protocol::{
    companion::{Command, Status},
    mac,
};
use wdgnn_robot::{
    control_loop,
    onboard::{self, BUFFER_LEN, FlockingModel},
    ports::{NoStore, PortSet, Radio, ReceivedFrame},
};
use wdgnn_sim::{
    medium::{
        any_link::{AnyLink, RobotKeys},
        robot_config::SimRobot,
        rx_queue::copy_frame,
    },
    ports::{FixedSensor, RecordingActuator},
};

use super::companion::Companion;
use crate::{
    error::{Error, Result},
    profiles::Profile,
};

/// Heading in a status message that means no value.
const NO_TURN: u8 = u8::MAX;

/// Robot in this process with the image's task, network and link.
pub type NativeTwin<'w> = SimRobot<FlockingModel<'w>, Flocking>;

/// Creates a robot of this process as the image does; without keys its link is open.
pub fn native<'w>(id: NodeId, weights: &Weights<'w>, keys: Option<RobotKeys<'_>>) -> Result<NativeTwin<'w>> {
    let link = AnyLink::new(Profile::Dot154, weights.checksum, keys);
    onboard::robot_from_weights(id, weights, link).map_err(|error| Error::Failed(error.to_string()))
}

/// Native twin of one chip.
pub struct Twin<'w> {
    robot: NativeTwin<'w>,
    frames: VecDeque<Arc<[u8]>>,
    /// Commands without a status; the status comes with the next command.
    commands: VecDeque<Command>,
    /// Key frames that the chip received.
    keys: usize,
    /// Ticks with equal commands.
    pub equal: u64,
    /// First difference: tick, command of the chip, command of the twin.
    pub differs: Option<(u32, [f32; 2], [f32; 2])>,
}

impl std::fmt::Debug for Twin<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Twin").field("equal", &self.equal).finish_non_exhaustive()
    }
}

impl<'w> Twin<'w> {
    /// Creates the twin of a robot that has just started.
    pub fn new(robot: NativeTwin<'w>) -> Self {
        Self { robot, frames: VecDeque::new(), commands: VecDeque::new(), keys: 0, equal: 0, differs: None }
    }

    /// Handles a received frame with a valid checksum.
    pub fn received(&mut self, content: &Arc<[u8]>) {
        if mac::parse(content).is_some() {
            self.frames.push_back(Arc::clone(content));
        }
    }

    /// Handles a command of the chip.
    pub fn commanded(&mut self, command: Command) {
        self.commands.push_back(command);
    }

    /// Runs the twin's tick after the chip's.
    pub fn finished(&mut self, status: &Status, companion: &Companion) {
        let told = &companion.told;
        while self.commands.front().is_some_and(|command| command.tick < status.tick) {
            self.commands.pop_front();
        }
        let Some(command) = self.commands.pop_front_if(|command| command.tick == status.tick) else { return };
        if self.differs.is_some() {
            return;
        }
        if status.turn != NO_TURN {
            self.robot.set_exchange_phase(status.turn.into());
        }
        let heard = usize::from(status.received).min(self.frames.len());
        let frames: Vec<_> = self.frames.drain(..heard).collect();
        let pose = (status.pose_received != 0).then(|| told.get(usize::from(status.pose)).copied()).flatten();
        let mut done = [0.0; 2];
        let mut ports = PortSet {
            radio: &mut Frames(frames.iter()),
            sensor: &mut FixedSensor(pose),
            actuator: &mut RecordingActuator(&mut done),
            store: &mut NoStore,
        };
        control_loop::run_tick(&mut self.robot, status.tick, &mut ports, &mut [0; BUFFER_LEN]);
        if done.map(f32::to_bits) == command.acceleration.map(f32::to_bits) {
            self.equal += 1;
        } else {
            self.differs = Some((status.tick, command.acceleration, done));
        }
        // Key frames in front of a pose take effect before the next tick.
        let come = |number: u16| status.pose.wrapping_sub(number).cast_signed() >= 0;
        while let Some((_, frame)) = companion.keys.get(self.keys).filter(|(number, _)| come(*number)) {
            let _ = self.robot.receive(&mut frame.to_vec());
            self.keys += 1;
        }
    }
}

/// Radio of the twin: the frames that the chip received before a tick. Sent frames are discarded.
struct Frames<'a>(std::slice::Iter<'a, Arc<[u8]>>);

impl Radio for Frames<'_> {
    type Error = Infallible;

    fn send(&mut self, _: &[u8]) -> std::result::Result<(), Infallible> {
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> std::result::Result<Option<ReceivedFrame>, Infallible> {
        let frame = self.0.by_ref().find_map(|frame| mac::parse(frame));
        Ok(frame.map(|(_, content)| copy_frame(content, buffer)))
    }
}
