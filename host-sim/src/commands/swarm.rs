//! `host-sim swarm`: one swarm of robots that run the firmware, here or each in an emulator of its own.

mod observers;
mod refusals;
mod shown;

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    time::Instant,
};

use chip::chip::Kind;
use clap::{Args, ValueEnum, builder::ArgPredicate};
use wdgnn_core::{Task as _, seal::Key};

use self::observers::{Losses, Ticks};
use super::{
    condition::ConditionArguments,
    outputs::{OutputArguments, Results},
    records::RecordArguments,
    scenario::ScenarioArguments,
    stop_on_interrupt,
    swarm_chips::{ChipArguments, ChipFlight, Image},
    swarm_gateway::{GatewayArguments, GatewayFlight},
    typed::Typed,
};
#[cfg(feature = "workers")]
use super::{
    swarm_launch::Launch,
    swarm_workers::{Common, WorkerArguments},
};
use crate::{
    air::options::Faults,
    error::{Error, Result},
    fault_options::FlightArguments,
    flight::{Flight, Observer, Start},
    key,
    lineup::ONLINE,
    model::ModelFile,
    page::{
        flights::plots,
        replay::{Recorder, Replay},
    },
    profiles::Profile,
    progress,
    seeds::{Purpose, generator},
    swarm::{
        digest::FlightDigest,
        emulated::{Emulated, Link},
        image::{self, Settings},
        networks::{AnyShare, AnySwarm, Network},
        on_air::Air,
    },
    watch::{self, Watcher},
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
                        host-sim swarm --robots 50 --emulated 5 --compare\n  \
                        host-sim swarm --watch --ticks 1000 --drop-chance 0.3\n  \
                        host-sim swarm --nodes emulated --kill 3@50 --reboot 7@80 --drop 5@20-60 --log\n  \
                        openssl rand -hex 16 > swarm.key\n  \
                        host-sim swarm --nodes emulated --robots 10 --profile dot154 --key swarm.key\n  \
                        host-sim swarm --robots 10 --profile dot154 --key swarm.key --drop-chance 0.3 --forge 5 --replay 50\n  \
                        host-sim swarm --robots 10 --profile dot154 --key swarm.key --liars STATE:0.2\n  \
                        host-sim swarm --nodes emulated --robots 10 --motor dead:0.2@50 --sensor lost:0.2@80 --join 0.3@100\n  \
                        host-sim swarm --nodes nrf52840 --robots 10 --key swarm.key --seconds 5\n  \
                        host-sim swarm --nodes nrf52840 --robots 10 --key swarm.key --seconds 5 --rekey 50-300 --expel 3 --proofs\n  \
                        host-sim swarm --gateway /dev/ttyACM0 --robots 10 --real 5-9 --key swarm.key --seconds 60"
)]
pub struct SwarmArguments {
    #[command(flatten)]
    pub scenario: ScenarioArguments,
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
        default_value_if("gateway", ArgPredicate::IsPresent, "dot154"),
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
    #[command(flatten)]
    outputs: OutputArguments,
    /// Fly the same swarm emulated and native, and compare everything that they do.
    #[arg(long)]
    compare: bool,
    /// Watch the flight in the terminal, as it happens: the swarm and its score; the last line tells the keys.
    #[arg(long, conflicts_with_all = ["json", "compare"])]
    watch: bool,
    /// Emulate so many of the robots, the last ones; the others fly in this process, all in one air.
    #[arg(long, value_name = "N")]
    emulated: Option<usize>,
    /// Print the robots' logs (emulated ones keep one).
    #[arg(long)]
    log: bool,
    #[cfg(feature = "workers")]
    #[command(flatten)]
    workers: WorkerArguments,
    #[command(flatten)]
    gateway: GatewayArguments,
    #[command(flatten)]
    chips: ChipArguments,
    #[command(flatten)]
    faults: FlightArguments,
}

/// What came of a flight.
struct Flown {
    flight: Flight,
    replay: Replay,
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
        if !self.packs(condition.robots) {
            self.profile.check_robots(condition.robots)?;
        }
        Ok(condition)
    }

    /// Whether any robots are emulated.
    fn emulates(&self) -> bool {
        self.nodes == Nodes::Emulated || self.compare || self.emulated.is_some()
    }

    /// Whether there are more robots than addresses: on `exact` they fly packed, as long as nothing goes wrong.
    fn packs(&self, robots: usize) -> bool {
        let plain = self.nodes == Nodes::Native && !self.emulates() && self.key.is_none();
        plain && self.profile == Profile::Exact && self.profile.check_robots(robots).is_err()
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
        if self.watch {
            watch::check()?;
        }
        #[cfg(feature = "workers")]
        self.refuse_with_workers()?;
        let condition = self.condition::<W>()?;
        let faults = self.faults.faults(condition.robots, condition.ticks, self.seed)?;
        let model = self.model::<W>()?;
        let key = self.key.as_deref().map(key::read).transpose()?;
        let kind = match self.nodes {
            Nodes::Nrf52840 => Some(Kind::Nrf52840),
            Nodes::Nrf52833 => Some(Kind::Nrf52833),
            Nodes::Native | Nodes::Emulated => None,
        };
        if let Some(kind) = kind {
            self.refuse_on_chips::<W>(&faults)?;
            let settings =
                Image { profile: self.profile, key: self.key.as_deref(), model: self.model.as_deref() };
            let (json, log) = (self.outputs.json, self.log);
            let settled = self.settled(&condition);
            let origin = self.scenario.origin(settled.command("swarm"), model.words());
            let origin = &origin.with_faults(&self.faults.words());
            let flight = ChipFlight { kind, image: self.image.as_deref(), settings, log, json, origin };
            self.scenario.check()?;
            self.chips.fly(&flight, &model, &condition, &faults, key, self.seed)?;
            return self.scenario.save("swarm", &settled);
        }
        if self.gateway.is_given() {
            return self.fly_beside_real::<W>(&condition, &faults, &model, key);
        }
        let sealed = key.is_some();
        self.refuse_off_chips(&faults, condition.robots)?;
        let other = (faults.other_models > 0.0).then(|| W::other_model(self.profile)).transpose()?;
        let network = Network { other: other.as_ref(), ..Network::<W::Task>::of(&model, self.profile)? };
        let layout = W::layout();
        let air = Air { layout: &layout, faults: &faults, swarm: 0, key: key.unwrap_or_default() };
        let draw = || Start::draw(&W::default(), &condition, &mut generator(self.seed, Purpose::Testing, 0));
        let packs = self.packs(condition.robots);
        let native = || network.native(&air, condition.robots, sealed);
        #[cfg(feature = "workers")]
        if let Some(workers) = self.workers.workers {
            let (restarts, json) = (self.workers.restarts(), self.outputs.json);
            // Built once, and not by every worker.
            let image =
                (self.emulates() && self.image.is_none()).then(|| self.built::<W>(&faults)).transpose()?;
            let launch = Launch { workers: workers.into(), restarts, json, image };
            let stop = stop_on_interrupt()?;
            return launch.fly::<W>(&stop);
        }
        #[cfg(feature = "workers")]
        if let Some(worker) = self.workers.worker {
            let here = |robot, first| worker.is_dealt(robot, first);
            let make = || {
                if self.emulates() {
                    return self.emulated::<W>(&network, &air, sealed, &condition, here);
                }
                if packs { network.packed_share() } else { native() }
            };
            let (stop, task) = (&stop_on_interrupt()?, &network.task);
            let settings = self.agreed::<W>(&condition, &model, key, &faults);
            let common = Common { condition: &condition, draw: &draw, task, make: &make, settings, stop };
            return self.workers.fly::<W>(self.outputs.json, &common);
        }
        let start = draw()?;
        // A model for other robots is refused here, before anything is built or started.
        let native: AnySwarm<'_, W::Task> = if packs { network.packed(&start.states)? } else { native()? };
        let emulated = self.emulates();
        let (mut swarm, twin) = if emulated {
            let all: AnySwarm<'_, W::Task> =
                self.emulated::<W>(&network, &air, sealed, &condition, |robot, first| robot >= first)?;
            (all, self.compare.then_some(native))
        } else {
            (native, None)
        };
        self.scenario.check()?;
        self.outputs.check()?;
        let stop = stop_on_interrupt()?;
        let Some(flown) = self.fly::<W>(swarm.as_mut(), &network.task, &start, &stop)? else {
            println!("left before the end: there is nothing to tell");
            return Ok(());
        };
        let alone = Self { records: RecordArguments::default(), ..self.clone() };
        let twin = twin.map(|mut twin| alone.fly::<W>(twin.as_mut(), &network.task, &start, &stop));
        let twin = twin.transpose()?.flatten();
        if self.log {
            for (robot, lines) in swarm.logs().iter().enumerate() {
                for line in lines {
                    eprintln!("{robot:3} {line}");
                }
            }
        }
        let settled = self.settled(&condition);
        let origin = self.scenario.origin(settled.command("swarm"), model.words());
        let origin = &origin.with_faults(&self.faults.words());
        let outcomes = [Self::outcome(&flown)];
        self.outputs.deliver(&Results {
            origin,
            json: Self::output(&condition, &flown, twin.as_ref()),
            print: &|| self.print::<W>(&condition, &flown, twin.as_ref()),
            csv: &|| Self::csv_rows(&flown.flight),
            page: &|| Ok(self.page::<W>(&condition, &flown, &outcomes, origin)),
            plots: &|| plots(&outcomes, W::SCORE, W::task().period()),
        })?;
        self.scenario.save("swarm", &settled)?;
        match twin {
            Some(twin) if twin.digest != flown.digest => {
                let digest = &twin.digest;
                Err(Error::Failed(format!("native robots did something else: their digest is {digest}")))
            }
            _ => Ok(()),
        }
    }

    /// Flies simulated robots in the air of real ones.
    fn fly_beside_real<W: World>(
        &self,
        condition: &Condition,
        faults: &Faults,
        model: &ModelFile,
        key: Option<Key>,
    ) -> Result {
        self.chips.refuse()?;
        if self.nodes != Nodes::Native || self.emulates() || self.image.is_some() || self.log {
            return Err(Error::usage(
                "--gateway flies robots of this process beside real ones: leave out --nodes, --emulated, --compare, --image and --log",
            ));
        }
        if W::NAME != "flocking" {
            return Err(Error::usage(format!("boards fly flocking only, which --task {} is not", W::NAME)));
        }
        if *faults != (Faults { seed: faults.seed, ..Faults::default() }) {
            return Err(Error::usage(
                "what goes wrong in a real air nobody chooses: leave faults out with --gateway",
            ));
        }
        if self.records.any() || self.outputs.any_file() || self.watch {
            return Err(Error::usage(
                "--capture, --trajectories, --mcap, --csv, --report, --svg, --png and --watch are for native and emulated robots",
            ));
        }
        let settled = self.settled(condition);
        let origin = &self.scenario.origin(settled.command("swarm"), model.words());
        let (profile, json, seed) = (self.profile, self.outputs.json, self.seed);
        self.scenario.check()?;
        self.gateway.fly(&GatewayFlight { profile, model, condition, seed, json, origin }, key)?;
        self.scenario.save("swarm", &settled)
    }

    /// All that workers have to agree about, in words.
    #[cfg(feature = "workers")]
    fn agreed<W: World>(
        &self,
        condition: &Condition,
        model: &ModelFile,
        key: Option<Key>,
        faults: &Faults,
    ) -> String {
        // Enough of a key to tell it from another one.
        let key = key.map(|key| crc::Crc::<u64>::new(&crc::CRC_64_XZ).checksum(&key));
        let (version, seed, profile) = (env!("CARGO_PKG_VERSION"), self.seed, self.profile);
        let checksum = model.weights().checksum;
        format!("{version} {} {condition:?} {seed} {profile:?} {key:?} {checksum} {faults:?}", W::NAME)
    }

    /// Everything that counted.
    fn settled(&self, condition: &Condition) -> Typed {
        let settled = self.condition.settled(&self.scenario.typed, condition);
        match self.nodes {
            // What only chips have.
            Nodes::Native | Nodes::Emulated => settled.without("apart").without("ppm"),
            Nodes::Nrf52840 | Nodes::Nrf52833 => settled,
        }
    }

    /// The image of emulated robots.
    fn built<W: World>(&self, faults: &Faults) -> Result<PathBuf> {
        image::check_emulator()?;
        if let Some(image) = &self.image {
            return Ok(image.clone());
        }
        image::build(&Settings {
            task: W::NAME,
            package: W::PACKAGE,
            profile: self.profile,
            key: self.key.as_deref(),
            model: self.model.as_deref(),
            board: None,
            rekeyed: faults.rekey.is_some() || faults.proofs,
            gateway: false,
        })
    }

    /// Starts those emulated robots for whom `here` says so, of the robot's number and the first of them.
    fn emulated<'a, W: World>(
        &self,
        network: &Network<'a, W::Task>,
        air: &Air<'_>,
        sealed: bool,
        condition: &Condition,
        here: impl Fn(usize, usize) -> bool,
    ) -> Result<AnyShare<'a, W::Task>> {
        let image = self.built::<W>(air.faults)?;
        let link = Link { profile: self.profile, sealed };
        let count = condition.robots;
        let first = self.emulated.map_or(0, |some| count.saturating_sub(some));
        let here = |robot| here(robot, first);
        let robots = Emulated::some::<W::Task>(&image, network.model, link, here, count, air.faults)?;
        network.elsewhere(air, Box::new(robots), first, count, sealed)
    }

    fn fly<W: World>(
        &self,
        swarm: &mut dyn crate::scene::Swarm<W::Task>,
        task: &W::Task,
        start: &Start<W>,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<Flown>> {
        let condition = &start.condition;
        let mut digest = FlightDigest::default();
        let mut recorder = Recorder::new(condition);
        let mut records = self.records.records::<W>(task)?;
        let title = format!("{} robots, {}", self.kind(), W::TITLE);
        let mut watcher = (self.watch)
            .then(|| Watcher::new::<W>(&title, task.period(), condition.ticks, stop))
            .transpose()?;
        let mut ticks = Ticks(watcher.is_none().then(|| progress::bar(condition.ticks.into(), "flying")));
        let mut losses = Losses::default();
        let mut observers: Vec<&mut dyn Observer<W>> =
            vec![&mut digest, &mut losses, &mut ticks, &mut records];
        if self.outputs.report.is_some() {
            observers.push(&mut recorder);
        }
        if let Some(watcher) = &mut watcher {
            observers.push(watcher);
        }
        let began = Instant::now();
        let flown = start.fly(task, swarm, &mut observers, stop);
        let seconds = began.elapsed().as_secs_f64();
        if let (Ok(_), Some(watcher)) = (&flown, &mut watcher) {
            watcher.linger()?;
        }
        if watcher.is_some_and(|watcher| watcher.was_left()) {
            return Ok(None);
        }
        let flight = flown?;
        losses.tell();
        drop(ticks);
        records.finish()?;
        let replay =
            recorder.replay::<W>(task, condition.radius, self.profile, (ONLINE, "WD-GNN online"), &flight);
        Ok(Some(Flown { digest: digest.finish(), flight, replay, seconds }))
    }
}
