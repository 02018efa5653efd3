//! Gateway of a tracking system: seals the poses from a PC and sends them in the second slot of each tick.
//!
//! It has the group key, follows the swarm's clock and never claims a slot of a robot. Button A starts and stops the swarm,
//! button B stops it.

use core::marker::PhantomData;

use embedded_io::{Read as _, Write as _};
use nrf_pac::uarte::vals::Baudrate;
use wdgnn_core::task::NodeId;
use wdgnn_link::{
    encoding::half::Dot154,
    frames::{Frame as _, PoseFrame, SealedPoseFrame},
    header::FrameId,
    security::LinkSecurity as _,
    tdma::TickStart,
};
use wdgnn_protocol::{
    line::Deframer,
    tracker::{Command, MAX_TRACKER_MESSAGE, TrackerStatus, decode_image},
};
use wdgnn_robot::ports::{Radio as _, Store as _};

use super::{
    Nrf52, POWER, Wiring,
    buggy::{Button, WIRES},
    display,
    flash::Flash,
    radio,
    serial::{self, Input, Output},
    startup,
    tdma::{self, POSE_SLOT_US, TdmaRadio},
    time,
};
use crate::{io::picture, link};

/// Address of the gateway.
const ADDRESS: NodeId = 0xfffe;
/// Time before its slot at which a frame is sealed.
const SEALING_US: u64 = 1_200;
/// Time between two looks at the serial line.
const POLL_US: u64 = 250;
/// Ticks between two frames without poses, so that robots find the clock.
const IDLE_TICKS: u32 = 10;
/// Ticks between two reports to the PC.
const REPORT_TICKS: u32 = 10;
/// Ticks of one second, for robots that were heard.
const SECOND: u32 = 100;
/// Ticks that a stored record reserves ahead.
const RESERVED_TICKS: u32 = 6_000;
/// Exchange interval of the robots, in ticks. It only limits how fast the clock changes.
const INTERVAL: u32 = 10;
/// Length of a stored record: boot count, last tick, reserved tick.
const RECORD_LEN: usize = 12;

/// Image from the PC, with the time of its last byte.
#[derive(Clone, Copy, Debug)]
struct Image {
    frame: PoseFrame,
    arrived_us: u64,
}

/// Board used as the gateway of a tracking system.
#[derive(Debug)]
pub struct PoseGateway<W> {
    radio: TdmaRadio,
    flash: Flash,
    input: Input,
    output: Output,
    line: Deframer<MAX_TRACKER_MESSAGE>,
    image: Option<Image>,
    security: link::Security,
    boot: u32,
    /// Earlier frames of robots are recordings.
    since: u32,
    last_sent: u32,
    /// Tick in which each of the first 32 robots was heard.
    heard: [u32; 32],
    buttons: [Button; 2],
    status: TrackerStatus,
    wiring: PhantomData<W>,
}

impl<W: Wiring> Nrf52<W> {
    /// Starts the board as the gateway of a tracking system.
    pub fn pose_gateway() -> PoseGateway<W> {
        let reasons = startup::init::<W>(cfg!(debug_port_open));
        defmt::info!("pose gateway started: {=str} ({=u32:#x})", startup::reset_reason(reasons), reasons);
        time::start();
        let (input, output) = serial::open(W::RX, W::TX, Baudrate::Baud1m);
        WIRES.buttons.iter().for_each(|pin| pin.pull_up());
        display::start(&WIRES.matrix);
        display::show(picture::GATEWAY);
        let mut flash = Flash::open(startup::was_flying(reasons));
        let mut record = [0; RECORD_LEN];
        let stored = matches!(flash.load(&mut record), Ok(Some(RECORD_LEN)));
        let word = |index: usize| {
            let bytes = record.as_chunks::<4>().0.get(index).copied();
            bytes.map(u32::from_le_bytes).filter(|_| stored)
        };
        // Without a record, a random boot count: no sequence number may occur twice under one key.
        let boot = word(0).map_or_else(|| startup::random() >> 1, |boot| boot.saturating_add(1));
        let (since, first) = (word(1).unwrap_or(0), word(2).unwrap_or(0));
        let mut radio = TdmaRadio::new(ADDRESS, INTERVAL, startup::random(), first).without_slot();
        radio.open_inbox(since);
        let mut gateway = PoseGateway {
            radio,
            flash,
            input,
            output,
            line: Deframer::default(),
            image: None,
            security: link::security(),
            boot,
            since,
            last_sent: 0,
            heard: [0; 32],
            buttons: [Button::default(); 2],
            status: TrackerStatus::default(),
            wiring: PhantomData,
        };
        gateway.flash.request_immediate_save();
        gateway.save(first);
        if gateway.flash.flush().is_err() {
            gateway.boot = startup::random() >> 1;
        }
        radio::start(POWER);
        startup::start_watchdog();
        gateway
    }
}

impl<W: Wiring> PoseGateway<W> {
    /// Runs one tick of the swarm.
    pub fn run_tick(&mut self) {
        self.flash.write_pending();
        let TickStart { tick, begins_us, went_back, .. } = self.radio.next_tick_start();
        self.poll_until(begins_us);
        startup::feed_watchdog();
        if went_back || tick <= self.last_sent {
            // A sequence number must not occur twice.
            self.boot = self.boot.saturating_add(1);
            self.flash.request_immediate_save();
        }
        self.receive(tick);
        self.read_buttons();
        if tick.is_multiple_of(SECOND) {
            self.save(tick);
        }
        if tick.is_multiple_of(REPORT_TICKS) {
            self.report(tick);
        }
        let slot_us = begins_us + u64::from(tdma::POSE_SLOT_BEGINS_US);
        self.poll_until(slot_us - SEALING_US);
        let image = self.image.take();
        if image.is_some() || tick.wrapping_sub(self.last_sent) >= IDLE_TICKS {
            self.send(tick, slot_us, image);
        }
    }

    /// Reads the serial line until a time.
    fn poll_until(&mut self, until: u64) {
        loop {
            self.read_serial();
            let now = time::now();
            if now >= until {
                return;
            }
            time::sleep_until((now + POLL_US).min(until));
        }
    }

    fn read_serial(&mut self) {
        let mut bytes = [0; 64];
        for _ in 0..4 {
            let count = self.input.read(&mut bytes).unwrap_or(0);
            for byte in bytes.iter().take(count) {
                let Some(message) = self.line.push(*byte) else { continue };
                let Some((command, frame)) = decode_image(message) else {
                    self.status.malformed = self.status.malformed.wrapping_add(1);
                    continue;
                };
                let inbox = self.radio.inbox_mut();
                match (command, inbox) {
                    (Command::Start, Some(inbox)) if !inbox.is_on() => inbox.toggle(),
                    (Command::Stop, Some(inbox)) => inbox.stop(),
                    _ => {}
                }
                if frame.poses().next().is_some() {
                    self.image = Some(Image { frame, arrived_us: time::now() });
                }
            }
            if count == 0 {
                break;
            }
        }
    }

    /// Follows the clock of the robots that are heard.
    fn receive(&mut self, tick: u32) {
        let mut buffer = [0; 128];
        loop {
            match self.radio.receive(&mut buffer) {
                Ok(None) => break,
                Ok(Some(received)) => {
                    let frame = buffer.get(..received.length).unwrap_or_default();
                    let id = self.security.authenticate_late_frame::<Dot154>(0, tick, self.since, frame);
                    if let Some(id) = id {
                        self.radio.on_authenticated(&id, &received);
                        self.heard
                            .get_mut(usize::from(id.sender))
                            .into_iter()
                            .for_each(|heard| *heard = tick);
                    } else {
                        self.status.refused = self.status.refused.wrapping_add(1);
                    }
                }
                Err(_) => self.status.lost = self.status.lost.wrapping_add(1),
            }
        }
    }

    fn read_buttons(&mut self) {
        let pressed: [bool; 2] = core::array::from_fn(|index| {
            let button = self.buttons.get_mut(index).zip(WIRES.buttons.get(index));
            button.is_some_and(|(button, pin)| button.is_pressed(*pin))
        });
        if let Some(inbox) = self.radio.inbox_mut() {
            if pressed[0] {
                inbox.toggle();
            }
            if pressed[1] {
                inbox.stop();
            }
        }
    }

    /// Sends an image, or the last command alone.
    fn send(&mut self, tick: u32, slot_us: u64, image: Option<Image>) {
        let Some(inbox) = self.radio.inbox_mut() else { return };
        let id = FrameId { sender: ADDRESS, boot: self.boot, sequence: tick };
        let first_symbol = slot_us + u64::from(POSE_SLOT_US - tdma::POSE_SLOT_BEGINS_US);
        let age = image.map_or(0, |image| {
            let waited = (first_symbol - image.arrived_us) / 100;
            image.frame.header.age.get().saturating_add(waited as u16)
        });
        let mut frame = [0; SealedPoseFrame::BYTES];
        let sealed = inbox.seal(id, age, image.as_ref().map(|image| &image.frame), &mut frame);
        if sealed.is_some() && self.radio.send_poses(slot_us, &frame) {
            self.last_sent = tick;
            self.status.sent = self.status.sent.wrapping_add(u16::from(image.is_some()));
        }
    }

    fn save(&mut self, tick: u32) {
        let words =
            [self.boot, tick.max(self.since), tick.saturating_add(RESERVED_TICKS)].map(u32::to_le_bytes);
        // A full store keeps the last record; robots then need a start after their gateway's.
        let _ = self.flash.save(words.as_flattened());
    }

    /// Reports to the PC.
    fn report(&mut self, tick: u32) {
        let recent = |(index, heard): (usize, &u32)| {
            u32::from(*heard > 0 && tick.wrapping_sub(*heard) < SECOND) << index
        };
        self.status.heard = self.heard.iter().enumerate().map(recent).sum();
        self.status.is_driving = self.radio.inbox_mut().is_some_and(|inbox| inbox.is_on()).into();
        self.status.tick = tick;
        let mut line = [0; serial::MAX_WRITE];
        if let Some(length) = self.status.encode(&mut line) {
            // A busy line loses the report.
            let _ = self.output.write_all(line.get(..length).unwrap_or_default());
        }
    }
}
