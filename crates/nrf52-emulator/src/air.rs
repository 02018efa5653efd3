//! Radio medium for several chips, each with its own clock.
//!
//! Reference time counts femtoseconds, so that deviations of a clock cycle in parts per million are
//! integers.

use std::{fmt, sync::Arc};

use crate::{
    Chip, MICROSECOND,
    peripherals::radio::{Frame, Reception},
};

/// Femtoseconds per second.
pub const SECOND: u64 = 1_000_000_000_000_000;
/// Femtoseconds per cycle of an exact 64 MHz clock.
const CYCLE: u64 = 15_625_000;
/// Maximum lead of one chip over the others: 32 µs.
///
/// It is shorter than a frame's header (192 µs), after which a frame first affects a synchronized
/// receiver.
const STEP: u64 = 32 * MICROSECOND * CYCLE;

/// Chip on the medium, with its power-on time and its clock deviation.
#[derive(Debug)]
pub struct Station {
    /// The chip.
    pub chip: Chip,
    /// Reference time of power-on.
    power_on_at: u64,
    /// Femtoseconds per cycle of the chip's clock.
    cycle: u64,
    powered: bool,
}

impl Station {
    /// Creates a station that powers on at a reference time.
    ///
    /// `deviation_ppm` is the frequency error of the chip's clock; a positive value means too fast.
    pub fn new(chip: Chip, power_on_at: u64, deviation_ppm: f64) -> Self {
        let cycle = (CYCLE as f64 / (1.0 + deviation_ppm * 1.0e-6)).round() as u64;
        Self { chip, power_on_at, cycle, powered: false }
    }

    /// Returns the reference time of a time on the chip's clock.
    pub fn time_at(&self, cycles: u64) -> u64 {
        self.power_on_at + cycles * self.cycle
    }

    /// Returns the time on the chip's clock, in cycles, of a reference time.
    pub fn cycles_at(&self, time: u64) -> u64 {
        time.saturating_sub(self.power_on_at) / self.cycle
    }

    /// Switches the power off permanently.
    pub fn power_off(&mut self) {
        (self.powered, self.power_on_at) = (false, u64::MAX / 2);
    }

    /// Returns whether the chip has power.
    pub fn is_powered(&self) -> bool {
        self.powered
    }
}

/// Transmitted frame.
#[derive(Clone, Debug)]
pub struct Transmission {
    /// Reference time of the frame's start.
    pub start: u64,
    /// Index of the sending station, or `None` for an injected frame.
    pub sender: Option<usize>,
    /// Bytes after the length byte, without the CRC.
    pub content: Arc<[u8]>,
    /// Number of powered stations in range.
    pub receivers: usize,
}

/// Frame at one station, with its result.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Reference time of the frame's start.
    pub start: u64,
    /// Reference time of the frame's end.
    pub end: u64,
    /// Index of the receiving station.
    pub receiver: usize,
    /// Result.
    pub reception: Reception,
    /// Bytes after the length byte, without the CRC.
    pub content: Arc<[u8]>,
}

/// Radio medium.
#[derive(Default)]
pub struct Air {
    /// Chips on the medium.
    pub stations: Vec<Station>,
    /// Matrix `in_range[sender][receiver]`. Pairs without an entry are in range.
    pub in_range: Vec<Vec<bool>>,
    /// Transmitted frames, in order of the simulation step in which they start.
    ///
    /// The caller may drain it.
    pub transmissions: Vec<Transmission>,
    /// Frames at receivers, with their results. The caller may drain it.
    pub arrivals: Vec<Arrival>,
    /// Loss model: called for each frame at each receiver, `true` drops the frame.
    ///
    /// Not called for injected frames.
    pub drop_frame: Option<Box<dyn FnMut() -> bool>>,
    /// Injected frames that have not started, with start time and receiver.
    injected_frames: Vec<(u64, Option<usize>, Frame)>,
    now: u64,
}

impl fmt::Debug for Air {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Air").field("now", &self.now).finish_non_exhaustive()
    }
}

impl Air {
    /// Returns the reference time in femtoseconds.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Transmits a frame that no station sends, to one station or to all (`None`).
    ///
    /// It starts at the reference time `start`, or now if that has passed.
    pub fn inject(&mut self, start: u64, receiver: Option<usize>, frame: Frame) {
        self.injected_frames.push((start.max(self.now), receiver, frame));
        self.injected_frames.sort_by_key(|(start, ..)| *start);
    }

    fn is_in_range(&self, sender: usize, receiver: usize) -> bool {
        let entry = self.in_range.get(sender).and_then(|row| row.get(receiver));
        sender != receiver && entry.copied().unwrap_or(true)
    }

    /// Runs all chips until a reference time.
    pub fn run(&mut self, until: u64) {
        while self.now < until {
            let end = self.step_end(until);
            for station in &mut self.stations {
                if station.power_on_at <= end {
                    if !station.powered {
                        station.powered = true;
                        station.chip.power_on(0);
                    }
                    station.chip.run(station.cycles_at(end));
                }
            }
            self.now = end;
            self.deliver_injected();
            self.deliver_transmitted();
            self.collect_arrivals();
        }
    }

    /// Returns the end of the next step.
    ///
    /// A step takes [`STEP`], or longer if all chips sleep longer.
    fn step_end(&self, until: u64) -> u64 {
        let active = self.stations.iter().map(|station| match station.chip.asleep_until() {
            _ if !station.powered => station.power_on_at,
            Some(cycles) => station.time_at(cycles.min(u64::MAX / station.cycle / 2)),
            None => self.now,
        });
        let injected = self.injected_frames.first().map(|(start, ..)| *start);
        let first = active.chain(injected).min().unwrap_or(until);
        until.min(first.max(self.now + STEP))
    }

    fn deliver_injected(&mut self) {
        while self.injected_frames.first().is_some_and(|(start, ..)| *start <= self.now) {
            let (start, receiver, frame) = self.injected_frames.remove(0);
            let mut receivers = 0;
            for (index, station) in self.stations.iter_mut().enumerate() {
                if station.powered && receiver.is_none_or(|receiver| receiver == index) {
                    let start = station.cycles_at(start);
                    station.chip.peripherals().radio.receive(start, frame.clone());
                    receivers += 1;
                }
            }
            self.transmissions.push(Transmission { start, sender: None, content: frame.content, receivers });
        }
    }

    fn deliver_transmitted(&mut self) {
        for sender in 0..self.stations.len() {
            let frames = std::mem::take(&mut self.stations[sender].chip.peripherals().radio.tx_frames);
            for (cycles, frame) in frames {
                let start = self.stations[sender].time_at(cycles);
                let mut receivers = 0;
                for receiver in 0..self.stations.len() {
                    if self.is_in_range(sender, receiver) && self.stations[receiver].powered {
                        let station = &mut self.stations[receiver];
                        let start = station.cycles_at(start);
                        receivers += 1;
                        if !self.drop_frame.as_mut().is_some_and(|drop_frame| drop_frame()) {
                            station.chip.peripherals().radio.receive(start, frame.clone());
                        }
                    }
                }
                let (sender, content) = (Some(sender), frame.content);
                self.transmissions.push(Transmission { start, sender, content, receivers });
            }
        }
    }

    fn collect_arrivals(&mut self) {
        for (receiver, station) in self.stations.iter_mut().enumerate() {
            let now = station.chip.now();
            let radio = &mut station.chip.peripherals().radio;
            radio.remove_ended(now);
            for (cycles, reception, frame) in std::mem::take(&mut radio.receptions) {
                let start = station.time_at(cycles.saturating_sub(frame.duration()));
                let end = station.time_at(cycles);
                self.arrivals.push(Arrival { start, end, receiver, reception, content: frame.content });
            }
        }
    }
}
