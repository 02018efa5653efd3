//! Training through the simulator: the score of whole flights, differentiated.
//!
//! Forwards, the core's own nodes fly a swarm. Backwards by hand: through the world ([`Derivative`]), the readout, both parts of the
//! network, what robots observe and the taps that they exchanged, over all ticks (backpropagation through time).
//!
//! ```text
//! L = ( Σ_t score(t) + w · score(T) ) / score(0)
//! ```
//!
//! Flights of a step are summed in order, so the bits are the same at any number of threads. One layer: its taps hold features only.

use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use wdgnn_core::{
    activation::Activation,
    taps::Scale,
    task::{Numbers as _, State},
};

use super::{
    gradient::weight,
    net::{Net, Sums},
};
use crate::{
    error::{Error, Result},
    flight::{Moment, Observer, Start},
    seeds::{Purpose, generator},
    swarm::networks::Draft,
    world::{Condition, Derivative, OutputOf, StateOf, World},
};

/// The choices of this way to train.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Through {
    /// Length of a training flight in ticks.
    pub ticks: u32,
    /// Flights per step.
    pub flights: usize,
    /// Weight of the score at the end.
    pub terminal: f32,
    /// Share of flights under mixed conditions and with robots that are not as they should be.
    pub mixed: f32,
    /// A flight's gradient is shortened to this norm.
    pub longest: f32,
}

/// What is to be remembered of one robot at one tick.
struct Memory<W: World> {
    state: StateOf<W>,
    /// Neighbours that counted, and when they spoke.
    heard: Vec<(u32, u32)>,
    /// What they said.
    others: Vec<StateOf<W>>,
    output: OutputOf<W>,
    command: OutputOf<W>,
    exchanged: bool,
}

/// A flight as it was flown, tick by tick.
struct Flown<W: World> {
    states: Vec<Vec<StateOf<W>>>,
    taps: Vec<Vec<f32>>,
    memories: Vec<Vec<Memory<W>>>,
    scores: Vec<f32>,
}

impl<W: World> Observer<W> for Flown<W> {
    fn see(&mut self, moment: &Moment<'_, W>) -> Result {
        let blind = || Error::Failed("nothing is to be seen of these robots".into());
        let mut taps = Vec::new();
        let mut memories = Vec::new();
        for (robot, command) in moment.commands.iter().enumerate() {
            let inside = moment.swarm.robot(robot).and_then(|view| view.inside).ok_or_else(blind)?;
            taps.extend_from_slice(inside.taps);
            memories.push(Memory {
                state: *inside.state,
                heard: inside.counted.iter().map(|(id, tick, _)| (u32::from(*id), *tick)).collect(),
                others: inside.counted.iter().map(|(_, _, state)| **state).collect(),
                output: *inside.output,
                command: *command,
                exchanged: inside.exchanged,
            });
        }
        self.scores.push(moment.world.score(moment.scene.tick, moment.scene.states) as f32);
        self.states.push(moment.scene.states.to_vec());
        self.taps.push(taps);
        self.memories.push(memories);
        Ok(())
    }
}

/// Writes the mean gradient over one step's flights to `gradient` and returns their mean loss. `draw` says what a flight is flown under,
/// in which world.
///
/// # Errors
/// Conditions that cannot be, worlds that have no derivative.
pub fn gradient<W: World>(
    draft: &Draft<'_, W::Task>,
    through: &Through,
    draw: &(dyn Fn(&mut ChaCha8Rng) -> (W, Condition) + Sync),
    seed: u64,
    step: u64,
    gradient: &mut [f32],
) -> Result<f32> {
    let net = Net::new(draft.size, Activation::Tanh, draft.numbers);
    let flights: Vec<(Vec<f32>, f32)> = (0..through.flights)
        .into_par_iter()
        .map(|flight| {
            let mut random = generator(seed, Purpose::Training, (step << 32) + flight as u64);
            let (world, condition) = draw(&mut random);
            let condition = Condition { ticks: through.ticks, ..condition };
            let start = Start::draw(&world, &condition, &mut random)?;
            one(&start, draft, &net, through)
        })
        .collect::<Result<_>>()?;
    gradient.fill(0.0);
    let share = 1.0 / through.flights as f32;
    let mut loss = 0.0;
    for (part, cost) in &flights {
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
    Ok(loss)
}

/// One flight, there and back.
fn one<W: World>(
    start: &Start<W>,
    draft: &Draft<'_, W::Task>,
    net: &Net<'_>,
    through: &Through,
) -> Result<(Vec<f32>, f32)> {
    let none = || Error::usage(format!("--task {} has no derivative: give another --recipe", W::NAME));
    let mut derivative = start.world.derivative().ok_or_else(none)?;
    let mut swarm = draft.typed::<W::Shapes>(&start.states)?;
    let mut flown: Flown<W> =
        Flown { states: Vec::new(), taps: Vec::new(), memories: Vec::new(), scores: Vec::new() };
    let stop = std::sync::atomic::AtomicBool::new(false);
    // One tick more: its score is that of the end.
    let condition = Condition { ticks: start.condition.ticks + 1, ..start.condition };
    let start = Start { condition, ..start.clone() };
    start.fly(&draft.task, swarm.as_mut(), &mut [&mut flown], &stop)?;
    Ok(flown.backward(derivative.as_mut(), draft, net, through))
}

impl<W: World> Flown<W> {
    fn backward(
        &self,
        derivative: &mut dyn Derivative<W>,
        draft: &Draft<'_, W::Task>,
        net: &Net<'_>,
        through: &Through,
    ) -> (Vec<f32>, f32) {
        let count = <StateOf<W> as State>::Numbers::COUNT;
        let (ticks, robots) = (self.memories.len() - 1, self.memories[0].len());
        let (inputs, outputs, features) = (net.size.inputs(0), net.size.outputs, net.size.features);
        let begin = self.scores[0].max(1.0e-6);
        let mut loss = through.terminal * self.scores[ticks] / begin;
        // What is owed to states after the tick, to commands, to taps, and to states as they were told.
        let mut after = vec![0.0; robots * count];
        derivative.score(ticks as u32, &self.states[ticks], through.terminal / begin, &mut after);
        let mut commands = vec![vec![0.0; robots * outputs]; ticks];
        let mut taps = vec![vec![0.0; robots * inputs]; ticks];
        let mut told = vec![vec![0.0; robots * count]; ticks];
        let mut sums = Sums::new(net);
        for tick in (0..ticks).rev() {
            derivative.step(&draft.task, tick as u32, &mut after, &mut commands);
            let error = self.passed(tick, derivative, draft, &commands[tick]);
            let mut owed = [std::mem::take(&mut taps[tick])];
            if error.iter().any(|e| *e != 0.0) {
                let pass = net.forward(vec![self.taps[tick].clone()]);
                net.backward(&pass, &error, &mut owed, &mut sums);
            }
            for (robot, owed) in owed[0].chunks_exact(inputs).enumerate() {
                self.exchange_back(tick, robot, owed, draft, features, &mut taps);
                let memory = &self.memories[tick][robot];
                derivative.observe(
                    &draft.task,
                    &memory.state,
                    &memory.others,
                    &owed[..features],
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
            after.iter_mut().zip(&told[tick]).for_each(|(after, told)| *after += told);
        }
        sums.count = 1;
        let mut gradient = vec![0.0; net.weights.len()];
        sums.finish(net, &mut gradient);
        (gradient, loss)
    }

    /// What is owed to the network's outputs: nothing where a command is clamped.
    fn passed(
        &self,
        tick: usize,
        derivative: &dyn Derivative<W>,
        draft: &Draft<'_, W::Task>,
        commands: &[f32],
    ) -> Vec<f32> {
        let outputs = OutputOf::<W>::COUNT;
        let robots = self.memories[tick].iter().zip(commands.chunks_exact(outputs));
        let passed = robots.flat_map(|(memory, owed)| {
            let Memory { state, others, output, command, .. } = memory;
            let passes = derivative.passes(&draft.task, state, others, output, command);
            passes
                .into_iter()
                .zip(owed)
                .map(|(passes, owed)| if passes { *owed } else { 0.0 })
                .collect::<Vec<_>>()
        });
        passed.collect()
    }

    /// Hands what is owed to a robot's later taps on to whom they came from.
    fn exchange_back(
        &self,
        tick: usize,
        robot: usize,
        owed: &[f32],
        draft: &Draft<'_, W::Task>,
        width: usize,
        taps: &mut [Vec<f32>],
    ) {
        let memory = &self.memories[tick][robot];
        let each = owed.len();
        if !memory.exchanged {
            // Between exchanges taps stay as they were.
            if let Some(before) = tick.checked_sub(1) {
                let kept = taps[before][robot * each..][..each].iter_mut().zip(owed).skip(width);
                kept.for_each(|(sum, owed)| *sum += owed);
            }
            return;
        }
        let weight = weight(draft.scale, memory.heard.len());
        let own = (draft.scale == Scale::Closed).then_some((robot as u32, tick as u32));
        for (other, spoke) in own.into_iter().chain(memory.heard.iter().copied()) {
            // What it told were its taps of the exchange before.
            if let Some(source) = (spoke as usize).checked_sub(draft.exchange.max(1) as usize) {
                let sums = taps[source][other as usize * each..].iter_mut().zip(&owed[width..]);
                sums.for_each(|(sum, owed)| *sum += weight * owed);
            }
        }
    }
}
