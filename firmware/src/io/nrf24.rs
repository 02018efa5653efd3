//! The nRF24L01+ radio over SPI (driver: `rf24-rs`): 2 Mbit/s, packets of up to 32 bytes, nobody acknowledges a broadcast. Fly it
//! with the link profile [`wdgnn_core::esb32::Esb32`], whose frames fit.
//!
//! Every wait has an end: a radio that comes loose costs its frames and not the tick.

use embedded_hal::{delay::DelayNs, digital::OutputPin, spi::SpiDevice};
use rf24::{
    CrcLength, DataRate, PaLevel, StatusFlags,
    radio::{RF24, RadioConfig, prelude::*},
};
use wdgnn_core::ports::{Radio, Received};

/// The most bytes in a packet.
pub const LARGEST: u8 = 32;

/// Everybody's address.
const ADDRESS: &[u8] = b"wdgnn";
/// Above the channels of wireless networks: 2.490 GHz.
const CHANNEL: u8 = 90;
/// While nothing happens, the radio is asked this often…
const POLL_MICROSECONDS: u32 = 100;
/// …and, hearing, this many times in a tick: 6 of its 10 ms.
const HEARING_POLLS: u32 = 60;
/// More packets than this in a tick are not looked at: a jammer costs frames and not the tick.
const HEARING_PACKETS: u32 = 256;
/// A packet is on the air for 0.17 ms.
const SENDING_POLLS: u32 = 5;

/// The radio did not do what it was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nrf24Failed {
    /// SPI or a pin failed, or no radio answers.
    Line,
    /// A packet did not leave in time.
    Stuck,
    /// A frame of another length than the radio was set up for.
    Length,
}

/// The radio.
pub struct Nrf24<S, C, D> {
    radio: RF24<S, C, D>,
    clock: D,
    length: u8,
    polls: u32,
    packets: u32,
}

impl<S, C, D> core::fmt::Debug for Nrf24<S, C, D> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Nrf24").field("polls", &self.polls).finish_non_exhaustive()
    }
}

impl<S: SpiDevice, C: OutputPin, D: DelayNs + Clone> Nrf24<S, C, D> {
    /// Finds and sets up the radio, for frames of one length ([`wdgnn_core::Node::frame_bytes`]).
    ///
    /// # Errors
    /// [`Nrf24Failed::Line`] when none answers, [`Nrf24Failed::Length`] when frames do not fit into a packet.
    pub fn new(spi: S, enable: C, clock: D, length: usize) -> Result<Self, Nrf24Failed> {
        let length = u8::try_from(length).ok().filter(|length| (1..=LARGEST).contains(length));
        let length = length.ok_or(Nrf24Failed::Length)?;
        let mut radio = RF24::new(enable, spi, clock.clone());
        let config = RadioConfig::default()
            .with_channel(CHANNEL)
            .with_crc_length(CrcLength::Bit16)
            .with_pa_level(PaLevel::Max)
            .with_auto_ack(0)
            .with_payload_length(length)
            .with_tx_address(ADDRESS)
            .with_rx_address(1, ADDRESS);
        let set_up = radio
            .init()
            .and_then(|()| radio.with_config(&config))
            // `with_config` of rf24-rs 0.3.1 loses the bit for 2 Mbit/s (its mask 0x27 lacks 0x08).
            .and_then(|()| radio.set_data_rate(DataRate::Mbps2))
            .and_then(|()| radio.as_rx());
        set_up.map_err(|_| Nrf24Failed::Line)?;
        Ok(Self { radio, clock, length, polls: 0, packets: 0 })
    }

    /// Sends a packet and waits, for no longer than it can take, until it has left.
    fn send_packet(&mut self, frame: &[u8]) -> Result<(), Nrf24Failed> {
        let line = |_| Nrf24Failed::Line;
        self.radio.write(frame, false, true).map_err(line)?;
        // Not the driver's own `send`: without a radio it waits for ever.
        for _ in 0..SENDING_POLLS {
            self.clock.delay_us(POLL_MICROSECONDS);
            self.radio.update().map_err(line)?;
            let mut flags = StatusFlags::default();
            self.radio.get_status_flags(&mut flags);
            if flags.tx_ds() {
                return Ok(());
            }
        }
        Err(Nrf24Failed::Stuck)
    }
}

impl<S: SpiDevice, C: OutputPin, D: DelayNs + Clone> Radio for Nrf24<S, C, D> {
    type Error = Nrf24Failed;

    fn send(&mut self, frame: &[u8]) -> Result<(), Nrf24Failed> {
        (self.polls, self.packets) = (HEARING_POLLS, HEARING_PACKETS);
        if frame.len() != usize::from(self.length) {
            return Err(Nrf24Failed::Length);
        }
        self.radio.as_tx(None).map_err(|_| Nrf24Failed::Line)?;
        let sent = self.send_packet(frame);
        // Listening again, whatever came of it.
        self.radio.as_rx().map_err(|_| Nrf24Failed::Line)?;
        sent
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Received>, Nrf24Failed> {
        let line = |_| Nrf24Failed::Line;
        while self.polls > 0 && self.packets > 0 {
            if self.radio.available().map_err(line)? {
                self.packets -= 1;
                let mut packet = [0; LARGEST as usize];
                let length = self.radio.read(&mut packet, Some(self.length)).map_err(line)?;
                let content = packet.iter().take(length.into());
                buffer.iter_mut().zip(content).for_each(|(to, from)| *to = *from);
                return Ok(Some(Received::untimed(length.into())));
            }
            self.polls -= 1;
            self.clock.delay_us(POLL_MICROSECONDS);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use embedded_hal_mock::eh1::{
        digital::{Mock as Pin, State, Transaction as Digital},
        spi::{Mock as Spi, Transaction},
    };

    use super::*;

    #[derive(Clone)]
    struct NoTime;

    impl DelayNs for NoTime {
        fn delay_ns(&mut self, _: u32) {}
    }

    /// Status: nothing received, nothing sent.
    const IDLE: u8 = 0x0e;
    /// Status: a packet has left.
    const SENT: u8 = 0x2e;

    /// Transfers: what goes out, and the status and the rest that come back.
    fn transfers(list: &[(&[u8], u8, &[u8])]) -> Vec<Transaction<u8>> {
        let transfer = |(out, status, rest): &(&[u8], u8, &[u8])| {
            let mut back = out.to_vec();
            back[0] = *status;
            back[1..].iter_mut().zip(*rest).for_each(|(to, from)| *to = *from);
            [
                Transaction::transaction_start(),
                Transaction::transfer_in_place(out.to_vec(), back),
                Transaction::transaction_end(),
            ]
        };
        list.iter().flat_map(transfer).collect()
    }

    /// A radio that has been set up, with what it will be asked from then on.
    fn radio(asked: &[(&[u8], u8, &[u8])], enabled: &[State]) -> (Nrf24<Spi<u8>, Pin, NoTime>, Spi<u8>, Pin) {
        let both =
            |channel: u8, acknowledge: u8, rate: u8, address: &[u8; 5], other: &[u8; 5], length: u8| {
                let [p1, p0] = [other, address];
                transfers(&[
                    (&[0x27, 0x70], IDLE, &[]),
                    (&[0xe2], IDLE, &[]),
                    (&[0xe1], IDLE, &[]),
                    (&[0x23, 3], IDLE, &[]),
                    (&[0x24, 0x5f], IDLE, &[]),
                    (&[0x21, acknowledge], IDLE, &[]),
                    (&[0x3c, 0], IDLE, &[]),
                    (&[0x3d, 0], IDLE, &[]),
                    (&[0x26, rate], IDLE, &[]),
                    (&[0x2b, p1[0], p1[1], p1[2], p1[3], p1[4]], IDLE, &[]),
                    (&[0x2c, 0xc3], IDLE, &[]),
                    (&[0x2d, 0xc4], IDLE, &[]),
                    (&[0x2e, 0xc5], IDLE, &[]),
                    (&[0x2f, 0xc6], IDLE, &[]),
                    (&[0x30, p0[0], p0[1], p0[2], p0[3], p0[4]], IDLE, &[]),
                    (&[0x2a, p0[0], p0[1], p0[2], p0[3], p0[4]], IDLE, &[]),
                    (&[0x22, 3], IDLE, &[]),
                    (&[0x31, length], IDLE, &[]),
                    (&[0x32, length], IDLE, &[]),
                    (&[0x33, length], IDLE, &[]),
                    (&[0x34, length], IDLE, &[]),
                    (&[0x35, length], IDLE, &[]),
                    (&[0x36, length], IDLE, &[]),
                    (&[0x25, channel], IDLE, &[]),
                    (&[0x20, 0x0e], IDLE, &[]),
                ])
            };
        let mut all = transfers(&[
            // Powered down; is there a radio? CONFIG reads back. FEATURE is the same before and after: a "+" radio.
            (&[0x20, 0x0c], IDLE, &[]),
            (&[0x00, 0x0c], IDLE, &[0x0c]),
            (&[0x1d, 0x0c], IDLE, &[0]),
            (&[0x50, 0x73], IDLE, &[]),
            (&[0x1d, 0x73], IDLE, &[0]),
        ]);
        // The driver's defaults, then ours: channel 90, no acknowledgements, address "wdgnn", packets of 28 bytes.
        all.extend(both(0x4c, 0x3f, 0x07, &[0xe7; 5], &[0xc2; 5], 32));
        all.extend(both(90, 0, 0x07, b"wdgnn", b"wdgnn", 28));
        all.extend(transfers(&[
            // 2 Mbit/s on top of full power: 0x0f.
            (&[0x06, 0x0e], IDLE, &[0x07]),
            (&[0x26, 0x0f], IDLE, &[]),
            // Listening.
            (&[0x20, 0x0f], IDLE, &[]),
            (&[0x27, 0x70], IDLE, &[]),
            (&[0x02, 0x70], IDLE, &[3]),
            (&[0x22, 0x02], IDLE, &[]),
        ]));
        all.extend(transfers(asked));
        let states: Vec<_> =
            [State::Low, State::Low, State::Low, State::High].iter().chain(enabled).copied().collect();
        let states: Vec<_> = states.into_iter().map(Digital::set).collect();
        let (spi, pin) = (Spi::new(&all), Pin::new(&states));
        (Nrf24::new(spi.clone(), pin.clone(), NoTime, 28).unwrap(), spi, pin)
    }

    #[test]
    fn a_frame_goes_out_in_one_packet_and_then_it_listens_again() {
        let frame: Vec<u8> = (1..=28).collect();
        let mut payload = std::vec![0xa0];
        payload.extend(&frame);
        let asked: [(&[u8], u8, &[u8]); 11] = [
            (&[0x20, 0x0e], IDLE, &[]),
            (&[0x2a, b'w', b'd', b'g', b'n', b'n'], IDLE, &[]),
            (&[0x02, b'w'], IDLE, &[2]),
            (&[0x22, 0x03], IDLE, &[]),
            (&[0x27, 0x30], IDLE, &[]),
            (&payload, IDLE, &[]),
            (&[0xff], SENT, &[]),
            (&[0x20, 0x0f], IDLE, &[]),
            (&[0x27, 0x70], IDLE, &[]),
            (&[0x02, 0x70], IDLE, &[3]),
            (&[0x22, 0x02], IDLE, &[]),
        ];
        let (mut radio, mut spi, mut pin) = radio(&asked, &[State::Low, State::High, State::High]);
        assert_eq!(radio.send(&frame[..27]), Err(Nrf24Failed::Length), "before the radio hears of it");
        assert_eq!(radio.send(&frame), Ok(()));
        spi.done();
        pin.done();
    }

    #[test]
    fn a_packet_comes_in_and_silence_ends_the_window() {
        let frame: Vec<u8> = (1..=28).collect();
        // What goes out while a payload comes in is whatever was in the driver's buffer: nobody looks at it.
        let mut read = [0; 29];
        read[..6].copy_from_slice(&[0x61, 0x10, b'd', b'g', b'n', b'n']);
        let asked: [(&[u8], u8, &[u8]); 5] = [
            // The queue is empty; then there is something; it is read, and its flag cleared; empty again.
            (&[0x17, 0x02], IDLE, &[0x11]),
            (&[0x17, 0x11], IDLE, &[0x10]),
            (&read, IDLE, &frame),
            (&[0x27, 0x40], IDLE, &[]),
            (&[0x17, 0x40], IDLE, &[0x11]),
        ];
        let (mut radio, mut spi, mut pin) = radio(&asked, &[]);
        let mut buffer = [0; 29];
        assert_eq!(radio.receive(&mut buffer), Ok(None), "outside of a window nobody listens");
        (radio.polls, radio.packets) = (2, 9);
        assert_eq!(radio.receive(&mut buffer), Ok(Some(Received::untimed(28))));
        assert_eq!(buffer[..28], frame);
        assert_eq!(radio.receive(&mut buffer), Ok(None));
        spi.done();
        pin.done();
    }

    #[test]
    fn without_a_radio_there_is_no_start() {
        // A loose line reads as zeros.
        let asked = transfers(&[(&[0x20, 0x0c], 0, &[]), (&[0x00, 0x0c], 0, &[0])]);
        let (mut spi, mut pin) = (Spi::new(&asked), Pin::new(&[Digital::set(State::Low)]));
        assert_eq!(Nrf24::new(spi.clone(), pin.clone(), NoTime, 28).err(), Some(Nrf24Failed::Line));
        spi.done();
        pin.done();
    }
}
