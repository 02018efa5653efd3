//! nRF24L01+ radio over SPI: 2 Mbit/s, packets of up to 32 bytes, broadcast without
//! acknowledgement.
//!
//! Made for the link profile [`wdgnn_link::encoding::esb32::Esb32`], whose frames fit.
//!
//! The radio listens whenever it does not send, and the driver never blocks: [`Nrf24::poll`] does
//! the pending work in a few microseconds. The radio holds three packets, so call [`Nrf24::poll`]
//! at each falling edge of its interrupt line, or at least every 0.4 ms while other robots send.
//! The driver queues received packets until the next tick.

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;

use embedded_hal::{delay::DelayNs, digital::OutputPin, spi::SpiDevice};
use heapless::Deque;
use wdgnn_robot::ports::{Radio, ReceivedFrame};

/// Maximum packet length in bytes.
pub const MAX_PACKET: usize = 32;
/// Capacity of the receive queue in packets.
pub const QUEUE_LEN: usize = 32;

/// Broadcast address of the swarm.
const ADDRESS: [u8; 5] = *b"wdgnn";
/// 2.490 GHz, above the Wi-Fi channels.
const CHANNEL: u8 = 90;
/// Preamble, address and checksum of a packet in bytes.
const OVERHEAD: u32 = 8;
/// Air time of a byte at 2 Mbit/s.
const BYTE_US: u32 = 4;
/// Send timeout. A packet needs at most 0.3 ms with the settling time.
const TIMEOUT_US: u32 = 2_000;
/// Maximum number of packets read per poll, so that a jammer cannot delay the tick.
const MAX_READS: usize = 6;
/// Power-on reset time, and oscillator start-up time (product specification, 6.1.7).
const POWER_ON_MS: u32 = 100;
const OSCILLATOR_MS: u32 = 5;

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
const READ_RX_PAYLOAD: u8 = 0x61;
const WRITE_TX_PAYLOAD: u8 = 0xa0;
const FLUSH_TX: u8 = 0xe1;
const FLUSH_RX: u8 = 0xe2;
const NOP: u8 = 0xff;

/// CONFIG: 16-bit CRC, power up, transmit or receive.
const CONFIG_TX: u8 = 0x0e;
const CONFIG_RX: u8 = 0x0f;
/// STATUS: packet received, packet sent, all interrupt flags.
const RX_DR: u8 = 0x40;
const TX_DS: u8 = 0x20;
const ALL_FLAGS: u8 = 0x70;
/// `FIFO_STATUS`: receive FIFO empty.
const RX_EMPTY: u8 = 0x01;

/// Failure of the radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Nrf24Error {
    /// SPI or a pin failed, or no radio answers.
    #[error("the nRF24 does not answer")]
    Bus,
    /// A packet was not sent in time, or the previous one is still pending.
    #[error("a packet was not sent in time")]
    Timeout,
    /// The frame length differs from the configured length.
    #[error("the frame length differs from the configured length")]
    Length,
}

struct Packet {
    bytes: [u8; MAX_PACKET],
    arrived: u32,
}

/// Driver. `T` returns the time in microseconds, wrapping.
pub struct Nrf24<S, C, T> {
    spi: S,
    enable: C,
    now: T,
    length: u8,
    /// Start of the current transmission.
    sending: Option<u32>,
    /// Frame that waits for its send time.
    waiting: Option<(u32, [u8; MAX_PACKET])>,
    received: Deque<Packet, QUEUE_LEN>,
    tick_start: u32,
    offset: u32,
    error: Option<Nrf24Error>,
    /// The radio lost its configuration. It listens again from the next tick.
    restarting: bool,
    /// Packets dropped because the queue was full.
    pub lost: u32,
}

impl<S, C, T> core::fmt::Debug for Nrf24<S, C, T> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Nrf24").field("lost", &self.lost).finish_non_exhaustive()
    }
}

impl<S: SpiDevice, C: OutputPin, T: FnMut() -> u32> Nrf24<S, C, T> {
    /// Detects and configures the radio for frames of one length. Blocks for 0.1 s; all other
    /// functions return at once.
    pub fn new(
        spi: S,
        enable: C,
        delay: &mut impl DelayNs,
        now: T,
        length: usize,
    ) -> Result<Self, Nrf24Error> {
        let length =
            u8::try_from(length).ok().filter(|length| (1..=MAX_PACKET).contains(&usize::from(*length)));
        let length = length.ok_or(Nrf24Error::Length)?;
        let mut radio = Self {
            spi,
            enable,
            now,
            length,
            sending: None,
            waiting: None,
            received: Deque::new(),
            tick_start: 0,
            offset: 0,
            error: None,
            restarting: false,
            lost: 0,
        };
        radio.set_enable(false)?;
        delay.delay_ms(POWER_ON_MS);
        radio.configure()?;
        delay.delay_ms(OSCILLATOR_MS);
        radio.set_enable(true)?;
        Ok(radio)
    }

    fn configure(&mut self) -> Result<(), Nrf24Error> {
        // No acknowledgement, one pipe, addresses of five bytes, fixed packet length, 2 Mbit/s at
        // full power.
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
        // A disconnected SPI line reads as all zeros or all ones.
        if self.read(RF_CH)? != CHANNEL {
            return Err(Nrf24Error::Bus);
        }
        for register in [RX_ADDR_P0, TX_ADDR] {
            let [a, b, c, d, e] = ADDRESS;
            self.transfer(&mut [WRITE | register, a, b, c, d, e])?;
        }
        self.transfer(&mut [FLUSH_TX])?;
        self.transfer(&mut [FLUSH_RX])?;
        self.write(STATUS, ALL_FLAGS)?;
        self.write(CONFIG, CONFIG_RX)
    }

    /// Sets the send time of frames, in microseconds after the start of the tick.
    ///
    /// Robots with synchronized ticks need different offsets, at least 0.45 ms apart.
    pub fn set_send_offset(&mut self, offset_us: u32) {
        self.offset = offset_us;
    }

    /// Reads received packets, sends a frame that is due, and returns to receive mode after
    /// sending. Never blocks.
    pub fn poll(&mut self) -> Result<(), Nrf24Error> {
        if self.restarting {
            return Err(Nrf24Error::Bus);
        }
        let now = (self.now)();
        let airtime = BYTE_US * (OVERHEAD + u32::from(self.length));
        for _ in 0..MAX_READS {
            if self.read(FIFO_STATUS)? & RX_EMPTY != 0 {
                break;
            }
            let mut packet = [READ_RX_PAYLOAD; MAX_PACKET + 1];
            self.transfer(packet.get_mut(..=usize::from(self.length)).ok_or(Nrf24Error::Length)?)?;
            self.write(STATUS, RX_DR)?;
            let [_, bytes @ ..] = packet;
            let packet = Packet { bytes, arrived: now.wrapping_sub(airtime) };
            if self.received.push_back(packet).is_err() {
                self.lost = self.lost.saturating_add(1);
            }
        }
        if let Some(since) = self.sending {
            if self.transfer(&mut [NOP])? & TX_DS != 0 {
                self.listen()?;
            } else if now.wrapping_sub(since) > TIMEOUT_US {
                self.listen()?;
                return Err(Nrf24Error::Timeout);
            }
        } else if let Some((due, frame)) = self.waiting
            && now.wrapping_sub(due).cast_signed() >= 0
        {
            self.waiting = None;
            self.transmit(&frame)?;
        }
        Ok(())
    }

    /// Polls the radio, or configures it again if it lost its registers through a loose connection
    /// or a power loss.
    fn check_configuration(&mut self) -> Result<(), Nrf24Error> {
        let expected = if self.sending.is_some() { CONFIG_TX } else { CONFIG_RX };
        if self.read(CONFIG)? == expected {
            if core::mem::take(&mut self.restarting) {
                self.set_enable(true)?;
            }
            return self.poll();
        }
        (self.sending, self.waiting, self.restarting) = (None, None, true);
        self.set_enable(false)?;
        self.configure()?;
        Err(Nrf24Error::Bus)
    }

    fn transmit(&mut self, frame: &[u8; MAX_PACKET]) -> Result<(), Nrf24Error> {
        let mut packet = [WRITE_TX_PAYLOAD; MAX_PACKET + 1];
        packet.iter_mut().skip(1).zip(frame).for_each(|(to, from)| *to = *from);
        self.set_enable(false)?;
        self.write(CONFIG, CONFIG_TX)?;
        self.transfer(packet.get_mut(..=usize::from(self.length)).ok_or(Nrf24Error::Length)?)?;
        self.sending = Some((self.now)());
        self.set_enable(true)
    }

    fn listen(&mut self) -> Result<(), Nrf24Error> {
        self.sending = None;
        self.set_enable(false)?;
        self.transfer(&mut [FLUSH_TX])?;
        self.write(STATUS, TX_DS)?;
        self.write(CONFIG, CONFIG_RX)?;
        self.set_enable(true)
    }

    fn set_enable(&mut self, on: bool) -> Result<(), Nrf24Error> {
        self.enable.set_state(on.into()).map_err(|_| Nrf24Error::Bus)
    }

    /// Exchanges bytes with the radio and returns its status, the first received byte.
    fn transfer(&mut self, bytes: &mut [u8]) -> Result<u8, Nrf24Error> {
        self.spi.transfer_in_place(bytes).map_err(|_| Nrf24Error::Bus)?;
        bytes.first().copied().ok_or(Nrf24Error::Bus)
    }

    fn write(&mut self, register: u8, value: u8) -> Result<(), Nrf24Error> {
        self.transfer(&mut [WRITE | register, value]).map(|_| ())
    }

    fn read(&mut self, register: u8) -> Result<u8, Nrf24Error> {
        let mut bytes = [register, NOP];
        self.transfer(&mut bytes)?;
        let [_, value] = bytes;
        Ok(value)
    }
}

impl<S: SpiDevice, C: OutputPin, T: FnMut() -> u32> Radio for Nrf24<S, C, T> {
    type Error = Nrf24Error;

    /// Packets received until now belong to this tick.
    fn begin(&mut self, _: u32) {
        self.tick_start = (self.now)();
        self.error = self.check_configuration().err();
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), Nrf24Error> {
        let mut packet = [0; MAX_PACKET];
        if frame.len() != usize::from(self.length) {
            return Err(Nrf24Error::Length);
        }
        packet.iter_mut().zip(frame).for_each(|(to, from)| *to = *from);
        self.poll()?;
        if self.sending.is_some() || self.waiting.is_some() {
            return Err(Nrf24Error::Timeout);
        }
        self.waiting = Some((self.tick_start.wrapping_add(self.offset), packet));
        self.poll()
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<ReceivedFrame>, Nrf24Error> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let Some(Packet { bytes, arrived }) = self.received.pop_front() else { return Ok(None) };
        buffer.iter_mut().zip(bytes).take(self.length.into()).for_each(|(to, from)| *to = from);
        Ok(Some(ReceivedFrame { length: self.length.into(), arrived_us: arrived }))
    }
}
