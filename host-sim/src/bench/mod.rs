//! What the host does all day, measured in seconds of processor time: gradients of a training batch, training through time, flights
//! of swarms of many sizes, flights in sealed bytes.
//!
//! Other programs on the machine change these figures, too (caches, clock rates): compare those of one run.

pub mod clock;
pub mod flying;
pub mod instructions;
pub mod training;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::Result;

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Forward, backward, Adam: WD-GNN of 6 features, 3 hops, 32 hidden features, over 200,000 samples.
    pub train_cpu_seconds_per_batch: f64,
    /// Its multiplications and additions in the products of matrices, against the most that the processor can do within registers.
    pub train_share_of_peak: f64,
    /// A flight of 50 robots over 50 ticks, there and back.
    pub bptt_cpu_seconds_per_swarm: f64,
    /// By number of robots: the core's whole tick with learning in flight, everybody in one swarm, on one thread.
    pub robot_steps_per_cpu_second: BTreeMap<usize, f64>,
    /// The same through sealed bytes.
    pub robot_steps_through_sealed_bytes_per_cpu_second: BTreeMap<usize, f64>,
    /// How much sooner so many threads have flown a large swarm, by the clock on the wall.
    pub thread_speedup: BTreeMap<usize, f64>,
    /// What a robot of the largest swarm takes; none where the system does not tell.
    pub bytes_per_robot: Option<f64>,
    /// The most that one thread can do, in multiplications and additions a second.
    pub peak_operations_per_second: f64,
    /// The registers that training uses.
    pub registers: &'static str,
}

/// Sizes of swarms.
pub const SWARMS: [usize; 7] = [50, 500, 1_000, 2_000, 20_000, 200_000, 1_000_000];

/// Measures everything up to a size of swarms. `told` hears what is next.
pub fn measure(largest: usize, told: &dyn Fn(&str)) -> Result<Figures> {
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let alone =
        alone.map_err(|error| crate::error::Error::Failed(format!("cannot start a thread: {error}")))?;
    told("the processor's peak");
    let peak = alone.install(training::peak);
    told("a training batch");
    let batch = alone.install(training::batch);
    told("training through time");
    let through = alone.install(training::through)?;
    let mut figures = Figures {
        train_cpu_seconds_per_batch: batch,
        train_share_of_peak: training::OPERATIONS / batch / peak,
        bptt_cpu_seconds_per_swarm: through,
        robot_steps_per_cpu_second: BTreeMap::new(),
        robot_steps_through_sealed_bytes_per_cpu_second: BTreeMap::new(),
        thread_speedup: BTreeMap::new(),
        bytes_per_robot: None,
        peak_operations_per_second: peak,
        registers: crate::train::simd::Width::widest().name(),
    };
    told("50 robots in sealed bytes");
    let sealed = alone.install(|| flying::sealed(50))?;
    figures.robot_steps_through_sealed_bytes_per_cpu_second.insert(50, sealed);
    for robots in SWARMS.into_iter().filter(|robots| *robots <= largest) {
        told(&format!("{robots} robots"));
        let flown = alone.install(|| flying::typed(robots))?;
        figures.robot_steps_per_cpu_second.insert(robots, flown.steps_per_second);
        figures.bytes_per_robot = flown.bytes_per_robot.or(figures.bytes_per_robot);
    }
    told("two threads");
    figures.thread_speedup.insert(2, flying::speedup(2)?);
    Ok(figures)
}
