//! Benchmarks in seconds of processor time: gradients of a training batch, training through time,
//! swarms of several sizes, sealed frames.
//!
//! Other programs on the machine change the figures through caches and clock rates; compare figures
//! of one run only.

pub mod clock;
pub mod episodes;
pub mod training;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{error::Result, world::flock::body::BodyKind};

/// Results of the benchmarks.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Forward pass, backward pass and Adam step: WD-GNN with 6 features, 3 hops, 32 hidden
    /// features, 200,000 samples.
    pub train_cpu_seconds_per_batch: f64,
    /// Forward and backward pass of an episode of 50 robots and 50 ticks.
    pub bptt_cpu_seconds_per_swarm: f64,
    /// Control tick with online learning by number of robots, on one thread.
    pub robot_steps_per_cpu_second: BTreeMap<usize, f64>,
    /// Control tick of quadrotors with online learning by number of robots, on one thread.
    pub quadrotor_steps_per_cpu_second: BTreeMap<usize, f64>,
    /// Control tick with sealed frames by number of robots, on one thread.
    pub robot_steps_through_sealed_bytes_per_cpu_second: BTreeMap<usize, f64>,
    /// Speedup of a large swarm by number of threads, in wall time.
    pub thread_speedup: BTreeMap<usize, f64>,
    /// Memory per robot of the largest swarm; `None` on systems that do not report it.
    pub bytes_per_robot: Option<f64>,
    /// Registers that training uses.
    pub registers: &'static str,
}

/// Numbers of robots.
pub const SWARMS: [usize; 7] = [50, 500, 1_000, 2_000, 20_000, 200_000, 1_000_000];

/// Runs all benchmarks up to a number of robots. `report` receives the name of the next one.
pub fn measure(largest: usize, report: &dyn Fn(&str)) -> Result<Figures> {
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let alone =
        alone.map_err(|error| crate::error::Error::Failed(format!("cannot start a thread: {error}")))?;
    report("a training batch");
    let batch = alone.install(training::batch);
    report("training through time");
    let through = alone.install(training::through)?;
    let mut figures = Figures {
        train_cpu_seconds_per_batch: batch,
        bptt_cpu_seconds_per_swarm: through,
        robot_steps_per_cpu_second: BTreeMap::new(),
        quadrotor_steps_per_cpu_second: BTreeMap::new(),
        robot_steps_through_sealed_bytes_per_cpu_second: BTreeMap::new(),
        thread_speedup: BTreeMap::new(),
        bytes_per_robot: None,
        registers: crate::train::simd::Width::widest().name(),
    };
    report("50 robots in sealed bytes");
    let sealed = alone.install(|| episodes::sealed(50))?;
    figures.robot_steps_through_sealed_bytes_per_cpu_second.insert(50, sealed);
    report("50 quadrotors");
    let flown = alone.install(|| episodes::in_memory(BodyKind::Quadrotor, 50))?;
    figures.quadrotor_steps_per_cpu_second.insert(50, flown.steps_per_second);
    for robots in SWARMS.into_iter().filter(|robots| *robots <= largest) {
        report(&format!("{robots} robots"));
        let flown = alone.install(|| episodes::in_memory(BodyKind::Point, robots))?;
        figures.robot_steps_per_cpu_second.insert(robots, flown.steps_per_second);
        figures.bytes_per_robot = flown.bytes_per_robot.or(figures.bytes_per_robot);
    }
    report("two threads");
    figures.thread_speedup.insert(2, episodes::speedup(2)?);
    Ok(figures)
}
