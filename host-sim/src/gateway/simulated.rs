//! A robot that is simulated on a real air: node, rhythm and body.

use std::{collections::VecDeque, sync::Arc};

use nrf52_emulator::air::SECOND;
use wdgnn_core::{task::NodeId, tasks::flocking::Motion};
use wdgnn_link::{
    encoding::Codec,
    error::Refusals,
    header::Identity,
    tdma::{Beat, Note, Rhythm, Timing},
};
use wdgnn_protocol::mac;
use wdgnn_robot::{
    control_loop,
    onboard::{BUFFER_BYTES, Robot},
    ports::{NoStore, Ports, Radio, Received},
};
use wdgnn_sim::ports::{FixedSensor, RecordingActuator};

use crate::chips::{GROUND, RELEASE, companion::Body};

/// The others that it keeps time with, as a board does.
const OTHERS: usize = 32;
/// Femtoseconds in a microsecond.
const MICROSECOND: u64 = SECOND / 1_000_000;

/// A frame that was on the air.
#[derive(Clone, Debug)]
pub struct Overheard {
    /// When its last symbol came, on the gateway's clock.
    pub ended: u64,
    /// What a robot's broadcast carries.
    pub content: Arc<[u8]>,
    /// Whether a real robot said it.
    pub real: bool,
}

/// What a simulated robot says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// When its slot begins.
    pub at: u64,
    /// The frame, header included.
    pub frame: Arc<[u8]>,
}

/// What came of a tick.
#[derive(Clone, Debug)]
pub struct Ticked {
    /// What it has to say.
    pub words: Option<Words>,
    /// Frames of real robots that it took in, and of simulated ones.
    pub taken: [u64; 2],
    /// What it refused.
    pub refused: Refusals,
}

/// The robot.
pub struct Simulated<'w, C: Codec> {
    /// Its address.
    pub id: NodeId,
    robot: Robot<'w, C>,
    rhythm: Rhythm<OTHERS>,
    start: Motion,
    body: Body,
    /// The gateway's time when the flight began: it stands on the ground.
    began: u64,
    /// Its next tick.
    pub beat: Beat,
    inbox: VecDeque<Overheard>,
    sequence: u8,
}

impl<C: Codec> std::fmt::Debug for Simulated<'_, C> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Simulated").field("id", &self.id).finish_non_exhaustive()
    }
}

impl<'w, C: Codec> Simulated<'w, C> {
    /// A robot that is switched on `now`, stands on the ground and is thrown, as [`crate::chips`] does it, into this start.
    pub fn new(robot: Robot<'w, C>, timing: Timing, start: Motion, now: u64, chance: u32) -> Self {
        let id = robot.id();
        let timing = Timing { interval: robot.behaviour().interval, ..timing };
        let mut rhythm = Rhythm::new(timing, id, now, chance).from_tick(robot.first_tick());
        let beat = rhythm.next(now);
        let body = Body::new(start, RELEASE);
        Self { id, robot, rhythm, start, body, began: now, beat, inbox: VecDeque::new(), sequence: 0 }
    }

    /// Since the flight began, in femtoseconds.
    fn since(&self, at: u64) -> u64 {
        at.saturating_sub(self.began) * MICROSECOND
    }

    /// Its motion at a time of the gateway's.
    pub fn motion(&self, at: u64) -> Motion {
        let since = self.since(at);
        if since >= RELEASE {
            return self.body.motion(since);
        }
        let seconds = |femtoseconds: u64| femtoseconds as f32 / SECOND as f32;
        let (throw, passed) = (seconds(RELEASE - GROUND), seconds(since.saturating_sub(GROUND)));
        let Motion { mut position, mut velocity } = self.start;
        for (position, velocity) in position.iter_mut().zip(&mut velocity) {
            *position += 0.5 * *velocity * (passed * passed / throw - throw);
            *velocity *= passed / throw;
        }
        Motion { position, velocity }
    }

    /// Whether it flies at a time of the gateway's.
    pub fn flies(&self, at: u64) -> bool {
        self.since(at) >= RELEASE
    }

    /// A swarm member's frame was on the air, whether this robot is near enough to hear it or not: there is one air for all.
    pub fn keep_time(&mut self, who: &Identity, note: Note, began: u64) {
        if who.sender != self.id {
            self.rhythm.heard(who, note, began);
        }
    }

    /// A frame was on the air that could not be read.
    pub fn spoilt(&mut self, began: u64) {
        self.rhythm.spoilt(began);
    }

    /// The channel was not clear in its slot.
    pub fn crowded(&mut self, now: u64) {
        self.rhythm.busy(now);
    }

    /// A frame comes within its reach.
    pub fn receive(&mut self, frame: Overheard) {
        self.inbox.push_back(frame);
    }

    /// Its tick, which hears what had ended before `closes`; the next one is the first after `now`, on the robot's own clock.
    pub fn tick(&mut self, closes: u64, now: u64) -> Ticked {
        let Beat { tick, begins, speaks, back } = self.beat;
        match self.rhythm.turn() {
            Some(turn) => self.robot.set_turn(turn),
            // As on a board: while it listens, the swarm's time may be an earlier one.
            None => self.robot.set_boot(self.robot.boot()),
        }
        if back {
            self.robot.set_boot(self.robot.boot().saturating_add(1));
        }
        let mut heard = Vec::new();
        while let Some(frame) = self.inbox.pop_front_if(|frame| frame.ended <= closes) {
            heard.push(frame);
        }
        let mut air = Air { heard: heard.iter(), taken: [0; 2], real: false, speaks, said: None };
        let (sensed, mut command) = (self.motion(begins), [0.0; 2]);
        let mut ports = Ports {
            radio: &mut air,
            sensor: &mut FixedSensor(Some(sensed)),
            actuator: &mut RecordingActuator(&mut command),
            store: &mut NoStore,
        };
        let report = control_loop::run(&mut self.robot, tick, &mut ports, &mut [0; BUFFER_BYTES]);
        let Air { taken, said, .. } = air;
        if self.flies(begins) {
            self.body.accelerate(self.since(begins), command);
        }
        let words = said.map(|(at, content)| {
            self.sequence = self.sequence.wrapping_add(1);
            let header = mac::header(self.sequence, self.id, self.rhythm.note(begins));
            Words { at, frame: [&header[..], &content].concat().into() }
        });
        self.beat = self.rhythm.next(now.max(begins));
        Ticked { words, taken, refused: report.refused }
    }
}

/// The air in a tick.
struct Air<'a> {
    heard: std::slice::Iter<'a, Overheard>,
    /// Frames of real and of simulated robots that were a swarm member's.
    taken: [u64; 2],
    /// Whether the last frame was a real robot's.
    real: bool,
    speaks: Option<u64>,
    said: Option<(u64, Vec<u8>)>,
}

/// There is no slot: the robot still listens, or listens again.
struct NoSlot;

impl Radio for Air<'_> {
    type Error = NoSlot;

    fn send(&mut self, frame: &[u8]) -> Result<(), NoSlot> {
        self.said = Some((self.speaks.take().ok_or(NoSlot)?, frame.to_vec()));
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Received>, NoSlot> {
        Ok(self.heard.next().map(|frame| {
            buffer.iter_mut().zip(frame.content.iter()).for_each(|(to, from)| *to = *from);
            self.real = frame.real;
            Received::untimed(frame.content.len())
        }))
    }

    fn vouched(&mut self, _: &Identity, _: &Received) {
        self.taken[usize::from(!self.real)] += 1;
    }
}
