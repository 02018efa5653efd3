//! RADIO in IEEE 802.15.4 mode.
//!
//! Product specification, "RADIO — 2.4 GHz radio" and "IEEE 802.15.4 operation". The following
//! assumptions have not been checked against silicon:
//!
//! - The receiver synchronizes only to frames whose preamble starts after the receiver has started.
//! - Two frames that overlap at a receiver are both corrupted, whatever their signal strengths (no
//!   capture effect).
//! - Carrier sense reports a busy channel if a frame is on the air at any time of the assessment,
//!   unless CCACTRL.CCACORRCNT is 0.

mod frame;

use crate::{
    MICROSECOND,
    peripheral::{Context, Peripheral, Registers},
};
use frame::IncomingFrame;
pub use frame::{BYTE_TIME, Frame, HEADER_BYTES, Reception};

registers! {
    TXEN = 0x000, RXEN = 0x004, START = 0x008, STOP = 0x00c, DISABLE = 0x010, CCASTART = 0x02c, CCASTOP = 0x030,
    CRCSTATUS = 0x400, PACKETPTR = 0x504, FREQUENCY = 0x508, MODE = 0x510, PCNF1 = 0x518, STATE = 0x550,
    MODECNF0 = 0x650, CCACTRL = 0x66c, POWER = 0xffc;
    events: READY = 0x100, ADDRESS = 0x104, PAYLOAD = 0x108, END = 0x10c, DISABLED = 0x110, CRCOK = 0x130,
    CRCERROR = 0x134, FRAMESTART = 0x138, CCAIDLE = 0x144, CCABUSY = 0x148, CCASTOPPED = 0x14c,
    TXREADY = 0x154, RXREADY = 0x158, PHYEND = 0x16c
}
/// MODE: IEEE 802.15.4 at 250 kbit/s.
const IEEE_802_15_4: u32 = 15;
/// Shortcuts: event, bit of SHORTS and task.
const SHORTCUTS: [(u8, u32, u32); 13] = [
    (READY, 0, START),
    (END, 1, DISABLE),
    (DISABLED, 2, TXEN),
    (DISABLED, 3, RXEN),
    (END, 5, START),
    (RXREADY, 11, CCASTART),
    (CCAIDLE, 12, TXEN),
    (CCABUSY, 13, DISABLE),
    (CCAIDLE, 17, STOP),
    (TXREADY, 18, START),
    (RXREADY, 19, START),
    (PHYEND, 20, DISABLE),
    (PHYEND, 21, START),
];

/// "t_TXEN" and "t_RXEN" for IEEE 802.15.4: 130 µs.
const RAMP_UP: u64 = 130 * MICROSECOND;
/// Ramp-up time with MODECNF0.RU set: 40 µs.
const FAST_RAMP_UP: u64 = 40 * MICROSECOND;
/// "t_TXDIS" for IEEE 802.15.4: 21 µs.
const TX_RAMP_DOWN: u64 = 21 * MICROSECOND;
/// "t_RXDIS": 0.5 µs.
const RX_RAMP_DOWN: u64 = MICROSECOND / 2;
/// Duration of a clear channel assessment: eight symbols (IEEE 802.15.4, 8.2.7).
const CCA_TIME: u64 = 128 * MICROSECOND;
/// Link quality indicator after a collision. In RAM it replaces the CRC.
const LQI_COLLIDED: u8 = 20;
/// Link quality indicator of a frame that did not collide.
const LQI_GOOD: u8 = 200;

/// Value of the register STATE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Disabled = 0,
    RxRampUp = 1,
    RxIdle = 2,
    Rx = 3,
    RxDisable = 4,
    TxRampUp = 9,
    TxIdle = 10,
    Tx = 11,
    TxDisable = 12,
}

/// Timed action.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// End of a ramp-up, with the new state.
    RampedUp(State),
    /// End of a ramp-down.
    RampedDown,
    /// End of a clear channel assessment.
    Assessed,
    /// End of the transmitted header.
    HeaderSent,
    /// End of the transmitted frame.
    FrameSent,
    /// End of the received header.
    HeaderReceived,
    /// End of the received frame.
    FrameReceived,
}

/// 2.4 GHz radio.
#[derive(Clone, Debug, Default)]
pub struct Radio {
    registers: Registers,
    state: State,
    step: Option<(u64, Step)>,
    /// Time since which the receiver has been waiting for a frame.
    listening_since: Option<u64>,
    assessing: bool,
    /// PACKETPTR at the time of START.
    rx_pointer: u32,
    /// Time from the end of the header to the end of the frame in transmission.
    tx_content_time: u64,
    /// Frames on the air at this receiver.
    incoming: Vec<IncomingFrame>,
    /// Start of the frame in reception.
    locked_start: Option<u64>,
    /// Transmitted frames, each with its start in cycles. The caller may drain it.
    pub tx_frames: Vec<(u64, Frame)>,
    /// Results of incoming frames, each with the end of the frame in cycles.
    ///
    /// The caller may drain it.
    pub receptions: Vec<(u64, Reception, Frame)>,
    /// Number of clear channel assessments that found the channel busy.
    pub busy_assessments: u64,
}

impl Radio {
    /// Resets the peripheral. Frames on the air stay there.
    pub fn reset(&mut self) {
        let Self { incoming, tx_frames, receptions, busy_assessments, .. } = std::mem::take(self);
        *self = Self { incoming, tx_frames, receptions, busy_assessments, ..Self::power_on() };
    }

    /// Adds a frame that starts to arrive at `start`, in cycles.
    pub fn receive(&mut self, start: u64, frame: Frame) {
        let end = start + frame.duration();
        let mut collided = false;
        let overlaps = |other: &&mut IncomingFrame| !other.reported && other.end > start && other.start < end;
        for other in self.incoming.iter_mut().filter(overlaps) {
            (other.collided, collided) = (true, true);
        }
        self.incoming.push(IncomingFrame { start, end, frame, collided, reported: false });
        self.incoming.sort_by_key(|incoming| incoming.start);
    }

    /// Removes frames that have ended.
    ///
    /// Frames that were not received are listed as missed.
    pub fn remove_ended(&mut self, now: u64) {
        let locked_start = self.locked_start;
        let receptions = &mut self.receptions;
        self.incoming.retain(|incoming| {
            // A clear channel assessment looks back by its duration.
            let ended = incoming.start + incoming.frame.duration() + CCA_TIME < now
                && locked_start != Some(incoming.start);
            if ended && !incoming.reported {
                receptions.push((incoming.end, Reception::Missed, incoming.frame.clone()));
            }
            !ended
        });
    }

    fn set_state(&mut self, state: State) {
        self.state = state;
        self.registers.set(STATE, state as u32);
        if state != State::Rx {
            (self.listening_since, self.locked_start) = (None, None);
        }
    }

    fn channel(&self) -> u32 {
        self.registers.get(FREQUENCY) & 0x7f
    }

    fn ramp_up_time(&self) -> u64 {
        if self.registers.get(MODECNF0) & 1 != 0 { FAST_RAMP_UP } else { RAMP_UP }
    }

    /// Generates an event and triggers the tasks of its shortcuts.
    fn raise(&mut self, event: u8, context: &mut Context<'_>) {
        context.raise(event);
        for (_, bit, task) in SHORTCUTS.iter().filter(|(source, ..)| *source == event) {
            if self.registers.shortcut_enabled(*bit) {
                self.trigger(*task, context);
            }
        }
    }

    /// Performs START.
    fn start(&mut self, context: &mut Context<'_>) {
        match self.state {
            State::RxIdle => {
                self.set_state(State::Rx);
                self.rx_pointer = self.registers.get(PACKETPTR);
                self.listening_since = Some(context.now);
                self.step = None;
            }
            State::TxIdle => {
                let bytes = context.memory.dma_read(self.registers.get(PACKETPTR), 128);
                let (length, content) = (bytes[0], usize::from(bytes[0] & 0x7f).saturating_sub(2));
                let frame = Frame {
                    length,
                    content: bytes[1..][..content].into(),
                    crc_ok: self.registers.get(MODE) == IEEE_802_15_4,
                    channel: self.channel(),
                };
                self.set_state(State::Tx);
                self.tx_content_time = u64::from(length & 0x7f) * BYTE_TIME;
                self.step = Some((context.now + HEADER_BYTES * BYTE_TIME, Step::HeaderSent));
                self.tx_frames.push((context.now, frame));
            }
            _ => {}
        }
    }

    /// Invalidates the CRC of a frame whose transmission is aborted.
    fn abort_transmission(&mut self) {
        if matches!(self.step, Some((_, Step::HeaderSent | Step::FrameSent)))
            && let Some((_, frame)) = self.tx_frames.last_mut()
        {
            frame.crc_ok = false;
        }
    }

    /// Returns start and end of the frame that the receiver synchronizes to.
    fn candidate(&self) -> Option<(u64, u64)> {
        let (since, channel) = (self.listening_since?, self.channel());
        let matches =
            |incoming: &&IncomingFrame| incoming.start >= since && incoming.frame.channel == channel;
        self.incoming.iter().find(matches).map(|incoming| (incoming.start, incoming.end))
    }

    /// Writes the received frame to RAM and ends the reception.
    fn end_reception(&mut self, context: &mut Context<'_>) {
        let Some(start) = self.locked_start.take() else { return };
        let Some(incoming) = self.incoming.iter().find(|incoming| incoming.start == start).cloned() else {
            return;
        };
        let Frame { length, ref content, crc_ok, .. } = incoming.frame;
        let good = crc_ok && !incoming.collided;
        // Length byte, content limited to PCNF1.MAXLEN, then the link quality indicator.
        let max_len = (self.registers.get(PCNF1) & 0xff) as usize;
        let mut bytes = vec![length];
        bytes.extend(content.iter().take(max_len));
        bytes.push(if incoming.collided { LQI_COLLIDED } else { LQI_GOOD });
        bytes.truncate(max_len + 1);
        context.memory.dma_write(self.rx_pointer, &bytes);
        self.registers.set(CRCSTATUS, good.into());
        let reception = if good { Reception::Good } else { Reception::Corrupted };
        self.receptions.push((incoming.end, reception, incoming.frame));
        self.incoming.iter_mut().filter(|other| other.start == start).for_each(|other| other.reported = true);
        self.set_state(State::RxIdle);
        context.raise(PAYLOAD);
        context.raise(if good { CRCOK } else { CRCERROR });
        self.raise(END, context);
        self.raise(PHYEND, context);
    }

    /// Ends a clear channel assessment.
    fn end_assessment(&mut self, context: &mut Context<'_>) {
        let control = self.registers.get(CCACTRL);
        let (mode, threshold, count) = (control & 7, control >> 8 & 0xff, control >> 24);
        let (from, channel) = (context.now - CCA_TIME, self.channel());
        let on_air = self.incoming.iter().any(|incoming| {
            incoming.frame.channel == channel
                && incoming.start < context.now
                && incoming.start + incoming.frame.duration() > from
        });
        // The received power of every frame exceeds all thresholds but the maximum.
        let (carrier, energy) = (on_air && count > 0, on_air && threshold < 0xff);
        let busy = match mode {
            0 => energy,
            1 => carrier,
            2 => carrier && energy,
            _ => carrier || energy,
        };
        self.assessing = false;
        self.set_state(State::RxIdle);
        self.busy_assessments += u64::from(busy);
        self.raise(if busy { CCABUSY } else { CCAIDLE }, context);
    }
}

impl Peripheral for Radio {
    fn registers(&mut self) -> &mut Registers {
        &mut self.registers
    }

    fn reset_values() -> &'static [(u32, u32)] {
        &[(CCACTRL, 0x052d_0000), (POWER, 1), (FREQUENCY, 2)]
    }

    fn trigger(&mut self, offset: u32, context: &mut Context<'_>) {
        match (offset, self.state) {
            (TXEN, State::Disabled | State::RxIdle) => {
                self.set_state(State::TxRampUp);
                self.step = Some((context.now + self.ramp_up_time(), Step::RampedUp(State::TxIdle)));
            }
            (RXEN, State::Disabled | State::TxIdle) => {
                self.set_state(State::RxRampUp);
                self.step = Some((context.now + self.ramp_up_time(), Step::RampedUp(State::RxIdle)));
            }
            (START, _) => self.start(context),
            (STOP, State::Rx) => {
                self.step = None;
                self.assessing = false;
                self.set_state(State::RxIdle);
            }
            (STOP, State::Tx) => {
                self.abort_transmission();
                self.step = None;
                self.set_state(State::TxIdle);
            }
            (DISABLE, State::RxRampUp | State::RxIdle | State::Rx) => {
                self.assessing = false;
                self.set_state(State::RxDisable);
                self.step = Some((context.now + RX_RAMP_DOWN, Step::RampedDown));
            }
            (DISABLE, State::TxRampUp | State::TxIdle | State::Tx) => {
                self.abort_transmission();
                self.set_state(State::TxDisable);
                self.step = Some((context.now + TX_RAMP_DOWN, Step::RampedDown));
            }
            (DISABLE, State::Disabled) => self.raise(DISABLED, context),
            (CCASTART, State::RxIdle | State::Rx) => {
                self.set_state(State::Rx);
                (self.listening_since, self.locked_start) = (None, None);
                self.assessing = true;
                self.step = Some((context.now + CCA_TIME, Step::Assessed));
            }
            (CCASTOP, State::Rx) if self.assessing => {
                self.assessing = false;
                self.step = None;
                self.set_state(State::RxIdle);
                context.raise(CCASTOPPED);
            }
            _ => {}
        }
    }

    fn on_write(&mut self, offset: u32, value: u32, _: &mut Context<'_>) {
        if offset == POWER && value & 1 == 0 {
            self.reset();
            self.registers.set(POWER, 0);
        }
    }

    fn next_due(&self) -> Option<u64> {
        let step = self.step.map(|(at, _)| at);
        let frame = self.candidate().map(|(start, end)| {
            if self.locked_start == Some(start) { end } else { start + HEADER_BYTES * BYTE_TIME }
        });
        [step, frame].into_iter().flatten().min()
    }

    fn on_due(&mut self, context: &mut Context<'_>) {
        let step = match self.step.take_if(|(at, _)| *at <= context.now) {
            Some((_, step)) => step,
            None => match self.candidate() {
                Some((start, _)) if self.locked_start == Some(start) => Step::FrameReceived,
                Some(_) => Step::HeaderReceived,
                None => return,
            },
        };
        match step {
            Step::RampedUp(state) => {
                self.set_state(state);
                self.raise(READY, context);
                self.raise(if state == State::RxIdle { RXREADY } else { TXREADY }, context);
            }
            Step::RampedDown => {
                self.set_state(State::Disabled);
                self.raise(DISABLED, context);
            }
            Step::Assessed => self.end_assessment(context),
            Step::HeaderSent => {
                context.raise(ADDRESS);
                context.raise(FRAMESTART);
                self.step = Some((context.now + self.tx_content_time, Step::FrameSent));
            }
            Step::FrameSent => {
                self.step = None;
                self.set_state(State::TxIdle);
                self.raise(END, context);
                self.raise(PHYEND, context);
            }
            Step::HeaderReceived => {
                self.locked_start = self.candidate().map(|(start, _)| start);
                context.raise(ADDRESS);
                context.raise(FRAMESTART);
            }
            Step::FrameReceived => self.end_reception(context),
        }
        self.remove_ended(context.now);
    }
}
