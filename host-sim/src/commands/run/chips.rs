//! `host-sim run --target nrf52840`: emulated boards, register by register.

use std::{
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    time::Instant,
};

use clap::Args;
use nrf52_emulator::Part;
use serde::Serialize;
use wdgnn_core::task::NodeId;
use wdgnn_link::security::key::Key;

use super::{
    super::{output::print_json, stop_on_interrupt},
    RunArguments, Setup,
};
use wdgnn_emulation::{
    chips::{
        Flight, Outcome, RELEASE, RobotResult, Settings,
        operator::{Provisioning, Rekey, settings_page},
        twin,
    },
    image,
    log::Decoder,
};

use crate::{
    episode::Episode,
    error::{Error, Result},
    files,
    medium::{
        any_link::RobotKeys,
        events::RobotTick,
        options::{FAULTS, Fault, Faults},
    },
    model::ModelFile,
    option_range::OptionRange,
    profiles::Profile,
    progress,
    seeds::{Purpose, generator},
    swarm::{networks::Network, radio_swarm::RadioConfig},
    table::aligned,
    world::{Environment, Presentation as _, World as _, flock::Flock},
};

/// Time between the first and the last power-on in seconds.
const SPREAD_SECONDS: OptionRange = OptionRange::real(0.0, 60.0);
/// Default of the largest frequency error of the crystals in parts per million.
const CRYSTAL_PPM: f64 = 40.0;

/// Options for emulated boards.
#[derive(Args, Clone, Debug, PartialEq)]
#[command(next_help_heading = "Boards (--target nrf52840, nrf52833)")]
pub struct ChipArguments {
    /// Time between the first and the last power-on in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.4, value_parser = SPREAD_SECONDS.parser::<f64>())]
    power_on_spread: f64,
    /// Create a pseudo-terminal per robot in this folder (robot0, …) for firmware/companion.py,
    /// without a simulated world.
    #[arg(long, value_name = "FOLDER")]
    serial_ports: Option<PathBuf>,
    /// Add a gateway board with the pseudo-terminal `gateway`, for `host-sim run --gateway`.
    #[arg(long, requires = "serial_ports")]
    gateway_chip: bool,
}

impl Default for ChipArguments {
    fn default() -> Self {
        Self { power_on_spread: 0.4, serial_ports: None, gateway_chip: false }
    }
}

/// Cargo feature and address of the provisioning page of a board (`firmware/src/board`).
const fn board(kind: Part) -> (&'static str, u32) {
    match kind {
        Part::Nrf52840 => ("board-nrf52840", 0x000f_7000),
        Part::Nrf52833 => ("board-microbit-v2", 0x0007_7000),
    }
}

/// JSON output.
#[derive(Debug, Serialize)]
struct Output {
    robots: usize,
    seconds: f64,
    sealed: bool,
    total: f64,
    r#final: f64,
    close_pairs: u64,
    native_total: f64,
    native_final: f64,
    frames_sent: u64,
    received_share: f64,
    collided_share: f64,
    missed_share: f64,
    least_heard_share: f64,
    ticks_per_second: f64,
    busy_share: f64,
    restarts: usize,
    stack_bytes: u32,
    ticks_equal_to_native: u64,
    ticks_that_differ: usize,
    /// Swarm tick at which the next key becomes active, and the number of robots that use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_changes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_keys: Option<usize>,
    wall_seconds: f64,
}

struct ChipRun<'a> {
    settings: Settings,
    model: &'a ModelFile,
    key: Option<Key>,
    told: Provisioning,
    faults: &'a Faults,
    start: Episode<Flock>,
}

impl ChipRun<'_> {
    /// Runs the boards, then native robots. Returns the total and final score of the native robots.
    fn fly(self) -> Result<(Outcome, [f64; 2])> {
        let (weights, robots) = (self.model.weights(), self.start.states.len());
        let twin = |id| {
            let keys = self.key.as_ref().map(|group| RobotKeys { group, own: self.told.own(id, robots) });
            twin::native(id, &weights, keys)
        };
        let interrupted = stop_on_interrupt()?;
        let milliseconds =
            (RELEASE / (nrf52_emulator::air::SECOND / 1000)) + (self.settings.seconds * 1000.0) as u64;
        let bar = progress::bar(milliseconds, "flying");
        let seed = self.settings.seed;
        let outcome = Flight::new(self.settings, twin)?.fly(|now| {
            bar.set_position(now);
            if interrupted.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
        })?;
        bar.finish_and_clear();
        // Runs native robots from the same start with the measured share of losses.
        let frames = outcome.frames();
        let chance = 1.0 - frames.good as f64 / frames.reached.max(1) as f64;
        let faults = Faults {
            drop_chance: chance.max(0.0),
            rekey: self.faults.rekey.clone(),
            expel: self.faults.expel.clone(),
            peer_auth: self.faults.peer_auth,
            seed,
            ..Faults::default()
        };
        let network = Network::of(self.model, Profile::Dot154)?;
        let key = self.key.unwrap_or_default();
        let air = RadioConfig { layout: &Flock::<2>::layout(), faults: &faults, swarm: 0, key };
        let mut native = network.native(&air, robots, self.key.is_some())?;
        let result = self.start.fly(&network.task, native.as_mut(), &mut [], &interrupted)?;
        Ok((outcome, [result.total(), result.last()]))
    }
}

/// Faults that emulated boards support.
const FAULTS_OF_BOARDS: [&str; 7] = ["drop-chance", "drift", "kill", "reboot", "rekey", "expel", "peer-auth"];

impl ChipArguments {
    /// Rejects options for boards on other targets.
    pub fn check_unused(&self) -> Result {
        if *self == Self::default() {
            return Ok(());
        }
        Err(Error::usage(
            "--power-on-spread, --serial-ports and --gateway-chip need --target nrf52840 or nrf52833",
        ))
    }
}

impl RunArguments {
    /// Rejects options and faults that emulated boards do not support.
    fn check_on_chips<W: Environment>(&self, faults: &Faults) -> Result {
        self.buggies.check_unused()?;
        let ChipArguments { serial_ports, gateway_chip, .. } = &self.chips;
        let is_other =
            |fault: &Fault| !FAULTS_OF_BOARDS.contains(&fault.key) && fault.value(faults).is_some();
        let refused = |message: &str| Err(Error::usage(message));
        if self.compare {
            return refused("--compare has no effect on chips: they are always compared with native robots");
        }
        self.check_key(faults)?;
        if W::NAME != "flocking" {
            let name = W::NAME;
            return refused(&format!("--task {name} needs --target native or qemu: chips run flocking"));
        }
        self.check_no_recordings()?;
        if self.profile() != Profile::Dot154 {
            return refused("--target nrf52840 and nrf52833 need --profile dot154");
        }
        if FAULTS.iter().any(is_other) {
            let known = FAULTS_OF_BOARDS.join(", ");
            return refused(&format!("chips support only the faults {known}: leave out the others"));
        }
        if *gateway_chip && faults.peer_auth {
            return refused("--fault peer-auth and --gateway-chip cannot be combined: leave one out");
        }
        if serial_ports.is_some() && faults.rekey.is_some() {
            return refused(
                "--fault rekey and --serial-ports cannot be combined: firmware/companion.py sends the next key",
            );
        }
        Ok(())
    }

    /// Runs the swarm on emulated boards and prints the result.
    pub(super) fn run_on_chips<W: Environment>(&self, part: Part, setup: &Setup) -> Result {
        let Setup { condition, faults, model, key } = setup;
        self.check_on_chips::<W>(faults)?;
        let ChipArguments { power_on_spread, serial_ports, gateway_chip } = &self.chips;
        let seconds = f64::from(condition.ticks) / 100.0;
        let (feature, settings_page) = board(part);
        // A companion on a serial port may bring a key; simulated robots behind a gateway keep
        // theirs.
        let brought = serial_ports.is_some() && key.is_some() && !gateway_chip;
        let told = Provisioning {
            personal: faults.rekey.is_some() || faults.peer_auth || brought,
            proofs: faults.peer_auth,
        };
        let path = if let Some(path) = &self.image {
            path.clone()
        } else {
            eprintln!("host-sim: building the image for {feature}");
            image::build(&image::Settings {
                task: Flock::<2>::NAME,
                package: Flock::<2>::PACKAGE,
                profile: self.profile(),
                key: self.key.as_deref(),
                model: self.model.model.as_deref(),
                board: Some(feature),
                rekeyed: told.personal,
                gateway: false,
                buggy: false,
            })?
        };
        let gateway = gateway_chip.then(|| gateway_image(feature)).transpose()?;
        let mut random = generator(self.seed, Purpose::Testing, 0);
        let start = Episode::draw(&Flock::default(), condition, &mut random)?;
        let moments = |moments: &[RobotTick]| {
            moments.iter().map(|moment| (moment.robot, f64::from(moment.tick) / 100.0)).collect()
        };
        let robots = condition.robots;
        let settings = Settings {
            kind: part,
            image: files::read(&path)?,
            settings_page,
            pages: if *gateway_chip { open_pages(robots) } else { told.pages(robots) },
            gateway,
            start: start.states.clone(),
            radius: condition.radius,
            seconds,
            apart: *power_on_spread,
            ppm: if faults.drift > 0.0 { faults.drift } else { CRYSTAL_PPM },
            loss: faults.drop_chance,
            companions_die: None,
            kills: moments(&faults.kill),
            reboots: moments(&faults.reboot),
            rekey: faults.rekey.clone().map(|ticks| Rekey { ticks, expelled: faults.expel.clone() }),
            seed: self.seed,
        };
        let decoder = self.log.then(|| Decoder::new(&path)).transpose()?;
        let print_log = |robot: usize, log: &[u8]| {
            let lines = decoder.iter().flat_map(|decoder| decoder.lines(log));
            lines.for_each(|line| eprintln!("{robot:3} {line}"));
        };
        if let Some(folder) = serial_ports {
            let logs = serve(&settings, folder)?;
            logs.iter().enumerate().for_each(|(robot, log)| print_log(robot, log));
        } else {
            let began = Instant::now();
            let (outcome, native) = ChipRun { settings, model, key: *key, told, faults, start }.fly()?;
            let wall_seconds = began.elapsed().as_secs_f64();
            outcome.robots.iter().enumerate().for_each(|(robot, result)| print_log(robot, &result.log));
            let output = Output::new(&outcome, key.is_some(), native, seconds, wall_seconds);
            if self.outputs.json {
                print_json(&self.origin(condition, model), &output);
            } else {
                print(part, &outcome, &output);
            }
        }
        Ok(())
    }
}

/// Provisioning pages of robots without a known swarm size: only the gateway's PC knows it.
fn open_pages(robots: usize) -> Vec<Vec<u8>> {
    (0..robots).map(|robot| settings_page(robot as NodeId, 0, None, &[])).collect()
}

/// Builds the image of a gateway for a board.
fn gateway_image(feature: &str) -> Result<Vec<u8>> {
    eprintln!("host-sim: building the gateway's image for {feature}");
    let settings = image::Settings { gateway: true, board: Some(feature), ..image::Settings::default() };
    files::read(&image::build(&image::Settings { package: Flock::<2>::PACKAGE, ..settings })?)
}

/// Runs chips on serial ports until the time is over. Returns their logs.
#[cfg(unix)]
fn serve(settings: &Settings, folder: &Path) -> Result<Vec<Vec<u8>>> {
    let interrupted = stop_on_interrupt()?;
    let stop = || if interrupted.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) };
    wdgnn_emulation::chips::ports::serve(settings, folder, stop)
}

#[cfg(not(unix))]
fn serve(_: &Settings, _: &Path) -> Result<Vec<Vec<u8>>> {
    Err(Error::usage("--serial-ports needs pseudo-terminals, which this system does not have"))
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Returns the ticks at which robots began to use the next key.
fn changed_keys(robots: &[RobotResult]) -> impl Iterator<Item = u32> {
    robots
        .iter()
        .filter_map(|robot| robot.epochs.last().filter(|(_, epoch)| *epoch > 0))
        .map(|(tick, _)| *tick)
}

/// Number of restarts other than those of the debug port.
fn restarts(robot: &RobotResult) -> usize {
    robot.restarts.iter().filter(|restart| restart.reason & 4 == 0).count()
}

impl Output {
    fn new(outcome: &Outcome, sealed: bool, native: [f64; 2], seconds: f64, wall_seconds: f64) -> Self {
        let Outcome { variation, robots, close, key_changes } = outcome;
        let frames = outcome.frames();
        let heard = |robot: &RobotResult| share(robot.frames.good, robot.frames.reached);
        let mean = |value: fn(&RobotResult) -> f64| {
            robots.iter().map(value).sum::<f64>() / robots.len().max(1) as f64
        };
        Self {
            robots: robots.len(),
            seconds,
            sealed,
            total: variation.iter().sum(),
            r#final: variation.last().copied().unwrap_or_default(),
            close_pairs: *close,
            native_total: native[0],
            native_final: native[1],
            frames_sent: frames.sent,
            received_share: share(frames.good, frames.reached),
            collided_share: share(frames.spoilt, frames.reached),
            missed_share: share(frames.missed, frames.reached),
            least_heard_share: robots.iter().map(heard).fold(1.0, f64::min),
            ticks_per_second: mean(|robot| robot.rate),
            busy_share: mean(|robot| robot.busy),
            restarts: robots.iter().map(restarts).sum(),
            stack_bytes: robots.iter().map(|robot| robot.stack).max().unwrap_or_default(),
            ticks_equal_to_native: robots.iter().map(|robot| robot.equal).sum(),
            ticks_that_differ: robots.iter().filter(|robot| robot.differs.is_some()).count(),
            key_changes: *key_changes,
            changed_keys: key_changes.map(|_| changed_keys(robots).count()),
            wall_seconds,
        }
    }
}

fn print(part: Part, outcome: &Outcome, output: &Output) {
    let Output { robots: count, seconds, wall_seconds, total, native_total, native_final, .. } = output;
    let robots = &outcome.robots;
    let heading =
        ["robot", "frames", "received", "collided", "missed", "ticks/s", "busy", "resets", "neighbors"];
    let row = |(index, robot): (usize, &RobotResult)| {
        let percent = |part: u64| format!("{:.1} %", 100.0 * share(part, robot.frames.reached));
        vec![
            index.to_string(),
            robot.frames.sent.to_string(),
            percent(robot.frames.good),
            percent(robot.frames.spoilt),
            percent(robot.frames.missed),
            format!("{:.2}", robot.rate),
            format!("{:.2} %", 100.0 * robot.busy),
            restarts(robot).to_string(),
            robot.status.map_or("-".into(), |status| status.synchronized.to_string()),
        ]
    };
    let rows = std::iter::once(heading.map(String::from).to_vec()).chain(robots.iter().enumerate().map(row));
    let kind = if part == Part::Nrf52840 { "nRF52840" } else { "nRF52833" };
    println!("{count} {kind} robots, register by register, {seconds} s of flight in {wall_seconds:.2} s");
    println!("{}", aligned(&rows.collect::<Vec<_>>()));
    println!("link                dot154, {}", if output.sealed { "sealed" } else { "unsealed" });
    println!("velocity variation  total {total:.2}, final {:.4} m²/s²", output.r#final);
    println!("native, equal loss  total {native_total:.2}, final {native_final:.4} m²/s²");
    println!("close pairs         {}", output.close_pairs);
    println!(
        "frames              {} sent, {:.1} % received, {:.1} % collided, {:.1} % missed",
        output.frames_sent,
        100.0 * output.received_share,
        100.0 * output.collided_share,
        100.0 * output.missed_share
    );
    println!("stack               {} bytes at most", output.stack_bytes);
    if let (Some(tick), Some(count)) = (output.key_changes, output.changed_keys) {
        let last = changed_keys(robots).max();
        let last = last.map_or(String::new(), |last| format!(", the last since tick {last}"));
        println!("next key            from tick {tick} on: {count} robots have it{last}");
    }
    let first = robots.iter().enumerate().find_map(|(index, robot)| Some((index, robot.differs?)));
    match first {
        None => println!("native twins        {} ticks, equal, bit for bit", output.ticks_equal_to_native),
        Some((index, (tick, chip, twin))) => println!(
            "native twins        robot {index} DIFFERS at tick {tick}: {chip:?} on the chip, {twin:?} natively"
        ),
    }
    for (index, robot) in robots.iter().enumerate() {
        for restart in robot.restarts.iter().filter(|restart| restart.reason & 4 == 0) {
            let (seconds, description) = (restart.at as f64 / 64.0e6, &restart.description);
            println!("reset               robot {index} after {seconds:.2} s: {description}");
        }
    }
}
