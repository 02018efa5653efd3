//! One air for many chips, each with a clock of its own.

use std::sync::Arc;

use crate::{
    MICROSECOND,
    chip::Chip,
    radio::{Frame, Reception},
};

/// Femtoseconds in a second: true time counts them, so that parts per million of a cycle are whole numbers.
pub const SECOND: u64 = 1_000_000_000_000_000;
/// A cycle of a clock that is right: 1/64 µs.
const CYCLE: u64 = 15_625_000;
/// Nobody runs ahead of the others by more: far less than the 192 µs between the beginning of a frame and anything that it
/// does to a receiver.
const STEP: u64 = 32 * MICROSECOND * CYCLE;

/// A chip, when it was switched on, and how its clock goes.
#[derive(Debug)]
pub struct Station {
    /// The chip.
    pub chip: Chip,
    on: u64,
    cycle: u64,
    powered: bool,
}

impl Station {
    /// A chip that is switched on at a true time and whose crystal is too fast by so many parts per million.
    #[must_use]
    pub fn new(chip: Chip, on: u64, fast_ppm: f64) -> Self {
        let cycle = (CYCLE as f64 / (1.0 + fast_ppm * 1.0e-6)).round() as u64;
        Self { chip, on, cycle, powered: false }
    }

    /// True time of a time on the chip's clock.
    #[must_use]
    pub fn when(&self, cycles: u64) -> u64 {
        self.on + cycles * self.cycle
    }

    /// The chip's clock at a true time.
    #[must_use]
    pub fn cycles(&self, at: u64) -> u64 {
        at.saturating_sub(self.on) / self.cycle
    }

    /// Power goes; it does not come back.
    pub fn switch_off(&mut self) {
        (self.powered, self.on) = (false, u64::MAX / 2);
    }

    /// Whether it is on.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.powered
    }
}

/// A frame that was sent.
#[derive(Clone, Debug)]
pub struct Sent {
    /// True time of its beginning.
    pub at: u64,
    /// By whom; nobody's for what came from outside.
    pub from: Option<usize>,
    /// What.
    pub content: Arc<[u8]>,
    /// How many stations it reached.
    pub reached: usize,
}

/// A frame that reached a station.
#[derive(Clone, Debug)]
pub struct Heard {
    /// True time of its end.
    pub at: u64,
    /// True time of its beginning.
    pub began: u64,
    /// By whom.
    pub by: usize,
    /// What became of it.
    pub reception: Reception,
    /// What it carried.
    pub content: Arc<[u8]>,
}

/// The air.
#[derive(Default)]
pub struct Air {
    /// The chips.
    pub stations: Vec<Station>,
    /// Who reaches whom: `reaches[from][to]`; without an entry, everybody.
    pub reaches: Vec<Vec<bool>>,
    /// Frames sent, in order of the steps in which they began.
    pub sent: Vec<Sent>,
    /// Frames that reached somebody.
    pub heard: Vec<Heard>,
    /// Asked for every frame at every receiver: whether it is lost on its way.
    pub lose: Option<Box<dyn FnMut() -> bool>>,
    /// Frames on their way from outside: when, and to whom.
    outside: Vec<(u64, Option<usize>, Frame)>,
    now: u64,
}

impl std::fmt::Debug for Air {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Air").field("now", &self.now).finish_non_exhaustive()
    }
}

impl Air {
    /// True time, in femtoseconds.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Somebody else sends a frame, to one station or to all.
    pub fn inject(&mut self, at: u64, to: Option<usize>, frame: Frame) {
        self.outside.push((at.max(self.now), to, frame));
        self.outside.sort_by_key(|(at, ..)| *at);
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        from != to && self.reaches.get(from).and_then(|row| row.get(to)).copied().unwrap_or(true)
    }

    /// Runs everybody until a true time.
    pub fn run(&mut self, until: u64) {
        while self.now < until {
            let target = self.target(until);
            for station in &mut self.stations {
                if station.on <= target {
                    if !station.powered {
                        station.powered = true;
                        station.chip.power_on(0);
                    }
                    station.chip.run(station.cycles(target));
                }
            }
            self.now = target;
            self.carry();
        }
    }

    /// How far everybody may run: a step, or until the first who has something to do.
    fn target(&self, until: u64) -> u64 {
        let busy = self.stations.iter().map(|station| match station.chip.asleep_until() {
            _ if !station.powered => station.on,
            Some(cycles) => station.when(cycles.min(u64::MAX / station.cycle / 2)),
            None => self.now,
        });
        let outside = self.outside.first().map(|(at, ..)| *at);
        let first = busy.chain(outside).min().unwrap_or(until);
        until.min(first.max(self.now + STEP))
    }

    fn carry(&mut self) {
        while let Some((at, to, frame)) = self.outside.first().cloned().filter(|(at, ..)| *at <= self.now) {
            self.outside.remove(0);
            let mut reached = 0;
            for (index, station) in self.stations.iter_mut().enumerate() {
                if station.powered && to.is_none_or(|to| to == index) {
                    let begins = station.cycles(at);
                    station.chip.parts().radio.arrive(begins, frame.clone());
                    reached += 1;
                }
            }
            self.sent.push(Sent { at, from: None, content: frame.content, reached });
        }
        for from in 0..self.stations.len() {
            for (cycles, frame) in std::mem::take(&mut self.stations[from].chip.parts().radio.sent) {
                let at = self.stations[from].when(cycles);
                let mut reached = 0;
                for to in 0..self.stations.len() {
                    if self.reaches(from, to) && self.stations[to].powered {
                        let station = &mut self.stations[to];
                        let begins = station.cycles(at);
                        reached += 1;
                        if !self.lose.as_mut().is_some_and(|lose| lose()) {
                            station.chip.parts().radio.arrive(begins, frame.clone());
                        }
                    }
                }
                self.sent.push(Sent { at, from: Some(from), content: frame.content, reached });
            }
        }
        for (by, station) in self.stations.iter_mut().enumerate() {
            let now = station.chip.now();
            let radio = &mut station.chip.parts().radio;
            radio.settle(now);
            for (cycles, reception, frame) in std::mem::take(&mut radio.outcomes) {
                let (at, began) = (station.when(cycles), station.when(cycles.saturating_sub(frame.takes())));
                self.heard.push(Heard { at, began, by, reception, content: frame.content });
            }
        }
    }
}
