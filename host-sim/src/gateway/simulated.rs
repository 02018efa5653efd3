//! Simulated robot on a real radio channel: robot, slot clock and body.

use std::{collections::VecDeque, sync::Arc};

use nrf52_emulator::air::SECOND;
use wdgnn_core::{task::NodeId, tasks::flocking::Motion};
use wdgnn_link::{
    encoding::Codec,
    error::FrameErrorCounts,
    header::Identity,
    tdma::{Beat, Note, Rhythm, Timing},
};
use wdgnn_protocol::mac;
use wdgnn_robot::{
    control_loop,
    onboard::{BUFFER_LEN, Robot},
    ports::{NoStore, Ports, Radio, Received},
};
use wdgnn_sim::ports::{FixedSensor, RecordingActuator};

use crate::chips::{GROUND, RELEASE, companion::Body};

/// Robots that the slot clock tracks, as on a board.
const OTHERS: usize = 32;
/// Femtoseconds per microsecond.
const MICROSECOND: u64 = SECOND / 1_000_000;

/// Received frame.
#[derive(Clone, Debug)]
pub struct ReceivedFrame {
    /// Time of its last symbol on the gateway's clock.
    pub ended: u64,
    pub content: Arc<[u8]>,
    /// Whether a real robot sent it.
    pub real: bool,
}

/// Frame of a simulated robot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// Start of its slot.
    pub at: u64,
    /// The frame with its header.
    pub frame: Arc<[u8]>,
}

/// Result of a tick.
#[derive(Clone, Debug)]
pub struct TickResult {
    /// Frames to send.
    pub words: Option<Words>,
    /// Accepted frames of real and of simulated robots.
    pub taken: [u64; 2],
    pub refused: FrameErrorCounts,
}

/// Simulated robot.
pub struct Simulated<'w, C: Codec> {
    pub id: NodeId,
    robot: Robot<'w, C>,
    rhythm: Rhythm<OTHERS>,
    start: Motion,
    body: Body,
    /// Gateway time at the start of the run, with the robot on the ground.
    began: u64,
    pub beat: Beat,
    inbox: VecDeque<ReceivedFrame>,
    sequence: u8,
}

impl<C: Codec> std::fmt::Debug for Simulated<'_, C> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Simulated").field("id", &self.id).finish_non_exhaustive()
    }
}

impl<'w, C: Codec> Simulated<'w, C> {
    /// Creates a robot at time `now` that stands on the ground and is accelerated into this start,
    /// as in [`crate::chips`].
    pub fn new(robot: Robot<'w, C>, timing: Timing, start: Motion, now: u64, chance: u32) -> Self {
        let id = robot.id();
        let timing = Timing { interval: robot.behavior().interval, ..timing };
        let mut rhythm = Rhythm::new(timing, id, now, chance).from_tick(robot.first_tick());
        let beat = rhythm.next(now);
        let body = Body::new(start, RELEASE);
        Self { id, robot, rhythm, start, body, began: now, beat, inbox: VecDeque::new(), sequence: 0 }
    }

    /// Returns the time since the start of the run in femtoseconds.
    fn since(&self, at: u64) -> u64 {
        at.saturating_sub(self.began) * MICROSECOND
    }

    /// Returns the motion at a gateway time.
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

    /// Returns whether the robot flies at a gateway time.
    pub fn flies(&self, at: u64) -> bool {
        self.since(at) >= RELEASE
    }

    /// Handles the reception time of a member's frame, within radio range or not: all robots share
    /// one channel.
    pub fn keep_time(&mut self, who: &Identity, note: Note, began: u64) {
        if who.sender != self.id {
            self.rhythm.heard(who, note, began);
        }
    }

    /// Handles an unreadable frame on the channel.
    pub fn spoilt(&mut self, began: u64) {
        self.rhythm.spoilt(began);
    }

    /// Handles a busy channel in the robot's slot.
    pub fn crowded(&mut self, now: u64) {
        self.rhythm.busy(now);
    }

    /// Queues a frame within radio range.
    pub fn receive(&mut self, frame: ReceivedFrame) {
        self.inbox.push_back(frame);
    }

    /// Runs the tick with the frames that ended before `closes`. The next tick is the first after
    /// `now` on the robot's clock.
    pub fn tick(&mut self, closes: u64, now: u64) -> TickResult {
        let Beat { tick, begins, speaks, back } = self.beat;
        match self.rhythm.turn() {
            Some(turn) => self.robot.set_turn(turn),
            // As on a board, the swarm time may be earlier while the robot listens.
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
        let report = control_loop::run(&mut self.robot, tick, &mut ports, &mut [0; BUFFER_LEN]);
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
        TickResult { words, taken, refused: report.refused }
    }
}

/// Radio of one tick.
struct Air<'a> {
    heard: std::slice::Iter<'a, ReceivedFrame>,
    /// Authentic frames of real and of simulated robots.
    taken: [u64; 2],
    /// Whether the last frame came from a real robot.
    real: bool,
    speaks: Option<u64>,
    said: Option<(u64, Vec<u8>)>,
}

/// A listening robot has no slot.
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

    fn on_authenticated(&mut self, _: &Identity, _: &Received) {
        self.taken[usize::from(!self.real)] += 1;
    }
}
