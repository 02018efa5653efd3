//! Evolution strategy: evaluates perturbed networks and moves toward the better ones.
//!
//! It needs only the score of a world. Each step evaluates mirrored pairs of networks from equal
//! starts and ranks them by score. The gradient is the rank-weighted mean of their directions
//! (Salimans et al. 2017). Results do not depend on the number of threads.

use rand::RngExt as _;

use super::recipe::Recipe;
use crate::{
    episode::Episode,
    error::Result,
    seeds::{Purpose, generator},
    swarm::networks::Draft,
    threads,
    world::Environment,
};

/// Parameters of the evolution strategy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evolution {
    /// Pairs of networks per step.
    pub pairs: usize,
    /// Episodes per network.
    pub flights: usize,
    /// Standard deviation of the perturbation per number.
    pub reach: f32,
}

impl Evolution {
    /// For a few hundred numbers.
    pub const DEFAULT: Self = Self { pairs: 24, flights: 2, reach: 0.05 };
}

/// Writes the gradient of a step to `gradient` and returns the mean cost of its networks.
pub fn gradient<W: Environment>(
    recipe: &Recipe<W>, evolve: &Evolution, draft: &Draft<'_, W::Task>, seed: u64, step: u64,
    gradient: &mut [f32],
) -> Result<f32> {
    let costs = costs(recipe, evolve, draft, seed, step)?;
    gradient.fill(0.0);
    let ranks = ranks(&costs);
    for pair in 0..evolve.pairs {
        let weight = (ranks[2 * pair] - ranks[2 * pair + 1]) / (2 * evolve.pairs) as f32 / evolve.reach;
        let away = direction(seed, step, pair, gradient.len());
        gradient.iter_mut().zip(away).for_each(|(sum, away)| *sum += weight * away);
    }
    Ok((costs.iter().sum::<f64>() / costs.len() as f64) as f32)
}

/// Returns the scores of a step's networks relative to the initial score.
fn costs<W: Environment>(
    recipe: &Recipe<W>, evolve: &Evolution, draft: &Draft<'_, W::Task>, seed: u64, step: u64,
) -> Result<Vec<f64>> {
    let starts = (0..evolve.flights)
        .map(|flight| {
            let mut random = generator(seed, Purpose::Training, (step << 32) + flight as u64);
            let condition = recipe.with_robots(recipe.world.vary_scenario(&recipe.condition, &mut random));
            Episode::draw(&recipe.world, &condition, &mut random)
        })
        .collect::<Result<Vec<_>>>()?;
    threads::try_map(2 * evolve.pairs, |number| {
        let side = if number % 2 == 0 { evolve.reach } else { -evolve.reach };
        let away = direction(seed, step, number / 2, draft.numbers.len());
        let moved: Vec<f32> =
            draft.numbers.iter().zip(away).map(|(number, away)| number + side * away).collect();
        cost(&Draft { numbers: &moved, ..*draft }, &starts)
    })
}

/// Returns the mean cost of episodes, each relative to a constant initial score.
fn cost<W: Environment>(draft: &Draft<'_, W::Task>, starts: &[Episode<W>]) -> Result<f64> {
    let mut sum = 0.0;
    for start in starts {
        let mut swarm = draft.in_memory::<W::Shapes>(&start.states)?;
        let flight = start.run_unobserved(&draft.task, swarm.as_mut())?;
        let still = flight.score.first().copied().unwrap_or_default() * flight.score.len() as f64;
        sum += flight.total() / still.max(1.0e-9);
    }
    // Invalid networks have the worst rank.
    Ok(if sum.is_finite() { sum / starts.len() as f64 } else { f64::MAX })
}

/// Direction of a pair: normal variates from twelve uniform ones, equal on all machines.
fn direction(seed: u64, step: u64, pair: usize, count: usize) -> impl Iterator<Item = f32> {
    let mut random = generator(seed, Purpose::Batches, (step << 32) + pair as u64);
    (0..count).map(move |_| (0..12).map(|_| random.random_range(0.0_f32..1.0)).sum::<f32>() - 6.0)
}

/// Returns ranks from −½ for the smallest to ½ for the largest value.
fn ranks(costs: &[f64]) -> Vec<f32> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
    let mut ranks = vec![0.0; costs.len()];
    for (place, &number) in order.iter().enumerate() {
        ranks[number] = place as f32 / (costs.len() - 1) as f32 - 0.5;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_by_hand() {
        assert_eq!(ranks(&[5.0, 1.0, f64::MAX]), [0.0, -0.5, 0.5]);
    }

    #[test]
    fn directions_repeat_and_are_normal() {
        let numbers: Vec<f32> = direction(1, 2, 3, 10_000).collect();
        assert_eq!(numbers, direction(1, 2, 3, 10_000).collect::<Vec<_>>());
        let mean = numbers.iter().sum::<f32>() / 1.0e4;
        let square = numbers.iter().map(|x| x * x).sum::<f32>() / 1.0e4;
        assert!(mean.abs() < 0.04 && (square - 1.0).abs() < 0.06, "{mean} {square}");
    }
}
