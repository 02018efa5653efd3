//! `host-sim swarm --worker`: one of several processes that fly one swarm together, by hand or started by `--workers`.

use std::{
    collections::BTreeMap,
    io::Read as _,
    net::ToSocketAddrs as _,
    str::FromStr,
    sync::{Mutex, atomic::AtomicBool},
    time::{Duration, Instant},
};

use clap::Args;
use crc::{CRC_64_XZ, Crc};
use serde::{Deserialize, Serialize};
use wdgnn_core::refusal::Refusal;
use wdgnn_workers::Exchange;

use crate::{
    error::{Error, Result},
    progress,
    shared::{
        Account, Worker,
        cut::dealt,
        worker::{Draw, Make},
    },
    world::{Condition, World},
};

/// Which of several workers this is: `0/4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    number: usize,
    of: usize,
}

impl Number {
    /// Whether it is this worker that a robot stays with, where those from number `settled` on stay.
    #[must_use]
    pub fn is_dealt(self, robot: usize, settled: usize) -> bool {
        dealt(robot, settled, self.of) == Some(self.number)
    }
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
    /// Fly the swarm with so many workers on this machine, each a process, and start one again that dies, such as `host-sim swarm --robots
    /// 100000 --workers 2`; all together print the digest of one process.
    #[arg(long, value_name = "WORKERS", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub workers: Option<u16>,
    /// How often a worker that died is started again [default: 3].
    #[arg(long, value_name = "TIMES")]
    restarts: Option<u32>,
    /// Fly a share of the swarm, as worker NUMBER of so many, which count from 0; all together print the digest of one process.
    // Who is started as one of several was told how many, too.
    #[arg(long, value_name = "NUMBER/WORKERS", requires = "peers", overrides_with = "workers")]
    pub worker: Option<Number>,
    /// Where all workers are, HOST:PORT each, in order: this one listens at its own.
    #[arg(long, value_name = "ADDRESS,…", value_delimiter = ',', requires = "worker")]
    peers: Vec<String>,
    /// For how many seconds a worker waits for others to come, or to come back [default: 60].
    #[arg(long, value_name = "SECONDS")]
    patience: Option<u64>,
    /// End when the standard input does.
    #[arg(long, hide = true)]
    until_stdin_ends: bool,
}

/// For so many seconds a worker waits for others.
const PATIENCE: u64 = 60;

/// So often a worker is started again.
const RESTARTS: u32 = 3;

/// What a worker tells: its JSON output.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Output {
    /// Its number.
    pub worker: usize,
    workers: usize,
    robots: usize,
    ticks: u32,
    /// Known to the first worker.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    r#final: Option<f64>,
    /// The digest of everybody.
    pub digest: String,
    heard: u64,
    refused: BTreeMap<String, u64>,
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
    /// The circumstances.
    pub condition: &'a Condition,
    /// Draws the start.
    pub draw: Draw<'a, W>,
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
    /// Whether several processes fly.
    #[must_use]
    pub fn any(&self) -> bool {
        self.workers.is_some() || self.worker.is_some()
    }

    /// How often a worker that died is started again.
    #[must_use]
    pub fn restarts(&self) -> u32 {
        self.restarts.unwrap_or(RESTARTS)
    }

    /// Checks that there is an address for everybody, and nothing to be said to nobody.
    ///
    /// # Errors
    /// [`Error::Usage`] when there is not.
    pub fn check(&self) -> Result {
        if !self.any() && (self.patience.is_some() || self.restarts.is_some()) {
            return Err(Error::usage(
                "--patience and --restarts are for several processes: give --workers, too",
            ));
        }
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
        let Common { condition, draw, task, make, settings, stop } = common;
        if self.until_stdin_ends {
            end_with_stdin();
        }
        let exchange = Exchange::open(number, &self.peers)?;
        let bar = progress::bar(condition.ticks.into(), "flying");
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
            condition,
            draw: *draw,
            task,
            make: *make,
            settings: Crc::<u64>::new(&CRC_64_XZ).checksum(settings.as_bytes()),
            patience: Duration::from_secs(self.patience.unwrap_or(PATIENCE)),
            stop,
            progress: &told,
        };
        let flown = worker.fly()?;
        drop(bar);
        let began = began.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Account { parcels, bytes, snapshots, given, told, flown: robots_flown, waited, returns } =
            flown.own;
        let refused = Refusal::ALL
            .iter()
            .map(|refusal| (refusal.name().to_owned(), u64::from(flown.refused.of(*refusal))));
        let output = Output {
            worker: number,
            workers: of,
            robots: condition.robots,
            ticks: condition.ticks,
            r#final: flown.score,
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
            output.print::<W>(std::slice::from_ref(&output));
        }
        Ok(())
    }
}

impl Output {
    /// Prints what everybody did together, and what each of these did.
    pub fn print<W: World>(&self, each: &[Self]) {
        let Self { workers, robots, ticks, wall_seconds, heard, refused, digest, .. } = self;
        println!("{robots} robots on {workers} workers, {ticks} ticks of flight in {wall_seconds:.2} s");
        if let Some(score) = self.r#final {
            let (name, unit) = W::SCORE.rsplit_once(" in ").unwrap_or((W::SCORE, ""));
            println!("{name:<18}  final {score:.4} {unit}");
        }
        println!("frames              {heard} heard, {} refused", refused.values().sum::<u64>());
        for one in each {
            println!(
                "worker {:<12} {} robots in the mean, {} given away, {} parcels of {} bytes in the mean, {:.2} s waited",
                one.worker,
                one.robots_flown / u64::from(*ticks).max(1),
                one.robots_given,
                one.parcels,
                one.bytes / one.parcels.max(1),
                one.waited_seconds
            );
        }
        println!("digest              {digest}");
    }
}

/// Ends this process when its standard input ends: whoever started it is gone.
fn end_with_stdin() {
    std::thread::spawn(|| {
        let mut nothing = [0; 64];
        while std::io::stdin().read(&mut nothing).is_ok_and(|count| count > 0) {}
        std::process::exit(130);
    });
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
