//! RADIO in IEEE 802.15.4 mode (product specification, "RADIO — 2.4 GHz radio", "IEEE 802.15.4 operation").
//!
//! What is assumed and only silicon can tell: a receiver takes a frame only when it listened before the frame began; two frames
//! that overlap at a receiver are lost, however different their strength (no capture); a carrier is sensed when it was there at any
//! time of the assessment, unless the correlator's count was set to zero, which finds nothing.

use std::sync::Arc;

use crate::{
    MICROSECOND,
    block::{Block, Context, Peripheral, event},
};

const TXEN: u32 = 0x000;
const RXEN: u32 = 0x004;
const START: u32 = 0x008;
const STOP: u32 = 0x00c;
const DISABLE: u32 = 0x010;
const CCASTART: u32 = 0x02c;
const CCASTOP: u32 = 0x030;
const READY: u8 = event(0x100);
const ADDRESS: u8 = event(0x104);
const PAYLOAD: u8 = event(0x108);
const END: u8 = event(0x10c);
const DISABLED: u8 = event(0x110);
const CRCOK: u8 = event(0x130);
const CRCERROR: u8 = event(0x134);
const FRAMESTART: u8 = event(0x138);
const CCAIDLE: u8 = event(0x144);
const CCABUSY: u8 = event(0x148);
const CCASTOPPED: u8 = event(0x14c);
const TXREADY: u8 = event(0x154);
const RXREADY: u8 = event(0x158);
const PHYEND: u8 = event(0x16c);
/// Shortcuts, by event: the bit and the task (register SHORTS).
const SHORTCUTS: [(u8, u32, u32); 12] = [
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
];
const PHYEND_START: u32 = 21;
const CRCSTATUS: u32 = 0x400;
const PACKETPTR: u32 = 0x504;
const FREQUENCY: u32 = 0x508;
const MODE: u32 = 0x510;
const IEEE_802_15_4: u32 = 15;
const PCNF1: u32 = 0x518;
const STATE: u32 = 0x550;
const MODECNF0: u32 = 0x650;
const CCACTRL: u32 = 0x66c;
const POWER: u32 = 0xffc;

/// "t_TXEN, t_RXEN, IEEE 802.15.4": 130 µs, or 40 µs with the fast ramp-up of MODECNF0.
const RAMP_UP: u64 = 130 * MICROSECOND;
const FAST_RAMP_UP: u64 = 40 * MICROSECOND;
/// "t_TXDIS, IEEE 802.15.4": 21 µs.
const TX_RAMP_DOWN: u64 = 21 * MICROSECOND;
/// "t_RXDIS": 0.5 µs.
const RX_RAMP_DOWN: u64 = MICROSECOND / 2;
/// A clear channel assessment takes eight symbols (IEEE 802.15.4, 8.2.7).
const CCA: u64 = 128 * MICROSECOND;
/// A byte takes two symbols of 16 µs.
pub const BYTE: u64 = 32 * MICROSECOND;
/// Preamble (four bytes), delimiter and length come first.
pub const SYNCHRONISATION_BYTES: u64 = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
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

/// What a radio does by itself, and when.
#[derive(Clone, Copy, Debug)]
enum Step {
    Ready(State),
    Down,
    Assessed,
    Begun,
    Sent,
    FrameStart,
    Received,
}

/// A frame in the air.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Its length byte, as sent.
    pub length: u8,
    /// What follows it, without the checksum.
    pub content: Arc<[u8]>,
    /// The checksum fits: it was sent by a radio and not broken.
    pub whole: bool,
    /// The channel, by its offset from 2.4 GHz in MHz.
    pub channel: u32,
}

impl Frame {
    /// How long it takes, in cycles.
    #[must_use]
    pub fn takes(&self) -> u64 {
        (SYNCHRONISATION_BYTES + u64::from(self.length & 0x7f)) * BYTE
    }
}

/// A frame as it comes to one receiver, in the receiver's time.
#[derive(Clone, Debug)]
struct Arrival {
    begins: u64,
    ends: u64,
    frame: Frame,
    spoilt: bool,
}

/// How a frame was received, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reception {
    /// Into memory, with a good checksum.
    Good,
    /// Spoilt by another.
    Spoilt,
    /// The receiver was not listening from its beginning on, or stopped before its end.
    Missed,
}

/// The radio.
#[derive(Clone, Debug)]
pub struct Radio {
    block: Block,
    state: State,
    step: Option<(u64, Step)>,
    /// In reception since then.
    listens: Option<u64>,
    assessing: bool,
    pointer: u32,
    /// What is in the air here.
    arrivals: Vec<Arrival>,
    /// The one that is being received: when it began.
    locked: Option<u64>,
    /// Frames that this radio has begun to send, each with its time.
    pub sent: Vec<(u64, Frame)>,
    /// What became of the frames that reached it, each with the time of its end.
    pub outcomes: Vec<(u64, Reception, Frame)>,
    /// Assessments that found the channel busy.
    pub busy: u64,
}

impl Default for Radio {
    fn default() -> Self {
        Self {
            // CCACTRL after a reset: correlator count 5, threshold 0x2d.
            block: Block::with(&[(CCACTRL, 0x052d_0000), (POWER, 1), (FREQUENCY, 2)]),
            state: State::Disabled,
            step: None,
            listens: None,
            assessing: false,
            pointer: 0,
            arrivals: Vec::new(),
            locked: None,
            sent: Vec::new(),
            outcomes: Vec::new(),
            busy: 0,
        }
    }
}

impl Radio {
    /// A reset; what is in the air stays there.
    pub fn reset(&mut self) {
        let Self { arrivals, sent, outcomes, busy, .. } = std::mem::take(self);
        *self = Self { arrivals, sent, outcomes, busy, ..Self::default() };
    }

    /// A frame begins to arrive.
    pub fn arrive(&mut self, begins: u64, frame: Frame) {
        let ends = begins + frame.takes();
        let mut spoilt = false;
        for other in self.arrivals.iter_mut().filter(|other| other.ends > begins && other.begins < ends) {
            (other.spoilt, spoilt) = (true, true);
        }
        self.arrivals.push(Arrival { begins, ends, frame, spoilt });
        self.arrivals.sort_by_key(|arrival| arrival.begins);
    }

    fn go(&mut self, state: State) {
        self.state = state;
        self.block.set(STATE, state as u32);
        if state != State::Rx {
            (self.listens, self.locked) = (None, None);
        }
    }

    fn ramp_up(&self) -> u64 {
        if self.block.get(MODECNF0) & 1 != 0 { FAST_RAMP_UP } else { RAMP_UP }
    }

    fn happen(&mut self, event: u8, context: &mut Context<'_>) {
        context.raise(event);
        for (_, bit, task) in SHORTCUTS.iter().filter(|(on, ..)| *on == event) {
            if self.block.short(*bit) {
                self.task(*task, context);
            }
        }
        if event == PHYEND && self.block.short(PHYEND_START) {
            self.task(START, context);
        }
    }

    fn begin(&mut self, context: &mut Context<'_>) {
        match self.state {
            State::RxIdle => {
                self.go(State::Rx);
                self.pointer = self.block.get(PACKETPTR);
                self.listens = Some(context.at);
                self.step = None;
            }
            State::TxIdle => {
                let bytes = context.memory.dma_read(self.block.get(PACKETPTR), 128);
                let (length, content) = (bytes[0], usize::from(bytes[0] & 0x7f).saturating_sub(2));
                let frame = Frame {
                    length,
                    content: bytes[1..][..content].into(),
                    whole: self.block.get(MODE) == IEEE_802_15_4,
                    channel: self.block.get(FREQUENCY) & 0x7f,
                };
                self.go(State::Tx);
                self.step = Some((context.at + SYNCHRONISATION_BYTES * BYTE, Step::Begun));
                self.sent.push((context.at, frame));
            }
            _ => {}
        }
    }

    /// The frame that the receiver can lock on to: on its channel, and begun while it listened.
    fn candidate(&self) -> Option<(u64, u64)> {
        let (listens, channel) = (self.listens?, self.block.get(FREQUENCY) & 0x7f);
        let caught = |arrival: &&Arrival| arrival.begins >= listens && arrival.frame.channel == channel;
        self.arrivals.iter().find(caught).map(|arrival| (arrival.begins, arrival.ends))
    }

    fn receive(&mut self, context: &mut Context<'_>) {
        let Some(begun) = self.locked.take() else { return };
        let Some(arrival) = self.arrivals.iter().find(|arrival| arrival.begins == begun).cloned() else {
            return;
        };
        let Frame { length, ref content, whole, .. } = arrival.frame;
        let good = whole && !arrival.spoilt;
        // The length first, then what follows, as much as PCNF1 allows, then the link's quality in the checksum's place.
        let most = (self.block.get(PCNF1) & 0xff) as usize;
        let mut bytes = vec![length];
        bytes.extend(content.iter().take(most));
        bytes.push(if arrival.spoilt { 20 } else { 200 });
        bytes.truncate(most + 1);
        context.memory.dma_write(self.pointer, &bytes);
        self.block.set(CRCSTATUS, good.into());
        let reception = if good { Reception::Good } else { Reception::Spoilt };
        self.outcomes.push((arrival.ends, reception, arrival.frame));
        self.arrivals.iter_mut().filter(|other| other.begins == begun).for_each(|other| other.ends = 0);
        self.go(State::RxIdle);
        context.raise(PAYLOAD);
        context.raise(if good { CRCOK } else { CRCERROR });
        self.happen(END, context);
        self.happen(PHYEND, context);
    }

    fn assess(&mut self, context: &mut Context<'_>) {
        let control = self.block.get(CCACTRL);
        let (mode, threshold, count) = (control & 7, control >> 8 & 0xff, control >> 24);
        let from = context.at - CCA;
        let channel = self.block.get(FREQUENCY) & 0x7f;
        let carrier = self.arrivals.iter().any(|a| {
            a.frame.channel == channel && a.begins < context.at && a.begins + a.frame.takes() > from
        });
        // A robot within range is far above any sensible threshold of energy.
        let (sensed, energetic) = (carrier && count > 0, carrier && threshold < 0xff);
        let busy = match mode {
            0 => energetic,
            1 => sensed,
            2 => sensed && energetic,
            _ => sensed || energetic,
        };
        self.assessing = false;
        self.go(State::RxIdle);
        self.busy += u64::from(busy);
        self.happen(if busy { CCABUSY } else { CCAIDLE }, context);
    }

    fn tidy(&mut self, at: u64) {
        let locked = self.locked;
        let outcomes = &mut self.outcomes;
        self.arrivals.retain(|arrival| {
            let gone = arrival.begins + arrival.frame.takes() + CCA < at && locked != Some(arrival.begins);
            if gone && arrival.ends != 0 {
                outcomes.push((arrival.ends, Reception::Missed, arrival.frame.clone()));
            }
            !gone
        });
    }

    /// Accounts for all frames that have ended by now.
    pub fn settle(&mut self, at: u64) {
        self.tidy(at);
    }
}

impl Peripheral for Radio {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn task(&mut self, offset: u32, context: &mut Context<'_>) {
        match (offset, self.state) {
            (TXEN, State::Disabled | State::RxIdle) => {
                self.go(State::TxRampUp);
                self.step = Some((context.at + self.ramp_up(), Step::Ready(State::TxIdle)));
            }
            (RXEN, State::Disabled | State::TxIdle) => {
                self.go(State::RxRampUp);
                self.step = Some((context.at + self.ramp_up(), Step::Ready(State::RxIdle)));
            }
            (START, _) => self.begin(context),
            (STOP, State::Rx) => {
                self.step = None;
                self.assessing = false;
                self.go(State::RxIdle);
            }
            (STOP, State::Tx) => {
                self.break_off();
                self.step = None;
                self.go(State::TxIdle);
            }
            (DISABLE, State::RxRampUp | State::RxIdle | State::Rx) => {
                self.assessing = false;
                self.go(State::RxDisable);
                self.step = Some((context.at + RX_RAMP_DOWN, Step::Down));
            }
            (DISABLE, State::TxRampUp | State::TxIdle | State::Tx) => {
                self.break_off();
                self.go(State::TxDisable);
                self.step = Some((context.at + TX_RAMP_DOWN, Step::Down));
            }
            (DISABLE, State::Disabled) => self.happen(DISABLED, context),
            (CCASTART, State::RxIdle | State::Rx) => {
                self.go(State::Rx);
                (self.listens, self.locked) = (None, None);
                self.assessing = true;
                self.step = Some((context.at + CCA, Step::Assessed));
            }
            (CCASTOP, State::Rx) if self.assessing => {
                self.assessing = false;
                self.step = None;
                self.go(State::RxIdle);
                context.raise(CCASTOPPED);
            }
            _ => {}
        }
    }

    fn written(&mut self, offset: u32, value: u32, _: &mut Context<'_>) {
        if offset == POWER && value & 1 == 0 {
            self.reset();
            self.block.set(POWER, 0);
        }
    }

    fn due(&self) -> Option<u64> {
        let step = self.step.map(|(at, _)| at);
        let begins = self.candidate().map(|(begins, ends)| {
            if self.locked == Some(begins) { ends } else { begins + SYNCHRONISATION_BYTES * BYTE }
        });
        [step, begins].into_iter().flatten().min()
    }

    fn elapse(&mut self, context: &mut Context<'_>) {
        let step = match self.step.take_if(|(at, _)| *at <= context.at) {
            Some((_, step)) => step,
            None => match self.candidate() {
                Some((begins, _)) if self.locked == Some(begins) => Step::Received,
                Some(_) => Step::FrameStart,
                None => return,
            },
        };
        match step {
            Step::Ready(state) => {
                self.go(state);
                let own = if state == State::RxIdle { RXREADY } else { TXREADY };
                self.happen(READY, context);
                self.happen(own, context);
            }
            Step::Down => {
                self.go(State::Disabled);
                self.happen(DISABLED, context);
            }
            Step::Assessed => self.assess(context),
            Step::Begun => {
                context.raise(ADDRESS);
                context.raise(FRAMESTART);
                let length = self.sent.last().map_or(0, |(_, frame)| frame.length & 0x7f);
                self.step = Some((context.at + u64::from(length) * BYTE, Step::Sent));
            }
            Step::Sent => {
                self.step = None;
                self.go(State::TxIdle);
                self.happen(END, context);
                self.happen(PHYEND, context);
            }
            Step::FrameStart => {
                self.locked = self.candidate().map(|(begins, _)| begins);
                context.raise(ADDRESS);
                context.raise(FRAMESTART);
            }
            Step::Received => self.receive(context),
        }
        self.tidy(context.at);
    }
}

impl Radio {
    /// A transmission ends too early: what is in the air is no frame.
    fn break_off(&mut self) {
        if matches!(self.step, Some((_, Step::Begun | Step::Sent)))
            && let Some((_, frame)) = self.sent.last_mut()
        {
            frame.whole = false;
        }
    }
}

#[cfg(test)]
mod tests;
