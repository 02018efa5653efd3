//! The training loop: fly, learn, validate, keep the best.

use std::{
    collections::VecDeque,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use rand::{RngExt as _, seq::SliceRandom as _};
use rayon::prelude::*;
use wdgnn_core::{
    Network,
    activation::Activation,
    behaviour::Behaviour,
    online::Learning,
    tensor::Tensor as _,
    wide::{Folded, Metric, Model as _},
};

use super::{
    adam::Adam,
    checkpoint::{Checkpoint, RunName},
    dataset::{Apprentice, Batch, Trajectory, Window},
    gradient::{gradient, numbers},
    recipe::{Architecture, Recipe, RecipeName, learning},
    through::{self, Through},
};
use crate::{
    body::Bodies,
    error::{Error, Result},
    expert::Expert,
    flight::{fly, fly_in},
    model::ModelFile,
    seeds::{Purpose, generator},
    shapes::{Dimensions, FEATURES, OUTPUTS, Shape, Visitor},
    start::{Condition, start},
    swarm::{Online, Swarm},
};

/// Trajectories per step where whole trajectories are taken (the paper's batch size).
const BATCH_TRAJECTORIES: usize = 20;

/// Ticks of a window that count, where upper layers need windows: long against the chains, short against a flight.
const WINDOW_TICKS: usize = 8;

/// What to train.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Names of everything chosen.
    pub name: RunName,
    /// The choices themselves.
    pub recipe: Recipe,
    /// Dimensions.
    pub dimensions: Dimensions,
}

impl Plan {
    /// A plan with its name.
    #[must_use]
    pub fn new(
        name: RecipeName,
        recipe: Recipe,
        architecture: Architecture,
        dimensions: Dimensions,
        seed: u64,
    ) -> Self {
        let name = RunName {
            recipe: name,
            architecture,
            profile: recipe.profile,
            dimensions: [dimensions.layers, dimensions.taps, dimensions.hidden],
            lengths: [recipe.epochs, recipe.trajectories],
            exchange: recipe.exchange,
            potential: recipe.potential,
            seed,
        };
        Self { name, recipe, dimensions }
    }
}

/// Whoever watches a training run.
pub trait Watcher: Sync {
    /// After an epoch: its mean loss, and the validation cost where there was one.
    fn epoch(&self, epoch: usize, loss: f32, validation: Option<f64>);
    /// A new best network. It is complete and can be flown.
    ///
    /// # Errors
    /// Whatever hinders keeping it.
    fn best(&self, model: &ModelFile) -> Result;
    /// The state after an epoch, to go on from.
    ///
    /// # Errors
    /// Whatever hinders keeping it.
    fn checkpoint(&self, checkpoint: &Checkpoint) -> Result;
}

/// Trains a network. Ends early, with [`Error::Interrupted`] and everything kept, once `stop` is set.
#[derive(Debug)]
pub struct Train<'a, W> {
    /// What to train.
    pub plan: &'a Plan,
    /// Where it will be kept, for error messages.
    pub out: &'a Path,
    /// Where to go on from.
    pub resume: Option<Checkpoint>,
    /// Who watches.
    pub watcher: &'a W,
    /// Set to end after the epoch under way.
    pub stop: &'a AtomicBool,
}

impl<W: Watcher> Visitor for Train<'_, W> {
    type Output = Result<ModelFile>;

    fn visit<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(self) -> Self::Output {
        let Plan { name, recipe, .. } = self.plan;
        let mut state = self.resume.clone().unwrap_or_else(|| Checkpoint {
            run: name.clone(),
            epoch: 0,
            weights: first_weights::<S, TAPS, G>(name, recipe),
            adam: Adam::new(numbers::<S, TAPS, G>()),
            flown: Vec::new(),
            best: None,
        });
        let mut flown: VecDeque<(usize, Vec<f32>)> = state.flown.iter().cloned().collect();
        let mut data: VecDeque<Vec<Trajectory<TAPS>>> = VecDeque::new();
        for (epoch, weights) in &flown {
            data.push_back(self.fly_all::<S, TAPS, G>(*epoch, weights)?);
        }
        let mut step_gradient = vec![0.0; state.weights.len()];
        for epoch in state.epoch..recipe.epochs {
            if recipe.through.is_none() && (epoch == 0 || recipe.refresh > 0) {
                data.push_back(self.fly_all::<S, TAPS, G>(epoch, &state.weights)?);
                flown.push_back((epoch, state.weights.clone()));
            }
            while recipe.refresh > 0 && data.len() > 1 && flights(&data) > recipe.trajectories {
                data.pop_front();
                flown.pop_front();
            }
            let pool: Vec<&Trajectory<TAPS>> = data.iter().flatten().collect();
            let batches = if recipe.through.is_some() {
                Vec::new()
            } else {
                batches::<S, TAPS, G>(recipe, &pool, name.seed, epoch)
            };
            let (mut loss, count) = (0.0, batches.len());
            if let Some(through) = &recipe.through {
                loss = self.step_through::<S, TAPS, G>(through, epoch, &mut state, &mut step_gradient)?;
            }
            for (index, batch) in batches.iter().enumerate() {
                let progress = (epoch * count + index) as f32 / (recipe.epochs * count) as f32;
                loss += gradient::<S, TAPS, G>(
                    &state.weights,
                    Activation::Tanh,
                    recipe.scale,
                    &batch.draw(&pool),
                    &recipe.loss,
                    &mut step_gradient,
                ) / count as f32;
                freeze::<S, TAPS, G>(name.architecture, &mut step_gradient);
                state.adam.step(&mut state.weights, &step_gradient, recipe.rate_at(progress));
            }
            state.epoch = epoch + 1;
            let validates = state.epoch.is_multiple_of(recipe.validate_every) || state.epoch == recipe.epochs;
            let validation = validates.then(|| self.validate::<S, TAPS, G>(&state.weights)).transpose()?;
            if let Some(cost) = validation {
                // A network that cannot be flown (NaN) is never better.
                if state.best.as_ref().is_none_or(|(best, _)| cost < *best) && cost.is_finite() {
                    state.best = Some((cost, state.weights.clone()));
                    self.watcher.best(&self.export::<S, TAPS, G>(&state.weights)?)?;
                }
            }
            self.watcher.epoch(state.epoch, loss, validation);
            state.flown = flown.iter().cloned().collect();
            let interrupted = self.stop.load(Ordering::Relaxed) && state.epoch < recipe.epochs;
            if validates || interrupted {
                self.watcher.checkpoint(&state)?;
            }
            if interrupted {
                return Err(Error::Interrupted);
            }
        }
        let Some((_, best)) = &state.best else {
            return Err(Error::Failed(
                "training diverged: no network could be flown; try another --seed".into(),
            ));
        };
        self.export::<S, TAPS, G>(best)
    }
}

impl<W: Watcher> Train<'_, W> {
    /// The steps of an epoch through the simulator. Returns their mean loss.
    fn step_through<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(
        &self,
        through: &Through,
        epoch: usize,
        state: &mut Checkpoint,
        step_gradient: &mut [f32],
    ) -> Result<f32> {
        let Plan { name, recipe, .. } = self.plan;
        let mut loss = 0.0;
        for batch in 0..recipe.batches {
            let step = epoch * recipe.batches + batch;
            let progress = step as f32 / (recipe.epochs * recipe.batches) as f32;
            let model = self.model::<S, TAPS, G>(&state.weights)?;
            loss += through::gradient::<S, TAPS, G>(
                &model,
                recipe,
                through,
                name.seed,
                step as u64,
                step_gradient,
            )? / recipe.batches as f32;
            freeze::<S, TAPS, G>(name.architecture, step_gradient);
            state.adam.step(&mut state.weights, step_gradient, recipe.rate_at(progress));
        }
        Ok(loss)
    }

    /// The flights that epoch `epoch` adds to the data set: all of them the expert's in the first one.
    fn fly_all<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(
        &self,
        epoch: usize,
        weights: &[f32],
    ) -> Result<Vec<Trajectory<TAPS>>> {
        let Plan { name, recipe, dimensions } = self.plan;
        let aggregates = recipe.refresh > 0;
        let count = match epoch {
            0 if !aggregates => recipe.trajectories,
            // Enough to begin with; the controller's own flights soon replace them.
            0 => recipe.trajectories.min(4 * recipe.refresh),
            _ => recipe.refresh,
        };
        let model = self.model::<S, TAPS, G>(weights)?;
        (0..count)
            .into_par_iter()
            .map(|index| {
                let mut random =
                    generator(name.seed, Purpose::Training, ((epoch as u64) << 32) + index as u64);
                let condition = recipe.condition(&mut random);
                let begin = start(&condition, &mut random)?;
                // The profile's exchange, in full precision: half precision is noise far below what a network can tell.
                let behaviour = Behaviour::new(Learning::OFF).every(recipe.exchange);
                let mut apprentice = Apprentice {
                    swarm: Swarm::new(model, recipe.task, 0, behaviour, Online::Off, &begin),
                    expert: Expert { limit: recipe.task.limit, potential: recipe.potential },
                    expert_drives: epoch == 0,
                    keep_links: dimensions.layers > 1,
                    trajectory: Trajectory::default(),
                };
                fly(&condition, &begin, recipe.task.period, &mut apprentice, &mut ());
                Ok(apprentice.trajectory)
            })
            .collect()
    }

    /// Mean total velocity variation over the validation flights, offline.
    fn validate<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(&self, weights: &[f32]) -> Result<f64> {
        let Plan { name, recipe, .. } = self.plan;
        let model = self.model::<S, TAPS, G>(weights)?;
        let totals: Vec<f64> = (0..recipe.validations)
            .into_par_iter()
            .map(|index| {
                let mut random = generator(name.seed, Purpose::Validation, index as u64);
                let robots = if recipe.robots > 0 { recipe.robots } else { Condition::PAPER.robots };
                let condition = Condition { robots, ..Condition::PAPER };
                let mut begin = start(&condition, &mut random)?;
                let behaviour = Behaviour::new(Learning::OFF).every(recipe.exchange);
                let quirks = recipe.through.and_then(|through| through.quirks).unwrap_or_default();
                let mut bodies = Bodies::new(quirks, begin.len(), random);
                bodies.begin(&mut begin);
                let mut swarm: Swarm<_> = Swarm::new(model, recipe.task, 0, behaviour, Online::Off, &begin);
                let period = recipe.task.period;
                Ok(fly_in(&condition, &begin, period, &mut bodies, &mut swarm, &mut ()).total())
            })
            .collect::<Result<_>>()?;
        Ok(totals.iter().sum::<f64>() / totals.len() as f64)
    }

    fn model<'w, S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(
        &self,
        weights: &'w [f32],
    ) -> Result<Folded<'w, FEATURES, TAPS, G, OUTPUTS, S::Deep<'w>>> {
        let network = Network::over(weights, Activation::Tanh, self.plan.recipe.scale).ok_or_else(|| {
            Error::usage("the checkpoint holds a network of another shape; train without --resume")
        })?;
        Ok(Folded::new(network, Metric::Euclidean))
    }

    fn export<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(
        &self,
        weights: &[f32],
    ) -> Result<ModelFile> {
        let Plan { name, recipe, dimensions } = self.plan;
        let model = self.model::<S, TAPS, G>(weights)?;
        let rule = learning(name.recipe, model.network().alpha_wide, model.offline().norm());
        let tidy: Vec<f32> = weights.iter().map(|&w| wdgnn_core::math::flush(w)).collect();
        ModelFile::new(self.out, &recipe.header(*dimensions, rule), &tidy)
    }
}

fn flights<const TAPS: usize>(data: &VecDeque<Vec<Trajectory<TAPS>>>) -> usize {
    data.iter().map(Vec::len).sum()
}

/// Every weight from U(±1/√fan-in), α_D and α_W from the architecture, β = 0.
fn first_weights<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(
    name: &RunName,
    recipe: &Recipe,
) -> Vec<f32> {
    let mut random = generator(name.seed, Purpose::Weights, 0);
    let mut weights = Vec::with_capacity(numbers::<S, TAPS, G>());
    let (deep, wide) = name.architecture.combination();
    weights.extend([deep, wide, 0.0]);
    let mut fill = |count: usize, inputs: usize| {
        let reach = 1.0 / (inputs as f32).sqrt();
        weights.extend((0..count).map(|_| random.random_range(-reach..reach)));
    };
    for layer in 0..S::LAYERS {
        let inputs = TAPS * if layer == 0 { FEATURES } else { G };
        fill((inputs + 1) * G, inputs);
    }
    fill((TAPS * FEATURES + 1) * G, TAPS * FEATURES);
    fill((G + 1) * OUTPUTS, G);
    if recipe.through.is_some() {
        as_averaging::<TAPS, G>(recipe, &mut weights);
        for range in through::positions::<TAPS, G>() {
            weights[range].fill(0.0);
        }
    }
    weights
}

/// Where training through the simulator starts from: both parts brake to the delayed means that their taps hold, the deep part within
/// the limits of its activation, with a little of the random weights on top. From random weights alone the swarm flies apart, and
/// nothing is learned from that.
fn as_averaging<const TAPS: usize, const G: usize>(recipe: &Recipe, weights: &mut [f32]) {
    /// How much of the random weights stays.
    const RANDOM: f32 = 0.1;
    /// Slope of the deep part's units per m/s and readout weight.
    const SLOPE: f32 = 2.0;
    /// The wide part's gain on every tap, in 1/s.
    const GAIN: f32 = 30.0;
    let filter = TAPS * FEATURES * G;
    let (deep, rest) = weights[3..].split_at_mut(filter + G);
    let (wide, readout) = rest.split_at_mut(filter + G);
    for w in deep.iter_mut().chain(wide.iter_mut()) {
        *w *= RANDOM;
    }
    // From U(±1/√G) to U(±1).
    let stretch = (G as f32).sqrt();
    let (readout, bias) = readout.split_at_mut(G * OUTPUTS);
    for r in readout.iter_mut() {
        *r *= stretch;
    }
    bias.fill(0.0);
    let readout = readout.as_chunks::<OUTPUTS>().0;
    for tap in 0..TAPS {
        // What is older than the last exchange is worth less, the rarer exchanges are.
        let worth = if tap == 0 { 1.0 } else { 1.0 / recipe.exchange as f32 };
        for axis in 0..OUTPUTS {
            let squares: f32 = readout.iter().map(|r| r[axis] * r[axis]).sum();
            let row = (tap * FEATURES + axis) * G;
            for (unit, r) in readout.iter().enumerate() {
                deep[row + unit] -= worth * SLOPE * r[axis];
                wide[row + unit] -= worth * GAIN * r[axis] / squares;
            }
        }
    }
}

/// Parts that an architecture does not have get no gradient, so they stay as they started, multiplied by zero.
fn freeze<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(
    architecture: Architecture,
    gradient: &mut [f32],
) {
    let deep = <S::Deep<'_> as wdgnn_core::deep::Deep<'_, FEATURES, G>>::NUMBERS;
    let wide = (TAPS * FEATURES + 1) * G;
    let (alpha, part) = match architecture {
        Architecture::WdGnn => return,
        Architecture::Gnn => (1, 3 + deep..3 + deep + wide),
        Architecture::GraphFilter => (0, 3..3 + deep),
    };
    gradient[alpha] = 0.0;
    gradient[part].fill(0.0);
}

/// One step's share of the data, by number.
enum Draw {
    Samples(Vec<(u32, u32)>),
    Trajectories(Vec<u32>),
    Windows { warm_up: usize, starts: Vec<(u32, u32)> },
}

fn batches<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(
    recipe: &Recipe,
    pool: &[&Trajectory<TAPS>],
    seed: u64,
    epoch: usize,
) -> Vec<Draw> {
    let mut random = generator(seed, Purpose::Batches, epoch as u64);
    // Upper layers' chains are filled after as many ticks as they have hops.
    let warm_up = (S::LAYERS - 1) * (TAPS - 1);
    let Some(samples) = recipe.samples else {
        let mut order: Vec<u32> = (0..pool.len() as u32).collect();
        order.shuffle(&mut random);
        return order.chunks(BATCH_TRAJECTORIES).map(|batch| Draw::Trajectories(batch.to_vec())).collect();
    };
    let mut draw = || {
        let trajectory = random.random_range(0..pool.len());
        if S::LAYERS == 1 {
            return (trajectory as u32, random.random_range(0..pool[trajectory].len()) as u32);
        }
        let last = pool[trajectory].ticks().saturating_sub(WINDOW_TICKS);
        (trajectory as u32, random.random_range(0..=last) as u32)
    };
    (0..recipe.batches)
        .map(|_| {
            if S::LAYERS == 1 {
                Draw::Samples((0..samples).map(|_| draw()).collect())
            } else {
                let windows = samples.div_ceil(WINDOW_TICKS * Condition::PAPER.robots);
                Draw::Windows { warm_up, starts: (0..windows).map(|_| draw()).collect() }
            }
        })
        .collect()
}

impl Draw {
    fn draw<'a, const TAPS: usize>(&self, pool: &[&'a Trajectory<TAPS>]) -> Batch<'a, TAPS> {
        match self {
            Self::Samples(samples) => Batch::Samples(
                samples
                    .iter()
                    .map(|&(trajectory, sample)| pool[trajectory as usize].sample(sample as usize))
                    .collect(),
            ),
            Self::Trajectories(trajectories) if pool.iter().any(|trajectory| trajectory.links.is_empty()) => {
                let all = trajectories.iter().flat_map(|&index| {
                    let trajectory = pool[index as usize];
                    (0..trajectory.len()).map(|sample| trajectory.sample(sample))
                });
                Batch::Samples(all.collect())
            }
            Self::Trajectories(trajectories) => Batch::Windows(
                trajectories
                    .iter()
                    .map(|&index| {
                        let trajectory = pool[index as usize];
                        Window { trajectory, warm_up: 0, ticks: 0..trajectory.ticks() }
                    })
                    .collect(),
            ),
            Self::Windows { warm_up, starts } => Batch::Windows(
                starts
                    .iter()
                    .map(|&(trajectory, start)| {
                        let trajectory = pool[trajectory as usize];
                        let start = start as usize;
                        let end = (start + WINDOW_TICKS).min(trajectory.ticks());
                        Window { trajectory, warm_up: *warm_up, ticks: start..end }
                    })
                    .collect(),
            ),
        }
    }
}
