//! What a swarm's flight looks like: table, JSON, page and values.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Flown, SwarmArguments};
use crate::{
    commands::{air_in_words, flock_tables, fly::capital},
    controllers::{ONLINE, ONLINE_TITLE},
    episode::EpisodeMetrics,
    evaluate::{ControllerResult, Summary},
    origin::Origin,
    page::{self, flights::counted},
    world::{Environment, Scenario},
};

/// The JSON output.
#[derive(Debug, Serialize)]
pub(super) struct Output {
    robots: usize,
    ticks: u32,
    total: f64,
    r#final: f64,
    digest: String,
    /// Of native robots in the same flight, where they are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    native_digest: Option<String>,
    heard: u64,
    refused: BTreeMap<&'static str, u64>,
    wall_seconds: f64,
}

impl SwarmArguments {
    pub(super) fn outcome(flown: &Flown) -> ControllerResult {
        let flights = vec![flown.flight.clone()];
        let summary = Summary::of(&flights);
        ControllerResult { name: ONLINE, title: ONLINE_TITLE, shown: true, flights, summary }
    }

    pub(super) fn page<W: Environment>(
        &self,
        condition: &Scenario,
        flown: &Flown,
        outcomes: &[ControllerResult],
        origin: &Origin,
    ) -> String {
        page::flights(&page::FlightsPage {
            title: format!("{}: {} robots", capital(W::TITLE), self.kind()),
            lead: format!(
                "{} that run the code of the firmware. Digest of all commands and parameters: {}.",
                counted(condition.robots, "robot"),
                flown.digest
            ),
            score: W::SCORE,
            outcomes,
            robots: condition.robots,
            replay: &flown.replay,
            comparison: None,
            heading: "Result".into(),
            table: flock_tables::all_rows(outcomes),
            legend: format!("total, final: {}, summed over the ticks and at the end.", W::SCORE),
            air: air_in_words(self.profile, self.key.is_some(), &self.faults.words()),
            finding: String::new(),
            origin,
        })
    }

    pub(super) fn kind(&self) -> &'static str {
        match self.emulated {
            Some(_) => "native and emulated",
            None if self.emulates() => "emulated",
            None => "native",
        }
    }

    pub(super) fn output(condition: &Scenario, flown: &Flown, twin: Option<&Flown>) -> Output {
        let Flown { flight, digest, seconds, .. } = flown;
        let counters = flight.counters.clone().unwrap_or_default();
        Output {
            robots: condition.robots,
            ticks: flight.score.len() as u32,
            total: flight.total(),
            r#final: flight.last(),
            digest: digest.clone(),
            native_digest: twin.map(|twin| twin.digest.clone()),
            heard: counters.heard,
            refused: counters.refused_by_name(),
            wall_seconds: *seconds,
        }
    }

    pub(super) fn print<W: Environment>(&self, condition: &Scenario, flown: &Flown, twin: Option<&Flown>) {
        let Output { robots, ticks, total, r#final, digest, heard, refused, wall_seconds, .. } =
            Self::output(condition, flown, twin);
        let sealed = if self.key.is_some() { "sealed" } else { "unsealed" };
        let reasons: Vec<String> =
            refused.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
        let (score, unit) = W::SCORE.rsplit_once(" in ").unwrap_or((W::SCORE, ""));
        println!("{robots} {} robots, {ticks} ticks of flight in {wall_seconds:.2} s", self.kind());
        println!("link                {}, {sealed}", self.profile.name());
        println!("{score:<18}  total {total:.2}, final {final:.4} {unit}", r#final = r#final);
        println!("frames              {heard} heard, {} refused{reasons}", refused.values().sum::<u64>());
        println!("digest              {digest}");
        if twin.is_some_and(|twin| twin.digest == flown.digest) {
            println!("compared            native robots did the same to the last bit");
        }
    }

    /// The score, tick by tick.
    pub(super) fn csv_rows(flight: &EpisodeMetrics) -> Vec<Vec<String>> {
        let heading = vec!["tick".into(), "score".into()];
        let row = |(tick, score): (usize, &f64)| vec![tick.to_string(), score.to_string()];
        std::iter::once(heading).chain(flight.score.iter().enumerate().map(row)).collect()
    }
}
