//! Output of `run`: summary, JSON, page and CSV.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{RunArguments, RunResult};
use crate::{
    commands::{capitalized, comparison, describe_link},
    controllers::{ONLINE, ONLINE_TITLE},
    episode::EpisodeMetrics,
    evaluate::{ControllerResult, Summary},
    origin::Origin,
    page::{self, flights::counted},
    world::{Environment, Scenario},
};

/// JSON output.
#[derive(Debug, Serialize)]
pub(super) struct Output {
    robots: usize,
    ticks: u32,
    total: f64,
    r#final: f64,
    digest: String,
    /// Digest of native robots, for `--compare`.
    #[serde(skip_serializing_if = "Option::is_none")]
    native_digest: Option<String>,
    heard: u64,
    refused: BTreeMap<&'static str, u64>,
    wall_seconds: f64,
}

impl RunArguments {
    pub(super) fn outcome(result: &RunResult) -> ControllerResult {
        let flights = vec![result.flight.clone()];
        let summary = Summary::of(&flights);
        ControllerResult { name: ONLINE, title: ONLINE_TITLE.into(), shown: true, flights, summary }
    }

    pub(super) fn page<W: Environment>(
        &self, condition: &Scenario, result: &RunResult, outcomes: &[ControllerResult], origin: &Origin,
    ) -> String {
        page::flights(&page::FlightsPage {
            title: format!("{}: {} robots", capitalized(W::TITLE), self.kind()),
            lead: format!(
                "{} with the code of the firmware. Digest of all commands and parameters: {}.",
                counted(condition.robots, "robot"),
                result.digest
            ),
            score: W::SCORE,
            outcomes,
            robots: condition.robots,
            replay: &result.replay,
            comparison: None,
            heading: "Result".into(),
            table: comparison::all_rows(outcomes),
            legend: format!("total, final: {}, summed over the ticks and at the end.", W::SCORE),
            air: describe_link(self.profile(), self.key.is_some(), &self.faults.settings()),
            finding: String::new(),
            origin,
        })
    }

    pub(super) fn kind(&self) -> &'static str {
        if self.uses_qemu() { "emulated" } else { "native" }
    }

    pub(super) fn output(condition: &Scenario, result: &RunResult, twin: Option<&RunResult>) -> Output {
        let RunResult { flight, digest, seconds, .. } = result;
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

    pub(super) fn print<W: Environment>(
        &self, condition: &Scenario, result: &RunResult, twin: Option<&RunResult>,
    ) {
        let Output { robots, ticks, total, r#final, digest, heard, refused, wall_seconds, .. } =
            Self::output(condition, result, twin);
        let sealed = if self.key.is_some() { "sealed" } else { "unsealed" };
        let reasons: Vec<String> =
            refused.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
        let (score, unit) = W::SCORE.rsplit_once(" in ").unwrap_or((W::SCORE, ""));
        println!("{robots} {} robots, {ticks} ticks of flight in {wall_seconds:.2} s", self.kind());
        println!("link                {}, {sealed}", self.profile().name());
        println!("{score:<18}  total {total:.2}, final {final:.4} {unit}", r#final = r#final);
        println!("frames              {heard} received, {} rejected{reasons}", refused.values().sum::<u64>());
        println!("digest              {digest}");
        if twin.is_some_and(|twin| twin.digest == result.digest) {
            println!("compared            identical to native robots, bit for bit");
        }
    }

    /// Returns the score at each tick.
    pub(super) fn csv_rows(flight: &EpisodeMetrics) -> Vec<Vec<String>> {
        let heading = vec!["tick".into(), "score".into()];
        let row = |(tick, score): (usize, &f64)| vec![tick.to_string(), score.to_string()];
        std::iter::once(heading).chain(flight.score.iter().enumerate().map(row)).collect()
    }
}
