//! Controllers of a comparison: a world's baselines, and networks.

use std::borrow::Cow;

use wdgnn_core::online::Learning;

use crate::{
    episode::Episode,
    error::{Error, Result},
    medium::options::Faults,
    model::ModelFile,
    models,
    profiles::Profile,
    recipe::{Architecture, RecipeName},
    swarm::{
        in_memory::Online,
        networks::{self, Network},
        radio_swarm::{KEY, RadioConfig},
    },
    world::{Environment, SecondParameter, SwarmOf, TunedBaseline, Tuning, TuningContext, flock::Flock},
};

/// Controller in a comparison.
#[derive(Clone, Debug)]
pub struct Controller<W: Environment> {
    /// Name in JSON and CSV.
    pub name: &'static str,
    /// Name in tables, with the parameters of a tuned baseline.
    pub title: Cow<'static, str>,
    /// Whether short tables and pages show it.
    pub shown: bool,
    kind: Kind<W>,
}

#[derive(Clone, Debug)]
enum Kind<W: Environment> {
    /// Controller without a network.
    Baseline(fn(&W, &W::Task) -> SwarmOf<'static, W>),
    /// Baseline with searched parameters.
    Tuned(TunedBaseline<W>, TuningContext<W::Task>, Tuning),
    /// Network and its online learning.
    Network(Architecture, Learner),
}

/// Online learning of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Learner {
    Nobody,
    CentralRule,
    Robots,
}

/// Networks: name, title, whether they are shown, architecture and learner.
const NETWORKS: [(&str, &str, bool, Architecture, Learner); 5] = [
    ("graph-filter", "graph filter alone", false, Architecture::GraphFilter, Learner::Nobody),
    ("gnn", "GNN alone", true, Architecture::Gnn, Learner::Nobody),
    (OFFLINE, "WD-GNN, as trained", true, Architecture::WdGnn, Learner::Nobody),
    (CENTRALIZED, "WD-GNN, one center learns", false, Architecture::WdGnn, Learner::CentralRule),
    (ONLINE, ONLINE_TITLE, true, Architecture::WdGnn, Learner::Robots),
];

/// Swarms with more robots than this are large: an all-pairs table takes a gigabyte.
pub const LARGE_SWARM_ROBOTS: usize = 5_000;

/// Name of the WD-GNN with online learning on each robot.
pub const ONLINE: &str = "wd-gnn-online";
/// Title of [`ONLINE`] in tables.
pub const ONLINE_TITLE: &str = "WD-GNN, learning in flight";
/// Name of the WD-GNN without online learning.
pub const OFFLINE: &str = "wd-gnn";
/// Name of the WD-GNN with centralized online learning.
pub const CENTRALIZED: &str = "wd-gnn-online-centralised";
/// Name of the controller that totals are compared with, in worlds that have one.
pub const EXPERT: &str = "expert";
/// Name of the baseline that totals are compared with where baselines are tuned.
pub const TUNED_AVERAGING: &str = "tuned-averaging-1-hop";

impl<W: Environment> Controller<W> {
    /// Returns all controllers in table order: shown baselines, networks, other baselines.
    pub fn all() -> Vec<Self> {
        let baselines = || {
            W::baselines().into_iter().map(|baseline| Self {
                name: baseline.name,
                title: baseline.title.into(),
                shown: baseline.shown,
                kind: Kind::Baseline(baseline.make),
            })
        };
        let networks = NETWORKS.into_iter().map(|(name, title, shown, architecture, learner)| Self {
            name,
            title: title.into(),
            shown,
            kind: Kind::Network(architecture, learner),
        });
        baselines()
            .filter(|baseline| baseline.shown)
            .chain(networks)
            .chain(baselines().filter(|baseline| !baseline.shown))
            .collect()
    }

    /// Returns a baseline with searched parameters.
    pub fn tuned(law: TunedBaseline<W>, context: TuningContext<W::Task>, tuning: Tuning) -> Self {
        let Tuning { gain, second } = tuning;
        let second = match law.second {
            Some(SecondParameter::Horizon) => format!(", {:.0} ms", 1000.0 * second),
            Some(SecondParameter::Lattice) => format!(", lattice {second:.3}"),
            None => String::new(),
        };
        let digits = usize::from(gain < 10.0);
        let title = format!("{}, gain {gain:.digits$}{second}", law.title).into();
        Self { name: law.name, title, shown: law.guarded, kind: Kind::Tuned(law, context, tuning) }
    }

    /// Returns the searched parameters of a tuned baseline.
    #[must_use]
    pub fn tuning(&self) -> Option<Tuning> {
        if let Kind::Tuned(.., tuning) = self.kind { Some(tuning) } else { None }
    }

    /// Returns whether the controller is a network.
    #[must_use]
    pub fn is_network(&self) -> bool {
        matches!(self.kind, Kind::Network(..))
    }

    /// Returns the controller with this name.
    pub fn named(name: &str) -> Result<Self> {
        let found = Self::all().into_iter().find(|controller| controller.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::all().iter().map(|controller| controller.name).collect();
            Error::usage(format!("there is no controller {name}: there are {}", names.join(", ")))
        })
    }
}

/// Networks of an evaluation and how they are run.
#[derive(Clone, Debug)]
pub struct EvalConfig<W: Environment> {
    /// Link profile.
    pub profile: Profile,
    /// Models, one per architecture.
    pub models: Vec<ModelFile>,
    /// Step size γ of online learning; `None` for that of each model.
    pub step: Option<f32>,
    /// Step size of the centralized rule relative to γ.
    pub central_step_ratio: f32,
    /// Whether robots use local adaptation where their model has it; the paper's do not.
    pub local_adaptation: bool,
    /// Faults of the radio medium; `None` for message passing without a medium.
    pub faults: Option<Faults>,
    /// Whether swarms are large ([`LARGE_SWARM_ROBOTS`]).
    ///
    /// Large swarms run one after another, and only under the expert and the robots that learn
    /// online. Other controllers keep an all-pairs table.
    pub is_large: bool,
    /// Model of the share of robots with another model, if the faults include one.
    pub other: Option<ModelFile>,
    /// World of the evaluation.
    pub world: W,
    /// Tuned baselines. If there are any, short tables show them instead of the others.
    pub tuned: Vec<Controller<W>>,
}

impl<W: Environment> EvalConfig<W> {
    /// Creates an evaluation of these models with default settings.
    pub fn of(models: Vec<ModelFile>, profile: Profile) -> Self {
        // The centralized gradient is a sum over robots. Each robot's own gradient is about 1/8 of
        // its term, since its loss is a mean over itself and its neighbors.
        let central_step_ratio = 0.125;
        Self {
            profile,
            models,
            step: None,
            central_step_ratio,
            local_adaptation: true,
            faults: None,
            is_large: false,
            other: None,
            world: W::default(),
            tuned: Vec::new(),
        }
    }

    /// Sets the faults for swarms of `robots` robots, and loads another model if they need one.
    pub fn set_faults(&mut self, faults: Option<Faults>, robots: usize) -> Result {
        if let Some(faults) = &faults {
            faults.check_profile(self.profile, robots)?;
        }
        let mixed = faults.as_ref().is_some_and(|faults| faults.mixed_models > 0.0);
        self.other = mixed.then(|| W::other_model(self.profile)).transpose()?;
        self.faults = faults;
        Ok(())
    }

    /// Returns the controllers for which there are models.
    ///
    /// Centralized learning is left out under faults.
    pub fn controllers(&self) -> Vec<Controller<W>> {
        let there = |controller: &Controller<W>| match controller.kind {
            Kind::Baseline(_) | Kind::Tuned(..) => true,
            Kind::Network(architecture, learner) => {
                let center = learner == Learner::CentralRule;
                self.model(architecture).is_some()
                    && !(center && (self.faults.is_some() || W::central_rule().is_none()))
            }
        };
        let few = |controller: &Controller<W>| !self.is_large || [EXPERT, ONLINE].contains(&controller.name);
        let mut all = Controller::all();
        if !self.tuned.is_empty() {
            for controller in &mut all {
                controller.shown &= controller.is_network();
            }
        }
        self.tuned.iter().cloned().chain(all).filter(there).filter(few).collect()
    }

    /// Returns the model of an architecture, if there is one.
    fn model(&self, architecture: Architecture) -> Option<&ModelFile> {
        self.models.iter().find(|model| model.architecture() == architecture)
    }

    /// Adds a model, replacing the one of its architecture.
    pub fn insert_model(&mut self, model: ModelFile) {
        let architecture = model.architecture();
        match self.models.iter_mut().find(|known| known.architecture() == architecture) {
            Some(known) => *known = model,
            None => self.models.push(model),
        }
    }

    /// Describes the models in one line.
    pub fn describe(&self) -> String {
        let words: Vec<String> = self.models.iter().map(ModelFile::describe).collect();
        if words.is_empty() { "none".into() } else { words.join(", ") }
    }

    /// Checks that all models fit the task and the profile.
    pub fn check(&self) -> Result {
        self.models.iter().try_for_each(|model| {
            Network::<W::Task>::of(model, self.profile)?.in_memory::<W::Shapes>(&[]).map(drop)
        })
    }

    /// Returns the task constants of all controllers: those of the first weight file.
    pub fn task(&self) -> Result<W::Task> {
        self.models.first().map_or_else(|| Ok(W::default_task()), networks::task)
    }

    /// Creates a controller for swarm number `swarm` at its start.
    pub fn swarm(
        &self, controller: &Controller<W>, start: &Episode<W>, swarm: u64,
    ) -> Result<SwarmOf<'_, W>> {
        let (architecture, learner) = match &controller.kind {
            Kind::Baseline(make) => return Ok(make(&start.world, &self.task()?)),
            Kind::Tuned(law, context, tuning) => return Ok((law.make)(context, *tuning)),
            Kind::Network(architecture, learner) => (*architecture, *learner),
        };
        let model = self.model(architecture).ok_or_else(|| {
            let (controller, profile) = (&controller.title, self.profile.name());
            Error::usage(format!(
                "there is no {controller} for --profile {profile}: train one with `host-sim train`"
            ))
        })?;
        let mut network = Network::of(model, self.profile)?;
        network.other = self.other.as_ref();
        let rule = &mut network.rule;
        rule.step = self.step.unwrap_or(rule.step);
        if !self.local_adaptation {
            *rule = Learning { bias_step: 0.0, adapts_gain: false, ..*rule };
        }
        network.online = match (learner, W::central_rule()) {
            (Learner::Robots, _) => Online::Decentralized,
            (Learner::CentralRule, Some(center)) => {
                Online::Centralized(network.rule.step * self.central_step_ratio, center)
            }
            _ => Online::Off,
        };
        match &self.faults {
            None => network.in_memory::<W::Shapes>(&start.states),
            Some(faults) => {
                let air = RadioConfig { layout: &W::layout(), faults, swarm, key: KEY };
                network.radio_swarm(&air, start.states.len())
            }
        }
    }
}

impl EvalConfig<Flock> {
    /// Returns an evaluation of the shipped flocking models.
    pub fn shipped(recipe: RecipeName) -> Result<Self> {
        let eval = Self::of(models::all(recipe)?, Profile::Exact);
        // The paper uses one γ for both rules.
        Ok(if recipe == RecipeName::Paper { Self { central_step_ratio: 1.0, ..eval } } else { eval })
    }

    /// Returns an evaluation of the shipped models for a profile.
    ///
    /// Profiles for small radios have WD-GNNs only.
    pub fn for_profile(profile: Profile) -> Result<Self> {
        match profile {
            Profile::Exact => Self::shipped(RecipeName::Through),
            _ => Ok(Self::of(vec![models::for_profile(profile)?], profile)),
        }
    }
}
