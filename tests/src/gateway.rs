//! A gateway's real image on an emulated chip, on one air with robots' chips, and simulated robots at the other end of its line.

use std::{collections::VecDeque, fs, path::PathBuf, sync::LazyLock};

use host_sim::{
    chips,
    gateway::flight::{Flight, Settings},
    world::flock::variation,
};
use nrf52_emulator::{Reset, air::SECOND, image::elf_symbol};
use wdgnn_core::task::NodeId;
use wdgnn_link::encoding::half::Dot154;
use wdgnn_protocol::gateway::BAUD;
use wdgnn_robot::onboard;

use crate::{
    chips::{Link, flight, key, natively, settings, weights},
    image,
};

/// The gateway's image for the development kit.
pub static IMAGE: LazyLock<PathBuf> = LazyLock::new(|| gateway_of("board-nrf52840"));

/// Builds the gateway's image for a board.
///
/// # Panics
/// When it does not build.
pub fn gateway_of(board: &str) -> PathBuf {
    let features = format!("{board},gateway");
    image::build("gateway", &["--no-default-features", "--features", &features]).expect("a gateway's image")
}

/// Radios reach everybody: a gateway stands in one place, wherever its robots say that they are.
const RADIUS: f32 = 1_000.0;

/// So many simulated robots that wait for their gateway, behind so many real ones, which have the first addresses.
///
/// # Panics
/// Without a key.
pub fn simulated(real: usize, simulated: usize, seed: u64) -> Flight<'static, Link> {
    let start = settings(real + simulated, seed, 0.0).start;
    let settings = Settings {
        simulated: (0..).zip(start).skip(real).collect(),
        robots: (real + simulated) as NodeId,
        radius: RADIUS,
        key: Some(key()),
        chance: seed,
    };
    Flight::new(settings, |id| {
        Ok(onboard::robot(id, &weights(), Link::new(Dot154::default(), &key())).expect("a robot"))
    })
}

/// Robots' chips, a gateway's chip and simulated robots.
#[derive(Debug)]
pub struct Mixed {
    /// The chips; the gateway is the last station on their air.
    pub chips: chips::Flight<'static, Link>,
    /// The simulated robots.
    pub simulated: Flight<'static, Link>,
    /// How long the PC takes to answer, in true time.
    pub takes: u64,
    /// What it has to say, and when it does.
    answers: VecDeque<(u64, Vec<u8>)>,
    gateway: usize,
    /// As if all were simulated.
    all: chips::Settings,
    /// Velocity variation of everybody at every hundredth of a second of the flight.
    pub variation: Vec<f64>,
}

impl Mixed {
    /// So many robots on chips, with the first addresses, and so many simulated ones, from a seed.
    ///
    /// # Panics
    /// Without images.
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
        }
    }

    /// A millisecond: the chips run, then the PC hears what the gateway has said, and in its own time answers.
    ///
    /// # Panics
    /// When the gateway says what it must not.
    pub fn step(&mut self) {
        self.chips.step();
        let now = self.chips.air.now();
        let station = &mut self.chips.air.stations[self.gateway];
        let said = std::mem::take(&mut station.chip.peripherals().uarte.tx_bytes);
        let said: Vec<u8> = said.into_iter().map(|(_, byte)| byte).collect();
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

    /// Somebody else says bytes on the gateway's line.
    pub fn give(&mut self, bytes: &[u8]) {
        let now = self.chips.air.now();
        let station = &mut self.chips.air.stations[self.gateway];
        let at = station.cycles_at(now);
        station.chip.peripherals().uarte.receive(at, BAUD.into(), bytes);
    }

    /// The largest use of the gateway's stack, in bytes.
    ///
    /// # Panics
    /// When its image does not tell where the stack is.
    pub fn gateway_stack(&self) -> u32 {
        let image = fs::read(&*IMAGE).expect("the gateway's image");
        let [from, to] =
            ["_stack_end", "_stack_start"].map(|name| elf_symbol(&image, name).expect("a stack"));
        self.chips.air.stations[self.gateway].chip.stack_used(from, to)
    }

    /// Until so many seconds after the release.
    pub fn run_until(&mut self, seconds: f64) {
        while self.chips.air.now() < chips::RELEASE + (seconds * SECOND as f64) as u64 {
            self.step();
        }
    }

    /// The velocity variation of a native flight of all of them, over all of it.
    pub fn native(&self) -> f64 {
        natively(&self.all)
    }

    /// Restarts of the gateway that nobody asked for.
    pub fn gateway_restarts(&self) -> Vec<&Reset> {
        let restarts = &self.chips.air.stations[self.gateway].chip.resets;
        restarts.iter().filter(|restart| restart.reason & 4 == 0).collect()
    }
}
