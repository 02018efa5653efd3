//! Model of the nRF24L01+ after its product specification.
//!
//! Models SPI commands, registers, FIFOs and timing of several radios on one channel, with a
//! resolution of 1 µs. Panics if a driver breaks the specification.

extern crate std;

use std::{cell::RefCell, collections::VecDeque, convert::Infallible, rc::Rc, vec, vec::Vec};

use embedded_hal::{
    delay::DelayNs,
    digital::{ErrorType as PinError, OutputPin},
    spi::{ErrorType, Operation, SpiDevice},
};

/// Capacity of each FIFO in packets.
const FIFO: usize = 3;
/// Times from power-up to standby, and from standby to active mode.
const POWER_UP: u64 = 1_500;
const SETTLING: u64 = 130;
const UNDEFINED: u64 = u64::MAX;

const CONFIG: usize = 0x00;
const STATUS: usize = 0x07;
const RF_CH: usize = 0x05;
const RF_SETUP: usize = 0x06;
const FIFO_STATUS: usize = 0x17;
const RX_PW_P0: usize = 0x11;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Down,
    Standby,
    Listening,
    Sending,
}

#[derive(Clone, Debug)]
struct Transmission {
    from: usize,
    ends: u64,
    payload: Vec<u8>,
    address: [u8; 5],
    channel: u8,
    /// For each radio: whether it receives the whole packet.
    whole: Vec<bool>,
}

#[derive(Debug)]
struct Chip {
    registers: [u8; 32],
    address: [[u8; 5]; 2],
    enabled: bool,
    powered: u64,
    mode: Mode,
    settled: u64,
    received: VecDeque<Vec<u8>>,
    to_send: VecDeque<Vec<u8>>,
    transmitting: bool,
    /// The radio is disconnected: all reads return zeros.
    loose: bool,
    dropped: u32,
}

impl Chip {
    fn new() -> Self {
        let mut registers = [0; 32];
        // Reset values (9.1).
        for (register, value) in [(0, 0x08), (1, 0x3f), (2, 3), (3, 3), (4, 3), (5, 2), (6, 0x0e), (7, 0x0e)]
        {
            registers[register] = value;
        }
        Self {
            registers,
            address: [[0xe7; 5]; 2],
            enabled: false,
            powered: UNDEFINED,
            mode: Mode::Down,
            settled: UNDEFINED,
            received: VecDeque::new(),
            to_send: VecDeque::new(),
            transmitting: false,
            loose: false,
            dropped: 0,
        }
    }

    fn mode(&self, now: u64) -> Mode {
        let listening = self.registers[CONFIG] & 1 != 0;
        match () {
            () if self.powered == UNDEFINED || now < self.powered + POWER_UP => Mode::Down,
            // A started transmission ends, also if CE goes low.
            () if self.transmitting => Mode::Sending,
            () if !self.enabled => Mode::Standby,
            () if listening => Mode::Listening,
            () if self.to_send.is_empty() => Mode::Standby,
            () => Mode::Sending,
        }
    }

    fn status(&self) -> u8 {
        let pipe = if self.received.is_empty() { 0x0e } else { 0 };
        self.registers[STATUS] & 0x70 | pipe | u8::from(self.to_send.len() == FIFO)
    }

    fn fifo_status(&self) -> u8 {
        u8::from(self.to_send.len() == FIFO) << 5
            | u8::from(self.to_send.is_empty()) << 4
            | u8::from(self.received.len() == FIFO) << 1
            | u8::from(self.received.is_empty())
    }

    fn write(&mut self, register: usize, value: u8, now: u64) {
        match register {
            STATUS => self.registers[STATUS] &= !(value & 0x70),
            CONFIG => {
                let changed = self.registers[CONFIG] ^ value;
                assert!(!(changed & 1 != 0 && self.enabled), "PRIM_RX was changed while CE was high");
                self.powered = match (value & 2 != 0, self.powered) {
                    (false, _) => UNDEFINED,
                    (true, UNDEFINED) => now,
                    (true, since) => since,
                };
                self.registers[CONFIG] = value;
            }
            _ => {
                assert!(!self.enabled, "register {register:#x} was written while CE was high");
                self.registers[register] = value;
            }
        }
    }

    /// Executes one SPI command with its data and returns the response.
    fn command(&mut self, bytes: &[u8], now: u64) -> Vec<u8> {
        if self.loose {
            return vec![0; bytes.len()];
        }
        let (command, data) = bytes.split_first().expect("a command");
        let mut response = vec![self.status(); bytes.len()];
        let register = usize::from(command & 0x1f);
        match command {
            0x00..=0x1f => response[1..].fill(if register == FIFO_STATUS {
                self.fifo_status()
            } else {
                self.registers[register]
            }),
            0x2a | 0x30 => self.address[usize::from(*command == 0x30)].copy_from_slice(data),
            0x20..=0x3f => self.write(register, data[0], now),
            0x61 => {
                let packet = self.received.pop_front().expect("a packet to read");
                response[1..].copy_from_slice(&packet);
            }
            0xa0 => {
                assert!(self.to_send.len() < FIFO, "the transmit FIFO is full");
                self.to_send.push_back(data.to_vec());
            }
            0xe1 => self.to_send.clear(),
            0xe2 => self.received.clear(),
            0xff => {}
            _ => panic!("{command:#x} is not a command"),
        }
        response
    }
}

/// All radios, on one clock.
#[derive(Debug, Default)]
pub struct Channel {
    now: u64,
    chips: Vec<Chip>,
    in_flight: Vec<Transmission>,
}

impl Channel {
    fn advance(&mut self, microseconds: u64) {
        for _ in 0..microseconds {
            self.now += 1;
            self.change_modes();
            self.end_transmissions();
            self.start_transmissions();
        }
    }

    fn change_modes(&mut self) {
        for (index, chip) in self.chips.iter_mut().enumerate() {
            let mode = chip.mode(self.now);
            if mode != chip.mode {
                (chip.mode, chip.settled) = (mode, self.now + SETTLING);
                self.in_flight.iter_mut().for_each(|packet| packet.whole[index] = false);
            }
        }
    }

    fn end_transmissions(&mut self) {
        let now = self.now;
        for packet in self.in_flight.extract_if(.., |packet| packet.ends <= now) {
            let sender = &mut self.chips[packet.from];
            sender.to_send.pop_front();
            sender.transmitting = false;
            sender.registers[STATUS] |= 0x20;
            // The next packet settles again.
            sender.mode = Mode::Standby;
            for (chip, whole) in self.chips.iter_mut().zip(packet.whole) {
                let fits = packet.payload.len() == usize::from(chip.registers[RX_PW_P0]);
                if whole
                    && fits
                    && chip.address[0] == packet.address
                    && chip.registers[RF_CH] == packet.channel
                {
                    if chip.received.len() == FIFO {
                        chip.dropped += 1;
                    } else {
                        chip.received.push_back(packet.payload.clone());
                        chip.registers[STATUS] |= 0x40;
                    }
                }
            }
        }
    }

    fn start_transmissions(&mut self) {
        let listening: Vec<bool> =
            self.chips.iter().map(|chip| chip.mode == Mode::Listening && self.now >= chip.settled).collect();
        for from in 0..self.chips.len() {
            let chip = &mut self.chips[from];
            if chip.mode != Mode::Sending || self.now < chip.settled || chip.transmitting {
                continue;
            }
            let Some(payload) = chip.to_send.front().cloned() else { continue };
            assert_eq!(chip.registers[RF_SETUP] & 0x28, 0x08, "2 Mbit/s");
            chip.transmitting = true;
            // Preamble, five address bytes, payload and two CRC bytes, at 4 µs per byte.
            let ends = self.now + 4 * (8 + payload.len() as u64);
            let (address, channel) = (chip.address[1], chip.registers[RF_CH]);
            let mut whole = listening.clone();
            // Two packets at the same time destroy each other.
            for other in self.in_flight.iter_mut().filter(|other| other.channel == channel) {
                other.whole.fill(false);
                whole.fill(false);
            }
            self.in_flight.push(Transmission { from, ends, payload, address, channel, whole });
        }
    }
}

/// Shared channel and clock.
#[derive(Clone, Debug, Default)]
pub struct SharedChannel(Rc<RefCell<Channel>>);

impl SharedChannel {
    /// Adds a radio and returns its SPI device and its CE pin.
    pub fn radio(&self) -> (Wire, Wire) {
        let mut channel = self.0.borrow_mut();
        channel.chips.push(Chip::new());
        let wire = Wire { shared: self.clone(), index: channel.chips.len() - 1 };
        (wire.clone(), wire)
    }

    /// Advances the clock.
    pub fn wait(&self, microseconds: u64) {
        self.0.borrow_mut().advance(microseconds);
    }

    /// Time in microseconds.
    pub fn now(&self) -> u32 {
        self.0.borrow().now as u32
    }

    /// Packets that a radio dropped because its FIFO was full.
    pub fn dropped(&self, index: usize) -> u32 {
        self.0.borrow().chips[index].dropped
    }

    /// Disconnects a radio, or connects it again with the register values after power-on.
    pub fn set_loose(&self, index: usize, loose: bool) {
        let chip = &mut self.0.borrow_mut().chips[index];
        let enabled = chip.enabled;
        *chip = Chip { enabled, loose, ..Chip::new() };
    }
}

/// SPI device and CE pin of one radio.
#[derive(Clone, Debug)]
pub struct Wire {
    shared: SharedChannel,
    index: usize,
}

impl ErrorType for Wire {
    type Error = Infallible;
}

impl SpiDevice for Wire {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), Infallible> {
        for operation in operations {
            let Operation::TransferInPlace(bytes) = operation else {
                panic!("the driver transfers in place")
            };
            let mut channel = self.shared.0.borrow_mut();
            // One byte takes 1 µs at 8 MHz.
            channel.advance(bytes.len() as u64);
            let now = channel.now;
            let response = channel.chips[self.index].command(bytes, now);
            bytes.copy_from_slice(&response);
        }
        Ok(())
    }
}

impl PinError for Wire {
    type Error = Infallible;
}

impl OutputPin for Wire {
    fn set_low(&mut self) -> Result<(), Infallible> {
        self.shared.0.borrow_mut().chips[self.index].enabled = false;
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        self.shared.0.borrow_mut().chips[self.index].enabled = true;
        Ok(())
    }
}

impl DelayNs for SharedChannel {
    fn delay_ns(&mut self, nanoseconds: u32) {
        self.wait(u64::from(nanoseconds / 1_000));
    }
}
