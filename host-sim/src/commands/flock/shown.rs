//! What swarms of flocking look like: table, JSON and page.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{FlockArguments, SEED};
use crate::{
    airtime::{Airtime, MOST_USE},
    commands::{
        air_in_words,
        flock_tables::{self, OverSeeds},
    },
    error::Result,
    evaluate::{self, Outcome, Summary},
    lineup::{EXPERT, Lineup, OFFLINE, ONLINE},
    origin::Origin,
    page::{self, flights::counted, replay::Replay},
    profiles::Profile,
    table,
    tally::in_words,
    world::{World as _, flock::Flock},
};

/// How the default seed compares: the ratio of WD-GNN online over the seeds 1 to 10.
const SEED_COMPARED: &str =
    "Ratios vary by some ±0.003 from seed to seed: `host-sim flock --seeds 10 --seed 1` has their mean.";

/// The JSON output.
#[derive(Debug, Serialize)]
pub struct Output<'a> {
    profile: Profile,
    robots: usize,
    radius: f32,
    speed: f32,
    swarms: usize,
    seed: u64,
    controllers: BTreeMap<&'static str, &'a Summary>,
    /// Over all seeds, where there are several.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    over_seeds: BTreeMap<&'static str, OverSeeds>,
}

impl FlockArguments {
    /// The page, with the first of the swarms flown once more for its replay, if it was not recorded.
    pub(super) fn page(
        &self,
        lineup: &Lineup<Flock>,
        outcomes: &[Outcome],
        recorded: Option<&Replay>,
        origin: &Origin,
    ) -> Result<String> {
        let condition = self.condition();
        let replay = match recorded {
            Some(replay) => replay,
            None => &page::replay::record(lineup, &condition, self.seed, &|| {})?.0,
        };
        // Baselines are in the table; pictures and lines are the paper's controllers.
        let shown: Vec<Outcome> = outcomes.iter().filter(|outcome| outcome.shown).cloned().collect();
        let (robots, swarms) = (counted(self.robots, "robot"), counted(self.swarms(), "held-out swarm"));
        Ok(page::flights(&page::FlightsPage {
            title: format!("Flocking under {} controllers", replay.flights.len()),
            lead: format!(
                "{robots} start on rings, each with a velocity of its own up to {} m/s per axis, and have {} to \
                 agree on one without colliding. The networks know only what robots within {} m tell them; the expert and \
                 the centre see everything.",
                self.speed,
                if self.ticks == 100 {
                    "a second".into()
                } else {
                    format!("{} seconds", f64::from(self.ticks) / 100.0)
                },
                self.radius
            ),
            score: Flock::<2>::SCORE,
            outcomes: &shown,
            robots: self.robots,
            replay,
            moments: true,
            table: self.rows(outcomes),
            legend: format!(
                "Mean ± standard deviation over {swarms}. Total and final: velocity variation in m²/s², summed over the \
                 flight and at its end. Nearest: smallest distance between two robots in any swarm. < 0.1, 0.2, 0.3 m: \
                 pairs nearer than that, in pair-ticks per swarm. The networks fly under a separation guard, and so does \
                 every row that says so. Disagreement: of the robots’ wide parameters at the end, relative to the offline \
                 ones.{}",
                if self.is_paper() {
                    " On the right, the paper’s Table 1: 50 robots, 2 m, 3 m/s."
                } else {
                    ""
                }
            ),
            air: self.air(),
            finding: finding(outcomes),
            origin,
        }))
    }

    /// The table; with the paper's figures where it is the paper's experiment.
    fn rows(&self, outcomes: &[Outcome]) -> Vec<Vec<String>> {
        if self.is_paper() { flock_tables::rows(outcomes) } else { flock_tables::measured(outcomes) }
    }

    /// What is to be said about the air, if anything.
    fn air(&self) -> String {
        let faults = self.faults.words();
        let air = air_in_words(self.profile, !faults.is_empty(), &faults);
        let motors = match self.late_motors {
            0 => String::new(),
            ticks => format!(" Motors answer {} ms late.", 10 * ticks),
        };
        air + &motors
    }

    /// Mean and spread over seeds; or how the default seed compares with ten.
    pub(super) fn print_seeds(&self, over: &[(&str, &str, OverSeeds)]) {
        if over.is_empty() {
            if self.seed == SEED {
                println!("\n{SEED_COMPARED}");
            }
            return;
        }
        println!(
            "\nseeds {} to {}, mean ± standard deviation over seeds:\n",
            self.seed,
            self.seed + self.seeds as u64 - 1
        );
        table::print(&flock_tables::over_seeds_rows(over));
    }

    pub(super) fn output<'a>(
        &self,
        outcomes: &'a [Outcome],
        over: &[(&'static str, &'static str, OverSeeds)],
    ) -> Output<'a> {
        let controllers = outcomes.iter().map(|outcome| (outcome.name, &outcome.summary)).collect();
        let Self { profile, robots, radius, speed, seed, .. } = *self;
        let swarms = self.swarms();
        let over_seeds = over.iter().map(|(name, _, over)| (*name, over.clone())).collect();
        Output { profile, robots, radius, speed, swarms, seed, controllers, over_seeds }
    }

    pub(super) fn print_table(&self, lineup: &Lineup<Flock>, outcomes: &[Outcome]) {
        println!(
            "{} of {}, range {} m, speed ±{} m/s, {} s of flight, seed {}, profile {}\nmodels: {}{}\n",
            counted(self.swarms(), "swarm"),
            counted(self.robots, "robot"),
            self.radius,
            self.speed,
            f64::from(self.ticks) / 100.0,
            self.seed,
            self.profile.name(),
            lineup.words(),
            match self.faults.words() {
                words if words.is_empty() => words,
                words => format!("\nframes sealed, with{words}"),
            } + &match self.late_motors {
                0 => String::new(),
                ticks => format!("\nmotors answer {} ms late", 10 * ticks),
            },
        );
        table::print(&self.rows(outcomes));
        print_refusals(outcomes);
        print_airtime(self.profile, self.robots);
        println!(
            "\ntotal, final: velocity variation in m²/s², mean ± standard deviation over swarms; < 0.1, 0.2, 0.3 m: \
             pairs nearer\nthan that, in pair-ticks per swarm; disagreement: of the robots' wide parameters at the end, \
             relative to the offline ones.\nThe networks fly under a separation guard; so does every row that says so. \
             The centre under the guard bounds\neverybody under it: it knows all, and brakes as hard as robots can. \
             Flooding knows what can have travelled."
        );
    }
}

/// One sentence that says what came out.
fn finding(outcomes: &[Outcome]) -> String {
    let summary = |name| evaluate::of(outcomes, name).map(|outcome| &outcome.summary);
    let [Some(expert), Some(offline), Some(online)] = [EXPERT, OFFLINE, ONLINE].map(summary) else {
        return String::new();
    };
    // A robot alone, or robots that start in agreement, have nothing to be compared by.
    if expert.total.mean <= 0.0 {
        return String::new();
    }
    let ratio = |of: &Summary| of.total.mean / expert.total.mean;
    let published = |of: &str| {
        let total = |name: &str| flock_tables::paper(name).map_or(f64::NAN, |paper| paper[0].0);
        total(of) / total(EXPERT)
    };
    format!(
        "Retraining in flight, robot by robot, brings the WD-GNN’s total velocity variation from {:.2} to \
         <strong>{:.2} times the expert’s</strong> (the paper’s Table 1: from {:.2} to {:.2}).",
        ratio(offline),
        ratio(online),
        published(OFFLINE),
        published(ONLINE),
    )
}

/// What the robots refused on an air with faults, by reason.
fn print_refusals(outcomes: &[Outcome]) {
    for Outcome { title, summary, .. } in outcomes {
        if let (Some(heard), Some(refused)) = (summary.heard, &summary.refused) {
            println!("{}: {heard} frames heard, refused: {}", title, in_words(refused));
        }
    }
}

/// What the profile takes of the air of the radio that it is made for.
fn print_airtime(profile: Profile, robots: usize) {
    let Some(radio) = profile.radio() else { return };
    if let Some(airtime) = Airtime::new(profile, radio) {
        let usage = airtime.usage(robots, profile.rate());
        let verdict = if usage > MOST_USE { ", more than may be used: see `host-sim air`" } else { "" };
        println!(
            "\nair: {} exchanges a second take {:.1} % of {}, if all robots hear each other{verdict}",
            profile.rate(),
            100.0 * usage,
            radio.name()
        );
    }
}
