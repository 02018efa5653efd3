//! Ports that fail on demand and record their calls.

use std::collections::VecDeque;

use wdgnn_robot::{
    control_loop::TickReport,
    persist::StoreError,
    ports::{Actuator, Radio, ReceivedFrame, Sensor, Store},
};

use super::prelude::*;

/// A radio with a list of arriving frames; an `Err` is a reception error.
#[derive(Default)]
pub struct Air {
    pub sent: Vec<Vec<u8>>,
    /// Ticks that have begun.
    pub begun: Vec<u32>,
    /// Authenticated senders, each with the number of its frame on the air.
    pub authenticated: Vec<(FrameId, u32)>,
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

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<ReceivedFrame>, ()> {
        let Some(frame) = self.heard.pop_front() else { return Ok(None) };
        let frame = frame?;
        let fits = frame.len().min(buffer.len());
        buffer[..fits].copy_from_slice(&frame[..fits]);
        self.arrived += 1;
        Ok(Some(ReceivedFrame { length: frame.len(), arrived_us: self.arrived }))
    }

    fn on_authenticated(&mut self, sender: &FrameId, received: &ReceivedFrame) {
        self.authenticated.push((*sender, received.arrived_us));
    }
}

pub struct FixedSensor(pub Result<Measurement<Motion>, ()>);

impl Sensor<Motion> for FixedSensor {
    type Error = ();

    fn sense(&mut self) -> Result<Measurement<Motion>, ()> {
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
#[allow(clippy::struct_excessive_bools, reason = "each is a fault")]
pub struct Flash {
    pub kept: Option<Vec<u8>>,
    pub saves: u32,
    /// Number of saves at the last flush.
    pub flushed: u32,
    pub cannot_load: bool,
    pub cannot_save: bool,
    pub cannot_flush: bool,
    /// Whether one more record fits.
    pub is_nearly_full: bool,
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

    fn is_nearly_full(&self) -> bool {
        self.is_nearly_full
    }

    fn flush(&mut self) -> Result<(), ()> {
        self.flushed = self.saves;
        if self.cannot_flush { Err(()) } else { Ok(()) }
    }
}

impl Flash {
    /// Starts a robot with the stored record.
    pub fn resume<L: TestLink>(&mut self, robot: &mut RobotOn<L>) -> Result<bool, StoreError> {
        persist::restore(robot, self, &mut [0; 512])
    }
}

/// Ports of a robot.
pub struct Board {
    pub air: Air,
    pub sensor: FixedSensor,
    pub motors: Motors,
    pub flash: Flash,
}

impl Board {
    pub fn new() -> Self {
        Self {
            air: Air::default(),
            sensor: FixedSensor(Ok(Measurement::now(REST))),
            motors: Motors::default(),
            flash: Flash::default(),
        }
    }

    /// Runs one tick of the control loop.
    pub fn run<L: TestLink>(&mut self, robot: &mut RobotOn<L>, tick: u32) -> TickReport<[f32; 2]> {
        self.run_with(robot, tick, &mut [0; exact::frame_len::<Motion, Taps, Wide>() + 1])
    }

    /// Runs one tick with a buffer of any length.
    pub fn run_with<L: TestLink>(
        &mut self, robot: &mut RobotOn<L>, tick: u32, buffer: &mut [u8],
    ) -> TickReport<[f32; 2]> {
        let mut ports = PortSet {
            radio: &mut self.air,
            sensor: &mut self.sensor,
            actuator: &mut self.motors,
            store: &mut self.flash,
        };
        control_loop::run_tick(robot, tick, &mut ports, buffer)
    }
}
