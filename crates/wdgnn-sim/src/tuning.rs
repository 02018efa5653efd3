//! Search of the gains and horizons of baselines, per condition and body.

use crate::{
    controllers::{Controller, EvalConfig},
    episode::Episode,
    error::Result,
    seeds::{Purpose, generator},
    threads,
    world::{Environment, Scenario, TunedBaseline, Tuning, TuningContext},
};

/// Robots in the swarms of the search, and limits of the number of swarms. No reported result uses
/// these swarms.
const ROBOTS: usize = 240;
const SWARMS: [usize; 2] = [4, 12];
/// Gains in 1/s and second parameters of the first round.
const GAINS: [f32; 6] = [0.5, 2.0, 8.0, 32.0, 128.0, 256.0];
const SECONDS: [f32; 4] = [0.0, 0.06, 0.12, 0.18];
/// Steps of the later rounds: factors of the gain, and differences of the second parameter.
const ROUNDS: [(f32, f32); 4] = [(2.0, 0.03), (1.41, 0.015), (1.19, 0.01), (1.09, 0.005)];

/// Returns the tuned baselines of a world under a scenario, with their gains in the titles.
///
/// They exchange at the rate of the networks, or at that of the profile.
pub fn tuned_controllers<W: Environment>(
    eval: &EvalConfig<W>, scenario: &Scenario, seed: u64,
) -> Result<Vec<Controller<W>>> {
    let interval = eval.models.iter().map(|model| model.weights().header.interval.into()).max();
    let interval = interval.unwrap_or_else(|| eval.profile.exchange_ticks());
    let context = TuningContext {
        scenario: *scenario,
        task: eval.task()?,
        interval,
        guarded: std::env::var("NOGUARD").is_err(),
    };
    let swarms = (ROBOTS / scenario.robots).clamp(SWARMS[0], SWARMS[1]);
    let starts = (0..swarms).map(|swarm| {
        Episode::draw(&eval.world, scenario, &mut generator(seed, Purpose::Tuning, swarm as u64))
    });
    let mut search = Search { context, starts: starts.collect::<Result<_>>()? };
    let tune = |law: TunedBaseline<W>| {
        search.context.guarded = law.guarded;
        let tuning = search.tune(&law)?;
        Ok(Controller::tuned(law, search.context, tuning))
    };
    W::tuned_baselines().into_iter().map(tune).collect()
}

struct Search<W: Environment> {
    context: TuningContext<W::Task>,
    starts: Vec<Episode<W>>,
}

impl<W: Environment> Search<W> {
    /// Returns the best parameters of a law: a coarse grid, then finer ones around the best.
    fn tune(&self, law: &TunedBaseline<W>) -> Result<Tuning> {
        let has_second = law.second.is_some();
        let seconds = if has_second { &SECONDS[..] } else { &SECONDS[..1] };
        let with = |&gain: &f32| seconds.iter().map(move |&second| Tuning { gain, second });
        let mut best = self.best(law, &GAINS.iter().flat_map(with).collect::<Vec<_>>(), SWARMS[0])?;
        for (round, (factor, step)) in ROUNDS.into_iter().enumerate() {
            // The first rounds need few swarms.
            let swarms = SWARMS[usize::from(round > 1)];
            let steps = if has_second { &[-step, 0.0, step][..] } else { &[0.0][..] };
            let near = |change: &f32| {
                let second = (best.second + change).max(0.0);
                [1.0 / factor, 1.0, factor].map(|factor| Tuning { gain: factor * best.gain, second })
            };
            best = self.best(law, &steps.iter().flat_map(near).collect::<Vec<_>>(), swarms)?;
        }
        Ok(best)
    }

    /// Returns the parameters with the smallest total over the first swarms.
    fn best(&self, law: &TunedBaseline<W>, grid: &[Tuning], swarms: usize) -> Result<Tuning> {
        let totals: Vec<f64> = threads::try_map(grid.len(), |index| {
            let mut total = 0.0;
            for start in self.starts.iter().take(swarms) {
                let mut swarm = (law.make)(&self.context, grid[index]);
                total += start.run_unobserved(&self.context.task, swarm.as_mut())?.total();
            }
            Ok(total)
        })?;
        let best = grid.iter().zip(totals).min_by(|(_, a), (_, b)| a.total_cmp(b));
        Ok(best.map_or(grid[0], |(tuning, _)| *tuning))
    }
}
