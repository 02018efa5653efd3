//! Ports over the pipes to the simulator: radio, sensor and actuator.

use core::{cell::Cell, convert::Infallible};

use bytemuck::{Pod, Zeroable as _};
use semihosting::{
    fs::File,
    io::{Read as _, Write as _},
};
use wdgnn_core::{task::State, tensor::Array};
use wdgnn_protocol::emulation::{FrameHeader, SensorInput};
use wdgnn_robot::ports::{Actuator, Radio, ReceivedFrame, Measurement, Sensor};

use super::exit;
use crate::link::FRAMES;

/// Pipes to and from the simulator.
#[derive(Debug)]
pub struct Pipes {
    input: File,
    output: File,
    /// Whether the sensor works in this tick.
    sensor_ok: Cell<bool>,
}

impl Pipes {
    /// Opens standard input and output.
    pub fn open() -> Option<Self> {
        let (input, output) = (File::open(c"/dev/stdin").ok()?, File::create(c"/dev/stdout").ok()?);
        Some(Self { input, output, sensor_ok: Cell::new(false) })
    }

    /// Waits for the next tick and returns its number.
    pub fn next_tick(&self) -> u32 {
        let mut message = SensorInput::zeroed();
        self.read(&mut message);
        self.sensor_ok.set(message.sensed != 0);
        message.tick
    }

    fn read<M: Pod>(&self, message: &mut M) {
        self.read_bytes(bytemuck::bytes_of_mut(message));
    }

    fn read_bytes(&self, bytes: &mut [u8]) {
        if (&self.input).read_exact(bytes).is_err() {
            exit();
        }
    }

    /// Reads `count` bytes. Drops bytes that do not fit into `buffer`.
    fn read_truncated(&self, count: usize, buffer: &mut [u8]) {
        let kept = count.min(buffer.len());
        self.read_bytes(buffer.get_mut(..kept).unwrap_or_default());
        let mut left = count - kept;
        while left > 0 {
            let mut dropped = [0; 32];
            let part = left.min(dropped.len());
            self.read_bytes(dropped.get_mut(..part).unwrap_or_default());
            left -= part;
        }
    }

    /// Writes a message.
    pub fn write<M: Pod>(&self, message: &M) {
        self.write_bytes(bytemuck::bytes_of(message));
    }

    /// Writes the data that follow a message.
    pub fn write_bytes(&self, bytes: &[u8]) {
        if (&self.output).write_all(bytes).is_err() {
            exit();
        }
    }
}

/// Radio port.
#[derive(Debug)]
pub struct PipeRadio {
    pipes: &'static Pipes,
    /// Number of frames sent in this tick.
    sent: u32,
    listening: bool,
}

impl PipeRadio {
    pub fn new(pipes: &'static Pipes) -> Self {
        Self { pipes, sent: 0, listening: false }
    }
}

impl Radio for PipeRadio {
    type Error = Infallible;

    fn begin(&mut self, _: u32) {
        (self.sent, self.listening) = (0, true);
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), Infallible> {
        self.sent += 1;
        let (message, bytes) = FrameHeader::of(frame, self.sent == FRAMES);
        self.pipes.write(&message);
        self.pipes.write_bytes(bytes);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<ReceivedFrame>, Infallible> {
        if !self.listening {
            return Ok(None);
        }
        // The simulator waits for a message from every robot, also from robots that send
        // nothing in this tick.
        if self.sent < FRAMES {
            self.sent = FRAMES;
            self.pipes.write(&FrameHeader::NONE);
        }
        let mut message = FrameHeader::NONE;
        self.pipes.read(&mut message);
        self.listening = message.last == 0;
        Ok(message.bytes().map(|count| {
            self.pipes.read_truncated(count, buffer);
            ReceivedFrame::untimed(message.length.into())
        }))
    }
}

/// Sensor port.
#[derive(Debug)]
pub struct PipeSensor(pub &'static Pipes);

/// The simulator made the sensor fail in this tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the sensor failed")]
pub struct SensorError;

impl<S: State> Sensor<S> for PipeSensor {
    type Error = SensorError;

    /// Reads the state from the pipe, also if the sensor fails. Called once per tick.
    fn sense(&mut self) -> Result<Measurement<S>, SensorError> {
        let mut numbers = S::Array::ZERO;
        self.0.read_bytes(bytemuck::cast_slice_mut(numbers.as_mut()));
        if self.0.sensor_ok.get() { Ok(Measurement::now(S::from_array(numbers))) } else { Err(SensorError) }
    }
}

/// Actuator port. Does nothing: the simulator takes the command from the tick's result.
#[derive(Debug)]
pub struct NullActuator;

impl<C> Actuator<C> for NullActuator {
    type Error = Infallible;

    fn act(&mut self, _: &C) -> Result<(), Infallible> {
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
