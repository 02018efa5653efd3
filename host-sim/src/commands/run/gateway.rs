//! `host-sim run --gateway PORT`: simulated robots on the radio channel of real ones.

use std::{
    collections::BTreeMap,
    hash::{BuildHasher as _, RandomState},
    path::{Path, PathBuf},
    str::FromStr,
};

use clap::Args;
use serde::Serialize;
use wdgnn_core::task::NodeId;
use wdgnn_emulation::gateway::{
    counts::Counts,
    flight::{Flight, Settings},
};

use super::{
    super::{output::print_json, stop_on_interrupt},
    RunArguments, Setup, Target,
};
use crate::{
    counters::{by_name, format_rejections},
    episode::Episode,
    error::{Error, Result},
    profiles::Profile,
    seeds::{Purpose, generator},
    world::{Environment, flock::Flock},
};

/// Robots that share a dot154 channel: two slots in each of five ticks.
const SLOTS: usize = 10;

/// Robot addresses, such as 5-9 or 1,4,7-9.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addresses(Vec<NodeId>);

impl FromStr for Addresses {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.trim().parse::<NodeId>().ok()?..=last.trim().parse().ok()?)
        };
        let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
        let mut found: Vec<NodeId> = ranges.into_iter().flatten().flatten().collect();
        let count = found.len();
        found.sort_unstable();
        found.dedup();
        if found.is_empty() || found.len() < count {
            return Err("addresses without repetition, such as 5-9 or 1,4,7-9".into());
        }
        Ok(Self(found))
    }
}

/// Options for real robots.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Real robots (--profile dot154)")]
pub struct GatewayArguments {
    /// Serial port of a gateway (docs/bring-up.md): all robots but the real ones run in this process, in real time.
    #[arg(long, value_name = "PORT")]
    gateway: Option<PathBuf>,
    /// Addresses of the real robots, such as 5-9 or 1,4,7-9.
    #[arg(long, value_name = "ADDRESSES", requires = "gateway")]
    real: Option<Addresses>,
}

/// JSON output.
#[derive(Debug, Serialize)]
struct Output<'a> {
    robots: usize,
    simulated: usize,
    ticks: usize,
    sealed: bool,
    total: f64,
    r#final: f64,
    #[serde(flatten)]
    counts: &'a Counts,
    /// Number of frames of each real robot.
    seen: BTreeMap<NodeId, u64>,
    addresses_taken: Vec<NodeId>,
}

#[cfg(unix)]
fn fly(port: &Path, flight: &mut Flight<'_>, ticks: u32) -> Result {
    let stop = stop_on_interrupt()?;
    let bar = crate::progress::bar(ticks.into(), "flying");
    wdgnn_emulation::gateway::port::fly(port, flight, &stop, |flight| {
        bar.set_position(flight.variation.len() as u64);
        flight.variation.len() >= ticks as usize
    })
}

#[cfg(not(unix))]
fn fly(_: &Path, _: &mut Flight<'_>, _: u32) -> Result {
    stop_on_interrupt()?;
    Err(Error::usage("--gateway needs Linux or macOS"))
}

impl GatewayArguments {
    /// Returns whether a gateway is given.
    pub fn is_given(&self) -> bool {
        self.gateway.is_some()
    }

    /// Returns the addresses of the real robots of a swarm.
    fn real(&self, robots: usize) -> Result<&[NodeId]> {
        let Some(Addresses(real)) = &self.real else {
            return Err(Error::usage("--gateway needs --real ADDRESSES, such as 5-9"));
        };
        if let Some(none) = real.iter().find(|address| usize::from(**address) >= robots) {
            let last = robots - 1;
            return Err(Error::usage(format!("--real names robot {none}: the robots are 0 to {last}")));
        }
        if real.len() == robots {
            return Err(Error::usage(
                "--real names all robots, so none is simulated: --robots counts real and simulated robots",
            ));
        }
        Ok(real)
    }
}

impl RunArguments {
    /// Runs simulated robots on the radio channel of real ones.
    pub(super) fn run_with_real_robots<W: Environment>(&self, setup: &Setup) -> Result {
        let Setup { condition, faults, model, key } = setup;
        let Some(port) = &self.gateway.gateway else { return Ok(()) };
        self.chips.check_unused()?;
        self.buggies.check_unused()?;
        if self.target != Target::Native || self.compare || self.image.is_some() || self.log {
            return Err(Error::usage(
                "--gateway cannot be combined with --target, --compare, --image or --log: leave them out",
            ));
        }
        if W::NAME != "flocking" {
            return Err(Error::usage(format!("--gateway needs --task flocking, got {}", W::NAME)));
        }
        if !faults.settings().is_empty() {
            return Err(Error::usage("--gateway cannot be combined with faults: the radio channel is real"));
        }
        self.check_no_recordings()?;
        if self.profile() != Profile::Dot154 {
            return Err(Error::usage("--gateway needs --profile dot154"));
        }
        let robots = condition.robots;
        let real = self.gateway.real(robots)?;
        if robots > SLOTS {
            eprintln!("host-sim: the channel has slots for {SLOTS} robots; some of {robots} will have none");
        }
        // The initial states of real robots are unused.
        let mut random = generator(self.seed, Purpose::Testing, 0);
        let start = Episode::draw(&Flock::default(), condition, &mut random)?;
        let start = (0..).zip(start.states).filter(|(address, _)| !real.contains(address));
        let mut run = Flight::new(Settings {
            weights: model.weights(),
            simulated: start.collect(),
            robots: robots as NodeId,
            radius: condition.radius,
            key: *key,
            // Random, so that sequence numbers of sealed frames do not repeat over runs with one key.
            chance: RandomState::new().hash_one(0),
        });
        let result = fly(port, &mut run, condition.ticks);
        if result.is_ok() || (matches!(result, Err(Error::Interrupted)) && run.is_greeted()) {
            let output = Output::new(robots, real, key.is_some(), &run);
            if self.outputs.json {
                print_json(&self.origin(condition, model), &output);
            } else {
                print(&output, real, &run);
            }
        }
        result
    }
}

impl<'a> Output<'a> {
    fn new(robots: usize, real: &[NodeId], sealed: bool, run: &'a Flight<'_>) -> Self {
        Self {
            robots,
            simulated: robots - real.len(),
            ticks: run.variation.len(),
            sealed,
            total: run.variation.iter().sum(),
            r#final: run.variation.last().copied().unwrap_or_default(),
            counts: &run.counts,
            seen: run.real.iter().map(|(address, seen)| (*address, seen.frames)).collect(),
            addresses_taken: run.conflicts.iter().copied().collect(),
        }
    }
}

fn print(output: &Output<'_>, real: &[NodeId], run: &Flight<'_>) {
    let Output { simulated, ticks, total, r#final, counts, .. } = output;
    let Counts { heard, late_up, foreign, spoilt, lost, given, sent, busy, late_down, .. } = counts;
    println!("{simulated} simulated robots and {} real ones, {ticks} ticks of flight", real.len());
    println!("link                dot154, {}", if output.sealed { "sealed" } else { "unsealed" });
    println!("velocity variation  total {total:.2}, final {final:.4} m²/s², real robots as reported");
    println!(
        "to the air          {given} frames: {sent} sent, {busy} busy, {late_down} late, {} rejected",
        counts.refused_down
    );
    println!(
        "from the air        {heard} frames, {late_up} late, {foreign} foreign, {spoilt} damaged, {lost} lost"
    );
    println!(
        "simulated robots    accepted {} frames of real ones and {} of each other; {} were out of range",
        counts.taken_of_real, counts.taken_of_simulated, counts.beyond
    );
    println!("rejected            {}", format_rejections(&by_name(&counts.refused)));
    println!("line                {} damaged messages", counts.damaged);
    if heard > foreign && run.real.is_empty() {
        println!(
            "No received frame was authentic: give the robots' --key FILE, or none if they are unsealed."
        );
    }
    for address in real.iter().filter(|address| !run.real.contains_key(address)) {
        println!("robot {address:<13} was not heard");
    }
    for (address, seen) in &run.real {
        let ([x, y], frames) = (seen.motion.position, seen.frames);
        let unnamed = if real.contains(address) { "" } else { ", not named in --real" };
        println!("robot {address:<13} {frames} frames, reported position ({x:.2}, {y:.2}) m{unnamed}");
    }
    for address in &run.conflicts {
        println!(
            "robot {address:<13} is simulated, but another sender uses its address: change that address, or add it to --real"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_ranges_and_numbers_without_repetition() {
        let read = |text: &str| text.parse::<Addresses>().map(|Addresses(found)| found);
        assert_eq!(read("5-9").unwrap(), [5, 6, 7, 8, 9]);
        assert_eq!(read("7-8,1, 4").unwrap(), [1, 4, 7, 8]);
        for bad in ["", "x", "9-5", "1,1", "1-3,2", "-1", "70000"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
