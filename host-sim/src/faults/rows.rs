//! Runs rows and checks them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    bench::{Bench, FaultFlights},
    cases::{Case, Circumstances, all},
    properties::Measurements,
    row::{Row, Yardstick, reasons},
};
use crate::{
    error::Result,
    medium::options::Faults,
    world::{Environment, Scenario},
};

/// Reference episodes by length, swarms and settings, each run once.
type References<W> = BTreeMap<(u32, usize, String), Arc<Reference<W>>>;

/// Reference of a row.
struct Reference<W: Environment> {
    flights: FaultFlights<W>,
    /// Close pairs of the expert per episode.
    expert: f64,
}

/// Rows of a setup.
#[allow(missing_debug_implementations, reason = "flights are long")]
pub struct Rows<W: Environment> {
    bench: Bench<W>,
    known: Mutex<References<W>>,
}

impl<W: Environment> Rows<W> {
    /// Creates the rows of a setup.
    pub fn new(bench: Bench<W>) -> Self {
        Self { bench, known: Mutex::default() }
    }

    /// Returns all rows that this task and profile support.
    pub fn cases(&self) -> Vec<Case> {
        let Bench { eval, condition: Scenario { robots, ticks, .. }, swarms, .. } = &self.bench;
        let heard_per_frame = (robots * swarms) as u64 * u64::from(self.bench.exchanges());
        let mut cases = all(&Circumstances { robots: *robots, ticks: *ticks, heard_per_frame });
        let has_other = W::other_model(eval.profile).is_ok();
        cases.retain(|case| has_other || !case.options.contains("mixed-models"));
        // Some rows need a radio or more addresses than the profile has.
        let can_be = |case: &Case| {
            Some(faults(&self.bench, &case.options).ok()?.check_profile(eval.profile, *robots).is_ok())
        };
        cases.retain(|case| can_be(case) == Some(true));
        cases
    }

    /// Runs a row and checks it.
    pub fn fly(&self, case: &Case) -> Result<Row> {
        let mut bench = self.bench.longer(case.ticks.unwrap_or(self.bench.condition.ticks), case.swarms);
        let (reference, against) = (self.known(&bench, "")?, self.known(&bench, &case.against)?);
        let without = &against.flights;
        let faults = faults(&bench, &case.options)?;
        let usual = bench.eval.models[0].weights().header.learning.step;
        if case.step != 1.0 {
            bench.eval.step = Some(case.step * usual);
        }
        let flown = bench.fly(&faults)?;
        let mut nearness = flown.nearness(reference.expert);
        match case.yardstick {
            Yardstick::Usual | Yardstick::Deaf => {}
            Yardstick::ExpertToo => nearness.allow(bench.expert_pairs(&faults)?.unwrap_or_default()),
            Yardstick::Jammed => nearness.allow(without.close_pairs()),
        }
        let (counters, ratio) = (flown.counters(), flown.ratio(without));
        let (held, mut property) = (case.property)(&Measurements {
            counters: &counters,
            ratio,
            nearness: &nearness,
            close_without: without.close_pairs(),
            same: flown.same(without),
            apart: flown.disagreement(),
            last: flown.last(),
        });
        if counters.violations > 0 {
            property = format!("{property}; BEYOND LIMITS {} times", counters.violations);
        }
        let within = Row::within_limits(Some(ratio), case.limit, Some(&nearness));
        Ok(Row {
            fault: case.fault.into(),
            level: case.level.clone(),
            options: case.options.clone(),
            command: bench.command(&case.options),
            seed: bench.seed,
            ratio: Some(ratio),
            limit: case.limit,
            because: case.because.into(),
            yardstick: case.yardstick,
            nearness: Some(nearness),
            holds: held && counters.violations == 0 && within,
            refused: reasons(&counters.refused),
            property,
        })
    }

    /// Returns a reference, from the cache or from a new run.
    fn known(&self, bench: &Bench<W>, options: &str) -> Result<Arc<Reference<W>>> {
        let key = (bench.condition.ticks, bench.swarms, options.to_owned());
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reference) = known().get(&key) {
            return Ok(Arc::clone(reference));
        }
        let flights = bench.fly(&faults(bench, options)?)?;
        // Tasks without an expert use robots without faults instead.
        let expert = bench.expert_pairs(&Faults::default())?.unwrap_or_else(|| flights.close_pairs());
        let reference = Arc::new(Reference { flights, expert });
        known().insert(key, Arc::clone(&reference));
        Ok(reference)
    }
}

/// Parses the settings of a row.
fn faults<W: Environment>(bench: &Bench<W>, options: &str) -> Result<Faults> {
    let faults = Faults { seed: bench.seed, ..Faults::parse(options)? };
    faults.check(bench.condition.robots, u32::MAX)?;
    Ok(faults)
}
