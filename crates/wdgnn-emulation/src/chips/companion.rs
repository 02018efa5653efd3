//! Companion computer of an emulated robot, and the body that it controls.

use nrf52_emulator::air::{SECOND, Station};
use wdgnn_core::tasks::flocking::Motion;
use wdgnn_protocol::companion::{Command, KeyMessage, MAX_MESSAGE, PoseMessage, Status, decode, encode};

use crate::scene::Frame;

/// Poses per second that a companion sends.
pub const POSE_EVERY: u64 = SECOND / 100;

/// Baud rate of the serial line.
pub const BAUD: u64 = 460_800;

/// Body with constant acceleration since the last command.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    motion: Motion,
    acceleration: [f32; 2],
    at: u64,
}

impl Body {
    /// Body with this motion at a true time.
    pub fn new(motion: Motion, at: u64) -> Self {
        Self { motion, acceleration: [0.0; 2], at }
    }

    /// Returns the motion at a true time.
    pub fn motion(&self, at: u64) -> Motion {
        let time = at.saturating_sub(self.at) as f32 / SECOND as f32;
        let Motion { mut position, mut velocity } = self.motion;
        for axis in 0..2 {
            position[axis] += time * velocity[axis] + 0.5 * time * time * self.acceleration[axis];
            velocity[axis] += time * self.acceleration[axis];
        }
        Motion { position, velocity }
    }

    /// Sets the acceleration from a true time on.
    pub fn accelerate(&mut self, at: u64, acceleration: [f32; 2]) {
        let at = at.max(self.at);
        *self = Self { motion: self.motion(at), acceleration, at };
    }
}

/// Message of a robot in a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RobotMessage {
    Command(Command),
    Status(Status),
}

/// Companion of one robot.
#[derive(Debug)]
pub struct Companion {
    next: u64,
    number: u16,
    frame: Vec<u8>,
    /// The last 65,536 poses by number.
    pub told: Vec<Motion>,
    /// Key frames that were sent, each with the number of the pose behind it.
    pub keys: Vec<(u16, Frame)>,
    /// Key frame to send with the next pose.
    key: Option<Frame>,
    /// True time after which the companion is silent.
    pub dies: u64,
    /// Number of unreadable messages.
    pub unread: u64,
}

impl Companion {
    /// Companion that sends poses from a true time on.
    pub fn new(begins: u64) -> Self {
        let (frame, told, keys, key) = (Vec::new(), Vec::new(), Vec::new(), None);
        Self { next: begins, number: 0, frame, told, keys, key, dies: u64::MAX, unread: 0 }
    }

    /// Queues a key frame for the robot.
    pub fn hand_over(&mut self, frame: Frame) {
        self.key = Some(frame);
    }

    /// Sends the poses that are due.
    pub fn tell(&mut self, body: &Body, station: &mut Station, until: u64) {
        while self.next < until {
            let motion = body.motion(self.next);
            if self.next < self.dies && station.is_powered() {
                let at = station.cycles_at(self.next);
                let mut frame = [0; MAX_MESSAGE];
                if let Some(key) = self.key.take() {
                    let (halves, _) = key.as_chunks();
                    let length = encode(&KeyMessage(halves[0], halves[1]), &mut frame).unwrap_or(0);
                    station.chip.peripherals().uarte.receive(at, BAUD, &frame[..length]);
                    self.keys.push((self.number, key));
                }
                let message = PoseMessage { motion, number: self.number, age_ms: 0 };
                let length = encode(&message, &mut frame).unwrap_or(0);
                station.chip.peripherals().uarte.receive(at, BAUD, &frame[..length]);
                // Subnormal numbers are encoded as zero.
                let told = decode::<PoseMessage>(&mut frame[..length.saturating_sub(1)]);
                self.told.push(told.map_or(motion, |told| told.motion));
                self.number = self.number.wrapping_add(1);
            }
            self.next += POSE_EVERY;
        }
    }

    /// Returns the robot's messages since the last call, each with the true time of its last bit.
    pub fn hear(&mut self, station: &mut Station) -> Vec<(u64, RobotMessage)> {
        let mut said = Vec::new();
        for (cycles, byte) in std::mem::take(&mut station.chip.peripherals().uarte.tx_bytes) {
            if byte != 0 {
                self.frame.push(byte);
                continue;
            }
            let mut frame = std::mem::take(&mut self.frame);
            let message = decode(&mut frame.clone()).map(RobotMessage::Command);
            match message.or_else(|| decode(&mut frame).map(RobotMessage::Status)) {
                Some(message) => said.push((station.time_at(cycles), message)),
                None => self.unread += 1,
            }
        }
        said
    }
}
