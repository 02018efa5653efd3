//! Output of `flock`: table, JSON and page.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    FlockArguments,
    delayed::{Delayed, Scores},
};
use crate::{
    airtime::{Airtime, MAX_CHANNEL_USE},
    commands::{
        air_in_words,
        flock_tables::{self, OverSeeds},
    },
    controllers::{EXPERT, EvalConfig, OFFLINE, ONLINE},
    counters::format_rejections,
    error::Result,
    evaluate::{self, ControllerResult, MeanStd, Summary},
    origin::Origin,
    page::{
        self,
        flights::{Comparison, counted},
        replay::Replay,
    },
    profiles::Profile,
    table,
    world::{Presentation as _, flock::Flock},
};

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
    /// One swarm with delayed actuators.
    #[serde(skip_serializing_if = "Option::is_none")]
    delayed_actuators: Option<Scores>,
    /// Mean and standard deviation over seeds, where there are several.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    over_seeds: BTreeMap<&'static str, OverSeeds>,
}

impl FlockArguments {
    /// The page. The first swarm is flown again for its replay, if it was not recorded.
    pub(super) fn page(
        &self,
        eval: &EvalConfig<Flock>,
        outcomes: &[ControllerResult],
        recorded: Option<&Replay>,
        delayed: Option<&Delayed>,
        origin: &Origin,
    ) -> Result<String> {
        let replay = if let Some(replay) = recorded {
            replay
        } else {
            let shown = eval.controllers().into_iter().filter(|controller| controller.shown).collect();
            &page::replay::record(eval, shown, &self.condition(), self.seed, &|| {})?.0
        };
        let shown: Vec<ControllerResult> = outcomes.iter().filter(|outcome| outcome.shown).cloned().collect();
        let (robots, swarms) = (counted(self.robots, "robot"), counted(self.swarms(), "swarm"));
        Ok(page::flights(&page::FlightsPage {
            title: "Flocking: robots that learn in flight".into(),
            lead: format!(
                "{robots} start with different velocities, up to {} m/s per axis. They must agree on one velocity without \
                 collisions. A robot knows only what the robots within {} m send by radio.",
                self.speed, self.radius
            ),
            comparison: delayed.map(|delayed| Comparison {
                title: format!("Actuators delayed by {} ms", delayed.scores.milliseconds),
                finding: delayed.scores.sentence(),
                note: "Both flights start identically. The network was trained on robots without delay.",
                replay: &delayed.replay,
            }),
            heading: match (self.is_paper(), self.actuator_delay) {
                (true, _) => "The paper’s condition".into(),
                (false, 0) => "All controllers".into(),
                (false, ticks) => format!("All controllers, actuators delayed by {} ms", 10 * ticks),
            },
            score: Flock::<2>::SCORE,
            outcomes: &shown,
            robots: self.robots,
            replay,
            table: self.rows(outcomes, false),
            legend: format!("{swarms} of {}. {}", seconds(self.ticks), self.legend().join(" ")),
            air: self.air(),
            finding: finding(outcomes, self.is_paper()),
            origin,
        }))
    }

    /// The table of a run: the rows that short tables show, or all.
    fn rows(&self, outcomes: &[ControllerResult], all: bool) -> Vec<Vec<String>> {
        let shown = outcomes.iter().filter(|outcome| all || outcome.shown);
        flock_tables::rows(outcomes, shown, all, self.is_paper())
    }

    /// The meaning of the columns of a short table, line by line.
    fn legend(&self) -> [String; 4] {
        [
            "total, final: velocity variation in m²/s², summed over the ticks and at the end; mean ± standard deviation over swarms."
                .to_owned(),
            "ratio: total relative to the expert's in the same swarms, ± standard error. Lower is better in every column but closest."
                .to_owned(),
            "closest: smallest distance between two robots. pairs < 0.1 m: pairs closer than that, counted per tick, per swarm."
                .to_owned(),
            format!(
                "The expert sees all robots. All other rows except bounds use only messages within {} m, and the same collision guard.",
                self.radius
            ),
        ]
    }

    /// Faults, profile and delay in one sentence each.
    fn air(&self) -> String {
        let faults = self.faults.words();
        let air = air_in_words(self.profile, !faults.is_empty(), &faults);
        let actuators = match self.actuator_delay {
            0 => String::new(),
            ticks => format!(" Actuators respond {} ms late.", 10 * ticks),
        };
        air + &actuators
    }

    /// Mean and standard deviation over seeds, where there are several.
    pub(super) fn print_seeds(
        &self,
        outcomes: &[ControllerResult],
        over: &[(&'static str, &'static str, OverSeeds)],
    ) {
        if over.is_empty() {
            return;
        }
        let last = self.seed + self.seeds as u64 - 1;
        println!("\nseeds {} to {last}, mean ± standard deviation over seeds:\n", self.seed);
        let shown =
            |name: &str| evaluate::find(outcomes, name).is_some_and(|outcome| self.all || outcome.shown);
        let over: Vec<_> = over.iter().filter(|(name, ..)| shown(name)).cloned().collect();
        table::print(&flock_tables::over_seeds_rows(&over));
    }

    pub(super) fn output<'a>(
        &self,
        outcomes: &'a [ControllerResult],
        over: &[(&'static str, &'static str, OverSeeds)],
        delayed: Option<&Delayed>,
    ) -> Output<'a> {
        let controllers = outcomes.iter().map(|outcome| (outcome.name, &outcome.summary)).collect();
        let Self { profile, robots, radius, speed, seed, .. } = *self;
        let swarms = self.swarms();
        let delayed_actuators = delayed.map(|delayed| delayed.scores);
        let over_seeds = over.iter().map(|(name, _, over)| (*name, over.clone())).collect();
        Output { profile, robots, radius, speed, swarms, seed, controllers, delayed_actuators, over_seeds }
    }

    pub(super) fn print_table(&self, eval: &EvalConfig<Flock>, outcomes: &[ControllerResult]) {
        let condition = if self.is_paper() { "The paper's condition: " } else { "" };
        println!(
            "{condition}{} of {}, range {} m, speed ±{} m/s, {}, seed {}, profile {}",
            counted(self.swarms(), "swarm"),
            counted(self.robots, "robot"),
            self.radius,
            self.speed,
            seconds(self.ticks),
            self.seed,
            self.profile.name(),
        );
        if self.all || self.model.is_some() {
            println!("models: {}", eval.describe());
        }
        let faults = self.faults.words();
        if !faults.is_empty() {
            println!("sealed frames, faults:{faults}");
        }
        if self.actuator_delay > 0 {
            println!("actuators delayed by {} ms", 10 * self.actuator_delay);
        }
        println!();
        table::print(&self.rows(outcomes, self.all));
        print_refusals(outcomes);
        print_airtime(self.profile, self.robots);
        println!("\n{}", self.legend().join("\n"));
        println!(
            "{}",
            if self.all {
                "disagreement: distance between the robots' learned parameters at the end, relative to the trained ones."
            } else {
                "More rows and columns: --all. Spread over seeds: --seeds 10 --seed 1."
            }
        );
    }
}

/// The length of a flight.
fn seconds(ticks: u32) -> String {
    format!("{} s of flight", f64::from(ticks) / 100.0)
}

/// One sentence about the difference that learning in flight makes. `trained_for`: whether robots behave as in training.
fn finding(outcomes: &[ControllerResult], trained_for: bool) -> String {
    let of = |name| evaluate::find(outcomes, name);
    let [Some(expert), Some(offline), Some(online)] = [EXPERT, OFFLINE, ONLINE].map(of) else {
        return String::new();
    };
    // A single robot, or robots that start with one velocity, have no variation.
    if expert.summary.total.mean <= 0.0 {
        return String::new();
    }
    let [trained, learning] = [offline, online].map(|outcome| outcome.ratio_to(expert));
    // A difference below a percent is less than between two sets of swarms.
    let verdict = match learning.mean / trained.mean {
        change if change < 0.99 => "lowers the total",
        change if change > 1.01 => "raises the total",
        _ if trained_for => "changes nothing here, because the robots behave as in training",
        _ => "changes the total by less than 1 %",
    };
    let figure = |ratio: MeanStd| format!("{:.3}", ratio.mean);
    format!(
        "Learning in flight {verdict}: <strong>{}</strong> times the expert’s total as trained, <strong>{}</strong> with \
         learning.",
        figure(trained),
        figure(learning)
    )
}

/// What the robots refused on an air with faults, by reason.
fn print_refusals(outcomes: &[ControllerResult]) {
    for ControllerResult { title, summary, .. } in outcomes {
        if let (Some(heard), Some(refused)) = (summary.heard, &summary.refused) {
            println!("{}: {heard} frames heard, refused: {}", title, format_rejections(refused));
        }
    }
}

/// What the profile takes of the air of the radio that it is made for.
fn print_airtime(profile: Profile, robots: usize) {
    let Some(radio) = profile.radio() else { return };
    if let Some(airtime) = Airtime::new(profile, radio) {
        let usage = airtime.usage(robots, profile.rate());
        let verdict =
            if usage > MAX_CHANNEL_USE { ", more than may be used: see `host-sim air`" } else { "" };
        println!(
            "\nair: {} exchanges a second take {:.1} % of {}, if all robots hear each other{verdict}",
            profile.rate(),
            100.0 * usage,
            radio.name()
        );
    }
}
