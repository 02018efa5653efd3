//! What does each part of a WD-GNN add? The whole of it beside what is left without one part or another, from the same starts:
//! `cargo run --release -p wdgnn-sim --example parts -- 40` flies ten seeds of 40 swarms under the paper's condition, and a tenth as many where robots
//! are not what training assumed.
//!
//! Every figure is the total velocity variation relative to the expert's of the same swarms, and in brackets by how much it is above that of the
//! whole network, learning in flight: mean of the paired differences over seeds, and its standard error.

use rayon::prelude::*;
use wdgnn_core::Learning;
use wdgnn_sim::{
    error::Result,
    flight::Start,
    lineup::{Controller, EXPERT, Lineup},
    model::ModelFile,
    models,
    profiles::Profile,
    recipe::{Architecture, RecipeName},
    seeds::{Purpose, generator},
    swarm::{networks::Network, typed::Online},
    world::{
        Condition, SwarmOf, World,
        flock::{Flock, bodies::Quirks},
    },
};

/// Seeds from 1 on.
const SEEDS: u64 = 10;

/// Who flies.
#[derive(Clone, Copy)]
enum Who {
    /// Somebody without a network.
    Rival(&'static str),
    /// A network as it was trained.
    Offline(Architecture),
    /// The WD-GNN, learning in flight by what is left of its rule.
    Online(fn(Learning) -> Learning),
}

/// The whole network first: everybody is held against it.
const WHO: [(&str, Who); 11] = [
    ("WD-GNN online, whole", Who::Online(|rule| rule)),
    ("without bias and heading", Who::Online(|rule| Learning { personal_step: 0.0, ..rule })),
    ("without gain and heading", Who::Online(|rule| Learning { heeds: false, ..rule })),
    ("without anything personal (paper's rule)", Who::Online(paper)),
    ("without the wide part's learning", Who::Online(|rule| Learning { step: 0.0, ..rule })),
    ("without learning: WD-GNN offline", Who::Offline(Architecture::WdGnn)),
    ("without the wide part: GNN", Who::Offline(Architecture::Gnn)),
    ("without the deep part: graph filter", Who::Offline(Architecture::GraphFilter)),
    ("without a network: 3 hops", Who::Rival("averaging-3-hops")),
    ("without a network: 2 hops", Who::Rival("averaging-2-hops")),
    ("without a network: 1 hop", Who::Rival("averaging-1-hop")),
];

fn paper(rule: Learning) -> Learning {
    Learning { personal_step: 0.0, heeds: false, ..rule }
}

/// Where: a name, what robots are like, and the length of a flight in ticks.
fn conditions() -> [(&'static str, Quirks, u32); 6] {
    let usual = Quirks::default();
    [
        ("as trained", usual, 200),
        ("differing", Quirks { spread: 0.5, bias: 1.5, lag: 0.05, noise: 0.05, ..usual }, 400),
        ("delay of 4 ticks", Quirks { delay: 4, ..usual }, 400),
        ("noise 0.2 m/s", Quirks { noise: 0.2, ..usual }, 400),
        ("headings off by 30°", Quirks { turned: 0.52, ..usual }, 400),
        ("every tenth sensor frozen", Quirks { frozen: 0.1, ..usual }, 400),
    ]
}

struct Bench {
    lineup: Lineup<Flock>,
    quirks: Quirks,
    ticks: u32,
    swarms: u64,
}

impl Bench {
    fn model(&self, architecture: Architecture) -> &ModelFile {
        let found = self.lineup.models.iter().find(|model| model.architecture() == architecture);
        found.unwrap_or(&self.lineup.models[0])
    }

    fn swarm(&self, who: Who, start: &Start<Flock>) -> Result<SwarmOf<'_, Flock>> {
        let (architecture, rule) = match who {
            Who::Rival(name) => return self.lineup.swarm(&Controller::named(name)?, start, 0),
            Who::Offline(architecture) => (architecture, None),
            Who::Online(rule) => (Architecture::WdGnn, Some(rule)),
        };
        let network = Network::of(self.model(architecture), Profile::Exact)?;
        let online = if rule.is_some() { Online::Decentralised } else { Online::Off };
        let rule = rule.map_or(network.rule, |rule| rule(network.rule));
        Network { rule, online, ..network }.typed::<<Flock as World>::Shapes>(&start.states)
    }

    /// The total of a seed's swarms.
    fn total(&self, who: Who, seed: u64) -> Result<f64> {
        let task = self.lineup.task()?;
        let condition = Condition { ticks: self.ticks, ..Condition::PAPER };
        let totals: Vec<f64> = (0..self.swarms)
            .into_par_iter()
            .map(|swarm| {
                let mut random = generator(seed, Purpose::Testing, swarm);
                let start = Start::draw(&Flock::with(self.quirks), &condition, &mut random)?;
                let mut flown = self.swarm(who, &start)?;
                Ok(start.fly_alone(&task, flown.as_mut())?.total())
            })
            .collect::<Result<_>>()?;
        Ok(totals.iter().sum())
    }

    /// The totals, seed by seed.
    fn totals(&self, who: Who) -> Result<Vec<f64>> {
        (1..=SEEDS).map(|seed| self.total(who, seed)).collect()
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn main() -> Result {
    let swarms: u64 = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(40);
    for (index, (name, quirks, ticks)) in conditions().into_iter().enumerate() {
        let swarms = if index == 0 { swarms } else { swarms.div_ceil(10) };
        let lineup = Lineup::of(models::all(RecipeName::Through)?, Profile::Exact);
        let bench = Bench { lineup, quirks, ticks, swarms };
        println!("{name}, {SEEDS} seeds of {swarms} swarms");
        let expert = bench.totals(Who::Rival(EXPERT))?;
        let ratios = |who| -> Result<Vec<f64>> {
            Ok(bench.totals(who)?.iter().zip(&expert).map(|(total, expert)| total / expert).collect())
        };
        let whole = ratios(WHO[0].1)?;
        println!("  {:42} {:.4}", WHO[0].0, mean(&whole));
        for (name, who) in WHO.into_iter().skip(1) {
            let ratios = ratios(who)?;
            let differences: Vec<f64> =
                ratios.iter().zip(&whole).map(|(ratio, whole)| ratio - whole).collect();
            let off = mean(&differences);
            let squares: f64 = differences.iter().map(|x| (x - off) * (x - off)).sum();
            let count = differences.len() as f64;
            let error = (squares / (count - 1.0) / count).sqrt();
            println!("  {name:42} {:.4} ({off:+.4} ± {error:.4})", mean(&ratios));
        }
    }
    Ok(())
}
