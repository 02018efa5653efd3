//! Output of `eval`: table, JSON and page.

use std::collections::BTreeMap;

use serde::Serialize;
use wdgnn_robot::tasks::MotionModel as _;

use super::{
    Evaluation,
    delayed::{Delayed, Scores},
};
use crate::{
    airtime::{Airtime, MAX_CHANNEL_USE},
    commands::{
        capitalized,
        comparison::{self, OverSeeds},
        describe_link,
    },
    controllers::{OFFLINE, ONLINE},
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
    world::{Environment, Tuning, World as _, flock::Flock},
};

/// JSON output.
#[derive(Debug, Serialize)]
pub(super) struct Output<'a> {
    task: &'static str,
    score: &'static str,
    profile: Profile,
    robots: usize,
    radius: f32,
    speed: f32,
    ticks: u32,
    swarms: usize,
    seed: u64,
    /// Digest of the first swarm with online learning.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    controllers: BTreeMap<&'static str, &'a Summary>,
    /// Searched parameters of the tuned baselines.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tuning: BTreeMap<&'static str, Tuning>,
    /// One swarm with delayed actuators.
    #[serde(skip_serializing_if = "Option::is_none")]
    delayed_actuators: Option<Scores>,
    /// Mean and standard deviation over several seeds.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    over_seeds: BTreeMap<&'static str, OverSeeds>,
}

type SeedRows = [(&'static str, String, OverSeeds)];

impl<W: Environment> Evaluation<'_, W> {
    fn is_flocking() -> bool {
        W::NAME == Flock::<2>::NAME
    }

    /// Returns the page. Runs the first swarm again for the replay, unless it was recorded.
    pub(super) fn page(
        &self, outcomes: &[ControllerResult], recorded: Option<&Replay>, delayed: Option<&Delayed>,
        origin: &Origin,
    ) -> Result<String> {
        let (condition, eval) = (&self.condition, &self.eval);
        let replay = if let Some(replay) = recorded {
            replay
        } else {
            let mut shown = eval.controllers();
            shown.retain(|controller| controller.shown);
            &page::replay::record(eval, &shown, condition, self.arguments.seed, &|| {})?.0
        };
        let shown: Vec<ControllerResult> = outcomes.iter().filter(|outcome| outcome.shown).cloned().collect();
        let (robots, swarms) = (counted(condition.robots, "robot"), counted(self.swarms, "swarm"));
        let title = if Self::is_flocking() { "Flocking".into() } else { capitalized(W::TITLE) };
        Ok(page::flights(&page::FlightsPage {
            title: format!("{title}: robots with online learning"),
            lead: if Self::is_flocking() {
                format!(
                    "{robots} start with different velocities, up to {} m/s per axis. They must agree on one velocity without \
                     collisions. A robot knows only what the robots within {} m send by radio.",
                    condition.speed, condition.radius
                )
            } else {
                format!(
                    "{robots} with a radio range of {} m. The score is the {}.",
                    condition.radius,
                    W::SCORE
                )
            },
            comparison: delayed.map(|delayed| Comparison {
                title: format!("Actuators delayed by {} ms", delayed.scores.milliseconds),
                finding: delayed.scores.sentence(),
                note: "Both flights start identically. The network was trained on robots without delay.",
                replay: &delayed.replay,
            }),
            heading: match (self.is_paper(), self.arguments.actuator_delay) {
                (true, _) => "The paper’s condition".into(),
                (false, 0) => "All controllers".into(),
                (false, ticks) => format!("All controllers, actuators delayed by {} ms", 10 * ticks),
            },
            score: W::SCORE,
            outcomes: &shown,
            robots: condition.robots,
            replay,
            table: self.rows(outcomes, false),
            legend: format!("{swarms} of {}. {}", self.seconds(), self.legend().join(" ")),
            air: self.link(),
            finding: finding(outcomes, self.is_paper()),
            origin,
        }))
    }

    /// Rows of the table: those of short tables, or all.
    fn rows(&self, outcomes: &[ControllerResult], all: bool) -> Vec<Vec<String>> {
        let shown = outcomes.iter().filter(|outcome| all || outcome.shown);
        comparison::rows(outcomes, shown, all, self.is_paper())
    }

    /// Meaning of the columns of a short table, line by line.
    fn legend(&self) -> Vec<String> {
        let mut lines = vec![
            format!(
                "total, final: {}, summed over the ticks and at the end; mean ± standard deviation over swarms.",
                W::SCORE
            ),
            format!(
                "ratio: total relative to {} in the same swarms, ± standard error. Lower is better in every column but closest.",
                if self.eval.tuned.is_empty() { "the expert's" } else { "that of tuned averaging over 1 hop" }
            ),
            "closest: smallest distance between two robots. pairs < 0.1 m: pairs closer than that, counted per tick, per swarm."
                .to_owned(),
        ];
        if !self.eval.tuned.is_empty() {
            lines.push("gain in 1/s, horizon of a prediction, share of a lattice: searched for this condition and body on separate swarms.".into());
        }
        if Self::is_flocking() {
            lines.push(format!(
                "The expert sees all robots. All other rows except bounds use only messages within {} m, and the same collision guard.",
                self.condition.radius
            ));
        }
        lines
    }

    /// Profile, faults and delay, one sentence each.
    fn link(&self) -> String {
        let link = describe_link(self.arguments.model.profile, self.eval.faults.is_some(), &self.faults);
        let actuators = match self.arguments.actuator_delay {
            0 => String::new(),
            ticks => format!(" Actuators respond {} ms late.", 10 * ticks),
        };
        link + &actuators
    }

    /// Prints mean and standard deviation over several seeds.
    pub(super) fn print_seeds(&self, outcomes: &[ControllerResult], over_seeds: &SeedRows) {
        if over_seeds.is_empty() {
            return;
        }
        let first = self.arguments.seed;
        let last = first + self.arguments.seeds as u64 - 1;
        println!("\nseeds {first} to {last}, mean ± standard deviation over seeds:\n");
        let shown = |name: &str| {
            evaluate::find(outcomes, name).is_some_and(|outcome| self.arguments.all || outcome.shown)
        };
        let rows: Vec<_> = over_seeds.iter().filter(|(name, ..)| shown(name)).cloned().collect();
        table::print(&comparison::over_seeds_rows(&rows));
    }

    pub(super) fn output<'a>(
        &self, outcomes: &'a [ControllerResult], over_seeds: &SeedRows, delayed: Option<&Delayed>,
        digest: Option<String>,
    ) -> Output<'a> {
        let condition = &self.condition;
        Output {
            task: W::NAME,
            score: W::SCORE,
            profile: self.arguments.model.profile,
            robots: condition.robots,
            radius: condition.radius,
            speed: condition.speed,
            ticks: condition.ticks,
            swarms: self.swarms,
            seed: self.arguments.seed,
            digest,
            controllers: outcomes.iter().map(|outcome| (outcome.name, &outcome.summary)).collect(),
            tuning: self.eval.tuned.iter().filter_map(|one| Some((one.name, one.tuning()?))).collect(),
            delayed_actuators: delayed.map(|delayed| delayed.scores),
            over_seeds: over_seeds.iter().map(|(name, _, over)| (*name, over.clone())).collect(),
        }
    }

    pub(super) fn print_table(&self, outcomes: &[ControllerResult], digest: Option<&str>) {
        let (arguments, condition) = (self.arguments, &self.condition);
        let title = match (self.is_paper(), Self::is_flocking()) {
            (true, _) => "The paper's condition: ".into(),
            (false, true) => String::new(),
            (false, false) => format!("{}: ", capitalized(W::TITLE)),
        };
        // Robots of tasks without a starting speed start at rest.
        let speed = Some(condition.speed).filter(|speed| *speed > 0.0 || Self::is_flocking());
        println!(
            "{title}{} of {}, range {} m{}, {}, seed {}, profile {}",
            counted(self.swarms, "swarm"),
            counted(condition.robots, "robot"),
            condition.radius,
            speed.map_or(String::new(), |speed| format!(", speed ±{speed} m/s")),
            self.seconds(),
            arguments.seed,
            arguments.model.profile.name(),
        );
        if arguments.all || arguments.model.model.is_some() {
            println!("models: {}", self.eval.describe());
        }
        if !self.faults.is_empty() {
            println!("sealed frames, faults: {}", self.faults);
        }
        if let Some(body) = arguments.body.body {
            println!("body: {body}");
        }
        if arguments.actuator_delay > 0 {
            println!("actuators delayed by {} ms", 10 * arguments.actuator_delay);
        }
        println!();
        table::print(&self.rows(outcomes, arguments.all));
        print_rejected(outcomes);
        print_airtime(arguments.model.profile, condition.robots);
        println!("\n{}", self.legend().join("\n"));
        println!(
            "{}",
            if arguments.all {
                "disagreement: distance between the robots' learned parameters at the end, relative to the trained ones."
            } else {
                "More rows and columns: --all. Spread over seeds: --seeds 10 --seed 1."
            }
        );
        match digest {
            Some(digest) if !Self::is_flocking() || arguments.all => {
                println!("digest of the first swarm with online learning: {digest}");
            }
            None if self.eval.models.is_empty() => {
                println!(
                    "no network: train one with `host-sim train --task {}`, then give a --model",
                    W::NAME
                );
            }
            _ => {}
        }
    }

    /// Length of an episode.
    fn seconds(&self) -> String {
        // In microseconds, because a period of 0.01 s is not exact in binary.
        let microseconds = f64::from(self.condition.ticks) * f64::from(W::default_task().period()) * 1.0e6;
        format!("{} s of flight", microseconds.round() / 1.0e6)
    }
}

/// Returns one sentence about the effect of online learning. `as_trained`: whether robots behave as in training.
fn finding(outcomes: &[ControllerResult], as_trained: bool) -> String {
    let of = |name| evaluate::find(outcomes, name);
    let [Some(offline), Some(online)] = [OFFLINE, ONLINE].map(of) else { return String::new() };
    let Some((expert, word)) = comparison::reference(outcomes) else {
        let change = 100.0 * (online.summary.total.mean / offline.summary.total.mean - 1.0);
        return format!("Online learning changes the network’s total by <strong>{change:+.1} %</strong>.");
    };
    // A single robot, or robots that start with one velocity, have no variation.
    if expert.summary.total.mean <= 0.0 {
        return String::new();
    }
    let [trained, learning] = [offline, online].map(|outcome| outcome.ratio_to(expert));
    // Two sets of swarms differ by up to a percent.
    let verdict = match learning.mean / trained.mean {
        change if change < 0.99 => "lowers the total",
        change if change > 1.01 => "raises the total",
        _ if as_trained => "changes nothing here, because the robots behave as in training",
        _ => "changes the total by less than 1 %",
    };
    let figure = |ratio: MeanStd| format!("{:.3}", ratio.mean);
    format!(
        "Online learning {verdict}: <strong>{}</strong> times the {word}’s total as trained, <strong>{}</strong> with learning.",
        figure(trained),
        figure(learning)
    )
}

/// Prints the rejected frames of each controller by reason.
fn print_rejected(outcomes: &[ControllerResult]) {
    for ControllerResult { title, summary, .. } in outcomes {
        if let (Some(heard), Some(refused)) = (summary.heard, &summary.refused) {
            println!("{title}: {heard} frames received, rejected: {}", format_rejections(refused));
        }
    }
}

/// Prints the share of airtime that the profile takes of the radio it is designed for.
fn print_airtime(profile: Profile, robots: usize) {
    let Some(radio) = profile.radio() else { return };
    if let Some(airtime) = Airtime::new(profile, radio) {
        let usage = airtime.usage(robots, profile.rate());
        let verdict = if usage > MAX_CHANNEL_USE { ", above the limit: see `host-sim airtime`" } else { "" };
        println!(
            "\nair: {} exchanges a second take {:.1} % of {}, if all robots hear each other{verdict}",
            profile.rate(),
            100.0 * usage,
            radio.name()
        );
    }
}
