//! `host-sim swarm`: one swarm of robots that run the firmware, here or each in an emulator of its own.

mod crew;
mod in_air;
mod observers;
mod on_boards;
mod refusals;
mod shown;

use std::path::PathBuf;

use clap::{Args, ValueEnum, builder::ArgPredicate};
use nrf52_emulator::Part;
use wdgnn_core::Task as _;
use wdgnn_link::security::key::Key;

use super::{
    condition::ConditionArguments, outputs::OutputArguments, records::RecordArguments,
    scenario::ScenarioArguments, swarm_chips::ChipArguments, swarm_gateway::GatewayArguments, typed::Typed,
};
use crate::{
    episode::EpisodeMetrics,
    error::{Error, Result},
    fault_options::FlightArguments,
    key,
    medium::options::Faults,
    model::ModelFile,
    option_range::OptionRange,
    page::replay::Replay,
    profiles::Profile,
    world::{Environment, Scenario, scenario::ROBOTS},
};

/// Length of a flight: at most an hour.
const SECONDS: OptionRange = OptionRange::above(0.0, 3600.0);

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
    #[arg(long, value_name = "SECONDS", conflicts_with = "ticks", value_parser = SECONDS.parser::<f64>())]
    seconds: Option<f64>,
    /// Seed of the start.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = OptionRange::SEED.parser::<u64>())]
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
    /// Emulate so many of the robots, the last ones; the others fly in this process, all in one air.
    #[arg(long, value_name = "N", value_parser = ROBOTS.parser::<usize>())]
    emulated: Option<usize>,
    /// Print the robots' logs (emulated ones keep one).
    #[arg(long)]
    log: bool,
    #[command(flatten)]
    gateway: GatewayArguments,
    #[command(flatten)]
    chips: ChipArguments,
    #[command(flatten)]
    faults: FlightArguments,
}

/// What is to be flown.
struct Given {
    condition: Scenario,
    faults: Faults,
    model: ModelFile,
    key: Option<Key>,
}

/// What came of a flight.
struct Flown {
    flight: EpisodeMetrics,
    replay: Replay,
    digest: String,
    seconds: f64,
}

impl SwarmArguments {
    fn condition<W: Environment>(&self) -> Result<Scenario> {
        let mut condition = self.condition.of::<W>()?;
        if let Some(seconds) = self.seconds {
            let period = W::default_task().period();
            condition.ticks = (seconds / f64::from(period)).round() as u32;
            if condition.ticks == 0 {
                return Err(Error::usage(format!(
                    "--seconds must be at least one tick of {period} s, got {seconds}"
                )));
            }
            condition.check()?;
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

    fn model<W: Environment>(&self) -> Result<ModelFile> {
        let model = match &self.model {
            Some(path) => ModelFile::load(path)?,
            None => W::model(self.profile)?,
        };
        self.profile.check(&model)?;
        Ok(model)
    }

    /// Everything that counted.
    fn settled(&self, condition: &Scenario) -> Typed {
        let settled = self.condition.settled(&self.scenario.typed, condition);
        match self.nodes {
            // What only chips have.
            Nodes::Native | Nodes::Emulated => settled.without("apart").without("ppm"),
            Nodes::Nrf52840 | Nodes::Nrf52833 => settled,
        }
    }

    /// Flies in the world `W` and prints.
    pub fn run<W: Environment>(&self) -> Result {
        let condition = self.condition::<W>()?;
        let faults = self.faults.faults(condition.robots, condition.ticks, self.seed)?;
        let model = self.model::<W>()?;
        let key = self.key.as_deref().map(key::read).transpose()?;
        let given = Given { condition, faults, model, key };
        if self.gateway.is_given() {
            return self.fly_beside_real::<W>(&given);
        }
        match self.nodes {
            Nodes::Nrf52840 => self.fly_on_chips::<W>(Part::Nrf52840, &given),
            Nodes::Nrf52833 => self.fly_on_chips::<W>(Part::Nrf52833, &given),
            Nodes::Native | Nodes::Emulated => self.fly_in_air::<W>(&given),
        }
    }
}
