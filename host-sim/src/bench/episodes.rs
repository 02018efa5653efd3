//! Benchmarks of simulated episodes.

use std::time::Instant;

use super::clock::{cpu_seconds, resident_bytes, shortest};
use crate::{
    controllers::{Controller, EvalConfig, ONLINE},
    episode::Episode,
    error::{Error, Result},
    medium::options::Faults,
    profiles::Profile,
    recipe::RecipeName,
    seeds::{Purpose, generator},
    swarm::{
        networks::Network,
        radio_swarm::{KEY, RadioConfig},
    },
    world::{
        Presentation as _, Scenario, World,
        flock::{Flock, body::BodyKind},
    },
};

/// Smallest number of robot steps per figure: a few seconds of work.
const STEPS: usize = 1_000_000;

/// Robot steps per episode: enough for all robots to meet their neighbors.
const LEAST_TICKS: u32 = 4;

/// Cost of an episode.
#[derive(Clone, Copy, Debug)]
pub struct EpisodeCost {
    /// Robot steps per second of processor time.
    pub steps_per_second: f64,
    /// Memory per robot in bytes, on systems that report it.
    pub bytes_per_robot: Option<f64>,
}

fn start(world: &Flock, robots: usize, ticks: u32) -> Result<Episode<Flock>> {
    let condition = Scenario { robots, ticks, ..Scenario::PAPER };
    condition.check()?;
    Episode::draw(world, &condition, &mut generator(1, Purpose::Testing, 0))
}

/// Measures one swarm with online learning and messages in memory.
pub fn in_memory(body: BodyKind, robots: usize) -> Result<EpisodeCost> {
    let mut world = Flock::default();
    world.set_body(body.into())?;
    let eval = EvalConfig::<Flock>::of(vec![world.own_model(Profile::Exact)?], Profile::Exact);
    let (task, controller) = (eval.task()?, Controller::named(ONLINE)?);
    let ticks = ((STEPS / 5 / robots) as u32).clamp(LEAST_TICKS, 200);
    let before = resident_bytes();
    let start = start(&world, robots, ticks)?;
    let mut bytes = None;
    let mut shortest = f64::INFINITY;
    for _ in 0..(STEPS / robots / ticks as usize).clamp(5, 20) {
        let mut swarm = eval.swarm(&controller, &start, 0)?;
        let begin = cpu_seconds();
        let mut aloft = start.begin();
        for _ in 0..ticks {
            aloft.decide(swarm.as_mut())?;
            aloft.advance(&task);
        }
        shortest = shortest.min(cpu_seconds() - begin);
        bytes = bytes.or(resident_bytes());
    }
    let grown = bytes.zip(before).map(|(after, before)| after.saturating_sub(before) as f64 / robots as f64);
    let steps = robots as f64 * f64::from(ticks);
    Ok(EpisodeCost { steps_per_second: steps / shortest, bytes_per_robot: grown })
}

/// Measures one swarm with sealed frames.
pub fn sealed(robots: usize) -> Result<f64> {
    let start = start(&Flock::default(), robots, 200)?;
    let time = shortest(5, || in_sealed_bytes(&start))?;
    Ok(robots as f64 * f64::from(start.scenario.ticks) / time)
}

/// Runs one episode of a swarm with sealed frames.
pub fn in_sealed_bytes(start: &Episode<Flock>) -> Result {
    let model = Flock::<2>::model(Profile::Exact)?;
    let network = Network::of(&model, Profile::Exact)?;
    let air = RadioConfig { layout: &Flock::<2>::layout(), faults: &Faults::default(), swarm: 0, key: KEY };
    let mut swarm = network.native(&air, start.states.len(), true)?;
    start.run_unobserved(&network.task, swarm.as_mut()).map(drop)
}

/// Speedup of a large swarm with several threads in wall time: the best of several pairs of runs.
pub fn speedup(threads: usize) -> Result<f64> {
    let eval = EvalConfig::<Flock>::shipped(RecipeName::Through)?;
    let (task, controller) = (eval.task()?, Controller::named(ONLINE)?);
    let start = start(&Flock::default(), 20_000, 10)?;
    let time = |threads: usize| -> Result<f64> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| Error::Failed(format!("cannot start threads: {error}")))?;
        pool.install(|| {
            let mut swarm = eval.swarm(&controller, &start, 0)?;
            let begin = Instant::now();
            start.run_unobserved(&task, swarm.as_mut())?;
            Ok(begin.elapsed().as_secs_f64())
        })
    };
    let (mut alone, mut together) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..10 {
        alone = alone.min(time(1)?);
        together = together.min(time(threads)?);
    }
    Ok(alone / together)
}
