//! Gateway hardware: the radio, serial line and clock of a robot's board.

use core::marker::PhantomData;

use embedded_io::{Read as _, Write as _};
use nrf_pac::uarte::vals::Baudrate;
use wdgnn_link::header::Profile;
use wdgnn_protocol::{
    event::{GatewayEvent, Hello, MAX_FRAME_LEN, SendResult, VERSION},
    mac,
};

use super::{
    Nrf52, POWER, Wiring,
    radio::{self, Frame, TxState},
    serial::{self, Input, MAX_WRITE, Output},
    startup, tdma, time,
};
use crate::io::gateway::QueuedFrame;

/// Time after the start of its slot at which a frame without a result counts as late.
const SEND_TIMEOUT_US: u64 = 10_000;
/// Time without bytes from the PC after which it counts as disconnected.
const PC_TIMEOUT_US: u64 = 1_000_000;

/// Board used as a gateway.
#[derive(Debug)]
pub struct Gateway<W> {
    input: Input,
    output: Output,
    /// Number and slot start of the scheduled frame.
    scheduled: Option<(u16, u64)>,
    /// Time of the last byte from the PC.
    last_byte: u64,
    wiring: PhantomData<W>,
}

impl<W: Wiring> Nrf52<W> {
    /// Starts the board as a gateway and returns its properties.
    pub fn gateway() -> (Gateway<W>, Hello) {
        // A gateway image holds no key, so the debug port stays open.
        let reasons = startup::init::<W>(true);
        defmt::info!("gateway started: {=str} ({=u32:#x})", startup::reset_reason(reasons), reasons);
        time::start();
        W::LED.init();
        let (input, output) = serial::open(W::RX, W::TX, Baudrate::Baud1m);
        radio::start(POWER);
        startup::start_watchdog();
        let (profile, boot_id) = (Profile::Dot154 as u8, startup::random());
        let hello = Hello { version: VERSION, profile, boot_id, timing: tdma::timing(1) };
        (Gateway { input, output, scheduled: None, last_byte: 0, wiring: PhantomData }, hello)
    }
}

#[allow(clippy::unused_self, reason = "the gateway owns the only radio and clock")]
impl<W: Wiring> Gateway<W> {
    /// Microseconds since the start.
    pub fn now(&self) -> u64 {
        time::now()
    }

    /// Result of the scheduled frame, once known.
    pub fn send_result(&mut self, now: u64) -> Option<GatewayEvent<'static>> {
        let (number, begins) = self.scheduled?;
        let timing = tdma::timing(1);
        let (tx, retries) = (radio::with_shared(|shared| shared.tx)?, tdma::retries());
        let (result, time_us) = match (tx, retries) {
            (TxState::Sent, Some(retries)) => {
                let later = timing.delay + timing.retry * u32::from(retries);
                (SendResult::Sent, begins + u64::from(later))
            }
            (TxState::Busy, None) => (SendResult::Busy, now),
            _ if now > begins + SEND_TIMEOUT_US => (SendResult::Late, now),
            _ => return None,
        };
        self.scheduled = None;
        Some(GatewayEvent::SendDone { number, result, time_us })
    }

    /// Copies the next received frame to `buffer` and classifies it.
    ///
    /// The copy keeps the critical section short, so that it does not delay a slot.
    pub fn receive<'a>(&mut self, buffer: &'a mut [u8; MAX_FRAME_LEN]) -> Option<GatewayEvent<'a>> {
        let copied = radio::with_shared(|shared| {
            shared.received.take(|frame: &Frame| {
                buffer.iter_mut().zip(frame.bytes()).for_each(|(to, byte)| *to = *byte);
                (frame.start, frame.quality, frame.bytes().len())
            })
        });
        let (start, quality, length) = copied??;
        Some(GatewayEvent::from_broadcast(time::extend(start), quality, buffer.get(..length)?))
    }

    /// Next frame with a bad checksum.
    pub fn next_corrupt(&mut self) -> Option<GatewayEvent<'static>> {
        let start = radio::with_shared(|shared| shared.corrupt.pop_front())??;
        Some(GatewayEvent::Corrupt { time_us: time::extend(start) })
    }

    /// Takes the number of frames lost in the full receive queue.
    pub fn take_lost(&mut self) -> u32 {
        radio::with_shared(|shared| core::mem::take(&mut shared.lost)).unwrap_or(0)
    }

    /// Whether no frame is scheduled.
    pub fn is_free(&self) -> bool {
        self.scheduled.is_none()
    }

    /// Schedules a frame for its slot.
    pub fn schedule(&mut self, frame: &QueuedFrame) {
        self.scheduled = Some((frame.number, frame.slot_us));
        let note = mac::parse(frame.frame()).map(|(note, _)| note);
        if let Some(note) = note.filter(|_| radio::load([frame.frame(), &[]])) {
            radio::with_shared(|shared| shared.tx = TxState::Idle);
            tdma::schedule(frame.slot_us, note);
        }
    }

    /// Passes the bytes from the PC to `push`.
    pub fn read_serial(&mut self, now: u64, mut push: impl FnMut(u8)) {
        let mut bytes = [0; 64];
        // Bounded, so that a saturated line cannot delay the radio; more bytes than arrive between
        // two calls.
        for _ in 0..4 {
            let count = self.input.read(&mut bytes).unwrap_or(0);
            if count == 0 {
                break;
            }
            self.last_byte = now;
            bytes.iter().take(count).for_each(|byte| push(*byte));
        }
    }

    /// Sends the next chunk to the PC, if the previous one was sent.
    pub fn write_serial(&mut self, chunk: impl for<'a> FnOnce(&'a mut [u8]) -> &'a [u8]) {
        if self.output.is_free() {
            let mut buffer = [0; MAX_WRITE];
            let chunk = chunk(&mut buffer);
            if !chunk.is_empty() {
                // Cannot fail: the line is free.
                let _ = self.output.write_all(chunk);
            }
        }
    }

    /// Feeds the watchdog, updates the LED and sleeps until `until`.
    ///
    /// The LED flashes once per second while a PC is connected, otherwise it is on for half of each
    /// second.
    pub fn sleep_until(&mut self, until: u64) {
        startup::feed_watchdog();
        let (phase, disconnected) = (until % 1_000_000, until > self.last_byte + PC_TIMEOUT_US);
        W::LED.set(phase < if disconnected { 500_000 } else { 50_000 });
        time::sleep_until(until);
    }
}
