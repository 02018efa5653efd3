//! Instruction counts of the hot kernels by valgrind: independent of machine and load, for one
//! compiler.
//!
//! The program runs itself under `valgrind --tool=callgrind` with few and with many rounds of a
//! kernel; the difference is the cost of the kernel. Valgrind does not support AVX-512, so training
//! is counted with AVX2.

use std::{fmt::Write as _, path::Path, process::Command};

use wdgnn_core::{filter::scale::Scale, model::activation::Activation, tasks::flocking::Flocking};

use super::training::SIZE;
use crate::{
    controllers::{Controller, EvalConfig, ONLINE},
    episode::Episode,
    error::{Error, Result},
    files,
    links::Links,
    recipe::{Architecture, RecipeName},
    seeds::{Purpose, generator},
    swarm::networks::Draft,
    train::{
        bptt,
        dataset::Batch,
        gradient::{Loss, gradient},
        initialization,
        methods::Bptt,
        net::Net,
    },
    world::{Scenario, World as _, flock::Flock},
};

/// Kernel: name, units of work per round, and one round.
type Kernel = (&'static str, usize, &'static str, fn(usize) -> Result);

const KERNELS: [Kernel; 5] = [
    ("batch", 4096, "sample of a training batch", batch),
    ("through", 50 * 50, "robot-step there and back", through_time),
    ("links", 2000, "robot among 2,000: who hears whom", links),
    ("flight", 50 * 20, "robot-step of 50, learning in flight", flight),
    ("sealed", 50 * 10, "robot-step of 50 in sealed bytes", sealed),
];

/// Counts vary by this share with the memory layout; a larger difference is a change of code.
const TOLERANCE: f64 = 0.01;

/// Runs one kernel for some rounds.
pub fn run(name: &str, rounds: usize) -> Result {
    let found = KERNELS.iter().find(|kernel| kernel.0 == name);
    let (.., kernel) = found.ok_or_else(|| Error::usage(format!("there is no kernel {name}")))?;
    kernel(rounds)
}

/// Counts the instructions of all kernels. Returns a table with one line per kernel.
pub fn count() -> Result<String> {
    let mut table = String::new();
    for (name, each, what, _) in KERNELS {
        let [few, more] = [1, 3].map(|rounds| collected(name, rounds));
        let instructions = (more? - few?) as f64 / (2 * each) as f64;
        let _ = writeln!(table, "{instructions:10.0}  {what}");
    }
    Ok(table)
}

/// Compares counts with a file, or writes the file if `BLESS` is set.
pub fn compare(table: &str, golden: &Path) -> Result {
    if std::env::var_os("BLESS").is_some() {
        return files::write(golden, table.as_bytes());
    }
    let known = std::fs::read_to_string(golden)
        .map_err(|error| Error::usage(format!("cannot read {}: {error}", golden.display())))?;
    let number = |line: &str| line.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    let changed = |(now, before): (&str, &str)| match (number(now), number(before)) {
        (Some(now), Some(before)) => (now / before - 1.0).abs() > TOLERANCE,
        _ => true,
    };
    let different = table.lines().count() != known.lines().count();
    if different || table.lines().zip(known.lines()).any(changed) {
        return Err(Error::Failed(format!(
            "instruction counts differ from {} (BLESS=1 writes it):\n{known}",
            golden.display()
        )));
    }
    Ok(())
}

/// Counts the instructions of this program with some rounds of a kernel.
fn collected(kernel: &str, rounds: usize) -> Result<u64> {
    let failed = |why: &dyn std::fmt::Display| {
        Error::Failed(format!("cannot count instructions with valgrind ({why}): is it installed?"))
    };
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["--threads", "1", "bench", "--kernel", kernel, "--rounds", &rounds.to_string()])
        .output()
        .map_err(|error| failed(&error))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find_map(|line| line.split_once("Collected : "));
    line.and_then(|(_, count)| count.trim().parse().ok()).ok_or_else(|| failed(&"it counted nothing"))
}

#[allow(clippy::unnecessary_wraps, reason = "a kernel among others")]
fn batch(rounds: usize) -> Result {
    let weights = initialization::weights(&SIZE, Architecture::WdGnn, 1);
    let taps: Vec<f32> = (0..4096 * SIZE.inputs(0)).map(|index| (index % 17) as f32 * 0.1 - 0.8).collect();
    let labels: Vec<f32> = (0..4096 * SIZE.outputs).map(|index| (index % 5) as f32 * 0.3).collect();
    let batch = Batch::Samples(taps.chunks(SIZE.inputs(0)).zip(labels.chunks(SIZE.outputs)).collect());
    let mut step = vec![0.0; weights.len()];
    for _ in 0..rounds {
        let net = Net::new(SIZE, Activation::Tanh, &weights);
        gradient(&net, Scale::Mean, &batch, &Loss { clamp: Some(10.0), huber: 5.0 }, &mut step);
    }
    Ok(())
}

fn through_time(rounds: usize) -> Result {
    let numbers = initialization::weights(&SIZE, Architecture::WdGnn, 1);
    let draft =
        Draft { numbers: &numbers, size: SIZE, scale: Scale::Closed, task: Flocking::MEANS, exchange: 1 };
    let draw = |_: &mut _| (Flock::<2>::default(), Scenario::PAPER);
    let mut into = vec![0.0; numbers.len()];
    let way = Bptt { flights: 1, ..Bptt::DEFAULT };
    (0..rounds).try_for_each(|_| bptt::gradient(&draft, &way, &draw, 1, 1, &mut into).map(drop))
}

fn start(robots: usize, ticks: u32) -> Result<Episode<Flock>> {
    let condition = Scenario { robots, ticks, ..Scenario::PAPER };
    Episode::draw(&Flock::default(), &condition, &mut generator(1, Purpose::Testing, 0))
}

fn links(rounds: usize) -> Result {
    let start = start(2000, 1)?;
    let places: Vec<[f32; 3]> = start.states.iter().map(Flock::<2>::position).collect();
    let mut links = Links::default();
    for _ in 0..rounds {
        links.find(&places, Scenario::PAPER.radius);
    }
    Ok(())
}

fn flight(rounds: usize) -> Result {
    let eval = EvalConfig::<Flock>::shipped(RecipeName::Ours)?;
    let (task, controller) = (eval.task()?, Controller::named(ONLINE)?);
    let start = start(50, 20 * rounds as u32)?;
    let mut swarm = eval.swarm(&controller, &start, 0)?;
    start.run_unobserved(&task, swarm.as_mut()).map(drop)
}

fn sealed(rounds: usize) -> Result {
    super::episodes::in_sealed_bytes(&start(50, 10 * rounds as u32)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kernels_run_and_unknown_ones_are_errors() {
        for (name, ..) in KERNELS {
            run(name, 1).unwrap();
        }
        assert!(run("none", 1).unwrap_err().to_string().contains("no kernel none"));
    }

    #[test]
    fn changed_counts_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let golden = folder.path().join("counts.txt");
        std::fs::write(&golden, "  1000  one\n  2000  two\n").unwrap();
        assert!(compare("  1005  one\n  1999  two\n", &golden).is_ok());
        assert!(compare("  1050  one\n  2000  two\n", &golden).is_err());
        assert!(compare("  1000  one\n", &golden).is_err());
    }
}
