//! The controllers that are compared: two that know everything, and the networks.

use wdgnn_core::{
    Network,
    flocking::{self, Flocking, Motion},
    node::Behaviour,
    online::Learning,
    wide::Folded,
};

use crate::{
    error::Result,
    expert::{Expert, Limit},
    flight::Pilot,
    model::ModelFile,
    models,
    shapes::{self, Dimensions, Shape, Visitor},
    swarm::{Online, Swarm},
    train::recipe::{Architecture, RecipeName},
};

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Controller {
    /// The physical limit.
    Limit,
    /// The paper's centralised expert.
    Expert,
    /// WD-GNN as trained.
    WdGnn,
    /// WD-GNN retrained in flight by a centre.
    WdGnnOnlineCentralised,
    /// WD-GNN retrained in flight by the robots themselves.
    WdGnnOnline,
    /// GNN as trained.
    Gnn,
    /// Graph filter as trained.
    GraphFilter,
}

impl Controller {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 7] = [
        Self::Limit,
        Self::Expert,
        Self::WdGnn,
        Self::WdGnnOnlineCentralised,
        Self::WdGnnOnline,
        Self::Gnn,
        Self::GraphFilter,
    ];

    /// The name in JSON and CSV.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Limit => "limit",
            Self::Expert => "expert",
            Self::WdGnn => "wd-gnn",
            Self::WdGnnOnlineCentralised => "wd-gnn-online-centralised",
            Self::WdGnnOnline => "wd-gnn-online",
            Self::Gnn => "gnn",
            Self::GraphFilter => "graph-filter",
        }
    }

    /// The name in tables.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Limit => "physical limit",
            Self::Expert => "expert (centralised)",
            Self::WdGnn => "WD-GNN",
            Self::WdGnnOnlineCentralised => "WD-GNN online, centralised",
            Self::WdGnnOnline => "WD-GNN online",
            Self::Gnn => "GNN",
            Self::GraphFilter => "graph filter",
        }
    }

    /// Total and final velocity variation in the paper's Table 1, mean and standard deviation.
    #[must_use]
    pub fn paper(self) -> Option<[(f64, f64); 2]> {
        match self {
            Self::Limit => None,
            Self::Expert => Some([(52.0, 2.0), (0.0035, 0.0001)]),
            Self::WdGnn => Some([(84.0, 5.0), (0.0119, 0.0032)]),
            Self::WdGnnOnlineCentralised => Some([(79.0, 4.0), (0.0065, 0.0028)]),
            Self::WdGnnOnline => Some([(82.0, 4.0), (0.0069, 0.0023)]),
            Self::Gnn => Some([(95.0, 6.0), (0.0153, 0.0030)]),
            Self::GraphFilter => Some([(428.0, 105.0), (1.8, 1.1)]),
        }
    }

    /// The network that it flies, if any.
    #[must_use]
    pub fn architecture(self) -> Option<Architecture> {
        match self {
            Self::Limit | Self::Expert => None,
            Self::WdGnn | Self::WdGnnOnlineCentralised | Self::WdGnnOnline => Some(Architecture::WdGnn),
            Self::Gnn => Some(Architecture::Gnn),
            Self::GraphFilter => Some(Architecture::GraphFilter),
        }
    }
}

/// The networks that are flown, and how.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// One model per architecture, in the order of [`Architecture::ALL`].
    pub models: [ModelFile; 3],
    /// Overrides the models' own online step size γ.
    pub step: Option<f32>,
    /// The centralised rule's step size relative to γ.
    pub centralised: f32,
}

impl Fleet {
    /// The models that come with the program.
    ///
    /// The centre's gradient is a sum of which every robot's own is only about an eighth: its loss is a mean over itself and
    /// its neighbours. The paper uses one γ for both; ours gives the centre its share.
    ///
    /// # Errors
    /// [`crate::error::Error::Model`] when the program was built with damaged ones.
    pub fn shipped(recipe: RecipeName) -> Result<Self> {
        let centralised = match recipe {
            RecipeName::Ours => 0.125,
            RecipeName::Paper => 1.0,
        };
        Ok(Self { models: models::fleet(recipe)?, step: None, centralised })
    }

    /// The task constants that everybody flies under: those of the WD-GNN's weight file.
    ///
    /// # Errors
    /// [`crate::error::Error::Model`] when that file is for another task.
    pub fn task(&self) -> Result<Flocking> {
        task(&self.models[0])
    }

    /// A pilot for a swarm at its start.
    ///
    /// # Errors
    /// [`crate::error::Error::Model`] when a model does not fit.
    pub fn pilot<'a>(&'a self, controller: Controller, start: &[Motion]) -> Result<Box<dyn Pilot + 'a>> {
        let task = self.task()?;
        let Some(architecture) = controller.architecture() else {
            return Ok(match controller {
                Controller::Limit => Box::new(Limit { limit: task.limit, period: task.period }),
                _ => Box::new(Expert { limit: task.limit }),
            });
        };
        let index = Architecture::ALL.iter().position(|&other| other == architecture).unwrap_or_default();
        let model = &self.models[index];
        let mut rule = model.weights().header.learning;
        rule.step = self.step.unwrap_or(rule.step);
        let online = match controller {
            Controller::WdGnnOnline => Online::Decentralised,
            Controller::WdGnnOnlineCentralised => Online::Centralised(rule.step * self.centralised),
            _ => Online::Off,
        };
        network_pilot(model, rule, online, start)
    }
}

/// The flocking constants of a weight file.
///
/// # Errors
/// [`crate::error::Error::Model`] when it is for another task.
pub fn task(model: &ModelFile) -> Result<Flocking> {
    let weights = model.weights();
    let settings = weights.expect_task(flocking::TASK).map_err(|source| model.unusable(source))?;
    Ok(Flocking::from_settings(settings))
}

/// A swarm that flies a weight file under an online rule.
///
/// # Errors
/// [`crate::error::Error::Model`] when it does not fit, [`crate::error::Error::Usage`] when this build has no such shape.
pub fn network_pilot<'a>(
    model: &'a ModelFile,
    rule: Learning,
    online: Online,
    start: &[Motion],
) -> Result<Box<dyn Pilot + 'a>> {
    let task = task(model)?;
    let dimensions = Dimensions::of(&model.weights().header);
    shapes::visit(dimensions, MakePilot { model, task, rule, online, start })?
}

struct MakePilot<'a, 'b> {
    model: &'a ModelFile,
    task: Flocking,
    rule: Learning,
    online: Online,
    start: &'b [Motion],
}

impl<'a> Visitor for MakePilot<'a, '_> {
    type Output = Result<Box<dyn Pilot + 'a>>;

    fn visit<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(self) -> Self::Output {
        let weights = self.model.weights();
        let network: Network<'a, { shapes::FEATURES }, TAPS, G, { shapes::OUTPUTS }, S::Deep<'a>> =
            Network::from_weights(&weights).map_err(|source| self.model.unusable(source))?;
        let learning = if self.online == Online::Decentralised {
            self.rule
        } else {
            Learning { through_clamp: self.rule.through_clamp, ..Learning::OFF }
        };
        let folded = Folded::new(network, self.rule.metric);
        let behaviour = Behaviour::new(learning);
        Ok(Box::new(Swarm::new(folded, self.task, weights.model, behaviour, self.online, self.start)))
    }
}

/// A model must be a usable flocking network before anything is flown.
///
/// # Errors
/// [`crate::error::Error::Model`] or [`crate::error::Error::Usage`].
pub fn check(model: &ModelFile) -> Result<()> {
    network_pilot(model, Learning::OFF, Online::Off, &[]).map(drop)
}
