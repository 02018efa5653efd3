//! Simulated robot on a real radio channel: robot, slot clock and body.

use std::{collections::VecDeque, convert::Infallible};

use nrf52_emulator::air::SECOND;
use wdgnn_core::{task::NodeId, tasks::flocking::Motion};
use wdgnn_link::{
    header::FrameId,
    link::RadioLink as _,
    tdma::{SlotClock, SlotTiming, TickStart},
};
use wdgnn_protocol::mac;
use wdgnn_robot::{
    control_loop,
    onboard::BUFFER_LEN,
    ports::{NoStore, PortSet, Radio, ReceivedFrame},
};
use wdgnn_sim::{
    medium::rx_queue::copy_frame,
    ports::{FixedSensor, RecordingActuator},
    scene::Frame,
};

use super::counts::Counts;
use crate::chips::{GROUND, RELEASE, companion::Body, twin::NativeTwin};

/// Robots that the slot clock tracks, as on a board.
const OTHERS: usize = 32;
/// Femtoseconds per microsecond.
const MICROSECOND: u64 = SECOND / 1_000_000;

/// Simulated robot.
pub(super) struct Simulated<'w> {
    pub id: NodeId,
    robot: NativeTwin<'w>,
    /// Clock and slot. They follow all members' frames, within radio range or not.
    pub clock: SlotClock<OTHERS>,
    start: Motion,
    body: Body,
    /// Gateway time at the start of the run, with the robot on the ground.
    began: u64,
    /// Next tick.
    pub beat: TickStart,
    /// Received frames, each with the gateway time of its last symbol.
    pub inbox: VecDeque<(u64, Frame)>,
    sequence: u8,
}

impl<'w> Simulated<'w> {
    /// Creates a robot at time `now` that stands on the ground and is accelerated into this start,
    /// as in [`crate::chips`].
    pub fn new(robot: NativeTwin<'w>, timing: SlotTiming, start: Motion, now: u64, seed: u32) -> Self {
        let id = robot.id();
        let timing = SlotTiming { interval: robot.config().exchange_interval, ..timing };
        let mut clock = SlotClock::new(timing, id, now, seed).with_first_tick(robot.first_tick());
        let beat = clock.next_tick(now);
        let (body, inbox) = (Body::new(start, RELEASE), VecDeque::new());
        Self { id, robot, clock, start, body, began: now, beat, inbox, sequence: 0 }
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

    /// Runs the tick with the frames that ended before `closes`. Returns the robot's frame and the
    /// start of its slot, if it sends. The next tick is the first after `now` on the robot's clock.
    pub fn tick(
        &mut self, closes: u64, now: u64, counts: &mut Counts, is_simulated: impl Fn(NodeId) -> bool,
    ) -> Option<(u64, Frame)> {
        let TickStart { tick, begins_us: begins, slot_begins_us: speaks, went_back: back } = self.beat;
        let boot = self.robot.link().boot_count();
        match self.clock.exchange_phase() {
            Some(turn) => self.robot.set_exchange_phase(turn),
            // As on a board, the swarm time may be earlier while the robot listens.
            None => self.robot.link_mut().set_boot_count(boot),
        }
        if back {
            self.robot.link_mut().set_boot_count(boot.saturating_add(1));
        }
        let (sensed, mut command) = (self.motion(begins), [0.0; 2]);
        let mut radio =
            SlotRadio { inbox: &mut self.inbox, closes, sent: None, accepted: [0; 2], is_simulated };
        let mut ports = PortSet {
            radio: &mut radio,
            sensor: &mut FixedSensor(Some(sensed)),
            actuator: &mut RecordingActuator(&mut command),
            store: &mut NoStore,
        };
        let report = control_loop::run_tick(&mut self.robot, tick, &mut ports, &mut [0; BUFFER_LEN]);
        counts.refused.add(&report.rejected);
        counts.taken_of_real += radio.accepted[0];
        counts.taken_of_simulated += radio.accepted[1];
        // A listening robot has no slot.
        let sent = speaks.zip(radio.sent);
        if self.flies(begins) {
            self.body.accelerate(self.since(begins), command);
        }
        let sent = sent.map(|(slot, content)| {
            self.sequence = self.sequence.wrapping_add(1);
            let header = mac::header(self.sequence, self.id, self.clock.slot_info(begins));
            (slot, [&header[..], &content].concat().into())
        });
        self.beat = self.clock.next_tick(now.max(begins));
        sent
    }
}

/// Radio of one tick.
struct SlotRadio<'a, F> {
    inbox: &'a mut VecDeque<(u64, Frame)>,
    closes: u64,
    sent: Option<Vec<u8>>,
    /// Authentic frames of real and of simulated robots.
    accepted: [u64; 2],
    is_simulated: F,
}

impl<F: Fn(NodeId) -> bool> Radio for SlotRadio<'_, F> {
    type Error = Infallible;

    fn send(&mut self, frame: &[u8]) -> Result<(), Infallible> {
        self.sent = Some(frame.to_vec());
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<ReceivedFrame>, Infallible> {
        let frame = self.inbox.pop_front_if(|(ended, _)| *ended <= self.closes);
        Ok(frame.map(|(_, frame)| copy_frame(&frame, buffer)))
    }

    fn on_authenticated(&mut self, id: &FrameId, _: &ReceivedFrame) {
        self.accepted[usize::from((self.is_simulated)(id.sender))] += 1;
    }
}
