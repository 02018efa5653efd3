//! The gateway's image on an emulated chip, with robots on chips and simulated robots behind its serial line.

use std::{collections::VecDeque, fs, path::PathBuf, sync::LazyLock};

use host_sim::world::flock::variation;
use nrf52_emulator::{Reset, air::SECOND, image::elf_symbol};
use wdgnn_core::task::NodeId;
use wdgnn_emulation::{
    chips,
    gateway::flight::{Flight, Settings},
};
use wdgnn_protocol::event::BAUD;

use crate::{
    chips::{flight, key, natively, settings, weights},
    image,
};

/// The gateway's image for the development kit.
pub static IMAGE: LazyLock<PathBuf> = LazyLock::new(|| gateway_of("board-nrf52840"));

/// Builds the gateway's image for a board.
pub fn gateway_of(board: &str) -> PathBuf {
    let features = format!("{board},gateway");
    image::build("gateway", &["--no-default-features", "--features", &features]).expect("a gateway's image")
}

/// All radios are in range: the gateway stays at one place.
const RADIUS: f32 = 1_000.0;

/// Simulated robots that wait for their gateway; the real ones have the first addresses.
pub fn simulated(real: usize, simulated: usize, seed: u64) -> Flight<'static> {
    let start = settings(real + simulated, seed, 0.0).start;
    Flight::new(Settings {
        weights: weights(),
        simulated: (0..).zip(start).skip(real).collect(),
        robots: (real + simulated) as NodeId,
        radius: RADIUS,
        key: Some(key()),
        chance: seed,
    })
}

/// Chips of robots, the chip of a gateway, and simulated robots.
#[derive(Debug)]
pub struct Mixed {
    /// The chips; the gateway is the last station on their air.
    pub chips: chips::Flight<'static>,
    /// The simulated robots.
    pub simulated: Flight<'static>,
    /// Response time of the PC in true time.
    pub takes: u64,
    /// Pending answers with their times.
    answers: VecDeque<(u64, Vec<u8>)>,
    gateway: usize,
    /// Settings of a flight in which all robots are simulated.
    all: chips::Settings,
    /// Velocity variation of all robots at every hundredth of a second.
    pub variation: Vec<f64>,
    /// All bytes from the gateway.
    pub recorded: Vec<u8>,
}

impl Mixed {
    /// Real robots with the first addresses, and simulated ones, from a seed.
    pub fn new(real: usize, simulated: usize, seed: u64, seconds: f64) -> Self {
        let mut all = settings(real + simulated, seed, seconds);
        all.radius = RADIUS;
        let mut there = all.clone();
        there.start.truncate(real);
        there.gateway = Some(fs::read(&*IMAGE).expect("the gateway's image"));
        let chips = flight(there);
        Self {
            gateway: real,
            all,
            chips,
            simulated: self::simulated(real, simulated, seed),
            takes: 0,
            answers: VecDeque::new(),
            variation: Vec::new(),
            recorded: Vec::new(),
        }
    }

    /// Runs the chips for a millisecond, then the PC, which answers after its response time.
    pub fn step(&mut self) {
        self.chips.step();
        let now = self.chips.air.now();
        let station = &mut self.chips.air.stations[self.gateway];
        let said = std::mem::take(&mut station.chip.peripherals().uarte.tx_bytes);
        let said: Vec<u8> = said.into_iter().map(|(_, byte)| byte).collect();
        self.recorded.extend(&said);
        let answer = self.simulated.hear(&said).expect("a gateway");
        self.answers.push_back((now + self.takes, answer));
        while let Some((_, answer)) = self.answers.pop_front_if(|(due, _)| *due <= now) {
            let at = station.cycles_at(now);
            station.chip.peripherals().uarte.receive(at, BAUD.into(), &answer);
        }
        if now >= chips::RELEASE && (now - chips::RELEASE).is_multiple_of(SECOND / 100) {
            let here = self.simulated.motions().into_iter().map(|(_, motion)| motion.velocity);
            let there = self.chips.motions().into_iter().map(|motion| motion.velocity);
            self.variation.push(variation(here.chain(there)));
        }
    }

    /// Injects bytes into the gateway's line.
    pub fn give(&mut self, bytes: &[u8]) {
        let now = self.chips.air.now();
        let station = &mut self.chips.air.stations[self.gateway];
        let at = station.cycles_at(now);
        station.chip.peripherals().uarte.receive(at, BAUD.into(), bytes);
    }

    /// High-water mark of the gateway's stack, in bytes.
    pub fn gateway_stack(&self) -> u32 {
        let image = fs::read(&*IMAGE).expect("the gateway's image");
        let [from, to] =
            ["_stack_end", "_stack_start"].map(|name| elf_symbol(&image, name).expect("a stack"));
        self.chips.air.stations[self.gateway].chip.stack_used(from, to)
    }

    /// Runs until a number of seconds after the release.
    pub fn run_until(&mut self, seconds: f64) {
        while self.chips.air.now() < chips::RELEASE + (seconds * SECOND as f64) as u64 {
            self.step();
        }
    }

    /// Total velocity variation of a native flight of all robots.
    pub fn native(&self) -> f64 {
        natively(&self.all)
    }

    /// Restarts of the gateway other than those of its debug port.
    pub fn gateway_restarts(&self) -> Vec<&Reset> {
        let restarts = &self.chips.air.stations[self.gateway].chip.resets;
        restarts.iter().filter(|restart| restart.reason & 4 == 0).collect()
    }
}
