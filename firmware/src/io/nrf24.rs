//! The nRF24L01+ radio over SPI: 2 Mbit/s, packets of up to 32 bytes, nobody acknowledges a broadcast. Fly it with the link profile
//! [`wdgnn_link::encoding::esb32::Esb32`], whose frames fit.
//!
//! It listens whenever it does not send, and nothing here waits: what is to be done is done by [`Nrf24::poll`], a few microseconds
//! each time. The radio itself keeps three packets, so that [`Nrf24::poll`] is to be called whenever its interrupt line falls, or at
//! least once in 0.4 ms while others speak. Packets are kept here until the tick asks for them.

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;

use embedded_hal::{delay::DelayNs, digital::OutputPin, spi::SpiDevice};
use heapless::Deque;
use wdgnn_robot::ports::{Radio, Received};

/// The most bytes in a packet.
pub const LARGEST: usize = 32;
/// Packets that are kept until the tick asks for them.
pub const KEPT: usize = 32;

/// Everybody's address.
const ADDRESS: [u8; 5] = *b"wdgnn";
/// Above the channels of wireless networks: 2.490 GHz.
const CHANNEL: u8 = 90;
/// Preamble, address and checksum around a packet, in bytes.
const AROUND: u32 = 8;
/// A byte on the air at 2 Mbit/s.
const BYTE_MICROSECONDS: u32 = 4;
/// A packet leaves within 0.3 ms of the settling time and its own. What takes longer never will.
const STUCK_MICROSECONDS: u32 = 2_000;
/// More packets than these are left for the next poll: a jammer costs frames and not the tick.
const AT_ONCE: usize = 6;
/// From power to the first word, and from the first word to the first packet (product specification, 6.1.7).
const POWER_MILLISECONDS: u32 = 100;
const CRYSTAL_MILLISECONDS: u32 = 5;

/// Registers and commands (product specification, 8.3.1 and 9.1).
const CONFIG: u8 = 0x00;
const EN_AA: u8 = 0x01;
const EN_RXADDR: u8 = 0x02;
const SETUP_AW: u8 = 0x03;
const SETUP_RETR: u8 = 0x04;
const RF_CH: u8 = 0x05;
const RF_SETUP: u8 = 0x06;
const STATUS: u8 = 0x07;
const RX_ADDR_P0: u8 = 0x0a;
const TX_ADDR: u8 = 0x10;
const RX_PW_P0: u8 = 0x11;
const FIFO_STATUS: u8 = 0x17;
const DYNPD: u8 = 0x1c;
const FEATURE: u8 = 0x1d;
const WRITE: u8 = 0x20;
const READ_PAYLOAD: u8 = 0x61;
const WRITE_PAYLOAD: u8 = 0xa0;
const FLUSH_SENDING: u8 = 0xe1;
const FLUSH_RECEIVED: u8 = 0xe2;
const NOTHING: u8 = 0xff;

/// CONFIG: a checksum of two bytes, powered, and which way.
const SENDING: u8 = 0x0e;
const LISTENING: u8 = 0x0f;
/// STATUS: a packet has come, one has left, one was given up.
const CAME: u8 = 0x40;
const LEFT: u8 = 0x20;
const ALL: u8 = 0x70;
/// FIFO_STATUS: nothing has come.
const EMPTY: u8 = 0x01;

/// The radio did not do what it was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nrf24Failed {
    /// SPI or a pin failed, or no radio answers.
    Line,
    /// A packet did not leave in time, or the one before has not left yet.
    Stuck,
    /// A frame of another length than the radio was set up for.
    Length,
}

struct Packet {
    bytes: [u8; LARGEST],
    arrived: u32,
}

/// The radio. `T` tells the time in microseconds, wrapping.
pub struct Nrf24<S, C, T> {
    spi: S,
    enable: C,
    now: T,
    length: u8,
    /// Since when a packet is on its way out.
    sending: Option<u32>,
    /// A packet that has its turn later.
    waiting: Option<(u32, [u8; LARGEST])>,
    received: Deque<Packet, KEPT>,
    begun: u32,
    offset: u32,
    failed: Option<Nrf24Failed>,
    /// It had lost its settings and got them anew: from the next tick on it listens.
    restarting: bool,
    /// Packets that nobody asked for in time.
    pub lost: u32,
}

impl<S, C, T> core::fmt::Debug for Nrf24<S, C, T> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Nrf24").field("lost", &self.lost).finish_non_exhaustive()
    }
}

impl<S: SpiDevice, C: OutputPin, T: FnMut() -> u32> Nrf24<S, C, T> {
    /// Finds and sets up the radio, for frames of one length ([`wdgnn_robot::Node::frame_bytes`]). Takes a tenth of a second; nothing
    /// later does.
    pub fn new(
        spi: S,
        enable: C,
        delay: &mut impl DelayNs,
        now: T,
        length: usize,
    ) -> Result<Self, Nrf24Failed> {
        let length = u8::try_from(length).ok().filter(|length| (1..=LARGEST).contains(&usize::from(*length)));
        let length = length.ok_or(Nrf24Failed::Length)?;
        let mut radio = Self {
            spi,
            enable,
            now,
            length,
            sending: None,
            waiting: None,
            received: Deque::new(),
            begun: 0,
            offset: 0,
            failed: None,
            restarting: false,
            lost: 0,
        };
        radio.enable(false)?;
        delay.delay_ms(POWER_MILLISECONDS);
        radio.set_up()?;
        delay.delay_ms(CRYSTAL_MILLISECONDS);
        radio.enable(true)?;
        Ok(radio)
    }

    fn set_up(&mut self) -> Result<(), Nrf24Failed> {
        // No acknowledgements, one pipe, addresses of five bytes, packets of one length, 2 Mbit/s at full power.
        let settings = [
            (EN_AA, 0),
            (EN_RXADDR, 1),
            (SETUP_AW, 3),
            (SETUP_RETR, 0),
            (RF_CH, CHANNEL),
            (RF_SETUP, 0x0e),
            (DYNPD, 0),
            (FEATURE, 0),
            (RX_PW_P0, self.length),
        ];
        for (register, value) in settings {
            self.write(register, value)?;
        }
        // A loose line reads as zeros or ones.
        if self.read(RF_CH)? != CHANNEL {
            return Err(Nrf24Failed::Line);
        }
        for register in [RX_ADDR_P0, TX_ADDR] {
            let [a, b, c, d, e] = ADDRESS;
            self.transfer(&mut [WRITE | register, a, b, c, d, e])?;
        }
        self.transfer(&mut [FLUSH_SENDING])?;
        self.transfer(&mut [FLUSH_RECEIVED])?;
        self.write(STATUS, ALL)?;
        self.write(CONFIG, LISTENING)
    }

    /// Frames leave so many microseconds into the tick: robots whose ticks begin at the same time speak one after the other when each
    /// has an offset of its own, 0.45 ms apart.
    pub fn speak_at(&mut self, offset_microseconds: u32) {
        self.offset = offset_microseconds;
    }

    /// Takes in what has come, sends what has its turn, and listens again when that has left. Never waits.
    pub fn poll(&mut self) -> Result<(), Nrf24Failed> {
        if self.restarting {
            return Err(Nrf24Failed::Line);
        }
        let now = (self.now)();
        let airtime = BYTE_MICROSECONDS * (AROUND + u32::from(self.length));
        for _ in 0..AT_ONCE {
            if self.read(FIFO_STATUS)? & EMPTY != 0 {
                break;
            }
            let mut packet = [READ_PAYLOAD; LARGEST + 1];
            self.transfer(packet.get_mut(..=usize::from(self.length)).ok_or(Nrf24Failed::Length)?)?;
            self.write(STATUS, CAME)?;
            let [_, bytes @ ..] = packet;
            let packet = Packet { bytes, arrived: now.wrapping_sub(airtime) };
            if self.received.push_back(packet).is_err() {
                self.lost = self.lost.saturating_add(1);
            }
        }
        if let Some(since) = self.sending {
            if self.transfer(&mut [NOTHING])? & LEFT != 0 {
                self.listen()?;
            } else if now.wrapping_sub(since) > STUCK_MICROSECONDS {
                self.listen()?;
                return Err(Nrf24Failed::Stuck);
            }
        } else if let Some((due, frame)) = self.waiting
            && now.wrapping_sub(due).cast_signed() >= 0
        {
            self.waiting = None;
            self.transmit(&frame)?;
        }
        Ok(())
    }

    /// A radio that came loose, or lost power, has other settings than it was given: it gets them anew.
    fn look_after(&mut self) -> Result<(), Nrf24Failed> {
        let expected = if self.sending.is_some() { SENDING } else { LISTENING };
        if self.read(CONFIG)? == expected {
            if core::mem::take(&mut self.restarting) {
                self.enable(true)?;
            }
            return self.poll();
        }
        (self.sending, self.waiting, self.restarting) = (None, None, true);
        self.enable(false)?;
        self.set_up()?;
        Err(Nrf24Failed::Line)
    }

    fn transmit(&mut self, frame: &[u8; LARGEST]) -> Result<(), Nrf24Failed> {
        let mut packet = [WRITE_PAYLOAD; LARGEST + 1];
        packet.iter_mut().skip(1).zip(frame).for_each(|(to, from)| *to = *from);
        self.enable(false)?;
        self.write(CONFIG, SENDING)?;
        self.transfer(packet.get_mut(..=usize::from(self.length)).ok_or(Nrf24Failed::Length)?)?;
        self.sending = Some((self.now)());
        self.enable(true)
    }

    fn listen(&mut self) -> Result<(), Nrf24Failed> {
        self.sending = None;
        self.enable(false)?;
        self.transfer(&mut [FLUSH_SENDING])?;
        self.write(STATUS, LEFT)?;
        self.write(CONFIG, LISTENING)?;
        self.enable(true)
    }

    fn enable(&mut self, on: bool) -> Result<(), Nrf24Failed> {
        self.enable.set_state(on.into()).map_err(|_| Nrf24Failed::Line)
    }

    /// Exchanges bytes with the radio; the first that comes back is its status.
    fn transfer(&mut self, bytes: &mut [u8]) -> Result<u8, Nrf24Failed> {
        self.spi.transfer_in_place(bytes).map_err(|_| Nrf24Failed::Line)?;
        bytes.first().copied().ok_or(Nrf24Failed::Line)
    }

    fn write(&mut self, register: u8, value: u8) -> Result<(), Nrf24Failed> {
        self.transfer(&mut [WRITE | register, value]).map(|_| ())
    }

    fn read(&mut self, register: u8) -> Result<u8, Nrf24Failed> {
        let mut bytes = [register, NOTHING];
        self.transfer(&mut bytes)?;
        let [_, value] = bytes;
        Ok(value)
    }
}

impl<S: SpiDevice, C: OutputPin, T: FnMut() -> u32> Radio for Nrf24<S, C, T> {
    type Error = Nrf24Failed;

    /// What has come until now is this tick's.
    fn begin(&mut self, _: u32) {
        self.begun = (self.now)();
        self.failed = self.look_after().err();
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), Nrf24Failed> {
        let mut packet = [0; LARGEST];
        if frame.len() != usize::from(self.length) {
            return Err(Nrf24Failed::Length);
        }
        packet.iter_mut().zip(frame).for_each(|(to, from)| *to = *from);
        self.poll()?;
        if self.sending.is_some() || self.waiting.is_some() {
            return Err(Nrf24Failed::Stuck);
        }
        self.waiting = Some((self.begun.wrapping_add(self.offset), packet));
        self.poll()
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Received>, Nrf24Failed> {
        if let Some(failed) = self.failed.take() {
            return Err(failed);
        }
        let Some(Packet { bytes, arrived }) = self.received.pop_front() else { return Ok(None) };
        buffer.iter_mut().zip(bytes).take(self.length.into()).for_each(|(to, from)| *to = from);
        Ok(Some(Received { length: self.length.into(), arrived }))
    }
}
