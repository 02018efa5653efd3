//! A gateway's real image on an emulated chip, on one air with robots' chips, and simulated robots at the other end of its line.

use std::{collections::VecDeque, fs, path::PathBuf, sync::LazyLock};

use chip::{air::SECOND, chip::Restart};
use host_sim::{
    chips,
    gateway::flight::{Flight, Settings},
    world::flock::variation,
};
use wdgnn_core::{compact::Dot154, flocking::Motion, robot, task::NodeId};
use wdgnn_protocol::gateway::BAUD;

use crate::{
    chips::{Link, flight, key, settings, weights},
    image,
};

/// The gateway's image for the development kit.
pub static IMAGE: LazyLock<PathBuf> = LazyLock::new(|| {
    let options = ["--no-default-features", "--features", "board-nrf52840,gateway"];
    image::build("gateway", &options).expect("a gateway's image")
});

/// Radios reach everybody: a gateway stands in one place, wherever its robots say that they are.
const RADIUS: f32 = 1_000.0;

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
    /// Velocity variation of everybody at every hundredth of a second of the flight.
    pub variation: Vec<f64>,
}

impl Mixed {
    /// So many robots on chips, with the first addresses, and so many simulated ones, from a seed.
    ///
    /// # Panics
    /// Without images.
    #[must_use]
    pub fn new(real: usize, simulated: usize, seed: u64, seconds: f64) -> Self {
        let mut all = settings(real + simulated, seed, seconds);
        all.radius = RADIUS;
        let others: Vec<(NodeId, Motion)> = (0..).zip(all.start.clone()).skip(real).collect();
        all.start.truncate(real);
        all.gateway = Some(fs::read(&*IMAGE).expect("the gateway's image"));
        let chips = flight(all);
        let settings = Settings {
            simulated: others,
            robots: (real + simulated) as NodeId,
            radius: RADIUS,
            key: Some(key()),
            chance: seed,
        };
        let make =
            |id| Ok(robot::robot(id, &weights(), Link::new(Dot154::default(), &key())).expect("a robot"));
        Self {
            gateway: real,
            chips,
            simulated: Flight::new(settings, make),
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
        let said = std::mem::take(&mut station.chip.parts().uarte.sent);
        let said: Vec<u8> = said.into_iter().map(|(_, byte)| byte).collect();
        let answer = self.simulated.hear(&said).expect("a gateway");
        self.answers.push_back((now + self.takes, answer));
        while let Some((_, answer)) = self.answers.pop_front_if(|(due, _)| *due <= now) {
            let at = station.cycles(now);
            station.chip.parts().uarte.hear(at, BAUD.into(), &answer);
        }
        if now >= chips::RELEASE && (now - chips::RELEASE).is_multiple_of(SECOND / 100) {
            let here = self.simulated.motions().into_iter().map(|(_, motion)| motion.velocity);
            let there = self.chips.motions().into_iter().map(|motion| motion.velocity);
            self.variation.push(variation(here.chain(there)));
        }
    }

    /// Until so many seconds after the release.
    pub fn run_until(&mut self, seconds: f64) {
        while self.chips.air.now() < chips::RELEASE + (seconds * SECOND as f64) as u64 {
            self.step();
        }
    }

    /// Restarts of the gateway that nobody asked for.
    #[must_use]
    pub fn gateway_restarts(&self) -> Vec<&Restart> {
        let restarts = &self.chips.air.stations[self.gateway].chip.restarts;
        restarts.iter().filter(|restart| restart.reason & 4 == 0).collect()
    }
}
