//! `host-sim run`: one swarm of robots with the code of the firmware, in this process or emulated.

mod buggies;
mod chips;
mod gateway;
mod report;
mod simulated;

use std::{path::PathBuf, str::FromStr};

use clap::Args;
use nrf52_emulator::Part;
use wdgnn_link::security::key::Key;

use self::{buggies::BuggyArguments, chips::ChipArguments, gateway::GatewayArguments};
use super::{
    conditions::ConditionArguments,
    invocation::Invocation,
    models::{BodyArguments, ModelArguments},
    output::OutputArguments,
    recordings::RecordArguments,
    scenario::ScenarioArguments,
};
use crate::{
    episode::EpisodeMetrics,
    error::{Error, Result},
    fault_options::FaultArguments,
    key,
    medium::options::Faults,
    model::ModelFile,
    option_range::OptionRange,
    origin::Origin,
    page::replay::Replay,
    profiles::Profile,
    world::{Environment, Scenario},
};

/// Heading of options for the target.
const TARGET: &str = "Target";

/// Target that robots run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// This process.
    Native,
    /// QEMU with the firmware image.
    Qemu,
    /// This process, with two wheels under a camera.
    Buggy,
    /// Emulated micro:bits with two wheels under a camera.
    MicrobitBuggy,
    /// An emulated nRF52 with the image that boards run, register by register.
    Chip(Part),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "native" => Ok(Self::Native),
            "qemu" => Ok(Self::Qemu),
            "buggy" => Ok(Self::Buggy),
            "microbit-buggy" => Ok(Self::MicrobitBuggy),
            "nrf52840" => Ok(Self::Chip(Part::Nrf52840)),
            "nrf52833" => Ok(Self::Chip(Part::Nrf52833)),
            _ => Err("native, qemu, nrf52840, nrf52833, buggy or microbit-buggy".into()),
        }
    }
}

/// Run one swarm with the code of the firmware on any target and print a digest.
///
/// The digest is the CRC-64/XZ over all commands and wide parameters of all robots at all ticks. Native robots and robots in QEMU
/// have equal digests, with and without faults.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  host-sim run --json\n  host-sim run --target qemu\n  \
                  host-sim run --task rendezvous --target qemu\n  host-sim run --target qemu --compare --robots 10\n  \
                  host-sim run --body quadrotor,delay=2 --ticks 600 --svg drones.svg\n  \
                  host-sim run --target qemu --fault kill=3@50 --fault reboot=7@80 --log\n  \
                  openssl rand -hex 16 > swarm.key\n  \
                  host-sim run --target qemu --robots 10 --profile dot154 --key swarm.key\n  \
                  host-sim run --robots 10 --profile dot154 --key swarm.key --fault forge=5 --fault replay=50\n  \
                  host-sim run --target nrf52840 --robots 10 --key swarm.key --ticks 500\n  \
                  host-sim run --target nrf52840 --robots 10 --key swarm.key --ticks 500 --fault rekey=50-300 --fault expel=3\n  \
                  host-sim run --target microbit-buggy --robots 10 --video run.mp4\n  \
                  host-sim run --target buggy --camera ideal --starts 30 --ticks 6000\n  \
                  host-sim run --gateway /dev/ttyACM0 --robots 10 --real 5-9 --key swarm.key --ticks 6000")]
pub struct RunArguments {
    #[command(flatten)]
    pub scenario: ScenarioArguments,
    #[command(flatten)]
    pub model: ModelArguments,
    /// Target: native, qemu, nrf52840 or nrf52833 (with --profile dot154); buggy or microbit-buggy (two wheels under a camera,
    /// in this process or on chips).
    #[arg(long, default_value = "native", help_heading = TARGET)]
    target: Target,
    #[command(flatten)]
    condition: ConditionArguments,
    #[command(flatten)]
    body: BodyArguments,
    /// Seed of the start.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = OptionRange::SEED.parser::<u64>())]
    seed: u64,
    /// Swarm key, 16 bytes or 32 hexadecimal digits: robots seal frames and use the robust settings.
    #[arg(long, value_name = "FILE", help_heading = TARGET)]
    key: Option<PathBuf>,
    /// Firmware image to use instead of building one.
    #[arg(long, value_name = "FILE", help_heading = TARGET)]
    image: Option<PathBuf>,
    #[command(flatten)]
    records: RecordArguments,
    /// Run the swarm in QEMU and natively, and compare all commands and parameters.
    #[arg(long, help_heading = TARGET)]
    compare: bool,
    /// Print the logs of emulated robots.
    #[arg(long, help_heading = "Output")]
    log: bool,
    #[command(flatten)]
    outputs: OutputArguments,
    #[command(flatten)]
    gateway: GatewayArguments,
    #[command(flatten)]
    chips: ChipArguments,
    #[command(flatten)]
    buggies: BuggyArguments,
    #[command(flatten)]
    faults: FaultArguments,
}

/// A run with its files read.
struct Setup {
    condition: Scenario,
    faults: Faults,
    model: ModelFile,
    key: Option<Key>,
}

struct RunResult {
    flight: EpisodeMetrics,
    replay: Replay,
    digest: String,
    seconds: f64,
}

impl RunArguments {
    /// Runs the swarm in a world and prints the result.
    pub fn run<W: Environment>(&self) -> Result {
        let world = self.body.world::<W>()?;
        let condition = self.condition.of(&world)?;
        if !self.is_packed(condition.robots) {
            self.profile().check_robots(condition.robots)?;
        }
        let faults = self.faults.faults(condition.robots, condition.ticks, self.seed)?;
        let model = ModelArguments { profile: self.profile(), ..self.model.clone() }.wd_gnn(&world)?;
        self.profile().check(&model)?;
        let key = self.key.as_deref().map(key::read).transpose()?;
        let setup = Setup { condition, faults, model, key };
        let simulated = !self.gateway.is_given() && !matches!(self.target, Target::Chip(_));
        if self.body.body.is_some() && !simulated {
            return Err(Error::usage("--body needs --target native or qemu"));
        }
        match self.target {
            _ if self.gateway.is_given() => self.run_with_real_robots::<W>(&setup),
            Target::Chip(part) => self.run_on_chips::<W>(part, &setup),
            Target::Buggy | Target::MicrobitBuggy => self.run_buggies(&setup),
            Target::Native | Target::Qemu => self.run_simulated::<W>(&setup),
        }
    }

    /// Returns the link profile. Boards and gateways use dot154 by default.
    fn profile(&self) -> Profile {
        let boards = matches!(self.target, Target::Chip(_)) || self.gateway.is_given();
        if boards && !self.scenario.invocation.sets("profile") { Profile::Dot154 } else { self.model.profile }
    }

    /// Returns whether any robots run in QEMU.
    fn uses_qemu(&self) -> bool {
        self.target == Target::Qemu || self.compare && self.target == Target::Native
    }

    /// Returns whether the swarm has more robots than addresses. Such a swarm runs natively, without faults.
    fn is_packed(&self, robots: usize) -> bool {
        let plain = self.target == Target::Native && !self.uses_qemu() && self.key.is_none();
        plain && self.profile() == Profile::Exact && Profile::Exact.check_robots(robots).is_err()
    }

    /// Returns the invocation with all defaults.
    fn resolved(&self, condition: &Scenario) -> Invocation {
        let resolved = self.condition.resolved(&self.scenario.invocation, condition);
        match self.target {
            Target::Chip(_) => resolved.without("profile").with_default("profile", self.profile().name()),
            // Options for chips only.
            Target::Native | Target::Qemu | Target::Buggy | Target::MicrobitBuggy => {
                resolved.without("power-on-spread")
            }
        }
    }

    /// Returns the origin of the results.
    fn origin(&self, condition: &Scenario, model: &ModelFile) -> Origin {
        let origin = self.scenario.origin(self.resolved(condition).command("run"), model.describe());
        origin.with_faults(&self.faults.settings())
    }

    /// Rejects faults that need a key.
    fn check_key(&self, faults: &Faults) -> Result {
        for (fault, given) in [("rekey", faults.rekey.is_some()), ("peer-auth", faults.peer_auth)] {
            if given && self.key.is_none() {
                return Err(Error::usage(format!("--fault {fault} needs --key")));
            }
        }
        Ok(())
    }

    /// Rejects files that boards and gateways do not write.
    fn check_no_recordings(&self) -> Result {
        let RecordArguments { capture, trajectories } = &self.records;
        if capture.is_some() || trajectories.is_some() || self.outputs.any_file() {
            return Err(Error::usage(
                "--capture, --trajectories, --csv, --report and --svg need --target native or qemu",
            ));
        }
        Ok(())
    }
}
