//! Training through the simulator: the velocity variation of whole flights, differentiated.
//!
//! Forwards, the core's own nodes fly a swarm ([`Swarm`]). Backwards by hand: through velocities and what motors make of commands,
//! through the readout, both parts of the network, the features' velocities and the taps that neighbours exchanged, over all
//! ticks (backpropagation through time). Where a command is clamped its gradient is *exactly* zero. The graph, positions and the
//! pushes of guard and repulsion are taken as they were.
//!
//! ```text
//! L = ( Σ_t V(t) + w · V(T) ) / V(0),   V the velocity variation
//! ```
//!
//! Flights of a step are summed in order, so the bits are the same at any number of threads. One layer: its taps hold features only.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use wdgnn_core::{
    Network,
    behaviour::Behaviour,
    flocking::Motion,
    network::FirstChain as _,
    online::Learning,
    taps::{Chain, Scale},
    task::Task as _,
    tensor::Tensor as _,
    wide::{Folded, Model as _},
};

use super::{backward::Backward as _, gradient::Sums, recipe::Recipe};
use crate::{
    body::{Bodies, Quirks},
    error::Result,
    flight::{Pilot as _, Scene},
    seeds::{Purpose, generator},
    shapes::{FEATURES, OUTPUTS, Shape},
    start::{Condition, start},
    swarm::{Online, Swarm},
    world,
};

/// The choices of this way to train.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Through {
    /// Length of a training flight in ticks.
    pub ticks: u32,
    /// Flights per step.
    pub flights: usize,
    /// Weight of the variation at the end.
    pub terminal: f32,
    /// Share of flights under mixed conditions and with robots that are not as they should be.
    pub mixed: f32,
    /// A flight's gradient is shortened to this norm.
    pub longest: f32,
    /// What robots are like in every flight: to train for a condition.
    pub quirks: Option<Quirks>,
}

/// What is to be remembered of one robot at one tick.
struct Moment<const TAPS: usize> {
    chain: Chain<TAPS, FEATURES>,
    /// Neighbours that counted, and when they spoke.
    heard: Vec<(u32, u32)>,
    /// Where a change of the output changes the command.
    passes: [bool; OUTPUTS],
    exchanged: bool,
}

type FoldedOf<'w, S, const TAPS: usize, const G: usize> =
    Folded<'w, FEATURES, TAPS, G, OUTPUTS, <S as Shape<TAPS, G>>::Deep<'w>>;

/// Writes the mean gradient over one step's flights to `gradient` and returns their mean loss.
///
/// # Errors
/// Conditions that cannot be.
pub fn gradient<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(
    folded: &FoldedOf<'_, S, TAPS, G>,
    recipe: &Recipe,
    through: &Through,
    seed: u64,
    step: u64,
    gradient: &mut [f32],
) -> Result<f32> {
    let flights: Vec<(Vec<f32>, f32)> = (0..through.flights)
        .into_par_iter()
        .map(|flight| {
            let random = generator(seed, Purpose::Training, (step << 32) + flight as u64);
            one::<S, TAPS, G>(folded, recipe, through, random)
        })
        .collect::<Result<_>>()?;
    gradient.fill(0.0);
    let share = 1.0 / through.flights as f32;
    let blind = positions::<TAPS, G>();
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
    for range in blind {
        gradient[range].fill(0.0);
    }
    Ok(loss)
}

/// Where the weights of position features lie, in both parts. No gradient goes through positions, so what could be learned about
/// them is an accident of their correlation with velocities; robots then gather where repulsion and network balance. They stay
/// zero, and keeping apart is the business of repulsion and guard.
#[must_use]
pub fn positions<const TAPS: usize, const G: usize>() -> Vec<std::ops::Range<usize>> {
    let filter = TAPS * FEATURES * G;
    let rows = |part: usize| {
        (0..TAPS).map(move |tap| {
            let row = part + tap * FEATURES * G;
            row + VELOCITIES * G..row + FEATURES * G
        })
    };
    rows(3).chain(rows(3 + filter + G)).collect()
}

/// The first two features are velocities.
const VELOCITIES: usize = 2;

/// What a flight is flown under.
fn draw(recipe: &Recipe, through: &Through, random: &mut ChaCha8Rng) -> (Condition, Quirks) {
    let mut condition = Condition { ticks: through.ticks, ..Condition::PAPER };
    let mut quirks = through.quirks.unwrap_or_default();
    if random.random_range(0.0_f32..1.0) < through.mixed {
        match random.random_range(0..8) {
            0 => condition.speed = random.random_range(1.0..6.0),
            1 => condition.radius = random.random_range(1.0..3.2),
            2 => condition.robots = random.random_range(10..=120),
            3 => {
                condition.speed = random.random_range(2.0..5.0);
                condition.radius = random.random_range(1.2..3.0);
            }
            _ if through.quirks.is_some() => {}
            4 => quirks.noise = random.random_range(0.0..0.2),
            5 => quirks.lag = random.random_range(0.0..0.05),
            6 => quirks.loss = random.random_range(0.0..0.5),
            _ => {
                quirks.spread = random.random_range(0.0..0.5);
                quirks.bias = random.random_range(0.0..1.0);
            }
        }
    }
    if recipe.robots > 0 {
        condition.robots = recipe.robots;
    }
    (condition, quirks)
}

/// One flight: its gradient and its loss.
fn one<'w, S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(
    folded: &FoldedOf<'w, S, TAPS, G>,
    recipe: &Recipe,
    through: &Through,
    mut random: ChaCha8Rng,
) -> Result<(Vec<f32>, f32)> {
    let (condition, quirks) = draw(recipe, through, &mut random);
    let mut begin = start(&condition, &mut random)?;
    let mut bodies = Bodies::new(quirks, begin.len(), random);
    bodies.begin(&mut begin);
    let behaviour = Behaviour::new(Learning::OFF).every(recipe.exchange);
    let mut swarm: Swarm<FoldedOf<'w, S, TAPS, G>> =
        Swarm::new(*folded, recipe.task, 0, behaviour, Online::Off, &begin);
    let (task, robots) = (recipe.task, begin.len());
    let mut motions = begin;
    let mut commands = Vec::with_capacity(robots);
    let mut velocities: Vec<Vec<[f32; 2]>> = Vec::new();
    let mut moments: Vec<Vec<Moment<TAPS>>> = Vec::new();
    for tick in 0..condition.ticks {
        velocities.push(motions.iter().map(|motion| motion.velocity).collect());
        let links = bodies.links(tick, &motions, condition.radius);
        let sensed = bodies.sensed(tick, &motions);
        swarm.fly(&Scene { tick, motions: &sensed, links: &links }, &mut commands);
        let moment = |(node, command): (&crate::swarm::SwarmNode<FoldedOf<'w, S, TAPS, G>, _>, &[f32; 2])| {
            let others = || node.trusted().map(|other| &other.beacon.state);
            let heard: Vec<(u32, u32)> =
                node.trusted().map(|other| (u32::from(other.beacon.sender), other.heard)).collect();
            let steered = task.steer(node.state(), others(), node.output());
            let alone = heard.is_empty();
            Moment {
                chain: *node.chains().first(),
                heard,
                passes: [0, 1].map(|axis| {
                    !alone && steered[axis].abs() < task.limit && command[axis].abs() < task.limit
                }),
                exchanged: node.has_turn(),
            }
        };
        moments.push(swarm.nodes().iter().zip(&commands).map(moment).collect());
        let accelerations = bodies.act(tick, &motions, &commands, task.period);
        world::step(&mut motions, &accelerations, task.period);
    }
    let flown = Flown { velocities, moments, last: motions, bodies };
    Ok(flown.backward::<S, G>(folded, recipe, through))
}

/// A flight as it was flown.
struct Flown<const TAPS: usize> {
    velocities: Vec<Vec<[f32; 2]>>,
    moments: Vec<Vec<Moment<TAPS>>>,
    last: Vec<Motion>,
    bodies: Bodies,
}

/// Mean squared deviation from the mean, and every robot's deviation.
fn variation(velocities: &[[f32; 2]]) -> (f32, Vec<[f32; 2]>) {
    let n = velocities.len() as f32;
    let mean = [0, 1].map(|axis| velocities.iter().fold(0.0, |sum, v| sum + v[axis]) / n);
    let off: Vec<[f32; 2]> = velocities.iter().map(|v| [v[0] - mean[0], v[1] - mean[1]]).collect();
    (off.iter().fold(0.0, |sum, d| sum + d[0] * d[0] + d[1] * d[1]) / n, off)
}

impl<const TAPS: usize> Flown<TAPS> {
    fn backward<'w, S: Shape<TAPS, G>, const G: usize>(
        &self,
        folded: &FoldedOf<'w, S, TAPS, G>,
        recipe: &Recipe,
        through: &Through,
    ) -> (Vec<f32>, f32) {
        let network: &Network<'w, FEATURES, TAPS, G, OUTPUTS, S::Deep<'w>> = folded.network();
        let (ticks, robots) = (self.moments.len(), self.last.len());
        let n = robots as f32;
        let task = &recipe.task;
        let every = recipe.exchange.max(1) as usize;
        let mut sums = Sums::<TAPS, G>::new::<S>();
        let begin = variation(&self.velocities[0]).0.max(1.0e-6);
        let end: Vec<[f32; 2]> = self.last.iter().map(|motion| motion.velocity).collect();
        let (end, off) = variation(&end);
        let mut loss = through.terminal * end / begin;
        // What is owed to the velocities after the tick, to what motors did in it, to commands, to taps, and to velocities that were told.
        let scale = |weight: f32, d: &[f32; 2]| d.map(|d| weight * 2.0 * d / (n * begin));
        let mut after: Vec<[f32; 2]> = off.iter().map(|d| scale(through.terminal, d)).collect();
        let mut acting = vec![[0.0_f32; 2]; robots];
        let mut commands = vec![vec![[0.0_f32; 2]; robots]; ticks];
        let mut taps = vec![vec![Chain::<TAPS, FEATURES>::ZERO; robots]; ticks];
        let mut told = vec![vec![[0.0_f32; 2]; robots]; ticks];
        let (quickness, lost) = (self.bodies.quickness(task.period), self.bodies.lost(task.period));
        for tick in (0..ticks).rev() {
            for robot in 0..robots {
                for axis in 0..2 {
                    acting[robot][axis] =
                        task.period * after[robot][axis] + (1.0 - quickness) * acting[robot][axis];
                    after[robot][axis] *= 1.0 - lost;
                }
                if let Some(commanded) = tick.checked_sub(self.bodies.delay()) {
                    let effect = self.bodies.effect(tick as u32, robot);
                    for axis in 0..2 {
                        commands[commanded][robot][axis] += quickness
                            * (effect[0][axis] * acting[robot][0] + effect[1][axis] * acting[robot][1]);
                    }
                }
            }
            for robot in 0..robots {
                let moment = &self.moments[tick][robot];
                let mut error = commands[tick][robot];
                for (error, passes) in error.iter_mut().zip(moment.passes) {
                    *error = if passes { *error } else { 0.0 };
                }
                let mut owed = taps[tick][robot];
                if error != [0.0; 2] {
                    let mut chains = super::gradient::first_only::<S, TAPS, G>(&moment.chain);
                    let (_, hidden) =
                        folded.infer_with_hidden(folded.offline(), &moment.chain.0[0], &mut chains);
                    let d = sums.add_error(folded, &hidden, &moment.chain, &error);
                    let mut adjoint = wdgnn_core::taps::Chains::ZERO;
                    network.deep.backward::<false>(
                        network.activation,
                        &chains,
                        &hidden,
                        &d,
                        &mut adjoint,
                        &mut sums.deep,
                    );
                    let wide = folded.offline().rows();
                    let parts = adjoint.first().numbers().iter().zip(wide);
                    for (owed, (deep, row)) in owed.numbers_mut().iter_mut().zip(parts) {
                        *owed += deep + network.alpha_wide * (row[0] * error[0] + row[1] * error[1]);
                    }
                }
                self.pass_on(tick, robot, &owed, network.scale, every, &mut taps);
                let heard = &moment.heard;
                let share = if task.normalised { 1.0 / (heard.len() + 1) as f32 } else { 1.0 };
                for (axis, owed) in owed.0[0].iter().take(VELOCITIES).enumerate() {
                    let d = share * owed;
                    told[tick][robot][axis] += d * heard.len() as f32;
                    for &(other, spoke) in heard {
                        told[spoke as usize][other as usize][axis] -= d;
                    }
                }
            }
            let (variation, off) = variation(&self.velocities[tick]);
            loss += variation / begin;
            for (robot, off) in off.iter().enumerate() {
                let own = scale(1.0, off);
                for axis in 0..2 {
                    after[robot][axis] += own[axis] + told[tick][robot][axis];
                }
            }
        }
        sums.count = 1;
        let mut gradient = vec![0.0; super::gradient::numbers::<S, TAPS, G>()];
        sums.finish::<S>(network, &mut gradient);
        (gradient, loss)
    }

    /// Hands what is owed to a robot's later taps on to whom they came from.
    fn pass_on(
        &self,
        tick: usize,
        robot: usize,
        owed: &Chain<TAPS, FEATURES>,
        scale: Scale,
        every: usize,
        taps: &mut [Vec<Chain<TAPS, FEATURES>>],
    ) {
        let moment = &self.moments[tick][robot];
        if !moment.exchanged {
            // Between exchanges taps stay as they were.
            if let Some(before) = tick.checked_sub(1) {
                let kept = taps[before][robot].0.iter_mut().zip(&owed.0).skip(1);
                for (sum, owed) in kept.flat_map(|(sums, owed)| sums.iter_mut().zip(owed)) {
                    *sum += owed;
                }
            }
            return;
        }
        let heard = &moment.heard;
        let weight = match scale {
            Scale::Mean => 1.0 / heard.len().max(1) as f32,
            Scale::Closed => 1.0 / (heard.len() + 1) as f32,
            Scale::Scaled(factor) => factor,
            _ => 1.0,
        };
        let own = (scale == Scale::Closed).then_some((robot as u32, tick as u32));
        for (other, spoke) in own.into_iter().chain(heard.iter().copied()) {
            // What it told were its taps of the exchange before.
            if let Some(source) = (spoke as usize).checked_sub(every) {
                let sums = taps[source][other as usize].0.iter_mut().zip(owed.0.iter().skip(1));
                for (sum, owed) in sums.flat_map(|(sums, owed)| sums.iter_mut().zip(owed)) {
                    *sum += weight * owed;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use wdgnn_core::{activation::Activation, flocking::Flocking, wide::Metric};

    use super::*;
    use crate::{
        shapes::One,
        train::recipe::{Recipe, RecipeName},
    };

    const TAPS: usize = 3;
    const G: usize = 32;
    const FILTER: usize = TAPS * FEATURES * G;

    /// Weights that look at velocities only (gradients do not go through positions), and stay far from the clamp.
    fn weights() -> Vec<f32> {
        let mut random = generator(5, Purpose::Weights, 0);
        let mut weights: Vec<f32> = (0..super::super::gradient::numbers::<One, TAPS, G>())
            .map(|_| random.random_range(-0.4..0.4))
            .collect();
        weights[..3].copy_from_slice(&[0.9, 1.1, 0.1]);
        for part in [3, 3 + FILTER + G] {
            for (input, row) in weights[part..part + FILTER].chunks_mut(G).enumerate() {
                if input % FEATURES >= 2 {
                    row.fill(0.0);
                }
            }
        }
        weights
    }

    fn setting(scale: Scale, exchange: u32, quirks: Quirks, normalised: bool) -> (Recipe, Through) {
        let through = Through {
            ticks: 12,
            flights: 2,
            terminal: 3.0,
            mixed: 0.0,
            longest: f32::INFINITY,
            quirks: Some(quirks),
        };
        let task = Flocking { separation: 0.0, normalised, limit: 1000.0, ..Flocking::DEFAULT };
        let recipe = Recipe { task, scale, exchange, robots: 7, ..Recipe::named(RecipeName::Through) };
        (recipe, through)
    }

    fn loss_and_gradient(
        weights: &[f32],
        recipe: &Recipe,
        through: &Through,
        number: u64,
    ) -> (f32, Vec<f32>) {
        let network = Network::over(weights, Activation::TanhLibm, recipe.scale).unwrap();
        let folded: FoldedOf<'_, One, TAPS, G> = Folded::new(network, Metric::Euclidean);
        let mut into = vec![0.0; weights.len()];
        let loss = gradient::<One, TAPS, G>(&folded, recipe, through, 3, number, &mut into).unwrap();
        (loss, into)
    }

    #[test]
    fn the_gradient_is_that_of_the_flight() {
        let quirks = Quirks { delay: 2, lag: 0.03, drag: 0.5, turned: 0.3, ..Quirks::default() };
        for (scale, exchange, quirks, normalised) in [
            (Scale::Closed, 1, Quirks::default(), true),
            (Scale::Mean, 1, Quirks::default(), false),
            (Scale::Closed, 3, Quirks::default(), true),
            (Scale::Closed, 1, quirks, true),
        ] {
            let (recipe, through) = setting(scale, exchange, quirks, normalised);
            let smooth: usize = (0..8).map(|number| directions_that_agree(&recipe, &through, number)).sum();
            assert!(smooth > 12, "{scale:?} {exchange}: only {smooth} of 48 directions are smooth");
        }
    }

    /// Compares slopes along the gradient and along single weights (α_W, B on every tap, R) with differences of the loss. Where a link
    /// comes or goes between the two ends the loss has a step, which the gradient leaves out: two lengths then measure different
    /// slopes, and nothing is compared.
    fn directions_that_agree(recipe: &Recipe, through: &Through, number: u64) -> usize {
        let weights = weights();
        let (_, gradient) = loss_and_gradient(&weights, recipe, through, number);
        let norm = gradient.iter().map(|g| g * g).sum::<f32>().sqrt();
        assert!(norm > 1.0e-3, "{norm}");
        let along: Vec<f32> = gradient.iter().map(|g| g / norm).collect();
        let single = |index: usize| {
            let mut direction = vec![0.0; weights.len()];
            direction[index] = 1.0;
            direction
        };
        let readout = 3 + 2 * (FILTER + G);
        let rows = (0..TAPS).map(|tap| 3 + FILTER + G + (tap * FEATURES) * G + 4);
        let directions = [along, single(1), single(readout + 8)].into_iter().chain(rows.map(single));
        let tolerance = 0.02 * f64::from(norm);
        let mut smooth = 0;
        for (index, direction) in directions.enumerate() {
            let slope = |step: f32| {
                let at = |step: f32| {
                    let moved: Vec<f32> = weights.iter().zip(&direction).map(|(w, d)| w + step * d).collect();
                    f64::from(loss_and_gradient(&moved, recipe, through, number).0)
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
    fn a_clamped_command_passes_nothing() {
        let (mut recipe, through) = setting(Scale::Closed, 1, Quirks::default(), true);
        recipe.task.limit = 1.0e-6;
        let (_, gradient) = loss_and_gradient(&weights(), &recipe, &through, 0);
        assert!(gradient.iter().all(|&g| g == 0.0));
    }

    #[test]
    fn the_bits_are_the_same_at_any_number_of_threads() {
        let (recipe, through) = setting(Scale::Closed, 1, Quirks { noise: 0.1, ..Quirks::default() }, true);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| loss_and_gradient(&weights(), &recipe, &through, 0))
        };
        assert_eq!(with(1), with(3));
    }
}
