//! Native robot with the frames of an emulated one: its duties must be equal, bit for bit.

use std::{collections::VecDeque, convert::Infallible, sync::Arc};

use firmware::io::{
    car::Car,
    poses::{PoseInbox, age},
};
use wdgnn_core::{
    task::{NodeId, State as _},
    tasks::flocking::Motion,
    weights::Weights,
};
use wdgnn_drive::{Drive, buggy::Settings};
use wdgnn_link::security::{aes::Aes, key::Key, pose_key::PoseKey};
use wdgnn_protocol::{
    companion::{Command, Status, decode},
    mac,
};
use wdgnn_robot::{
    control_loop,
    onboard::{self, BUFFER_LEN},
    ports::{NoStore, Ports, Radio, ReceivedFrame},
    robot::Robot,
};
use wdgnn_sim::medium::{
    any_link::{AnyLink, RobotKeys},
    rx_queue::copy_frame,
};
use wdgnn_sim::profiles::Profile;

use crate::{
    chips::twin::NativeTwin,
    error::{Error, Result},
};

/// Heading in a status message that means no value.
const NO_TURN: u8 = u8::MAX;

/// Creates a robot of this process as the image of a buggy does: it trusts all members.
///
/// # Errors
/// The weight file has another task.
pub fn native<'w>(id: NodeId, weights: &Weights<'w>, group: &Key) -> Result<NativeTwin<'w>> {
    let config = onboard::config_from_weights(weights).map_err(|error| Error::Failed(error.to_string()))?;
    let keys = RobotKeys { group, own: None };
    let link = AnyLink::new(Profile::Dot154, weights.checksum, Some(keys));
    Ok(Robot::new(id, config, link, Motion::zero()))
}

/// Motors that only take duties.
#[derive(Clone, Copy, Debug)]
pub struct IdealMotors;

impl Drive for IdealMotors {
    type Error = Infallible;

    fn drive(&mut self, _: f32, _: f32) -> core::result::Result<(), Infallible> {
        Ok(())
    }
}

/// Twin of one chip.
pub struct Twin<'w> {
    robot: NativeTwin<'w>,
    car: Car<IdealMotors>,
    inbox: Option<PoseInbox<Aes>>,
    frames: VecDeque<Arc<[u8]>>,
    line: Vec<u8>,
    command: Option<Command>,
    /// Last status of the chip.
    pub status: Option<Status>,
    /// Frames that the chip refused.
    pub refused: u64,
    /// Number of ticks with equal duties.
    pub equal: u64,
    /// First difference: tick, duties of the chip, duties of the twin.
    pub differs: Option<(u32, [f32; 2], [f32; 2])>,
}

impl std::fmt::Debug for Twin<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Twin").field("equal", &self.equal).finish_non_exhaustive()
    }
}

impl<'w> Twin<'w> {
    /// Twin of a robot that has just started.
    pub fn new(robot: NativeTwin<'w>, settings: Settings) -> Self {
        Self {
            robot,
            car: Car::new(settings, IdealMotors),
            inbox: None,
            frames: VecDeque::new(),
            line: vec![],
            command: None,
            status: None,
            refused: 0,
            equal: 0,
            differs: None,
        }
    }

    /// Gives the twin the key of poses.
    pub fn set_key(&mut self, key: &Key) {
        self.inbox = Some(PoseInbox::new(PoseKey::new(Aes::new(key), 0)));
    }

    /// Takes a frame that the chip received.
    pub fn receive(&mut self, content: &Arc<[u8]>) {
        self.frames.push_back(Arc::clone(content));
    }

    /// Takes a byte of the chip's serial line. Returns the duties of a tick.
    pub fn hear(&mut self, byte: u8) -> Option<[f32; 2]> {
        if byte != 0 {
            self.line.push(byte);
            return None;
        }
        let mut line = std::mem::take(&mut self.line);
        if let Some(command) = decode::<Command>(&mut line.clone()) {
            self.command = Some(command);
            return Some(command.acceleration);
        }
        if let Some(status) = decode::<Status>(&mut line) {
            self.refused += u64::from(status.rejected);
            self.status = Some(status);
            if let Some(command) = self.command.take_if(|command| command.tick == status.tick) {
                self.compare(&status, &command);
            }
        }
        None
    }

    /// Runs the twin's tick after the chip's.
    fn compare(&mut self, status: &Status, command: &Command) {
        let Some(inbox) = &mut self.inbox else { return };
        if self.differs.is_some() {
            return;
        }
        if status.turn != NO_TURN {
            self.robot.set_exchange_phase(status.turn.into());
        }
        inbox.set_since(self.robot.recordings_before());
        let mut ports = TwinPorts {
            radio: TwinRadio {
                tick: status.tick,
                frames: &mut self.frames,
                inbox,
                left: status.received,
                images: status.pose,
            },
            car: &mut self.car,
            store: NoStore,
        };
        control_loop::run_tick(&mut self.robot, status.tick, &mut ports, &mut [0; BUFFER_LEN]);
        let duties = self.car.duties();
        if duties.map(f32::to_bits) == command.acceleration.map(f32::to_bits) {
            self.equal += 1;
        } else {
            self.differs = Some((status.tick, command.acceleration, duties));
        }
    }
}

/// Ports of the twin.
struct TwinPorts<'a> {
    radio: TwinRadio<'a>,
    car: &'a mut Car<IdealMotors>,
    store: NoStore,
}

/// Radio of the twin: the frames that the chip has handled in a tick.
struct TwinRadio<'a> {
    tick: u32,
    frames: &'a mut VecDeque<Arc<[u8]>>,
    inbox: &'a mut PoseInbox<Aes>,
    /// Messages that the chip handled in this tick.
    left: u8,
    /// Number of images that it has accepted.
    images: u16,
}

impl Radio for TwinRadio<'_> {
    type Error = Infallible;

    fn send(&mut self, _: &[u8]) -> core::result::Result<(), Infallible> {
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> core::result::Result<Option<ReceivedFrame>, Infallible> {
        while let Some(frame) = self.frames.front() {
            let Some((_, content)) = mac::parse(frame) else {
                self.frames.pop_front();
                continue;
            };
            let is_pose = PoseInbox::<Aes>::takes(content);
            if is_pose && self.inbox.number() == self.images && self.left == 0 {
                return Ok(None);
            }
            if !is_pose && self.left == 0 {
                return Ok(None);
            }
            if is_pose {
                let _ = self.inbox.receive(self.tick, content);
                self.frames.pop_front();
                continue;
            }
            self.left -= 1;
            let received = copy_frame(content, buffer);
            self.frames.pop_front();
            return Ok(Some(received));
        }
        Ok(None)
    }
}

impl<'a> Ports<Motion, [f32; 2]> for TwinPorts<'a> {
    type Radio = TwinRadio<'a>;
    type Sensor = Car<IdealMotors>;
    type Actuator = Car<IdealMotors>;
    type Store = NoStore;

    fn radio(&mut self) -> &mut TwinRadio<'a> {
        &mut self.radio
    }

    fn sensor(&mut self) -> &mut Car<IdealMotors> {
        self.car
    }

    /// As the board does.
    fn actuator(&mut self) -> &mut Car<IdealMotors> {
        let inbox = &mut *self.radio.inbox;
        self.car.set_may_drive(inbox.is_on());
        if let Some(image) = inbox.take_image() {
            self.car.see(&image, age(&image, self.radio.tick));
        }
        self.car
    }

    fn store(&mut self) -> &mut NoStore {
        &mut self.store
    }
}
