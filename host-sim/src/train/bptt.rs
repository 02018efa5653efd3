//! Backpropagation through time: the derivative of the score of whole episodes.
//!
//! The forward pass runs the core's robots. The backward pass is written by hand: world
//! ([`Adjoint`]), readout, both parts of the network, features and exchanged taps, over all
//! ticks.
//!
//! ```text
//! L = ( Σ_t score(t) + w · score(T) ) / score(0)
//! ```
//!
//! Episodes are summed in order, so results do not depend on the number of threads. Networks have
//! one layer: its taps contain features only.

use rand_chacha::ChaCha8Rng;
use wdgnn_core::{filter::scale::Scale, task::State, tensor::Array as _};

use super::{
    block::{Block, Tallies},
    net::{Net, Sums},
    simd::Width,
};
use crate::{
    episode::{Episode, Observer, TickView},
    error::{Error, Result},
    seeds::{Purpose, generator},
    swarm::networks::Draft,
    threads,
    world::{Adjoint, Environment, OutputOf, Scenario, StateOf},
};

/// Parameters of backpropagation through time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bptt {
    /// Length of a training episode in ticks.
    pub ticks: u32,
    /// Episodes per step.
    pub flights: usize,
    /// Weight of the final score.
    pub terminal: f32,
    /// Share of episodes with mixed conditions and model mismatch.
    pub mixed: f32,
    /// Largest norm of an episode's gradient.
    pub longest: f32,
}

impl Bptt {
    /// Half a second; the final score counts five times.
    pub const DEFAULT: Self = Self { ticks: 50, flights: 10, terminal: 5.0, mixed: 0.3, longest: 1.0 };
}

/// Recorded data of one robot at one tick.
struct Memory<W: Environment> {
    state: StateOf<W>,
    /// Neighbors with the ticks of their messages.
    heard: Vec<(u32, u32)>,
    /// States in the messages.
    others: Vec<StateOf<W>>,
    output: OutputOf<W>,
    command: OutputOf<W>,
    exchanged: bool,
}

/// Recorded episode by tick.
struct RecordedEpisode<W: Environment> {
    states: Vec<Vec<StateOf<W>>>,
    taps: Vec<Vec<f32>>,
    memories: Vec<Vec<Memory<W>>>,
    scores: Vec<f32>,
}

impl<W: Environment> Observer<W> for RecordedEpisode<W> {
    fn observe(&mut self, moment: &TickView<'_, W>) -> Result {
        let blind = || Error::Failed("nothing is to be seen of these robots".into());
        let mut taps = Vec::new();
        let mut memories = Vec::new();
        for (robot, command) in moment.commands.iter().enumerate() {
            let inside = moment.swarm.internals(robot).ok_or_else(blind)?;
            taps.extend_from_slice(inside.taps);
            memories.push(Memory {
                state: *inside.state,
                heard: inside.neighbors.iter().map(|(id, tick, _)| (*id, *tick)).collect(),
                others: inside.neighbors.iter().map(|(_, _, state)| **state).collect(),
                output: *inside.output,
                command: *command,
                exchanged: inside.has_exchanged,
            });
        }
        self.scores.push(moment.world.score(moment.scene.tick, moment.scene.states) as f32);
        self.states.push(moment.scene.states.to_vec());
        self.taps.push(taps);
        self.memories.push(memories);
        Ok(())
    }
}

/// Loss and gradient of one episode.
struct Slope {
    gradient: Vec<f32>,
    loss: f32,
}

/// Writes the mean gradient over the episodes of a step to `gradient` and returns their mean loss.
/// `draw` selects world and condition of an episode.
pub fn gradient<W: Environment>(
    draft: &Draft<'_, W::Task>, through: &Bptt, draw: &(dyn Fn(&mut ChaCha8Rng) -> (W, Scenario) + Sync),
    seed: u64, step: u64, gradient: &mut [f32],
) -> Result<f32> {
    let net = Net::new(draft.size, draft.numbers);
    let flights: Vec<Slope> = threads::try_map(through.flights, |flight| {
        let mut random = generator(seed, Purpose::Training, (step << 32) + flight as u64);
        let (world, condition) = draw(&mut random);
        let condition = Scenario { ticks: through.ticks, ..condition };
        let start = Episode::draw(&world, &condition, &mut random)?;
        one(&start, draft, &net, through)
    })?;
    Ok(mean(&flights, through, gradient))
}

/// Writes the mean gradient of episodes to `gradient` and returns their mean loss.
fn mean(flights: &[Slope], through: &Bptt, gradient: &mut [f32]) -> f32 {
    gradient.fill(0.0);
    let share = 1.0 / through.flights as f32;
    let mut loss = 0.0;
    for Slope { gradient: part, loss: cost } in flights {
        let norm = part.iter().map(|g| g * g).sum::<f32>().sqrt();
        if !norm.is_finite() {
            continue;
        }
        let weight = if norm > through.longest { share * through.longest / norm } else { share };
        for (sum, g) in gradient.iter_mut().zip(part) {
            *sum += weight * g;
        }
        loss += share * cost;
    }
    loss
}

/// Computes forward and backward pass of one episode.
fn one<W: Environment>(
    start: &Episode<W>, draft: &Draft<'_, W::Task>, net: &Net<'_>, through: &Bptt,
) -> Result<Slope> {
    let none =
        || Error::usage("--recipe through needs the derivative of --task and --body: give --recipe evolve");
    let mut derivative = start.world.adjoint().ok_or_else(none)?;
    let mut swarm = draft.in_memory::<W::Shapes>(&start.states)?;
    let mut flown: RecordedEpisode<W> =
        RecordedEpisode { states: Vec::new(), taps: Vec::new(), memories: Vec::new(), scores: Vec::new() };
    let stop = std::sync::atomic::AtomicBool::new(false);
    // One more tick contains the final score.
    let condition = Scenario { ticks: start.scenario.ticks + 1, ..start.scenario };
    let start = Episode { scenario: condition, ..start.clone() };
    start.fly(&draft.task, swarm.as_mut(), &mut [&mut flown], &stop)?;
    Ok(flown.backward(derivative.as_mut(), draft, net, through))
}

impl<W: Environment> RecordedEpisode<W> {
    fn backward(
        &self, derivative: &mut dyn Adjoint<W>, draft: &Draft<'_, W::Task>, net: &Net<'_>, through: &Bptt,
    ) -> Slope {
        let count = <StateOf<W> as State>::Array::LEN;
        let (ticks, robots) = (self.memories.len() - 1, self.memories[0].len());
        let (inputs, outputs, features) = (net.size.inputs(0), net.size.outputs, net.size.features);
        for (tick, (states, memories)) in (0..).zip(self.states.iter().zip(&self.memories)).take(ticks) {
            let commands: Vec<_> = memories.iter().map(|memory| memory.command).collect();
            derivative.replay(&draft.task, tick, states, &commands);
        }
        let begin = self.scores[0].max(1.0e-6);
        let mut loss = through.terminal * self.scores[ticks] / begin;
        // Gradients of states after the tick, commands, taps, and states in messages.
        let mut after = vec![0.0; robots * count];
        derivative.score(ticks as u32, &self.states[ticks], through.terminal / begin, &mut after);
        let mut commands = vec![vec![0.0; robots * outputs]; ticks];
        let mut taps = vec![vec![0.0; robots * inputs]; ticks];
        let mut told = vec![vec![0.0; robots * count]; ticks];
        let mut tallies = Tallies::new(net);
        // Fifty robots fill most of four vectors.
        let mut block = Block::<4>::new(net, Width::widest());
        for tick in (0..ticks).rev() {
            derivative.step(&draft.task, tick as u32, &mut after, &mut commands);
            let error = self.passed(tick, derivative, draft, &commands[tick]);
            let mut grad = std::mem::take(&mut taps[tick]);
            if error.iter().any(|e| *e != 0.0) {
                block.there_and_back(net, &self.taps[tick], &error, &mut grad, &mut tallies);
            }
            for (robot, grad) in grad.chunks_exact_mut(inputs).enumerate() {
                self.exchange_back(tick, robot, grad, draft, features, &mut taps);
                let memory = &self.memories[tick][robot];
                derivative.observe(
                    &draft.task,
                    &memory.state,
                    &memory.others,
                    &grad[..features],
                    &mut |who, number, x| {
                        let (spoke, other) = who.map_or((tick, robot), |other| {
                            let (id, spoke) = memory.heard[other];
                            (spoke as usize, id as usize)
                        });
                        told[spoke][other * count + number] += x;
                    },
                );
            }
            loss += self.scores[tick] / begin;
            derivative.score(tick as u32, &self.states[tick], 1.0 / begin, &mut after);
            derivative.lead(&draft.task, draft.lag, tick as u32, &told[tick], &mut commands);
            after.iter_mut().zip(&told[tick]).for_each(|(after, told)| *after += told);
        }
        let mut sums = Sums::new(net);
        tallies.fold(net, &mut sums);
        sums.count = 1;
        let mut gradient = vec![0.0; net.weights.len()];
        sums.finish(net, &mut gradient);
        Slope { gradient, loss }
    }

    /// Gradient of the network's outputs: zero for clamped commands.
    fn passed(
        &self, tick: usize, derivative: &dyn Adjoint<W>, draft: &Draft<'_, W::Task>, commands: &[f32],
    ) -> Vec<f32> {
        let outputs = OutputOf::<W>::LEN;
        let robots = self.memories[tick].iter().zip(commands.chunks_exact(outputs));
        let passed = robots.flat_map(|(memory, grad)| {
            let Memory { state, others, output, command, .. } = memory;
            let passes = derivative.passes_gradient(&draft.task, state, others, output, command);
            passes
                .into_iter()
                .zip(grad)
                .map(|(passes, grad)| if passes { *grad } else { 0.0 })
                .collect::<Vec<_>>()
        });
        passed.collect()
    }

    /// Propagates the gradients of later taps to the senders.
    fn exchange_back(
        &self, tick: usize, robot: usize, grad: &[f32], draft: &Draft<'_, W::Task>, width: usize,
        taps: &mut [Vec<f32>],
    ) {
        let memory = &self.memories[tick][robot];
        let each = grad.len();
        if !memory.exchanged {
            // Taps are constant between exchanges.
            if let Some(before) = tick.checked_sub(1) {
                let kept = taps[before][robot * each..][..each].iter_mut().zip(grad).skip(width);
                kept.for_each(|(sum, grad)| *sum += grad);
            }
            return;
        }
        let weight = weight(draft.scale, memory.heard.len());
        let own = draft.scale.closed().then_some((robot as u32, tick as u32));
        for (other, spoke) in own.into_iter().chain(memory.heard.iter().copied()) {
            // The message contained the taps of the previous exchange.
            if let Some(source) = (spoke as usize).checked_sub(draft.exchange.max(1) as usize) {
                let sums = taps[source][other as usize * each..].iter_mut().zip(&grad[width..]);
                sums.for_each(|(sum, grad)| *sum += weight * grad);
            }
        }
    }
}

/// Returns the factor of neighbors' taps for a number of neighbors.
fn weight(scale: Scale, heard: usize) -> f32 {
    match scale {
        Scale::Mean => 1.0 / heard.max(1) as f32,
        Scale::Closed => 1.0 / (heard + 1) as f32,
        Scale::Scaled(factor) => factor,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt as _;
    use wdgnn_core::{model::shape::Dimensions, tasks::flocking::Flocking};

    use super::*;
    use crate::{
        train::{initialization, net::Places},
        world::flock::{Flock, dynamics::ModelMismatch},
    };

    const SIZE: Dimensions = Dimensions { features: 6, layers: 1, taps: 3, hidden: 32, outputs: 2 };

    const THROUGH: Bptt = Bptt { ticks: 12, flights: 2, terminal: 3.0, mixed: 0.0, longest: f32::INFINITY };

    /// Episode to run.
    #[derive(Clone, Copy)]
    struct Setting {
        scale: Scale,
        exchange: u32,
        quirks: ModelMismatch,
        task: Flocking,
        lag: f32,
        body: &'static str,
    }

    fn setting(scale: Scale, exchange: u32, quirks: ModelMismatch, normalized: bool) -> Setting {
        let task = Flocking { separation: 0.0, normalized, limit: 1000.0, ..Flocking::MEAN_FEATURES };
        Setting { scale, exchange, quirks, task, lag: 0.0, body: "point" }
    }

    /// Weights for velocities only (gradients ignore positions), far from the clamp.
    fn weights() -> Vec<f32> {
        let mut random = generator(5, Purpose::Weights, 0);
        let mut weights: Vec<f32> =
            (0..Places::of(&SIZE).count()).map(|_| random.random_range(-0.4..0.4)).collect();
        weights[..3].copy_from_slice(&[0.9, 1.1, 0.1]);
        for rows in initialization::rows(&SIZE, &(2..6)) {
            weights[rows].fill(0.0);
        }
        weights
    }

    fn loss_and_gradient(weights: &[f32], setting: &Setting, number: u64) -> (f32, Vec<f32>) {
        let Setting { scale, exchange, quirks, task, lag, body } = *setting;
        let draft = Draft { numbers: weights, size: SIZE, scale, task, exchange, lag };
        let mut world = Flock::<2>::with(quirks);
        world.body = body.parse().unwrap();
        // The velocity follows a command of a quadrotor after a tenth of a second.
        let ticks = if body == "point" { THROUGH.ticks } else { 30 };
        let draw = |_: &mut _| (world.clone(), Scenario { robots: 7, ..Scenario::PAPER });
        let mut into = vec![0.0; weights.len()];
        let loss = gradient(&draft, &Bptt { ticks, ..THROUGH }, &draw, 3, number, &mut into).unwrap();
        (loss, into)
    }

    #[test]
    fn the_gradient_matches_finite_differences() {
        let quirks =
            ModelMismatch { delay: 2, lag: 0.03, drag: 0.5, turned: 0.3, ..ModelMismatch::default() };
        let plain = ModelMismatch::default();
        for (scale, exchange, quirks, normalized, lag, body) in [
            (Scale::Closed, 1, plain, true, 0.0, "point"),
            (Scale::Mean, 1, plain, false, 0.0, "point"),
            (Scale::Closed, 3, plain, true, 0.1, "point"),
            (Scale::Closed, 1, quirks, true, 0.0, "point"),
            (Scale::Closed, 1, quirks, true, 0.05, "point,mass=1.1,asymmetry=0.2"),
            (Scale::Closed, 1, plain, true, 0.0, "quadrotor"),
            (Scale::Closed, 1, plain, true, 0.1, "quadrotor,lag=1.2,mass=0.9,delay=2,asymmetry=0.1"),
            (Scale::Closed, 1, quirks, true, 0.0, "quadrotor,gain=0.8"),
        ] {
            let mut setting = Setting { lag, body, ..setting(scale, exchange, quirks, normalized) };
            if lag > 0.0 {
                // A predicted position depends on the velocity, and the gradient ignores positions.
                setting.task.repulsion = 0.0;
            }
            let smooth: usize = (0..8).map(|number| directions_that_agree(&setting, number)).sum();
            assert!(
                smooth > 12,
                "{scale:?} {exchange} {lag} {body}: only {smooth} of 48 directions are smooth"
            );
        }
    }

    /// Compares slopes along the gradient and along single weights (α_W, B on all taps, R) with
    /// finite differences. A link that appears or disappears between both points adds a step to the
    /// loss, which the gradient ignores. Two step lengths then give different slopes, and the
    /// comparison is skipped.
    fn directions_that_agree(setting: &Setting, number: u64) -> usize {
        let weights = weights();
        let (_, gradient) = loss_and_gradient(&weights, setting, number);
        let norm = gradient.iter().map(|g| g * g).sum::<f32>().sqrt();
        assert!(norm > 1.0e-3, "{norm}");
        let along: Vec<f32> = gradient.iter().map(|g| g / norm).collect();
        let single = |index: usize| {
            let mut direction = vec![0.0; weights.len()];
            direction[index] = 1.0;
            direction
        };
        let places = Places::of(&SIZE);
        let rows = (0..SIZE.taps).map(|tap| places.wide.start + tap * SIZE.features * SIZE.hidden + 4);
        let directions =
            [along, single(1), single(places.readout.start + 8)].into_iter().chain(rows.map(single));
        let tolerance = 0.02 * f64::from(norm);
        let mut smooth = 0;
        for (index, direction) in directions.enumerate() {
            let slope = |step: f32| {
                let at = |step: f32| {
                    let moved: Vec<f32> = weights.iter().zip(&direction).map(|(w, d)| w + step * d).collect();
                    f64::from(loss_and_gradient(&moved, setting, number).0)
                };
                (at(step) - at(-step)) / f64::from(2.0 * step)
            };
            let (long, short) = (slope(0.02), slope(0.005));
            if (long - short).abs() > 0.5 * tolerance {
                continue;
            }
            smooth += 1;
            let expected: f32 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
            assert!(
                (short - f64::from(expected)).abs() < tolerance,
                "flight {number}, direction {index}: {short} measured, {expected} expected, norm {norm}"
            );
        }
        smooth
    }

    #[test]
    fn clamped_commands_have_no_gradient() {
        let mut setting = setting(Scale::Closed, 1, ModelMismatch::default(), true);
        assert!(loss_and_gradient(&weights(), &setting, 0).1.iter().any(|&g| g != 0.0));
        setting.task.limit = 1.0e-6;
        assert!(loss_and_gradient(&weights(), &setting, 0).1.iter().all(|&g| g == 0.0));
    }
}
