//! `host-sim swarm --worker`: one of several processes that fly one swarm together.

use std::{
    collections::BTreeMap,
    net::ToSocketAddrs as _,
    str::FromStr,
    sync::{Mutex, atomic::AtomicBool},
    time::{Duration, Instant},
};

use clap::Args;
use crc::{CRC_64_XZ, Crc};
use serde::Serialize;
use wdgnn_core::refusal::Refusal;
use wdgnn_workers::Exchange;

use crate::{
    error::{Error, Result},
    flight::Start,
    progress,
    shared::{
        Worker,
        worker::{Account, Make},
    },
    world::World,
};

/// Which of several workers this is: `0/4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    number: usize,
    of: usize,
}

impl FromStr for Number {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parsed = text.split_once('/').and_then(|(number, of)| {
            let (number, of) = (number.parse().ok()?, of.parse().ok()?);
            (number < of && of <= 1000).then_some(Self { number, of })
        });
        parsed.ok_or_else(|| format!("`{text}` is not NUMBER/WORKERS, counted from 0, such as 0/4"))
    }
}

/// Several processes fly one swarm.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Many processes, one swarm")]
pub struct WorkerArguments {
    /// Fly a share of the swarm, as worker NUMBER of so many, which count from 0; all together print the digest of one process.
    #[arg(long, value_name = "NUMBER/WORKERS", requires = "peers")]
    pub worker: Option<Number>,
    /// Where all workers are, HOST:PORT each, in order: this one listens at its own.
    #[arg(long, value_name = "ADDRESS,…", value_delimiter = ',', requires = "worker")]
    peers: Vec<String>,
    /// For how many seconds it waits for others to come, or to come back.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "worker")]
    patience: u64,
}

/// The JSON output.
#[derive(Debug, Serialize)]
struct Output {
    worker: usize,
    workers: usize,
    robots: usize,
    ticks: u32,
    /// Known to the first worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#final: Option<f64>,
    digest: String,
    heard: u64,
    refused: BTreeMap<&'static str, u64>,
    wall_seconds: f64,
    /// What this worker did.
    parcels: u64,
    bytes: u64,
    snapshot_bytes: u64,
    robots_flown: u64,
    robots_told: u64,
    robots_given: u64,
    waited_seconds: f64,
    returns: u32,
}

/// A swarm to be flown by several workers.
#[allow(missing_debug_implementations, reason = "swarms are told apart by what they do")]
pub struct Common<'a, 's, W: World> {
    /// The start.
    pub start: &'a Start<W>,
    /// The task.
    pub task: &'a W::Task,
    /// Makes the swarm.
    pub make: Make<'a, 's, W>,
    /// All that workers have to agree about, in words.
    pub settings: String,
    /// Whether it is to stop.
    pub stop: &'a AtomicBool,
}

impl WorkerArguments {
    /// Checks that there is an address for everybody.
    ///
    /// # Errors
    /// [`Error::Usage`] when there is not.
    pub fn check(&self) -> Result {
        let Some(Number { of, .. }) = self.worker else { return Ok(()) };
        if self.peers.len() != of {
            let count = self.peers.len();
            return Err(Error::usage(format!(
                "--peers has {count} addresses for {of} workers: give one for each"
            )));
        }
        for address in &self.peers {
            if address.to_socket_addrs().is_err() {
                return Err(Error::usage(format!(
                    "`{address}` in --peers is no HOST:PORT that can be found"
                )));
            }
        }
        Ok(())
    }

    /// Flies a share, and prints.
    ///
    /// # Errors
    /// Others that do not come, Ctrl-C.
    pub fn fly<W: World>(&self, json: bool, common: &Common<'_, '_, W>) -> Result {
        let Some(Number { number, of }) = self.worker else { return Ok(()) };
        let Common { start, task, make, settings, stop } = common;
        let exchange = Exchange::open(number, &self.peers)?;
        let bar = progress::bar(start.condition.ticks.into(), "flying");
        let began = Mutex::new(None);
        let told = |tick: u32, returns: bool| {
            let mut began = began.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if returns && began.is_some() {
                eprintln!("host-sim: a worker was lost; everybody goes on from tick {tick}");
            }
            began.get_or_insert_with(Instant::now);
            bar.set_position(tick.into());
        };
        let worker = Worker {
            number,
            post: &exchange,
            start,
            task,
            make: *make,
            settings: Crc::<u64>::new(&CRC_64_XZ).checksum(settings.as_bytes()),
            patience: Duration::from_secs(self.patience),
            stop,
            progress: &told,
        };
        let flown = worker.fly()?;
        drop(bar);
        let began = began.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Account { parcels, bytes, snapshots, given, told, flown: robots_flown, waited, returns } =
            flown.own;
        let refused =
            Refusal::ALL.iter().map(|refusal| (refusal.name(), u64::from(flown.refused.of(*refusal))));
        let last = start.condition.ticks.saturating_sub(1);
        let output = Output {
            worker: number,
            workers: of,
            robots: start.condition.robots,
            ticks: start.condition.ticks,
            r#final: (number == 0).then(|| start.world.score(last, &flown.states)),
            digest: flown.digest,
            heard: flown.heard,
            refused: refused.filter(|(_, count)| *count > 0).collect(),
            wall_seconds: began.map_or(0.0, |began| began.elapsed().as_secs_f64()),
            parcels,
            bytes,
            snapshot_bytes: snapshots,
            robots_flown,
            robots_told: told,
            robots_given: given,
            waited_seconds: waited,
            returns,
        };
        if json {
            println!(
                "{}",
                serde_json::to_string_pretty(&output).map_err(|why| Error::Failed(why.to_string()))?
            );
        } else {
            output.print::<W>();
        }
        Ok(())
    }
}

impl Output {
    fn print<W: World>(&self) {
        let Self { worker, workers, robots, ticks, wall_seconds, heard, refused, digest, .. } = self;
        println!("{robots} robots on {workers} workers, {ticks} ticks of flight in {wall_seconds:.2} s");
        if let Some(score) = self.r#final {
            let (name, unit) = W::SCORE.rsplit_once(" in ").unwrap_or((W::SCORE, ""));
            println!("{name:<18}  final {score:.4} {unit}");
        }
        println!("frames              {heard} heard, {} refused", refused.values().sum::<u64>());
        println!(
            "worker {worker:<12} {} robots in the mean, {} given away, {} parcels of {} bytes in the mean, {:.2} s waited",
            self.robots_flown / u64::from(*ticks).max(1),
            self.robots_given,
            self.parcels,
            self.bytes / self.parcels.max(1),
            self.waited_seconds
        );
        println!("digest              {digest}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read() {
        assert_eq!("0/4".parse(), Ok(Number { number: 0, of: 4 }));
        for bad in ["", "4/4", "1", "x/2", "0/0", "-1/2"] {
            assert!(bad.parse::<Number>().unwrap_err().contains("0/4"), "{bad}");
        }
    }
}
