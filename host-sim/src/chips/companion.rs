//! A robot's companion at the other end of its serial line, and the body that it steers.

use chip::air::{SECOND, Station};
use wdgnn_core::flocking::Motion;
use wdgnn_protocol::companion::{Command, LARGEST, PoseMessage, Status, decode, encode};

/// A companion tells the pose 100 times a second.
pub const POSE_EVERY: u64 = SECOND / 100;

/// The line's rate.
pub const BAUD: u64 = 460_800;

/// A robot's body: uniformly accelerated since it was last told something.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    motion: Motion,
    acceleration: [f32; 2],
    at: u64,
}

impl Body {
    /// At this motion, at a true time.
    #[must_use]
    pub fn new(motion: Motion, at: u64) -> Self {
        Self { motion, acceleration: [0.0; 2], at }
    }

    /// Its motion at a true time.
    #[must_use]
    pub fn motion(&self, at: u64) -> Motion {
        let time = at.saturating_sub(self.at) as f32 / SECOND as f32;
        let Motion { mut position, mut velocity } = self.motion;
        for axis in 0..2 {
            position[axis] += time * velocity[axis] + 0.5 * time * time * self.acceleration[axis];
            velocity[axis] += time * self.acceleration[axis];
        }
        Motion { position, velocity }
    }

    /// From a true time on it accelerates so.
    pub fn accelerate(&mut self, at: u64, acceleration: [f32; 2]) {
        let at = at.max(self.at);
        *self = Self { motion: self.motion(at), acceleration, at };
    }
}

/// What a robot said in a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Said {
    /// What is to be done.
    Command(Command),
    /// How it is.
    Status(Status),
}

/// The companion.
#[derive(Debug)]
pub struct Companion {
    next: u64,
    number: u16,
    frame: Vec<u8>,
    /// Poses told, by number: the last 65,536 of them.
    pub told: Vec<Motion>,
    /// It says nothing any more from here on.
    pub dies: u64,
    /// Messages that could not be read.
    pub unread: u64,
}

impl Companion {
    /// One that begins to tell poses at a true time.
    #[must_use]
    pub fn new(begins: u64) -> Self {
        Self { next: begins, number: 0, frame: Vec::new(), told: Vec::new(), dies: u64::MAX, unread: 0 }
    }

    /// Tells the poses that are due until then.
    pub fn tell(&mut self, body: &Body, station: &mut Station, until: u64) {
        while self.next < until {
            let motion = body.motion(self.next);
            if self.next < self.dies && station.is_on() {
                let mut frame = [0; LARGEST];
                let message = PoseMessage { motion, number: self.number, age_ms: 0 };
                let length = encode(&message, &mut frame).unwrap_or(0);
                let at = station.cycles(self.next);
                station.chip.parts().uarte.hear(at, BAUD, &frame[..length]);
                // As it was written: numbers too small to mean anything are written as zero.
                let told = decode::<PoseMessage>(&mut frame[..length.saturating_sub(1)]);
                self.told.push(told.map_or(motion, |told| told.motion));
                self.number = self.number.wrapping_add(1);
            }
            self.next += POSE_EVERY;
        }
    }

    /// What the robot has said since this was last asked, each with the true time of its last bit.
    pub fn hear(&mut self, station: &mut Station) -> Vec<(u64, Said)> {
        let mut said = Vec::new();
        for (cycles, byte) in std::mem::take(&mut station.chip.parts().uarte.sent) {
            if byte != 0 {
                self.frame.push(byte);
                continue;
            }
            let mut frame = std::mem::take(&mut self.frame);
            let message = decode(&mut frame.clone()).map(Said::Command);
            match message.or_else(|| decode(&mut frame).map(Said::Status)) {
                Some(message) => said.push((station.when(cycles), message)),
                None => self.unread += 1,
            }
        }
        said
    }
}
