//! Who is compared: those that a world has, and networks. One row each.

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
        networks::{self, Network},
        radio_swarm::{KEY, RadioConfig},
        typed::Online,
    },
    world::{SwarmOf, World, flock::Flock},
};

/// A row of a comparison.
#[derive(Clone, Debug)]
pub struct Controller<W: World> {
    /// The name in JSON and CSV.
    pub name: &'static str,
    /// The name in tables.
    pub title: &'static str,
    /// Whether short tables and pages show it.
    pub shown: bool,
    kind: Kind<W>,
}

#[derive(Clone, Debug)]
enum Kind<W: World> {
    /// Somebody without a network.
    Baseline(fn(&W, &W::Task) -> SwarmOf<'static, W>),
    /// A network.
    Network(Architecture, Learner),
}

/// Who trains a network in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Learner {
    Nobody,
    CentralRule,
    Robots,
}

/// Rows of networks: name, title, whether it is shown, architecture and learner.
const NETWORKS: [(&str, &str, bool, Architecture, Learner); 5] = [
    ("graph-filter", "graph filter alone", false, Architecture::GraphFilter, Learner::Nobody),
    ("gnn", "GNN alone", true, Architecture::Gnn, Learner::Nobody),
    (OFFLINE, "WD-GNN, as trained", true, Architecture::WdGnn, Learner::Nobody),
    (CENTRALIZED, "WD-GNN, one center learns", false, Architecture::WdGnn, Learner::CentralRule),
    (ONLINE, ONLINE_TITLE, true, Architecture::WdGnn, Learner::Robots),
];

/// More robots than this are many: a table of everybody by everybody takes a gigabyte.
pub const LARGE_SWARM_ROBOTS: usize = 5_000;

/// Name of the WD-GNN whose robots learn in flight.
pub const ONLINE: &str = "wd-gnn-online";
/// Title of [`ONLINE`] in tables.
pub const ONLINE_TITLE: &str = "WD-GNN, learning in flight";
/// Name of the WD-GNN as it was trained.
pub const OFFLINE: &str = "wd-gnn";
/// Name of the WD-GNN for which one center learns in flight.
pub const CENTRALIZED: &str = "wd-gnn-online-centralised";
/// Name of the controller that totals are compared with, in worlds that have one.
pub const EXPERT: &str = "expert";

impl<W: World> Controller<W> {
    /// Everybody there is, in the order of the table: those that the page shows, networks, and the rest.
    pub fn all() -> Vec<Self> {
        let baselines = || {
            W::baselines().into_iter().map(|baseline| Self {
                name: baseline.name,
                title: baseline.title,
                shown: baseline.shown,
                kind: Kind::Baseline(baseline.make),
            })
        };
        let networks = NETWORKS.into_iter().map(|(name, title, shown, architecture, learner)| Self {
            name,
            title,
            shown,
            kind: Kind::Network(architecture, learner),
        });
        baselines()
            .filter(|baseline| baseline.shown)
            .chain(networks)
            .chain(baselines().filter(|baseline| !baseline.shown))
            .collect()
    }

    /// Whether it flies a network.
    #[must_use]
    pub fn is_network(&self) -> bool {
        matches!(self.kind, Kind::Network(..))
    }

    /// The one of this name.
    pub fn named(name: &str) -> Result<Self> {
        let found = Self::all().into_iter().find(|controller| controller.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::all().iter().map(|controller| controller.name).collect();
            Error::usage(format!("there is no controller {name}: there are {}", names.join(", ")))
        })
    }
}

/// The networks that are flown, and how.
#[derive(Clone, Debug)]
pub struct EvalConfig<W: World> {
    /// The link profile.
    pub profile: Profile,
    /// One model per architecture that is flown.
    pub models: Vec<ModelFile>,
    /// Overrides the models' own online step size γ.
    pub step: Option<f32>,
    /// The centralised rule's step size relative to γ.
    pub central_step_ratio: f32,
    /// Whether robots keep a personal part and heed what came of their commands, where their model says so; the paper's do not.
    pub personal: bool,
    /// Fly through the air byte by byte, sealed, with these faults.
    pub faults: Option<Faults>,
    /// Swarms of so many robots ([`MANY_ROBOTS`]) that only the expert and the robots that learn in flight are flown, one after the
    /// other: others keep a table of everybody by everybody.
    pub many: bool,
    /// The weight file of those robots that fly another one, by the faults' share.
    pub other: Option<ModelFile>,
    /// The world.
    pub world: W,
}

impl<W: World> EvalConfig<W> {
    /// With these models.
    pub fn of(models: Vec<ModelFile>, profile: Profile) -> Self {
        // The centre's gradient is a sum of which every robot's own is only about an eighth: its loss is a mean over itself and its
        // neighbours.
        let central_step_ratio = 0.125;
        Self {
            profile,
            models,
            step: None,
            central_step_ratio,
            personal: true,
            faults: None,
            many: false,
            other: None,
            world: W::default(),
        }
    }

    /// Has so many robots fly with these faults, with another model where they ask for one.
    pub fn set_faults(&mut self, faults: Option<Faults>, robots: usize) -> Result {
        if let Some(faults) = &faults {
            faults.check_profile(self.profile, robots)?;
        }
        let mixed = faults.as_ref().is_some_and(|faults| faults.other_models > 0.0);
        self.other = mixed.then(|| W::other_model(self.profile)).transpose()?;
        self.faults = faults;
        Ok(())
    }

    /// The controllers that there are models for. A centre that sees everything has no part in an air with faults.
    pub fn controllers(&self) -> Vec<Controller<W>> {
        let there = |controller: &Controller<W>| match controller.kind {
            Kind::Baseline(_) => true,
            Kind::Network(architecture, learner) => {
                let center = learner == Learner::CentralRule;
                self.model(architecture).is_some()
                    && !(center && (self.faults.is_some() || W::central_rule().is_none()))
            }
        };
        let few = |controller: &Controller<W>| !self.many || [EXPERT, ONLINE].contains(&controller.name);
        Controller::all().into_iter().filter(there).filter(few).collect()
    }

    /// The model of an architecture, if there is one.
    fn model(&self, architecture: Architecture) -> Option<&ModelFile> {
        self.models.iter().find(|model| model.architecture() == architecture)
    }

    /// Flies a model in place of the one of the same architecture.
    pub fn put(&mut self, model: ModelFile) {
        let architecture = model.architecture();
        match self.models.iter_mut().find(|known| known.architecture() == architecture) {
            Some(known) => *known = model,
            None => self.models.push(model),
        }
    }

    /// The models, for people.
    pub fn words(&self) -> String {
        let words: Vec<String> = self.models.iter().map(ModelFile::words).collect();
        if words.is_empty() { "none".into() } else { words.join(", ") }
    }

    /// Models must be usable networks for this task and profile before anything is flown.
    pub fn check(&self) -> Result {
        self.models.iter().try_for_each(|model| {
            Network::<W::Task>::of(model, self.profile)?.typed::<W::Shapes>(&[]).map(drop)
        })
    }

    /// The task constants that everybody flies under: those of the first weight file.
    pub fn task(&self) -> Result<W::Task> {
        self.models.first().map_or_else(|| Ok(W::task()), networks::task)
    }

    /// Somebody for swarm number `swarm` at its start.
    pub fn swarm(
        &self,
        controller: &Controller<W>,
        start: &Episode<W>,
        swarm: u64,
    ) -> Result<SwarmOf<'_, W>> {
        let (architecture, learner) = match controller.kind {
            Kind::Baseline(make) => return Ok(make(&start.world, &self.task()?)),
            Kind::Network(architecture, learner) => (architecture, learner),
        };
        let model = self.model(architecture).ok_or_else(|| {
            let (controller, profile) = (controller.title, self.profile.name());
            Error::usage(format!(
                "there is no {controller} for --profile {profile}: train one with `host-sim train`"
            ))
        })?;
        let mut network = Network::of(model, self.profile)?;
        network.other = self.other.as_ref();
        let rule = &mut network.rule;
        rule.step = self.step.unwrap_or(rule.step);
        if !self.personal {
            *rule = Learning { personal_step: 0.0, heeds: false, ..*rule };
        }
        network.online = match (learner, W::central_rule()) {
            (Learner::Robots, _) => Online::Decentralized,
            (Learner::CentralRule, Some(center)) => {
                Online::Centralized(network.rule.step * self.central_step_ratio, center)
            }
            _ => Online::Off,
        };
        match &self.faults {
            None => network.typed::<W::Shapes>(&start.states),
            Some(faults) => {
                let air = RadioConfig { layout: &W::layout(), faults, swarm, key: KEY };
                network.radio_swarm(&air, start.states.len())
            }
        }
    }
}

impl EvalConfig<Flock> {
    /// The flocking models that come with the program.
    pub fn shipped(recipe: RecipeName) -> Result<Self> {
        let eval = Self::of(models::all(recipe)?, Profile::Exact);
        // The paper uses one γ for both rules; ours gives the centre its share.
        Ok(if recipe == RecipeName::Paper { Self { central_step_ratio: 1.0, ..eval } } else { eval })
    }

    /// Those for a link profile: nothing but WD-GNNs was trained for small radios.
    pub fn of_profile(recipe: RecipeName, profile: Profile) -> Result<Self> {
        match profile {
            Profile::Exact => Self::shipped(recipe),
            _ => Ok(Self::of(vec![models::of_profile(recipe, profile)?], profile)),
        }
    }
}
