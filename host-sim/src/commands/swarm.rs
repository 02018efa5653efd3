//! `host-sim swarm`: one swarm of robots that run the firmware, here or each in an emulator of its own.

use std::{collections::BTreeMap, path::PathBuf, time::Instant};

use chip::chip::Kind;
use clap::{Args, ValueEnum};
use serde::Serialize;
use wdgnn_core::{Task as _, flocking::Flocking, robot::Robot, seal::Key};

use super::{
    swarm_chips::{ChipArguments, ChipFlight, Image},
    train::stop_on_interrupt,
};
use crate::{
    air::options::{Faults, FlightArguments},
    error::{Error, Result},
    fleet::{
        Fleet,
        air::FleetAir,
        emulated::Emulated,
        image::{self, Settings},
        mission::{self, Debriefing},
        native::Native,
        recorded::Recorded,
    },
    key,
    model::ModelFile,
    models,
    profiles::{CodecVisitor, FlownCodec, Profile, visit_codec},
    seeds::{Purpose, generator},
    start::{Condition, start},
};

/// What the robots run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Nodes {
    /// In this process.
    Native,
    /// Each on an emulated Cortex-M4F, from the real firmware image.
    Emulated,
    /// Each on an nRF52840, register by register, from the image that is flashed, all on one air.
    Nrf52840,
    /// The same on micro:bits.
    Nrf52833,
}

/// Fly one swarm of robots that run the firmware's own code, and print a digest of everything they did.
///
/// Native and emulated robots print the same digest: CRC-64/XZ over every command and every wide parameter, of every robot, at
/// every tick. Whatever goes wrong in the air goes wrong for both alike.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  host-sim swarm --nodes emulated\n  host-sim swarm --nodes native --json\n  \
                        host-sim swarm --nodes emulated --kill 3@50 --reboot 7@80 --drop 5@20-60 --log\n  \
                        openssl rand -hex 16 > swarm.key\n  \
                        host-sim swarm --nodes emulated --robots 10 --profile dot154 --key swarm.key\n  \
                        host-sim swarm --robots 10 --profile dot154 --key swarm.key --drop-chance 0.3 --forge 5 --replay 50\n  \
                        host-sim swarm --robots 10 --profile dot154 --key swarm.key --liars STATE:0.2\n  \
                        host-sim swarm --nodes nrf52840 --robots 10 --key swarm.key --seconds 5"
)]
pub struct SwarmArguments {
    /// What the robots run on.
    #[arg(long, value_enum, default_value = "native")]
    nodes: Nodes,
    /// How many robots.
    #[arg(long, value_name = "N", default_value_t = Condition::PAPER.robots)]
    robots: usize,
    /// Length of the flight in ticks of 10 ms.
    #[arg(long, value_name = "N", default_value_t = Condition::PAPER.ticks)]
    ticks: u32,
    /// Length of the flight in seconds, in place of ticks.
    #[arg(long, value_name = "SECONDS", conflicts_with = "ticks")]
    seconds: Option<f64>,
    /// Radio range in metres; the spacing at the start goes with it.
    #[arg(long, value_name = "METRES", default_value_t = Condition::PAPER.radius, allow_negative_numbers = true)]
    radius: f32,
    /// Largest starting speed per axis in m/s.
    #[arg(long, value_name = "M/S", default_value_t = Condition::PAPER.speed, allow_negative_numbers = true)]
    speed: f32,
    /// Seed of the start.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How robots talk.
    #[arg(
        long,
        value_enum,
        default_value_if("nodes", "nrf52840", "dot154"),
        default_value_if("nodes", "nrf52833", "dot154"),
        default_value = "exact"
    )]
    profile: Profile,
    /// The swarm's key, 16 bytes or 32 hexadecimal digits: frames are sealed, and robots believe nobody more than they must.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// A model of your own in place of the one that comes with the program.
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// A firmware image in place of one that is built now.
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// Write every frame that is said to a capture, for Wireshark and `host-sim sniff`.
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,
    /// Print the robots' logs (emulated ones keep one).
    #[arg(long)]
    log: bool,
    /// Print JSON in place of text.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    chips: ChipArguments,
    #[command(flatten)]
    faults: FlightArguments,
}

/// The JSON output.
#[derive(Debug, Serialize)]
struct Output {
    robots: usize,
    ticks: u32,
    total: f64,
    r#final: f64,
    digest: String,
    heard: u64,
    refused: BTreeMap<&'static str, u64>,
    wall_seconds: f64,
}

/// A flight that is prepared, and a codec is all that it still needs.
struct Sortie<'a> {
    arguments: &'a SwarmArguments,
    model: &'a ModelFile,
    condition: &'a Condition,
    faults: &'a Faults,
    key: Key,
}

impl CodecVisitor for Sortie<'_> {
    type Output = Result<(Debriefing, f64)>;

    fn visit<C: FlownCodec>(self) -> Self::Output {
        // A model for other robots is refused here, before anything is built or started.
        let air = FleetAir::<C>::new(self.model, &self.key, self.faults, self.condition.robots)?;
        match self.arguments.nodes {
            Nodes::Native => {
                let mut fleet = Native::<C>::new(self.model, &self.key, self.condition.robots)?;
                self.fly(&mut fleet, air)
            }
            Nodes::Emulated => self.fly_emulated(air),
            // They have flown before a codec was chosen.
            Nodes::Nrf52840 | Nodes::Nrf52833 => Err(Error::Failed("chips fly by themselves".into())),
        }
    }
}

impl SwarmArguments {
    /// Flies and prints.
    ///
    /// # Errors
    /// Options that cannot be, a model or an image that does not fit, an emulator that is not there, Ctrl-C.
    pub fn run(&self) -> Result {
        let ticks = match self.seconds {
            None => self.ticks,
            Some(seconds) if seconds > 0.0 && seconds <= 3600.0 => (seconds * 100.0).round() as u32,
            Some(seconds) => {
                return Err(Error::usage(format!("--seconds {seconds} cannot be: give up to an hour")));
            }
        };
        let condition = Condition { robots: self.robots, radius: self.radius, speed: self.speed, ticks };
        condition.check()?;
        self.profile.check_robots(self.robots)?;
        let faults = self.faults.faults(self.robots, self.seed)?;
        let model = match &self.model {
            Some(path) => ModelFile::load(path)?,
            None => models::of_profile(self.profile)?,
        };
        self.profile.check(&model)?;
        let key = self.key.as_deref().map(key::read).transpose()?;
        let kind = match self.nodes {
            Nodes::Nrf52840 => Some(Kind::Nrf52840),
            Nodes::Nrf52833 => Some(Kind::Nrf52833),
            Nodes::Native | Nodes::Emulated => None,
        };
        if let Some(kind) = kind {
            let settings =
                Image { profile: self.profile, key: self.key.as_deref(), model: self.model.as_deref() };
            let flight =
                ChipFlight { kind, image: self.image.as_deref(), settings, log: self.log, json: self.json };
            if self.capture.is_some() {
                return Err(Error::usage("--capture is for native and emulated robots".to_string()));
            }
            return self.chips.fly(&flight, &model, &condition, &faults, key, self.seed);
        }
        self.chips.refuse()?;
        let (arguments, sealed, key) = (self, key.is_some(), key.unwrap_or_default());
        let sortie = Sortie { arguments, model: &model, condition: &condition, faults: &faults, key };
        let (debriefing, seconds) = visit_codec(self.profile, sealed, sortie)?;
        self.print(debriefing, seconds);
        Ok(())
    }

    fn print(&self, debriefing: Debriefing, wall_seconds: f64) {
        let (total, r#final) = (debriefing.total(), debriefing.last());
        let debriefing_ticks = debriefing.variation.len() as u32;
        let Debriefing { digest, heard, refused, .. } = debriefing;
        let (robots, ticks) = (self.robots, debriefing_ticks);
        if self.json {
            let output = Output { robots, ticks, total, r#final, digest, heard, refused, wall_seconds };
            println!("{}", serde_json::to_string_pretty(&output).unwrap_or_default());
            return;
        }
        let nodes = if self.nodes == Nodes::Native { "native" } else { "emulated" };
        let sealed = if self.key.is_some() { "sealed" } else { "unsealed" };
        let reasons: Vec<String> =
            refused.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
        println!("{robots} {nodes} robots, {ticks} ticks of flight in {wall_seconds:.2} s");
        println!("link                {}, {sealed}", self.profile.name());
        println!("velocity variation  total {total:.2}, final {final:.4} m²/s²", r#final = r#final);
        println!("frames              {heard} heard, {} refused{reasons}", refused.values().sum::<u64>());
        println!("digest              {digest}");
    }
}

impl Sortie<'_> {
    fn fly_emulated<C: FlownCodec>(&self, air: FleetAir<'_, C>) -> Result<(Debriefing, f64)> {
        let SwarmArguments { robots, profile, ref key, ref model, .. } = *self.arguments;
        image::check_emulator()?;
        let image = match &self.arguments.image {
            Some(image) => image.clone(),
            None => image::build(&Settings {
                profile,
                key: key.as_deref(),
                model: model.as_deref(),
                board: None,
            })?,
        };
        let mut fleet = Emulated::new::<C>(&image, self.model, robots)?;
        let flown = self.fly(&mut fleet, air)?;
        if self.arguments.log {
            fleet.leave();
            for robot in 0..robots {
                fleet.log(robot).iter().for_each(|line| eprintln!("{robot:3} {line}"));
            }
        }
        Ok(flown)
    }

    fn fly<C: FlownCodec>(
        &self,
        fleet: &mut dyn Fleet,
        mut air: FleetAir<'_, C>,
    ) -> Result<(Debriefing, f64)> {
        let interrupted = stop_on_interrupt()?;
        let from = start(self.condition, &mut generator(self.arguments.seed, Purpose::Testing, 0))?;
        let period = Flocking::<2>::from_settings(&self.model.weights().header.task.numbers).period;
        let began = Instant::now();
        let mut lost =
            |tick: u32, story: &str| eprintln!("host-sim: tick {tick}: {story}; the others fly on");
        let mut fly = |fleet: &mut dyn Fleet| {
            mission::fly(fleet, &mut air, self.condition, &from, period, &interrupted, &mut lost)
        };
        let debriefing = match &self.arguments.capture {
            None => fly(fleet)?,
            Some(path) => {
                let mut recorded = Recorded::new(fleet, period, path, Robot::<C>::frame_bytes())?;
                let debriefing = fly(&mut recorded)?;
                recorded.finish()?;
                debriefing
            }
        };
        Ok((debriefing, began.elapsed().as_secs_f64()))
    }
}
