//! `host-sim swarm`: one swarm of robots that run the firmware, here or each in an emulator of its own.

use std::{collections::BTreeMap, path::PathBuf, sync::atomic::AtomicBool, time::Instant};

use chip::chip::Kind;
use clap::{Args, ValueEnum};
use serde::Serialize;
use wdgnn_core::Task as _;

use super::{
    condition::ConditionArguments,
    flock_tables,
    fly::capital,
    outputs,
    records::RecordArguments,
    stop_on_interrupt,
    swarm_chips::{ChipArguments, ChipFlight, Image},
};
use crate::{
    error::{Error, Result},
    evaluate::{Outcome, Summary},
    fault_options::FlightArguments,
    files,
    flight::{Flight, Moment, Observer, Start},
    key,
    lineup::ONLINE,
    model::ModelFile,
    page::{self, replay::Recorder},
    profiles::Profile,
    seeds::{Purpose, generator},
    swarm::{
        digest::FlightDigest,
        emulated::{Emulated, Link},
        image::{self, Settings},
        networks::{AnySwarm, Network},
        on_air::Air,
    },
    world::{Condition, World},
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
                        host-sim swarm --task coverage --nodes emulated\n  host-sim swarm --compare --robots 10\n  \
                        host-sim swarm --nodes emulated --kill 3@50 --reboot 7@80 --drop 5@20-60 --log\n  \
                        openssl rand -hex 16 > swarm.key\n  \
                        host-sim swarm --nodes emulated --robots 10 --profile dot154 --key swarm.key\n  \
                        host-sim swarm --robots 10 --profile dot154 --key swarm.key --drop-chance 0.3 --forge 5 --replay 50\n  \
                        host-sim swarm --robots 10 --profile dot154 --key swarm.key --liars STATE:0.2\n  \
                        host-sim swarm --nodes emulated --robots 10 --motor dead:0.2@50 --sensor lost:0.2@80 --join 0.3@100\n  \
                        host-sim swarm --nodes nrf52840 --robots 10 --key swarm.key --seconds 5"
)]
pub struct SwarmArguments {
    /// What robots do; `host-sim tasks` lists what there is.
    #[arg(long, value_name = "NAME", default_value = "flocking")]
    pub task: String,
    /// What the robots run on.
    #[arg(long, value_enum, default_value = "native")]
    nodes: Nodes,
    #[command(flatten)]
    condition: ConditionArguments,
    /// Length of the flight in seconds, in place of ticks.
    #[arg(long, value_name = "SECONDS", conflicts_with = "ticks")]
    seconds: Option<f64>,
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
    #[command(flatten)]
    records: RecordArguments,
    /// Write a page with the replay here.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Fly the same swarm emulated and native, and compare everything that they do.
    #[arg(long)]
    compare: bool,
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

/// What came of a flight.
struct Flown {
    flight: Flight,
    digest: String,
    seconds: f64,
}

impl SwarmArguments {
    fn condition<W: World>(&self) -> Result<Condition> {
        let mut condition = self.condition.of::<W>()?;
        if let Some(seconds) = self.seconds {
            if !(seconds > 0.0 && seconds <= 3600.0) {
                return Err(Error::usage(format!("--seconds {seconds} cannot be: give up to an hour")));
            }
            condition.ticks = (seconds / f64::from(W::task().period())).round() as u32;
        }
        self.profile.check_robots(condition.robots)?;
        Ok(condition)
    }

    fn model<W: World>(&self) -> Result<ModelFile> {
        let model = match &self.model {
            Some(path) => ModelFile::load(path)?,
            None => W::model(self.profile)?,
        };
        self.profile.check(&model)?;
        Ok(model)
    }

    /// Flies in the world `W` and prints.
    ///
    /// # Errors
    /// Options that cannot be, a model or an image that does not fit, an emulator that is not there, Ctrl-C.
    pub fn run<W: World>(&self) -> Result {
        let condition = self.condition::<W>()?;
        let faults = self.faults.faults(condition.robots, condition.ticks, self.seed)?;
        let model = self.model::<W>()?;
        let key = self.key.as_deref().map(key::read).transpose()?;
        let kind = match self.nodes {
            Nodes::Nrf52840 => Some(Kind::Nrf52840),
            Nodes::Nrf52833 => Some(Kind::Nrf52833),
            Nodes::Native | Nodes::Emulated => None,
        };
        if self.compare && (kind.is_some() || faults.other_models > 0.0) {
            return Err(Error::usage(if kind.is_some() {
                "--compare is for --nodes emulated: chips are compared with their native twins in every flight"
            } else {
                "--compare has no effect with --other-model: emulated robots run one image"
            }));
        }
        if kind.is_some() && faults.rekey.is_some() {
            return Err(Error::usage("--rekey is for native and emulated robots"));
        }
        if let Some(kind) = kind {
            if W::NAME != "flocking" {
                return Err(Error::usage(format!(
                    "chips fly flocking only: give --nodes emulated for --task {}",
                    W::NAME
                )));
            }
            if self.records.any() || self.report.is_some() {
                return Err(Error::usage(
                    "--capture, --trajectories, --mcap and --report are for native and emulated robots",
                ));
            }
            let settings =
                Image { profile: self.profile, key: self.key.as_deref(), model: self.model.as_deref() };
            let flight =
                ChipFlight { kind, image: self.image.as_deref(), settings, log: self.log, json: self.json };
            return self.chips.fly(&flight, &model, &condition, &faults, key, self.seed);
        }
        self.chips.refuse()?;
        if self.nodes == Nodes::Native && !self.compare && (self.image.is_some() || self.log) {
            return Err(Error::usage(
                "--image and --log have no effect on native robots: give --nodes emulated",
            ));
        }
        let sealed = key.is_some();
        if faults.rekey.is_some() && !sealed {
            return Err(Error::usage("--rekey changes a swarm's key: give --key FILE, too"));
        }
        if faults.other_models > 0.0 && self.nodes == Nodes::Emulated {
            return Err(Error::usage(
                "--other-model is for robots in this process: emulated ones run one image",
            ));
        }
        let other = (faults.other_models > 0.0).then(|| W::other_model(self.profile)).transpose()?;
        let network = Network { other: other.as_ref(), ..Network::<W::Task>::of(&model, self.profile)? };
        let layout = W::layout();
        let air = Air { layout: &layout, faults: &faults, swarm: 0, key: key.unwrap_or_default() };
        // A model for other robots is refused here, before anything is built or started.
        let native = network.native(&air, condition.robots, sealed)?;
        let emulated = self.nodes == Nodes::Emulated || self.compare;
        let (mut swarm, twin) = if emulated {
            (self.emulated::<W>(&network, &air, sealed, &condition)?, self.compare.then_some(native))
        } else {
            (native, None)
        };
        let stop = stop_on_interrupt()?;
        let flown = self.fly::<W>(swarm.as_mut(), &network.task, &condition, &stop)?;
        let alone = Self { records: RecordArguments::default(), report: None, ..self.clone() };
        let twin = twin.map(|mut twin| alone.fly::<W>(twin.as_mut(), &network.task, &condition, &stop));
        let twin = twin.transpose()?;
        if self.log {
            for (robot, lines) in swarm.logs().iter().enumerate() {
                for line in lines {
                    eprintln!("{robot:3} {line}");
                }
            }
        }
        self.print::<W>(&condition, &flown, &model);
        twin.map_or(Ok(()), |twin| self.judge(&flown, &twin))
    }

    /// Whether emulated robots did what native ones do.
    fn judge(&self, emulated: &Flown, native: &Flown) -> Result {
        if emulated.digest != native.digest {
            let digest = &native.digest;
            return Err(Error::Failed(format!("native robots did something else: their digest is {digest}")));
        }
        if !self.json {
            println!("compared            native robots did the same to the last bit");
        }
        Ok(())
    }

    /// Starts emulated robots.
    fn emulated<'a, W: World>(
        &self,
        network: &Network<'a, W::Task>,
        air: &Air<'_>,
        sealed: bool,
        condition: &Condition,
    ) -> Result<AnySwarm<'a, W::Task>> {
        image::check_emulator()?;
        let image = match &self.image {
            Some(image) => image.clone(),
            None => image::build(&Settings {
                task: W::NAME,
                package: W::PACKAGE,
                profile: self.profile,
                key: self.key.as_deref(),
                model: self.model.as_deref(),
                board: None,
                rekeyed: air.faults.rekey.is_some(),
            })?,
        };
        let link = Link { profile: self.profile, sealed };
        let rekeyed = air.faults.rekey.is_some();
        let robots = Emulated::new::<W::Task>(&image, network.model, link, condition.robots, rekeyed)?;
        network.elsewhere(air, Box::new(robots), condition.robots, sealed)
    }

    fn fly<W: World>(
        &self,
        swarm: &mut dyn crate::scene::Swarm<W::Task>,
        task: &W::Task,
        condition: &Condition,
        stop: &AtomicBool,
    ) -> Result<Flown> {
        let start = Start::draw(&W::default(), condition, &mut generator(self.seed, Purpose::Testing, 0))?;
        self.report.as_deref().map(files::probe).transpose()?;
        let mut digest = FlightDigest::default();
        let mut recorder = Recorder::new(condition);
        let mut records = self.records.records::<W>(task)?;
        let mut losses = Losses;
        let mut observers: Vec<&mut dyn Observer<W>> = vec![&mut digest, &mut losses, &mut records];
        if self.report.is_some() {
            observers.push(&mut recorder);
        }
        let began = Instant::now();
        let flight = start.fly(task, swarm, &mut observers, stop)?;
        let seconds = began.elapsed().as_secs_f64();
        records.finish()?;
        let flown = Flown { digest: digest.finish(), flight, seconds };
        if let Some(path) = &self.report {
            let page = self.page::<W>(task, condition, recorder, &flown);
            files::write(path, page.as_bytes())?;
        }
        Ok(flown)
    }

    fn page<W: World>(
        &self,
        task: &W::Task,
        condition: &Condition,
        recorder: Recorder,
        flown: &Flown,
    ) -> String {
        let title = format!("{}: {} robots", capital(W::TITLE), self.kind());
        let flights = vec![flown.flight.clone()];
        let summary = Summary::of(&flights);
        let outcome = Outcome { name: ONLINE, title: "WD-GNN online", shown: true, flights, summary };
        let outcomes = [outcome];
        let replay = recorder.replay::<W>(task, condition.radius, ONLINE, "WD-GNN online", &flown.flight);
        page::flights(&page::FlightsPage {
            lead: format!(
                "{} robots that run the firmware’s own code, on the link profile {}. Digest of everything they did: {}.",
                condition.robots,
                self.profile.name(),
                flown.digest
            ),
            title,
            score: W::SCORE,
            outcomes: &outcomes,
            replay: &replay,
            moments: false,
            table: flock_tables::measured(&outcomes),
            legend: format!("Total and final: {}, summed over the flight and at its end.", W::SCORE),
            air: self.faults.words(),
            finding: String::new(),
            command: self.command::<W>(condition),
            models: self
                .model
                .as_ref()
                .map_or("the one that comes with the program".into(), |path| path.display().to_string()),
        })
    }

    /// The command that does this again, whatever the defaults will be.
    fn command<W: World>(&self, condition: &Condition) -> String {
        let Condition { robots, radius, speed, ticks } = condition;
        let mut command = format!(
            "host-sim swarm --task {} --nodes {} --robots {robots} --radius {radius} --ticks {ticks} --seed {} --profile {}",
            W::NAME,
            self.kind(),
            self.seed,
            self.profile.name()
        );
        if *speed > 0.0 {
            command.extend([" --speed ", &speed.to_string()]);
        }
        for (option, path) in [(" --key ", &self.key), (" --model ", &self.model)] {
            if let Some(path) = path {
                command.extend([option, &path.display().to_string()]);
            }
        }
        command + &self.faults.words()
    }

    fn kind(&self) -> &'static str {
        if self.nodes == Nodes::Native && !self.compare { "native" } else { "emulated" }
    }

    fn print<W: World>(&self, condition: &Condition, flown: &Flown, model: &ModelFile) {
        let Flown { flight, digest, seconds } = flown;
        let (total, r#final) = (flight.total(), flight.last());
        let (robots, ticks) = (condition.robots, flight.score.len() as u32);
        let tally = flight.tally.clone().unwrap_or_default();
        let (heard, refused) = (tally.heard, tally.refused_by_name());
        if self.json {
            let (digest, wall_seconds) = (digest.clone(), *seconds);
            let output = Output { robots, ticks, total, r#final, digest, heard, refused, wall_seconds };
            outputs::print_json(&self.command::<W>(condition), &model.words(), &output);
            return;
        }
        let sealed = if self.key.is_some() { "sealed" } else { "unsealed" };
        let reasons: Vec<String> =
            refused.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
        let (score, unit) = W::SCORE.rsplit_once(" in ").unwrap_or((W::SCORE, ""));
        println!("{robots} {} robots, {ticks} ticks of flight in {seconds:.2} s", self.kind());
        println!("link                {}, {sealed}", self.profile.name());
        println!("{score:<18}  total {total:.2}, final {final:.4} {unit}", r#final = r#final);
        println!("frames              {heard} heard, {} refused{reasons}", refused.values().sum::<u64>());
        println!("digest              {digest}");
        if let Some(path) = &self.report {
            println!("page                {}", path.display());
        }
    }
}

/// Tells who was lost.
struct Losses;

impl<W: World> Observer<W> for Losses {
    fn see(&mut self, _: &Moment<'_, W>) -> Result {
        Ok(())
    }

    fn lost(&mut self, tick: u32, story: &str) {
        eprintln!("host-sim: tick {tick}: {story}; the others fly on");
    }
}
