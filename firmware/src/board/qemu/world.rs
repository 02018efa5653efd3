//! The world on the other end of the pipes: what the robot senses and hears comes from there, what it says and does goes there.

use core::{cell::Cell, convert::Infallible};

use bytemuck::{Pod, Zeroable as _};
use semihosting::{
    fs::File,
    io::{Read as _, Write as _},
};
use wdgnn_link::encoding::Codec as _;
use wdgnn_robot::ports::{Actuator, Radio, Received, Sensed, Sensor};
use wdgnn_core::{tensor::Numbers, task::State};
use wdgnn_protocol::emulation::{Frame, Situation};

use super::leave;
use crate::link::Link;

/// The pipes to and from the world, and whether the sensor works in this tick.
#[derive(Debug)]
pub struct World {
    input: File,
    output: File,
    sensed: Cell<bool>,
}

impl World {
    /// Opens the pipes, if somebody is there.
    pub fn open() -> Option<Self> {
        let (input, output) = (File::open(c"/dev/stdin").ok()?, File::create(c"/dev/stdout").ok()?);
        Some(Self { input, output, sensed: Cell::new(false) })
    }

    /// The world says that a tick begins, and which.
    pub fn next_tick(&self) -> u32 {
        let mut situation = Situation::zeroed();
        self.hear(&mut situation);
        self.sensed.set(situation.sensed != 0);
        situation.tick
    }

    fn hear<M: Pod>(&self, message: &mut M) {
        self.hear_bytes(bytemuck::bytes_of_mut(message));
    }

    fn hear_bytes(&self, bytes: &mut [u8]) {
        if (&self.input).read_exact(bytes).is_err() {
            leave();
        }
    }

    /// So many bytes, to the front of `buffer`. What it has no room for is passed over.
    fn hear_front(&self, count: usize, buffer: &mut [u8]) {
        let front = count.min(buffer.len());
        self.hear_bytes(buffer.get_mut(..front).unwrap_or_default());
        let mut left = count - front;
        while left > 0 {
            let mut passed = [0; 32];
            let part = left.min(passed.len());
            self.hear_bytes(passed.get_mut(..part).unwrap_or_default());
            left -= part;
        }
    }

    /// Says a message.
    pub fn say<M: Pod>(&self, message: &M) {
        self.say_bytes(bytemuck::bytes_of(message));
    }

    /// Says what follows one.
    pub fn say_bytes(&self, bytes: &[u8]) {
        if (&self.output).write_all(bytes).is_err() {
            leave();
        }
    }
}

/// The radio.
#[derive(Debug)]
pub struct Air {
    world: &'static World,
    /// Frames said in this tick.
    said: u32,
    listening: bool,
}

impl Air {
    pub fn new(world: &'static World) -> Self {
        Self { world, said: 0, listening: false }
    }
}

impl Radio for Air {
    type Error = Infallible;

    fn begin(&mut self, _: u32) {
        (self.said, self.listening) = (0, true);
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), Infallible> {
        self.said += 1;
        let (message, bytes) = Frame::of(frame, self.said == Link::FRAMES);
        self.world.say(&message);
        self.world.say_bytes(bytes);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Received>, Infallible> {
        if !self.listening {
            return Ok(None);
        }
        // The world waits until everybody has spoken, also for those who have nothing to say in this tick.
        if self.said < Link::FRAMES {
            self.said = Link::FRAMES;
            self.world.say(&Frame::SILENCE);
        }
        let mut message = Frame::SILENCE;
        self.world.hear(&mut message);
        self.listening = message.last == 0;
        Ok(message.bytes().map(|count| {
            self.world.hear_front(count, buffer);
            Received::untimed(message.length.into())
        }))
    }
}

/// The sensor.
#[derive(Debug)]
pub struct Eyes(pub &'static World);

/// The sensor fails in this tick, because the world wants it to.
#[derive(Clone, Copy, Debug)]
pub struct Blind;

impl<S: State> Sensor<S> for Eyes {
    type Error = Blind;

    /// The state's numbers come next in the pipe, whatever they are worth; a tick asks for them once.
    fn sense(&mut self) -> Result<Sensed<S>, Blind> {
        let mut numbers = S::Numbers::ZERO;
        self.0.hear_bytes(bytemuck::cast_slice_mut(numbers.as_mut()));
        if self.0.sensed.get() { Ok(Sensed::now(S::from_numbers(numbers))) } else { Err(Blind) }
    }
}

/// The actuator: the world reads the command from the tick's outcome, zeros where the robot is to come to rest.
#[derive(Debug)]
pub struct Motors;

impl<C> Actuator<C> for Motors {
    type Error = Infallible;

    fn act(&mut self, _: &C) -> Result<(), Infallible> {
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
