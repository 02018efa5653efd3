//! TDMA radio of a robot: slots and the swarm's clock on top of the [`radio`](super::radio) driver.

use core::cell::Cell;

use critical_section::Mutex;
use wdgnn_core::task::NodeId;
use wdgnn_link::{
    header::FrameId,
    tdma::{SlotClock, SlotInfo, SlotTiming, TickStart},
};
use wdgnn_protocol::mac;
use wdgnn_robot::ports::{Radio, ReceivedFrame};

use super::{
    radio::{self, TxState},
    time,
};

/// Time from the start of a slot to the first symbol: ramp-up (40 µs), clear channel assessment
/// (128 µs), ramp-up (40 µs) and interrupt latency, measured on the emulated chip.
const DELAY_US: u32 = 211;
/// Slot length: the delay, a sealed frame (119 bytes of 32 µs with all overhead) and a guard time
/// of 0.5 ms.
const SLOT_US: u32 = DELAY_US + 119 * 32 + 511;
/// Time from the start of a tick to its first slot, in which a robot senses, encodes and seals its
/// frame.
const LEAD_US: u32 = 900;
/// Delay of the retry on a busy channel, the latest that the guard time allows.
const RETRY_US: u32 = 350;
const MAX_RETRIES: u8 = 1;
/// Start of the slot of poses in a tick, and of the first symbol in it.
#[cfg(feature = "buggy")]
pub const POSE_SLOT_BEGINS_US: u32 = LEAD_US + SLOT_US;
#[cfg(feature = "buggy")]
pub const POSE_SLOT_US: u32 = POSE_SLOT_BEGINS_US + DELAY_US;
#[cfg(feature = "buggy")]
const _: () = assert!(POSE_SLOT_US.cast_signed() == crate::io::poses::POSE_SLOT_US);
/// Number of robots whose clocks are tracked.
const MAX_TRACKED: usize = 32;

/// Slot timing with one exchange in `interval` ticks.
pub const fn timing(interval: u32) -> SlotTiming {
    SlotTiming {
        period: super::PERIOD_US,
        interval,
        // The second slot of a tick is for poses.
        slots: if cfg!(feature = "buggy") { 1 } else { 2 },
        lead: LEAD_US,
        slot: SLOT_US,
        delay: DELAY_US,
        retry: RETRY_US,
    }
}

/// Frame that waits for its slot.
#[derive(Clone, Copy)]
struct PendingFrame {
    begins_us: u64,
    note: SlotInfo,
    retries: u8,
}

static PENDING: Mutex<Cell<Option<PendingFrame>>> = Mutex::new(Cell::new(None));
/// The channel was busy in this robot's slot, also at the last retry.
static SLOT_BUSY: Mutex<Cell<bool>> = Mutex::new(Cell::new(false));

/// Schedules the loaded frame for the slot that starts at `begins`. Returns false if that time has
/// passed.
pub(super) fn schedule(begins_us: u64, note: SlotInfo) -> bool {
    let frame = PendingFrame { begins_us, note, retries: 0 };
    critical_section::with(|section| PENDING.borrow(section).set(Some(frame)));
    time::set_slot_alarm(begins_us);
    // An alarm in the past never fires.
    time::now() < begins_us
}

/// Number of retries of the scheduled frame; `None` after the last retry failed.
#[cfg(feature = "gateway")]
pub(super) fn retries() -> Option<u8> {
    critical_section::with(|section| PENDING.borrow(section).get().map(|frame| frame.retries))
}

/// Handles the slot alarm.
pub(super) fn on_slot_start() {
    if let Some(frame) = critical_section::with(|section| PENDING.borrow(section).get()) {
        radio::patch(mac::NOTE_OFFSET, frame.note.with_retries(frame.retries).0);
        radio::send_if_clear();
        if radio::with_shared(|shared| shared.tx) == Some(TxState::Busy) {
            on_channel_busy();
        }
    }
}

/// Schedules the retry, or drops the frame.
pub(super) fn on_channel_busy() {
    critical_section::with(|section| {
        let pending = PENDING.borrow(section);
        match pending.get() {
            Some(PendingFrame { begins_us, note, retries }) if retries < MAX_RETRIES => {
                let begins_us = begins_us + u64::from(RETRY_US);
                pending.set(Some(PendingFrame { begins_us, note, retries: retries + 1 }));
                time::set_slot_alarm(begins_us);
            }
            _ => {
                pending.set(None);
                SLOT_BUSY.borrow(section).set(true);
            }
        }
    });
}

/// Radio port of the robot.
#[derive(Debug)]
pub struct TdmaRadio {
    id: NodeId,
    clock: SlotClock<MAX_TRACKED>,
    sequence: u8,
    /// Start of this robot's slot in the current tick.
    slot_start: Option<u64>,
    /// Slot information of the last received frame.
    note: SlotInfo,
    /// Current tick.
    #[cfg(feature = "buggy")]
    tick: u32,
    /// Poses and commands, after the start of the radio.
    #[cfg(feature = "buggy")]
    inbox: Option<Inbox>,
}

/// Inbox with the chip's block cipher.
#[cfg(feature = "buggy")]
pub type Inbox = crate::io::poses::PoseInbox<super::aes::ChipAes>;

/// Reason why a frame was not sent, or was lost on reception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TdmaError {
    /// The frame exceeds the limit of the standard.
    #[error("the frame is too long")]
    TooLong,
    /// The robot has no slot in this tick, or is listening for a free one.
    #[error("the robot has no slot")]
    NoSlot,
    /// The slot has already started.
    #[error("the slot has already started")]
    Late,
    /// The receive queue overflowed.
    #[error("the receive queue overflowed")]
    Overflow,
}

impl TdmaRadio {
    pub(super) fn new(id: NodeId, interval: u32, seed: u32, first_tick: u32) -> Self {
        let clock = SlotClock::new(timing(interval), id, time::now(), seed).with_first_tick(first_tick);
        Self {
            id,
            clock,
            sequence: 0,
            slot_start: None,
            note: SlotInfo::default(),
            #[cfg(feature = "buggy")]
            tick: 0,
            #[cfg(feature = "buggy")]
            inbox: None,
        }
    }

    /// Start of the next tick.
    pub(super) fn next_tick_start(&mut self) -> TickStart {
        while let Some(start) = radio::with_shared(|shared| shared.corrupt.pop_front()).flatten() {
            self.clock.record_broken_frame(time::extend(start));
        }
        if critical_section::with(|section| SLOT_BUSY.borrow(section).replace(false)) {
            self.clock.record_busy_channel(time::now());
        }
        let next = self.clock.next_tick(time::now());
        self.slot_start = next.slot_begins_us;
        #[cfg(feature = "buggy")]
        {
            self.tick = next.tick;
        }
        next
    }

    /// Tick of this robot's slot, modulo the exchange.
    pub(super) fn turn(&self) -> Option<u32> {
        self.clock.exchange_phase()
    }

    /// Number of robots with a synchronized clock.
    pub(super) fn synchronized(&self) -> u8 {
        self.clock.near_senders(time::now()) as u8
    }
}

#[cfg(feature = "buggy")]
impl TdmaRadio {
    /// Begins to accept poses of ticks from `since` on.
    pub(super) fn open_inbox(&mut self, since: u32) {
        self.inbox = Some(Inbox::new(crate::link::pose_key(since)));
    }

    /// Never claims a slot, and does not send messages.
    pub(super) fn without_slot(mut self) -> Self {
        self.clock = self.clock.without_slot();
        self
    }

    /// Sends poses in the second slot of a tick. Returns false if it is too late or the radio is busy.
    pub(super) fn send_poses(&mut self, slot_us: u64, frame: &[u8]) -> bool {
        self.sequence = self.sequence.wrapping_add(1);
        let note = SlotInfo::new(1, None);
        critical_section::with(|section| PENDING.borrow(section).set(None));
        radio::load([&mac::header(self.sequence, self.id, note), frame]) && schedule(slot_us, note)
    }

    /// Poses and commands.
    pub(super) fn inbox_mut(&mut self) -> Option<&mut Inbox> {
        self.inbox.as_mut()
    }

    fn receive_poses(&mut self, frame: &[u8], received: &ReceivedFrame) {
        let result = self.inbox.as_mut().map(|inbox| inbox.receive(self.tick, frame));
        if let Some(Ok(id)) = result
            && id.sender != self.id
        {
            self.clock.record_frame(&id, self.note, time::extend(received.arrived_us));
        }
    }

    /// Sends a new command in the slot of this tick, instead of a message.
    pub(super) fn announce(&mut self, boot: u32) {
        let id = FrameId { sender: self.id, boot, sequence: self.tick };
        let mut frame = [0; 128];
        if self.slot_start.is_some()
            && let Some(length) = self.inbox.as_mut().and_then(|inbox| inbox.announcement(id, &mut frame))
        {
            // A lost announcement is repeated.
            let _ = self.send(frame.get(..length).unwrap_or_default());
        }
    }
}

impl Radio for TdmaRadio {
    type Error = TdmaError;

    /// Loads and schedules the frame. The slot alarm sends it.
    fn send(&mut self, frame: &[u8]) -> Result<(), TdmaError> {
        let begins_us = self.slot_start.take().ok_or(TdmaError::NoSlot)?;
        self.sequence = self.sequence.wrapping_add(1);
        let note = self.clock.slot_info(time::now());
        critical_section::with(|section| PENDING.borrow(section).set(None));
        if !radio::load([&mac::header(self.sequence, self.id, note), frame]) {
            return Err(TdmaError::TooLong);
        }
        if schedule(begins_us, note) { Ok(()) } else { Err(TdmaError::Late) }
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<ReceivedFrame>, TdmaError> {
        if radio::with_shared(|shared| core::mem::take(&mut shared.lost)) > Some(0) {
            return Err(TdmaError::Overflow);
        }
        // Skips frames that are not from robots.
        let copy = |frame: &radio::Frame, buffer: &mut [u8]| {
            let (note, payload) = mac::parse(frame.bytes())?;
            buffer.iter_mut().zip(payload).for_each(|(to, from)| *to = *from);
            Some((note, ReceivedFrame { length: payload.len(), arrived_us: frame.start }))
        };
        while let Some(taken) =
            radio::with_shared(|shared| shared.received.take(|frame| copy(frame, buffer))).flatten()
        {
            if let Some((note, received)) = taken {
                self.note = note;
                #[cfg(feature = "buggy")]
                if Inbox::takes(buffer) {
                    self.receive_poses(buffer.get(..received.length).unwrap_or_default(), &received);
                    continue;
                }
                return Ok(Some(received));
            }
        }
        Ok(None)
    }

    fn on_authenticated(&mut self, sender: &FrameId, received: &ReceivedFrame) {
        if sender.sender != self.id {
            self.clock.record_frame(sender, self.note, time::extend(received.arrived_us));
        }
    }
}
