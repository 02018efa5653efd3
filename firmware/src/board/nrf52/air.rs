//! The radio as a robot sees it: slots and the swarm's clock over the [`radio`](super::radio)'s frames.

use core::cell::Cell;

use critical_section::Mutex;
use wdgnn_core::task::NodeId;
use wdgnn_link::{
    header::Identity,
    tdma::{Beat, Note, Rhythm, Timing},
};
use wdgnn_protocol::mac;
use wdgnn_robot::ports::{Radio, Received};

use super::{
    radio::{self, Sending},
    time,
};

/// From a slot's beginning to the first symbol: ramp up (40 µs), look whether the channel is clear (128), ramp up again (40), and the
/// processor's share, measured on the emulated chip.
const DELAY_US: u32 = 211;
/// From a slot's beginning to the next one's: the delay, a sealed frame (119 bytes of 32 µs with everything around it), and a guard
/// of half a millisecond.
const SLOT_US: u32 = DELAY_US + 119 * 32 + 511;
/// From a tick's beginning to its first slot: a robot senses, writes and seals its frame.
const LEAD_US: u32 = 900;
/// A channel that is not clear is looked at once more, as late as the guard allows.
const RETRY_US: u32 = 350;
const RETRIES: u8 = 1;
/// The others that a robot keeps time with.
const OTHERS: usize = 32;

/// When things happen, with an exchange in every so many-th tick.
pub const fn timing(interval: u32) -> Timing {
    Timing {
        period: super::PERIOD_US,
        interval,
        slots: 2,
        lead: LEAD_US,
        slot: SLOT_US,
        delay: DELAY_US,
        retry: RETRY_US,
    }
}

/// A frame that waits for its slot.
#[derive(Clone, Copy)]
struct Plan {
    begins: u64,
    note: Note,
    retries: u8,
}

static PLAN: Mutex<Cell<Option<Plan>>> = Mutex::new(Cell::new(None));
/// The channel was not clear in the own slot, also after the last retry.
static CROWDED: Mutex<Cell<bool>> = Mutex::new(Cell::new(false));

/// The frame that is prepared goes out when its slot begins; says whether that is still to come.
pub(super) fn plan(begins: u64, note: Note) -> bool {
    critical_section::with(|section| PLAN.borrow(section).set(Some(Plan { begins, note, retries: 0 })));
    time::begin_slot_at(begins);
    // What is past when it is set begins never.
    time::now() < begins
}

/// How often the planned frame was tried again; none once it was given up.
#[cfg(feature = "gateway")]
pub(super) fn retries() -> Option<u8> {
    critical_section::with(|section| PLAN.borrow(section).get().map(|plan| plan.retries))
}

/// The own slot begins.
pub(super) fn slot_begins() {
    if let Some(plan) = critical_section::with(|section| PLAN.borrow(section).get()) {
        radio::amend(mac::NOTE_PLACE, plan.note.retried(plan.retries).0);
        radio::send_if_clear();
        if radio::shared(|shared| shared.sending) == Some(Sending::Busy) {
            channel_was_busy();
        }
    }
}

/// The channel was not clear: once more, or not at all.
pub(super) fn channel_was_busy() {
    critical_section::with(|section| {
        let plan = PLAN.borrow(section);
        match plan.get() {
            Some(Plan { begins, note, retries }) if retries < RETRIES => {
                let begins = begins + u64::from(RETRY_US);
                plan.set(Some(Plan { begins, note, retries: retries + 1 }));
                time::begin_slot_at(begins);
            }
            _ => {
                plan.set(None);
                CROWDED.borrow(section).set(true);
            }
        }
    });
}

/// The radio.
#[derive(Debug)]
pub struct Air {
    id: NodeId,
    rhythm: Rhythm<OTHERS>,
    sequence: u8,
    /// When the own slot of this tick begins.
    speaks: Option<u64>,
    /// The note of the frame that was received last.
    note: Note,
}

/// Why nothing was sent, or a frame was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AirFailed {
    /// Longer than the standard allows.
    TooLong,
    /// There is no slot for it: the robot still listens, or listens again.
    NoSlot,
    /// The slot has begun already.
    Late,
    /// Frames came faster than they were taken.
    Lost,
}

impl Air {
    pub(super) fn new(id: NodeId, interval: u32, chance: u32, first_tick: u32) -> Self {
        let rhythm = Rhythm::new(timing(interval), id, time::now(), chance).from_tick(first_tick);
        Self { id, rhythm, sequence: 0, speaks: None, note: Note::default() }
    }

    /// The tick that begins next.
    pub(super) fn next_beat(&mut self) -> Beat {
        while let Some(began) = radio::shared(|shared| shared.spoilt.pop_front()).flatten() {
            self.rhythm.spoilt(time::whole(began));
        }
        if critical_section::with(|section| CROWDED.borrow(section).replace(false)) {
            self.rhythm.busy(time::now());
        }
        let beat = self.rhythm.next(time::now());
        self.speaks = beat.speaks;
        beat
    }

    /// In which ticks it speaks, modulo the exchange.
    pub(super) fn turn(&self) -> Option<u32> {
        self.rhythm.turn()
    }

    /// Others that are of one time with it.
    pub(super) fn company(&self) -> u8 {
        self.rhythm.company(time::now()) as u8
    }
}

impl Radio for Air {
    type Error = AirFailed;

    /// The frame goes out by itself when the slot begins.
    fn send(&mut self, frame: &[u8]) -> Result<(), AirFailed> {
        let begins = self.speaks.take().ok_or(AirFailed::NoSlot)?;
        self.sequence = self.sequence.wrapping_add(1);
        let note = self.rhythm.note(time::now());
        critical_section::with(|section| PLAN.borrow(section).set(None));
        if !radio::prepare([&mac::header(self.sequence, self.id, note), frame]) {
            return Err(AirFailed::TooLong);
        }
        if plan(begins, note) { Ok(()) } else { Err(AirFailed::Late) }
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Received>, AirFailed> {
        if radio::shared(|shared| core::mem::take(&mut shared.lost)) > Some(0) {
            return Err(AirFailed::Lost);
        }
        // Whatever is not a robot's is passed over.
        let copy = |frame: &radio::Frame, buffer: &mut [u8]| {
            let (note, content) = mac::content(frame.content())?;
            buffer.iter_mut().zip(content).for_each(|(to, from)| *to = *from);
            Some((note, Received { length: content.len(), arrived: frame.began }))
        };
        while let Some(taken) =
            radio::shared(|shared| shared.heard.take(|frame| copy(frame, buffer))).flatten()
        {
            if let Some((note, received)) = taken {
                self.note = note;
                return Ok(Some(received));
            }
        }
        Ok(None)
    }

    fn vouched(&mut self, who: &Identity, received: &Received) {
        if who.sender != self.id {
            self.rhythm.heard(who, self.note, time::whole(received.arrived));
        }
    }
}
