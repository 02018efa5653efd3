//! The 802.15.4 radio, by its registers (product specification, "RADIO"). It listens always, except in the robot's own slot.
//!
//! Reception belongs to the interrupt: whoever thinks about one frame does not miss the next. The driver of embassy-nrf is polled,
//! cuts frames while nobody waits for them, and panics on lengths that a checksum does not rule out.

use core::{
    cell::{RefCell, UnsafeCell},
    sync::atomic::{Ordering, compiler_fence},
};

use critical_section::Mutex;
use heapless::Deque;
use nrf_pac::{
    PPI, RADIO, interrupt,
    radio::{regs, vals},
};

use super::time;

/// 2.480 GHz, channel 26: clear of wireless networks. In MHz above 2.4 GHz.
const FREQUENCY: u8 = 80;
/// The longest frame behind its length byte, checksum included (IEEE 802.15.4, 11.3).
const LONGEST: usize = 127;
/// The checksum.
const CHECKSUM: usize = 2;
/// A byte in the air, in microseconds; preamble, delimiter and length are six of them.
const BYTE_US: u32 = 32;
const SYNCHRONISATION_BYTES: u32 = 6;
/// Frames that wait for the next tick: two slots bring two, and a robot that was late for a few ticks loses none.
const WAITING: usize = 8;
/// Clear channel assessment by carrier and energy. The three numbers are written together: a write of the mode alone would set the
/// correlator's count to zero, with which it finds nothing. Count and threshold as after a reset; energy −70 dBm or so.
const CCA: u32 = 3 | 0x14 << 8 | 0x2d << 16 | 0x05 << 24;
/// Turns of a loop that waits for a state that comes within a microsecond.
const SOON: u32 = 10_000;

/// A frame that was received.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    length: u8,
    bytes: [u8; LONGEST],
    /// When its first symbol came, in the lower 32 bits of microseconds.
    pub began: u32,
}

impl Frame {
    /// What it carries between its length and its checksum.
    pub fn content(&self) -> &[u8] {
        self.bytes.get(..self.length.into()).unwrap_or_default()
    }
}

/// Frames that wait, in order; each is copied once, from where the radio put it.
#[derive(Debug)]
pub struct Queue {
    frames: [Frame; WAITING],
    first: usize,
    count: usize,
}

impl Queue {
    /// Looks at the first frame and takes it out.
    pub fn take<T>(&mut self, look: impl FnOnce(&Frame) -> T) -> Option<T> {
        self.count = self.count.checked_sub(1)?;
        let seen = self.frames.get(self.first % WAITING).map(look);
        self.first = (self.first + 1) % WAITING;
        seen
    }

    /// Adds a frame; says whether there was room.
    fn add(&mut self, content: &[u8], began: u32) -> bool {
        let place = (self.first + self.count) % WAITING;
        let Some(frame) = self.frames.get_mut(place).filter(|_| self.count < WAITING) else { return false };
        let Some(bytes) = frame.bytes.get_mut(..content.len()) else { return false };
        bytes.copy_from_slice(content);
        (frame.length, frame.began) = (content.len() as u8, began);
        self.count += 1;
        true
    }
}

/// What became of the robot's own frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// Nothing to send, or not yet.
    Idle,
    /// On its way.
    Begun,
    /// It was sent.
    Sent,
    /// The channel was not clear.
    Busy,
}

/// What interrupt and robot share.
#[derive(Debug)]
pub struct Shared {
    /// Frames that were received.
    pub heard: Queue,
    /// Frames that were lost because nobody took them.
    pub lost: u32,
    /// When frames began that could not be read.
    pub spoilt: Deque<u32, WAITING>,
    /// What became of the own frame.
    pub sending: Sending,
}

const NO_FRAME: Frame = Frame { length: 0, bytes: [0; LONGEST], began: 0 };

static SHARED: Mutex<RefCell<Shared>> = Mutex::new(RefCell::new(Shared {
    heard: Queue { frames: [NO_FRAME; WAITING], first: 0, count: 0 },
    lost: 0,
    spoilt: Deque::new(),
    sending: Sending::Idle,
}));

/// Memory that the radio reads or writes by itself: the length byte, what follows, and the link's quality.
struct Buffer(UnsafeCell<[u8; LONGEST + 1]>);

// SAFETY: `RECEIVED` is touched by the radio while it listens, and by its interrupt while it does not; `TO_SEND` by the robot while
// the radio is not sending (`Shared::sending`), and by the radio while it is.
unsafe impl Sync for Buffer {}

static RECEIVED: Buffer = Buffer(UnsafeCell::new([0; LONGEST + 1]));
static TO_SEND: Buffer = Buffer(UnsafeCell::new([0; LONGEST + 1]));

impl Buffer {
    fn address(&self) -> u32 {
        self.0.get().expose_provenance() as u32
    }
}

/// Does something with what interrupt and robot share.
pub fn shared<T>(act: impl FnOnce(&mut Shared) -> T) -> Option<T> {
    critical_section::with(|section| {
        SHARED.borrow(section).try_borrow_mut().ok().map(|mut shared| act(&mut shared))
    })
}

/// Sets the radio up and begins to listen.
pub fn start(power_dbm: vals::Txpower) {
    RADIO.power().write(|w| w.set_power(false));
    RADIO.power().write(|w| w.set_power(true));
    RADIO.mode().write(|w| w.set_mode(vals::Mode::Ieee802154250kbit));
    // 40 µs to ramp up in place of 130.
    RADIO.modecnf0().write(|w| {
        w.set_ru(vals::Ru::Fast);
        w.set_dtx(vals::Dtx::Center);
    });
    RADIO.frequency().write(|w| w.set_frequency(FREQUENCY));
    RADIO.txpower().write(|w| w.set_txpower(power_dbm));
    RADIO.pcnf0().write(|w| {
        w.set_lflen(8);
        w.set_plen(vals::Plen::_32bitZero);
        w.set_crcinc(vals::Crcinc::Include);
    });
    RADIO.pcnf1().write(|w| w.set_maxlen(LONGEST as u8));
    RADIO.crccnf().write(|w| {
        w.set_len(vals::Len::Two);
        w.set_skipaddr(vals::Skipaddr::Ieee802154);
    });
    RADIO.crcpoly().write(|w| w.set_crcpoly(0x0001_1021));
    RADIO.crcinit().write(|w| w.set_crcinit(0));
    RADIO.sfd().write(|w| w.set_sfd(0xa7));
    RADIO.ccactrl().write_value(regs::Ccactrl(CCA));
    // The end of a frame takes the time by itself.
    let event = RADIO.events_end().as_ptr().expose_provenance() as u32;
    PPI.ch(0).eep().write_value(event);
    PPI.ch(0).tep().write_value(time::frame_task());
    PPI.chenset().write(|w| w.set_ch(0, true));
    listen();
    // SAFETY: its handler is below, and what it touches is there from the start.
    unsafe { cortex_m::peripheral::NVIC::unmask(nrf_pac::Interrupt::RADIO) };
}

/// Waits until the radio is off: at most for the 21 µs after sending.
fn off() {
    RADIO.tasks_disable().write_value(1);
    for _ in 0..SOON {
        if RADIO.state().read().state() == vals::State::Disabled {
            break;
        }
    }
    RADIO.events_disabled().write_value(0);
}

fn listen() {
    RADIO.intenclr().write(|w| w.set_disabled(true));
    RADIO.shorts().write(|w| w.set_rxready_start(true));
    RADIO.packetptr().write_value(RECEIVED.address());
    RADIO.events_phyend().write_value(0);
    RADIO.events_framestart().write_value(0);
    RADIO.intenset().write(|w| w.set_phyend(true));
    compiler_fence(Ordering::SeqCst);
    RADIO.tasks_rxen().write_value(1);
}

/// Puts the robot's next frame where the radio will fetch it; not while one is being sent.
pub fn prepare(parts: [&[u8]; 2]) -> bool {
    let length = parts[0].len() + parts[1].len();
    let idle = shared(|shared| shared.sending != Sending::Begun).unwrap_or(false);
    if !idle || length + CHECKSUM > LONGEST {
        return false;
    }
    // SAFETY: nothing is being sent, and the interrupt that begins to send does so only after `Sending::Idle` was set.
    let buffer = unsafe { &mut *TO_SEND.0.get() };
    let bytes = [(length + CHECKSUM) as u8].into_iter().chain(parts[0].iter().chain(parts[1]).copied());
    buffer.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    true
}

/// Changes a byte of the frame that is to be sent, by its place behind the length. Called by the interrupt that sends.
pub fn amend(place: usize, byte: u8) {
    // SAFETY: called only from interrupts of one priority while nothing is being sent.
    let buffer = unsafe { &mut *TO_SEND.0.get() };
    if let Some(slot) = buffer.get_mut(1 + place) {
        *slot = byte;
    }
}

/// Sends the prepared frame if nobody is speaking. Called by the interrupt of the slot.
pub fn send_if_clear() {
    // Somebody's frame is coming in: the channel is anything but clear.
    let receiving = RADIO.events_framestart().read() != 0 && RADIO.events_phyend().read() == 0;
    if receiving {
        shared(|shared| shared.sending = Sending::Busy);
        return;
    }
    // One that has just ended, and whose interrupt waits for this one's end, is not lost.
    if RADIO.events_phyend().read() != 0 {
        compiler_fence(Ordering::SeqCst);
        received();
    }
    RADIO.intenclr().write(|w| w.set_phyend(true));
    off();
    RADIO.shorts().write(|w| {
        w.set_rxready_ccastart(true);
        w.set_ccaidle_txen(true);
        w.set_txready_start(true);
        w.set_ccabusy_disable(true);
        w.set_phyend_disable(true);
    });
    RADIO.packetptr().write_value(TO_SEND.address());
    RADIO.events_ccabusy().write_value(0);
    RADIO.events_phyend().write_value(0);
    RADIO.intenset().write(|w| w.set_disabled(true));
    shared(|shared| shared.sending = Sending::Begun);
    compiler_fence(Ordering::SeqCst);
    RADIO.tasks_rxen().write_value(1);
}

#[interrupt]
fn RADIO() {
    let sending = shared(|shared| shared.sending) == Some(Sending::Begun);
    if sending && RADIO.events_disabled().read() != 0 {
        RADIO.events_disabled().write_value(0);
        let busy = RADIO.events_ccabusy().read() != 0;
        shared(|shared| shared.sending = if busy { Sending::Busy } else { Sending::Sent });
        listen();
        if busy {
            super::air::channel_was_busy();
        }
    } else if !sending && RADIO.events_phyend().read() != 0 {
        RADIO.events_phyend().write_value(0);
        RADIO.events_framestart().write_value(0);
        compiler_fence(Ordering::SeqCst);
        received();
        compiler_fence(Ordering::SeqCst);
        RADIO.tasks_start().write_value(1);
    }
}

/// A frame has ended, good or not.
fn received() {
    // SAFETY: the radio has ended its reception and is started again only after this.
    let buffer = unsafe { &*RECEIVED.0.get() };
    let good = RADIO.crcstatus().read().crcstatus() == vals::Crcstatus::CrcOk;
    // Only 3 to 127 are lengths of a frame that carries something; a good checksum does not rule out others.
    let length = usize::from(buffer[0]);
    let content = buffer.get(1..(length + 1).saturating_sub(CHECKSUM)).filter(|_| good && length <= LONGEST);
    let content = content.filter(|content| !content.is_empty());
    let began =
        time::end_of_frame().wrapping_sub(BYTE_US * (SYNCHRONISATION_BYTES + u32::from(buffer[0] & 0x7f)));
    shared(|shared| {
        if let Some(content) = content {
            shared.lost += u32::from(!shared.heard.add(content, began));
        } else {
            if shared.spoilt.is_full() {
                shared.spoilt.pop_front();
            }
            let _ = shared.spoilt.push_back(began);
        }
    });
}
