//! Ports that fail on demand and remember what was asked of them.

use std::collections::VecDeque;

use wdgnn_core::tasks::flocking::Motion;
use wdgnn_link::{encoding::Codec, header::Identity};
use wdgnn_robot::{
    control_loop::{self, Report},
    ports::{Actuator, Ports, Radio, Received, Sensed, Sensor, Store},
};

use super::flock::{REST, Robot, RobotOn};

/// A radio whose air is a list; an `Err` in it is a frame that was lost on its way.
#[derive(Default)]
pub struct Air {
    pub sent: Vec<Vec<u8>>,
    /// The ticks that have begun.
    pub begun: Vec<u32>,
    /// Who was vouched for, and the number of its frame on the air.
    pub vouched: Vec<(Identity, u32)>,
    arrived: u32,
    pub heard: VecDeque<Result<Vec<u8>, ()>>,
    pub cannot_send: bool,
}

impl Radio for Air {
    type Error = ();

    fn begin(&mut self, tick: u32) {
        self.begun.push(tick);
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), ()> {
        self.sent.push(frame.to_vec());
        if self.cannot_send { Err(()) } else { Ok(()) }
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Received>, ()> {
        let Some(frame) = self.heard.pop_front() else { return Ok(None) };
        let frame = frame?;
        let fits = frame.len().min(buffer.len());
        buffer[..fits].copy_from_slice(&frame[..fits]);
        self.arrived += 1;
        Ok(Some(Received { length: frame.len(), arrived: self.arrived }))
    }

    fn vouched(&mut self, sender: &Identity, received: &Received) {
        self.vouched.push((*sender, received.arrived));
    }
}

pub struct Eyes(pub Result<Sensed<Motion>, ()>);

impl Sensor<Motion> for Eyes {
    type Error = ();

    fn sense(&mut self) -> Result<Sensed<Motion>, ()> {
        self.0
    }
}

#[derive(Default)]
pub struct Motors {
    pub commands: Vec<[f32; 2]>,
    pub stops: u32,
    pub broken: bool,
}

impl Actuator<[f32; 2]> for Motors {
    type Error = ();

    fn act(&mut self, command: &[f32; 2]) -> Result<(), ()> {
        self.commands.push(*command);
        if self.broken { Err(()) } else { Ok(()) }
    }

    fn stop(&mut self) -> Result<(), ()> {
        self.stops += 1;
        if self.broken { Err(()) } else { Ok(()) }
    }
}

#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is something that can go wrong")]
pub struct Flash {
    pub kept: Option<Vec<u8>>,
    pub saves: u32,
    /// How many saves are surely kept.
    pub flushed: u32,
    pub cannot_load: bool,
    pub cannot_save: bool,
    pub cannot_flush: bool,
    /// There is room for one more record.
    pub is_last: bool,
}

impl Store for Flash {
    type Error = ();

    fn load(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, ()> {
        if self.cannot_load {
            return Err(());
        }
        let Some(kept) = &self.kept else { return Ok(None) };
        let fits = kept.len().min(buffer.len());
        buffer[..fits].copy_from_slice(&kept[..fits]);
        Ok(Some(kept.len()))
    }

    fn save(&mut self, bytes: &[u8]) -> Result<(), ()> {
        if self.cannot_save {
            return Err(());
        }
        self.saves += 1;
        self.kept = Some(bytes.to_vec());
        Ok(())
    }

    fn is_last(&self) -> bool {
        self.is_last
    }

    fn flush(&mut self) -> Result<(), ()> {
        self.flushed = self.saves;
        if self.cannot_flush { Err(()) } else { Ok(()) }
    }
}

/// A robot's ports.
pub struct Board {
    pub air: Air,
    pub eyes: Eyes,
    pub motors: Motors,
    pub flash: Flash,
}

impl Board {
    pub fn new() -> Self {
        Self {
            air: Air::default(),
            eyes: Eyes(Ok(Sensed::now(REST))),
            motors: Motors::default(),
            flash: Flash::default(),
        }
    }

    pub fn run<P: Codec>(&mut self, node: &mut RobotOn<'_, P>, tick: u32) -> Report<[f32; 2]> {
        let mut ports = Ports {
            radio: &mut self.air,
            sensor: &mut self.eyes,
            actuator: &mut self.motors,
            store: &mut self.flash,
        };
        control_loop::run(node, tick, &mut ports, &mut [0; Robot::FRAME_BYTES + 1])
    }
}
