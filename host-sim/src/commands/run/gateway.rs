//! `host-sim run --gateway PORT`: simulated robots on the radio channel of real ones.

use std::{
    collections::BTreeMap,
    hash::{BuildHasher as _, Hasher as _, RandomState},
    path::{Path, PathBuf},
    str::FromStr,
};

use clap::Args;
use serde::Serialize;
use wdgnn_core::{task::NodeId, tasks::flocking::Motion};
use wdgnn_link::security::key::Key;
use wdgnn_robot::onboard;

use super::super::{output::print_json, stop_on_interrupt};
use crate::{
    episode::Episode,
    error::{Error, Result},
    gateway::{
        counts::{Counts, Sightings, by_name},
        flight::{Flight, Settings},
    },
    model::ModelFile,
    origin::Origin,
    profiles::{CodecVisitor, Profile, SimCodec, visit_codec},
    seeds::{Purpose, generator},
    table::aligned,
    world::{Scenario, flock::Flock},
};

/// Robots that share a dot154 channel: two slots in each of five ticks.
const SLOTS: usize = 10;

/// Robot addresses, such as 5-9 or 1,4,7-9.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addresses(Vec<NodeId>);

impl FromStr for Addresses {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let mut found = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| text.trim().parse::<NodeId>().ok();
            let (Some(first), Some(last)) = (number(first), number(last)) else {
                return Err("addresses such as 5-9 or 1,4,7-9".into());
            };
            found.extend(first..=last);
        }
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

/// Run of simulated robots among real ones.
#[derive(Clone, Copy, Debug)]
pub struct GatewayFlight<'a> {
    pub profile: Profile,
    pub model: &'a ModelFile,
    pub condition: &'a Scenario,
    /// Seed of the initial states.
    pub seed: u64,
    /// Whether to print JSON.
    pub json: bool,
    /// Origin of the results.
    pub origin: &'a Origin,
}

/// Result of a run.
struct Report {
    counts: Counts,
    refused: BTreeMap<&'static str, u32>,
    sightings: Sightings,
    variation: Vec<f64>,
    /// Whether Ctrl-C ended the run.
    interrupted: bool,
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
    refused: &'a BTreeMap<&'static str, u32>,
    seen: BTreeMap<NodeId, u64>,
    addresses_taken: Vec<NodeId>,
}

struct GatewayRun<'a> {
    port: &'a Path,
    flight: &'a GatewayFlight<'a>,
    simulated: Vec<(NodeId, Motion)>,
    key: Option<Key>,
}

impl CodecVisitor for GatewayRun<'_> {
    type Output = Result<Report>;

    fn visit<C: SimCodec>(self) -> Result<Report> {
        let Self { port, flight: &GatewayFlight { model, condition, .. }, simulated, key } = self;
        let weights = model.weights();
        let make = |id| {
            onboard::robot(id, &weights, C::with_key(&key.unwrap_or_default()))
                .map_err(|error| Error::Failed(error.to_string()))
        };
        // Random, so that sequence numbers of sealed frames do not repeat over runs with one key.
        let chance = RandomState::new().build_hasher().finish();
        let (robots, radius) = (condition.robots as NodeId, condition.radius);
        let mut flight: Flight<'_, C> =
            Flight::new(Settings { simulated, robots, radius, key, chance }, make);
        let result = fly(port, &mut flight, condition.ticks);
        let interrupted = matches!(result, Err(Error::Interrupted)) && flight.is_greeted();
        if !interrupted {
            result?;
        }
        let Flight { counts, decoder, variation, refused, .. } = flight;
        let sightings = decoder.sightings;
        Ok(Report { counts, refused: by_name(&refused), sightings, variation, interrupted })
    }
}

#[cfg(unix)]
fn fly<C: SimCodec>(port: &Path, flight: &mut Flight<'_, C>, ticks: u32) -> Result {
    let stop = stop_on_interrupt()?;
    let bar = crate::progress::bar(ticks.into(), "flying");
    crate::gateway::port::fly(port, flight, &stop, |flight| {
        bar.set_position(flight.variation.len() as u64);
        flight.variation.len() >= ticks as usize
    })
}

#[cfg(not(unix))]
fn fly<C: SimCodec>(_: &Path, _: &mut Flight<'_, C>, _: u32) -> Result {
    stop_on_interrupt()?;
    Err(Error::usage("--gateway needs Linux or macOS"))
}

impl GatewayArguments {
    /// Returns whether a gateway is given.
    pub fn is_given(&self) -> bool {
        self.gateway.is_some()
    }

    /// Runs the robots and prints the result.
    pub fn fly(&self, flight: &GatewayFlight<'_>, key: Option<Key>) -> Result {
        let (Some(port), robots) = (&self.gateway, flight.condition.robots) else { return Ok(()) };
        if flight.profile != Profile::Dot154 {
            return Err(Error::usage("--gateway needs --profile dot154"));
        }
        let Some(Addresses(real)) = &self.real else {
            return Err(Error::usage("--gateway needs --real ADDRESSES, such as 5-9"));
        };
        if let Some(none) = real.iter().find(|address| usize::from(**address) >= robots) {
            return Err(Error::usage(format!(
                "--real names robot {none}: the robots are 0 to {}",
                robots - 1
            )));
        }
        if real.len() == robots {
            return Err(Error::usage(
                "--real names all robots, so none is simulated: --robots counts real and simulated robots",
            ));
        }
        if robots > SLOTS {
            eprintln!("host-sim: the channel has slots for {SLOTS} robots; some of {robots} will have none");
        }
        // The initial states of real robots are unused.
        let mut random = generator(flight.seed, Purpose::Testing, 0);
        let start = Episode::draw(&Flock::default(), flight.condition, &mut random)?;
        let everybody = (0..).zip(start.states);
        let simulated = everybody.filter(|(address, _)| !real.contains(address)).collect();
        let report = visit_codec(flight.profile, key.is_some(), GatewayRun { port, flight, simulated, key })?;
        print(flight, key.is_some(), real, &report);
        if report.interrupted { Err(Error::Interrupted) } else { Ok(()) }
    }
}

fn print(flight: &GatewayFlight<'_>, sealed: bool, real: &[NodeId], report: &Report) {
    let Report { counts, refused, sightings, variation, .. } = report;
    let (robots, simulated) = (flight.condition.robots, flight.condition.robots - real.len());
    let (total, r#final) = (variation.iter().sum::<f64>(), variation.last().copied().unwrap_or_default());
    if flight.json {
        let seen = sightings.real.iter().map(|(address, seen)| (*address, seen.frames)).collect();
        let ticks = variation.len();
        let addresses_taken = sightings.taken.iter().copied().collect();
        print_json(
            flight.origin,
            &Output {
                robots,
                simulated,
                ticks,
                sealed,
                total,
                r#final,
                counts,
                refused,
                seen,
                addresses_taken,
            },
        );
        return;
    }
    println!(
        "{simulated} simulated robots and {} real ones, {} ticks of flight",
        real.len(),
        variation.len()
    );
    println!("link                dot154, {}", if sealed { "sealed" } else { "unsealed" });
    println!(
        "velocity variation  total {total:.2}, final {final:.4} m²/s², real robots as reported",
        r#final = r#final
    );
    println!("{}", frames(counts));
    let reasons: Vec<String> = refused.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    println!(
        "simulated robots    accepted {} frames of real ones and {} of each other, rejected {}{reasons}; {} were out of range",
        counts.taken_of_real,
        counts.taken_of_simulated,
        refused.values().sum::<u32>(),
        counts.beyond
    );
    println!("line                {} damaged messages", counts.damaged);
    if counts.received > counts.foreign && sightings.real.is_empty() {
        println!(
            "No received frame was authentic: give the robots' --key FILE, or none if they are unsealed."
        );
    }
    print_robots(real, sightings);
}

/// Returns a table of frames in both directions.
fn frames(counts: &Counts) -> String {
    let heading = ["frames", "all", "late", "sent", "busy", "rejected", "foreign", "damaged", "lost"];
    let Counts { given, late_down, sent, busy, refused_down, heard, late_up, foreign, spoilt, lost, .. } =
        *counts;
    let down = [given, late_down, sent, busy, refused_down].map(Some);
    let up = [heard, late_up, foreign, spoilt, lost].map(Some);
    // Empty cells are impossible in that direction.
    let [all, late, none @ ..] = up;
    let row = |name: &str, cells: &[Option<u64>]| {
        let cells = cells.iter().map(|cell| cell.map_or(String::new(), |count| count.to_string()));
        std::iter::once(name.to_owned()).chain(cells).collect::<Vec<_>>()
    };
    aligned(&[
        heading.map(String::from).to_vec(),
        row("to the air", &[&down[..], &[None; 3]].concat()),
        row("from the air", &[&[all, late][..], &[None; 3], &none].concat()),
    ])
}

/// Prints the robots that were heard, expected or in conflict.
fn print_robots(real: &[NodeId], sightings: &Sightings) {
    for address in real {
        match sightings.real.get(address) {
            Some(seen) => {
                let ([x, y], tick, frames) = (seen.motion.position, seen.tick, seen.frames);
                println!(
                    "robot {address:<13} {frames} frames, the last of tick {tick}, reported position ({x:.2}, {y:.2}) m"
                );
            }
            None => println!("robot {address:<13} was not heard"),
        }
    }
    for (address, seen) in sightings.real.iter().filter(|(address, _)| !real.contains(address)) {
        println!("robot {address:<13} {} frames, but not named in --real", seen.frames);
    }
    for address in &sightings.taken {
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
