//! A gateway's hardware: the same radio, line and clock as a robot's, without a robot.

use core::marker::PhantomData;

use embedded_io::{Read as _, Write as _};
use nrf_pac::uarte::vals::Baudrate;
use wdgnn_link::header::Profile;
use wdgnn_protocol::{
    gateway::{Fate, Hello, LONGEST_FRAME},
    mac,
};

use super::{
    Nrf52, POWER, Wiring, air,
    radio::{self, Frame, Sending},
    serial::{self, Input, LONGEST, Output},
    start, time,
};
use crate::io::gateway::Waiting;

/// A frame of which nothing was heard for so long after its slot began is not sent any more.
const PATIENCE_US: u64 = 10_000;
/// A PC of which nothing was heard for so long is not there.
const ABSENT_US: u64 = 1_000_000;

/// The board as a gateway.
#[derive(Debug)]
pub struct Gateway<W> {
    input: Input,
    output: Output,
    /// The number of the frame that is with the radio, and when its slot begins.
    planned: Option<(u16, u64)>,
    /// When the PC last said something.
    asked: u64,
    wiring: PhantomData<W>,
}

impl<W: Wiring> Nrf52<W> {
    /// Starts the board as a gateway, and says what it is.
    pub fn gateway() -> (Gateway<W>, Hello) {
        // There is no key in it that could be read.
        let reasons = start::start::<W>(true);
        defmt::info!("gateway, started: {=str} ({=u32:#x})", start::reasons(reasons), reasons);
        time::start();
        W::LIGHT.start();
        let (input, output) = serial::open(W::RECEIVE, W::SEND, Baudrate::Baud1m);
        radio::start(POWER);
        start::start_watchdog();
        let hello = Hello { profile: Profile::Dot154 as u8, start: start::chance(), timing: air::timing(1) };
        (Gateway { input, output, planned: None, asked: 0, wiring: PhantomData }, hello)
    }
}

#[allow(clippy::unused_self, reason = "there is one radio and one clock, and they are the gateway's")]
impl<W: Wiring> Gateway<W> {
    /// Microseconds since the start.
    pub fn now(&self) -> u64 {
        time::now()
    }

    /// What became of the frame that is with the radio, once that is known: its number, and when its first symbol went out.
    pub fn fate(&mut self, now: u64) -> Option<(u16, Fate, u64)> {
        let (number, begins) = self.planned?;
        let timing = air::timing(1);
        let (sending, retries) = (radio::shared(|shared| shared.sending)?, air::retries());
        let known = match (sending, retries) {
            (Sending::Sent, Some(retries)) => {
                let later = timing.delay + timing.retry * u32::from(retries);
                Some((number, Fate::Sent, begins + u64::from(later)))
            }
            (Sending::Busy, None) => Some((number, Fate::Busy, now)),
            _ if now > begins + PATIENCE_US => Some((number, Fate::Late, now)),
            _ => None,
        };
        if known.is_some() {
            self.planned = None;
        }
        known
    }

    /// Copies the next frame that was heard, and tells when its first symbol came. Copied: interrupts wait for as long as the radio's
    /// queue is looked at, and a slot must not.
    pub fn heard<'a>(&mut self, place: &'a mut [u8; LONGEST_FRAME]) -> Option<(u64, &'a [u8])> {
        let copied = radio::shared(|shared| {
            shared.heard.take(|frame: &Frame| {
                place.iter_mut().zip(frame.content()).for_each(|(to, byte)| *to = *byte);
                (frame.began, frame.content().len())
            })
        });
        let (began, length) = copied??;
        Some((time::whole(began), place.get(..length)?))
    }

    /// When the next frame began that could not be read.
    pub fn spoilt(&mut self) -> Option<u64> {
        radio::shared(|shared| shared.spoilt.pop_front())?.map(time::whole)
    }

    /// Frames that were lost because nobody took them.
    pub fn lost(&mut self) -> u32 {
        radio::shared(|shared| core::mem::take(&mut shared.lost)).unwrap_or(0)
    }

    /// Whether the radio has nothing to send.
    pub fn is_free(&self) -> bool {
        self.planned.is_none()
    }

    /// Hands a frame to the radio, which sends it by itself when its slot begins.
    pub fn plan(&mut self, frame: &Waiting) {
        self.planned = Some((frame.number, frame.at));
        let note = mac::content(frame.frame()).map(|(note, _)| note);
        if let Some(note) = note.filter(|_| radio::prepare([frame.frame(), &[]])) {
            radio::shared(|shared| shared.sending = Sending::Idle);
            air::plan(frame.at, note);
        }
    }

    /// Hands over what the PC has said.
    pub fn listen(&mut self, now: u64, mut take: impl FnMut(u8)) {
        let mut bytes = [0; 64];
        // More than comes in a look's time: a line that never falls silent must not hold up the radio.
        for _ in 0..4 {
            let count = self.input.read(&mut bytes).unwrap_or(0);
            if count == 0 {
                break;
            }
            self.asked = now;
            bytes.iter().take(count).for_each(|byte| take(*byte));
        }
    }

    /// Says the next piece to the PC, if the last one has left.
    pub fn speak(&mut self, piece: impl for<'a> FnOnce(&'a mut [u8]) -> &'a [u8]) {
        if self.output.is_free() {
            let mut place = [0; LONGEST];
            let piece = piece(&mut place);
            if !piece.is_empty() {
                // It is free.
                let _ = self.output.write_all(piece);
            }
        }
    }

    /// Feeds the watchdog, shows a light (a flash in every second with a PC, half a second without one) and sleeps until then.
    pub fn rest(&mut self, until: u64) {
        start::feed();
        let (phase, alone) = (until % 1_000_000, until > self.asked + ABSENT_US);
        W::LIGHT.set(phase < if alone { 500_000 } else { 50_000 });
        time::sleep_until(until);
    }
}
