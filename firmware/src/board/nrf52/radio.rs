//! IEEE 802.15.4 radio driver (product specification, "RADIO"). The radio listens except while it
//! sends.
//!
//! The interrupt handler queues received frames, so that the control loop can be busy during
//! reception. The driver of embassy-nrf is polled, truncates frames while no task waits for them,
//! and panics on frame lengths that a valid checksum does not exclude.

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

/// Channel 26, 2.480 GHz, clear of Wi-Fi. In MHz above 2.4 GHz.
const FREQUENCY: u8 = 80;
/// Maximum frame length after the length byte, with checksum (IEEE 802.15.4, 11.3).
const MAX_LENGTH: usize = 127;
/// Length of the checksum.
const CHECKSUM: usize = 2;
/// Air time of a byte in microseconds. Preamble, delimiter and length take six bytes.
const BYTE_US: u32 = 32;
const SYNC_BYTES: u32 = 6;
/// Capacity of the receive queue: two frames per tick, for a robot that is late by up to four
/// ticks.
const QUEUE_LEN: usize = 8;
/// CCACTRL: clear channel assessment by carrier and energy (about −70 dBm), with the reset values
/// of correlator count and threshold. All fields are written at once: a correlator count of zero
/// never detects a carrier.
const CCA: u32 = 3 | 0x14 << 8 | 0x2d << 16 | 0x05 << 24;
/// Iteration limit of a loop that waits for a radio state.
const MAX_POLLS: u32 = 10_000;

/// Received frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    length: u8,
    bytes: [u8; MAX_LENGTH],
    /// Lower 32 bits of the time of the first symbol, in microseconds.
    pub start: u32,
    /// Link quality indicator.
    #[cfg(feature = "gateway")]
    pub quality: u8,
}

impl Frame {
    /// Frame without length byte and checksum.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length.into()).unwrap_or_default()
    }
}

/// Ring of received frames. Each frame is copied once, from the DMA buffer.
#[derive(Debug)]
pub struct Queue {
    frames: [Frame; QUEUE_LEN],
    first: usize,
    count: usize,
}

impl Queue {
    /// Passes the first frame to `read` and removes it.
    pub fn take<T>(&mut self, read: impl FnOnce(&Frame) -> T) -> Option<T> {
        self.count = self.count.checked_sub(1)?;
        let result = self.frames.get(self.first % QUEUE_LEN).map(read);
        self.first = (self.first + 1) % QUEUE_LEN;
        result
    }

    /// Appends a frame with its link quality. Returns false if the queue is full.
    #[cfg_attr(not(feature = "gateway"), allow(unused_variables, reason = "robots do not report it"))]
    fn push(&mut self, content: &[u8], start: u32, quality: impl FnOnce() -> u8) -> bool {
        let place = (self.first + self.count) % QUEUE_LEN;
        let Some(frame) = self.frames.get_mut(place).filter(|_| self.count < QUEUE_LEN) else { return false };
        let Some(bytes) = frame.bytes.get_mut(..content.len()) else { return false };
        bytes.copy_from_slice(content);
        (frame.length, frame.start) = (content.len() as u8, start);
        #[cfg(feature = "gateway")]
        {
            frame.quality = quality();
        }
        self.count += 1;
        true
    }
}

/// State of this robot's transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TxState {
    /// No frame, or a loaded frame that waits for its slot.
    Idle,
    /// The transmission has started.
    Started,
    /// The frame was sent.
    Sent,
    /// The channel was busy.
    Busy,
}

/// State shared between interrupt handlers and main thread.
#[derive(Debug)]
pub struct Shared {
    /// Received frames.
    pub received: Queue,
    /// Frames lost because the queue was full.
    pub lost: u32,
    /// Start times of frames with a bad checksum.
    pub corrupt: Deque<u32, QUEUE_LEN>,
    /// State of the transmission.
    pub tx: TxState,
}

const EMPTY_FRAME: Frame = Frame {
    length: 0,
    bytes: [0; MAX_LENGTH],
    start: 0,
    #[cfg(feature = "gateway")]
    quality: 0,
};

static SHARED: Mutex<RefCell<Shared>> = Mutex::new(RefCell::new(Shared {
    received: Queue { frames: [EMPTY_FRAME; QUEUE_LEN], first: 0, count: 0 },
    lost: 0,
    corrupt: Deque::new(),
    tx: TxState::Idle,
}));

/// DMA buffer: length byte, frame, and link quality.
struct Buffer(UnsafeCell<[u8; MAX_LENGTH + 1]>);

// SAFETY: `RX_BUFFER` belongs to the radio while it receives, otherwise to its interrupt handler.
// `TX_BUFFER` belongs to the radio while it sends (`Shared::tx`), otherwise to the driver.
unsafe impl Sync for Buffer {}

static RX_BUFFER: Buffer = Buffer(UnsafeCell::new([0; MAX_LENGTH + 1]));
static TX_BUFFER: Buffer = Buffer(UnsafeCell::new([0; MAX_LENGTH + 1]));

impl Buffer {
    fn address(&self) -> u32 {
        self.0.get().expose_provenance() as u32
    }
}

/// Accesses the shared state in a critical section.
pub fn with_shared<T>(act: impl FnOnce(&mut Shared) -> T) -> Option<T> {
    critical_section::with(|section| {
        SHARED.borrow(section).try_borrow_mut().ok().map(|mut shared| act(&mut shared))
    })
}

/// Configures the radio and starts listening.
pub fn start(power: vals::Txpower) {
    RADIO.power().write(|w| w.set_power(false));
    RADIO.power().write(|w| w.set_power(true));
    RADIO.mode().write(|w| w.set_mode(vals::Mode::Ieee802154250kbit));
    // Fast ramp-up: 40 µs instead of 130 µs.
    RADIO.modecnf0().write(|w| {
        w.set_ru(vals::Ru::Fast);
        w.set_dtx(vals::Dtx::Center);
    });
    RADIO.frequency().write(|w| w.set_frequency(FREQUENCY));
    RADIO.txpower().write(|w| w.set_txpower(power));
    RADIO.pcnf0().write(|w| {
        w.set_lflen(8);
        w.set_plen(vals::Plen::_32bitZero);
        w.set_crcinc(vals::Crcinc::Include);
    });
    RADIO.pcnf1().write(|w| w.set_maxlen(MAX_LENGTH as u8));
    RADIO.crccnf().write(|w| {
        w.set_len(vals::Len::Two);
        w.set_skipaddr(vals::Skipaddr::Ieee802154);
    });
    RADIO.crcpoly().write(|w| w.set_crcpoly(0x0001_1021));
    RADIO.crcinit().write(|w| w.set_crcinit(0));
    RADIO.sfd().write(|w| w.set_sfd(0xa7));
    RADIO.ccactrl().write_value(regs::Ccactrl(CCA));
    // PPI captures the time at the end of a frame.
    let event = RADIO.events_end().as_ptr().expose_provenance() as u32;
    PPI.ch(0).eep().write_value(event);
    PPI.ch(0).tep().write_value(time::frame_capture_task());
    PPI.chenset().write(|w| w.set_ch(0, true));
    listen();
    // SAFETY: the handler below uses only statics that are initialized at compile time.
    unsafe { cortex_m::peripheral::NVIC::unmask(nrf_pac::Interrupt::RADIO) };
}

/// Disables the radio. Takes at most 21 µs, after sending.
fn disable() {
    RADIO.tasks_disable().write_value(1);
    for _ in 0..MAX_POLLS {
        if RADIO.state().read().state() == vals::State::Disabled {
            break;
        }
    }
    RADIO.events_disabled().write_value(0);
}

fn listen() {
    RADIO.intenclr().write(|w| w.set_disabled(true));
    RADIO.shorts().write(|w| w.set_rxready_start(true));
    RADIO.packetptr().write_value(RX_BUFFER.address());
    RADIO.events_phyend().write_value(0);
    RADIO.events_framestart().write_value(0);
    RADIO.intenset().write(|w| w.set_phyend(true));
    compiler_fence(Ordering::SeqCst);
    RADIO.tasks_rxen().write_value(1);
}

/// Loads this robot's next frame. Returns false if it is too long or a transmission is in progress.
pub fn load(parts: [&[u8]; 2]) -> bool {
    let length = parts[0].len() + parts[1].len();
    let idle = with_shared(|shared| shared.tx != TxState::Started).unwrap_or(false);
    if !idle || length + CHECKSUM > MAX_LENGTH {
        return false;
    }
    // SAFETY: no transmission is in progress, and the slot interrupt starts one only after this
    // frame is scheduled.
    let buffer = unsafe { &mut *TX_BUFFER.0.get() };
    let bytes = [(length + CHECKSUM) as u8].into_iter().chain(parts[0].iter().chain(parts[1]).copied());
    buffer.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    true
}

/// Replaces a byte of the loaded frame. Called by the slot interrupt.
pub fn patch(offset: usize, byte: u8) {
    // SAFETY: called only from interrupts of one priority, while no transmission is in progress.
    let buffer = unsafe { &mut *TX_BUFFER.0.get() };
    if let Some(slot) = buffer.get_mut(1 + offset) {
        *slot = byte;
    }
}

/// Sends the loaded frame if the channel is clear. Called by the slot interrupt.
pub fn send_if_clear() {
    // A frame is being received, so the channel is busy.
    let receiving = RADIO.events_framestart().read() != 0 && RADIO.events_phyend().read() == 0;
    if receiving {
        with_shared(|shared| shared.tx = TxState::Busy);
        return;
    }
    // A frame has ended and its interrupt is pending: process it now, before the radio is
    // reconfigured.
    if RADIO.events_phyend().read() != 0 {
        compiler_fence(Ordering::SeqCst);
        on_frame_end();
    }
    RADIO.intenclr().write(|w| w.set_phyend(true));
    disable();
    RADIO.shorts().write(|w| {
        w.set_rxready_ccastart(true);
        w.set_ccaidle_txen(true);
        w.set_txready_start(true);
        w.set_ccabusy_disable(true);
        w.set_phyend_disable(true);
    });
    RADIO.packetptr().write_value(TX_BUFFER.address());
    RADIO.events_ccabusy().write_value(0);
    RADIO.events_phyend().write_value(0);
    RADIO.intenset().write(|w| w.set_disabled(true));
    with_shared(|shared| shared.tx = TxState::Started);
    compiler_fence(Ordering::SeqCst);
    RADIO.tasks_rxen().write_value(1);
}

#[interrupt]
fn RADIO() {
    let sending = with_shared(|shared| shared.tx) == Some(TxState::Started);
    if sending && RADIO.events_disabled().read() != 0 {
        RADIO.events_disabled().write_value(0);
        let busy = RADIO.events_ccabusy().read() != 0;
        with_shared(|shared| shared.tx = if busy { TxState::Busy } else { TxState::Sent });
        listen();
        if busy {
            super::tdma::on_channel_busy();
        }
    } else if !sending && RADIO.events_phyend().read() != 0 {
        RADIO.events_phyend().write_value(0);
        RADIO.events_framestart().write_value(0);
        compiler_fence(Ordering::SeqCst);
        on_frame_end();
        compiler_fence(Ordering::SeqCst);
        RADIO.tasks_start().write_value(1);
    }
}

/// Queues a received frame, or records a corrupt one.
fn on_frame_end() {
    // SAFETY: reception has ended, and the radio starts again only after this function.
    let buffer = unsafe { &*RX_BUFFER.0.get() };
    let valid = RADIO.crcstatus().read().crcstatus() == vals::Crcstatus::CrcOk;
    // Valid lengths are 3 to 127. A valid checksum does not exclude others.
    let length = usize::from(buffer[0]);
    let content =
        buffer.get(1..(length + 1).saturating_sub(CHECKSUM)).filter(|_| valid && length <= MAX_LENGTH);
    let content = content.filter(|content| !content.is_empty());
    let start = time::end_of_frame().wrapping_sub(BYTE_US * (SYNC_BYTES + u32::from(buffer[0] & 0x7f)));
    with_shared(|shared| {
        if let Some(content) = content {
            // In RAM the link quality follows the frame, in place of the checksum.
            let quality = || buffer.get(1 + content.len()).copied().unwrap_or(0);
            shared.lost += u32::from(!shared.received.push(content, start, quality));
        } else {
            if shared.corrupt.is_full() {
                shared.corrupt.pop_front();
            }
            let _ = shared.corrupt.push_back(start);
        }
    });
}
