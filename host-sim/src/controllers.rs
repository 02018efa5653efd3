//! The controllers that are compared: two that know everything, and the networks.

use wdgnn_core::{
    Network, Task as _,
    behaviour::Behaviour,
    flocking::{self, Flocking, Motion},
    online::Learning,
    wide::Folded,
};

use crate::{
    air::{
        self,
        medium::Blueprint,
        options::{Faults, Trust},
        swarm::AirSwarm,
    },
    baselines::{Guarded, Hearsay},
    error::{Error, Result},
    expert::{Expert, Limit},
    flight::Pilot,
    model::ModelFile,
    models,
    profiles::{self, LinkCodec, LinkVisitor, Profile},
    shapes::{Dimensions, FEATURES, OUTPUTS, Shape},
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
    /// The centre under the networks' guard.
    LimitGuarded,
    /// The expert under the networks' guard.
    ExpertGuarded,
    /// Braking to the mean of what is known over so many hops, under the networks' guard.
    Averaging(u8),
    /// Braking to the mean of everything that has travelled here, one hop per tick, under the networks' guard.
    Flooding,
}

impl Controller {
    /// What a network has to be held against, in the order of the table: nothing here learns, everything is under the same guard.
    pub const BASELINES: [Self; 7] = [
        Self::LimitGuarded,
        Self::Flooding,
        Self::Averaging(6),
        Self::Averaging(3),
        Self::Averaging(2),
        Self::Averaging(1),
        Self::ExpertGuarded,
    ];

    /// Those of the paper and its bound, in the order of the table.
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
            Self::LimitGuarded => "limit-guarded",
            Self::ExpertGuarded => "expert-guarded",
            Self::Averaging(1) => "averaging-1-hop",
            Self::Averaging(2) => "averaging-2-hops",
            Self::Averaging(3) => "averaging-3-hops",
            Self::Averaging(_) => "averaging-6-hops",
            Self::Flooding => "flooding",
        }
    }

    /// The name in tables.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Limit => "centre, no guard (bound)",
            Self::Expert => "expert (centralised)",
            Self::WdGnn => "WD-GNN",
            Self::WdGnnOnlineCentralised => "WD-GNN online, centralised",
            Self::WdGnnOnline => "WD-GNN online",
            Self::Gnn => "GNN",
            Self::GraphFilter => "graph filter",
            Self::LimitGuarded => "centre + guard (bound)",
            Self::ExpertGuarded => "expert + guard",
            Self::Averaging(1) => "averaging, 1 hop + guard",
            Self::Averaging(2) => "averaging, 2 hops + guard",
            Self::Averaging(3) => "averaging, 3 hops + guard",
            Self::Averaging(_) => "averaging, 6 hops + guard",
            Self::Flooding => "flooding + guard (local floor)",
        }
    }

    /// Total and final velocity variation in the paper's Table 1, mean and standard deviation.
    #[must_use]
    pub fn paper(self) -> Option<[(f64, f64); 2]> {
        match self {
            Self::Limit | Self::LimitGuarded | Self::ExpertGuarded | Self::Averaging(_) | Self::Flooding => {
                None
            }
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
            Self::WdGnn | Self::WdGnnOnlineCentralised | Self::WdGnnOnline => Some(Architecture::WdGnn),
            Self::Gnn => Some(Architecture::Gnn),
            Self::GraphFilter => Some(Architecture::GraphFilter),
            _ => None,
        }
    }
}

/// The networks that are flown, and how.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// The link profile.
    pub profile: Profile,
    /// One model per architecture, in the order of [`Architecture::ALL`]; those at the end may be missing.
    pub models: Vec<ModelFile>,
    /// Overrides the models' own online step size γ.
    pub step: Option<f32>,
    /// The centralised rule's step size relative to γ.
    pub centralised: f32,
    /// Whether robots keep a personal part and heed what came of their commands, where their model says so; the paper's do not.
    pub personal: bool,
    /// Fly through the air byte by byte, sealed, with these faults.
    pub faults: Option<Faults>,
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
            RecipeName::Ours | RecipeName::Through => 0.125,
            RecipeName::Paper => 1.0,
        };
        let models = models::fleet(recipe)?.into();
        Ok(Self { profile: Profile::Exact, models, step: None, centralised, personal: true, faults: None })
    }

    /// The WD-GNN that comes with the program for a link profile: nothing else was trained for small radios.
    ///
    /// # Errors
    /// As [`Fleet::shipped`].
    pub fn of_profile(profile: Profile) -> Result<Self> {
        match profile {
            Profile::Exact => Self::shipped(RecipeName::Ours),
            _ => Ok(Self {
                profile,
                models: vec![models::of_profile(profile)?],
                ..Self::shipped(RecipeName::Ours)?
            }),
        }
    }

    /// The same, of those that were trained through the simulator.
    ///
    /// # Errors
    /// As [`Fleet::shipped`].
    pub fn through(profile: Profile) -> Result<Self> {
        let fleet = Self::shipped(RecipeName::Through)?;
        match profile {
            Profile::Exact => Ok(fleet),
            _ => Ok(Self { profile, models: vec![models::through(profile)?], ..fleet }),
        }
    }

    /// The controllers that this fleet has models for. A centre that sees everything has no part in an air with faults.
    #[must_use]
    pub fn controllers(&self) -> Vec<Controller> {
        let there = |controller: &Controller| {
            (controller.architecture().is_none() || self.model(*controller).is_some())
                && !(self.faults.is_some() && *controller == Controller::WdGnnOnlineCentralised)
        };
        Controller::ALL.into_iter().filter(there).collect()
    }

    /// The model that a controller flies, if it flies one, and if there is one.
    fn model(&self, controller: Controller) -> Option<&ModelFile> {
        let architecture = controller.architecture()?;
        let index = Architecture::ALL.iter().position(|&other| other == architecture)?;
        self.models.get(index)
    }

    /// Models must be usable flocking networks for this profile before anything is flown.
    ///
    /// # Errors
    /// [`crate::error::Error::Model`] or [`crate::error::Error::Usage`].
    pub fn check(&self) -> Result {
        self.models.iter().try_for_each(|model| {
            self.profile.check(model)?;
            self.network(model, Learning::OFF, Online::Off, &[], 0).map(drop)
        })
    }

    /// The task constants that everybody flies under: those of the WD-GNN's weight file.
    ///
    /// # Errors
    /// [`crate::error::Error::Model`] when that file is for another task.
    pub fn task(&self) -> Result<Flocking> {
        task(&self.models[0])
    }

    /// A pilot for swarm number `swarm` at its start.
    ///
    /// # Errors
    /// [`crate::error::Error::Model`] when a model does not fit.
    pub fn pilot<'a>(
        &'a self,
        controller: Controller,
        start: &[Motion],
        swarm: u64,
    ) -> Result<Box<dyn Pilot + 'a>> {
        let task = self.task()?;
        match controller {
            Controller::Limit => {
                return Ok(Box::new(Limit { limit: task.limit, period: task.period }));
            }
            Controller::Expert => return Ok(Box::new(Expert { limit: task.limit, potential: true })),
            Controller::LimitGuarded => {
                let wishes = Limit { limit: task.limit, period: task.period };
                return Ok(Box::new(Guarded { wishes, task }));
            }
            Controller::ExpertGuarded => {
                return Ok(Box::new(Guarded { wishes: Expert { limit: task.limit, potential: true }, task }));
            }
            Controller::Averaging(hops) => {
                let wishes = Hearsay::new(Some(hops.into()), task.period);
                return Ok(Box::new(Guarded { wishes, task }));
            }
            Controller::Flooding => {
                return Ok(Box::new(Guarded { wishes: Hearsay::new(None, task.period), task }));
            }
            _ => {}
        }
        let model = self.model(controller).ok_or_else(|| {
            let (controller, profile) = (controller.title(), self.profile.name());
            Error::usage(format!(
                "there is no {controller} for --profile {profile}: train one with `host-sim train`"
            ))
        })?;
        let mut rule = model.weights().header.learning;
        rule.step = self.step.unwrap_or(rule.step);
        if !self.personal {
            rule = Learning { personal_step: 0.0, heeds: false, ..rule };
        }
        let online = match controller {
            Controller::WdGnnOnline => Online::Decentralised,
            Controller::WdGnnOnlineCentralised => Online::Centralised(rule.step * self.centralised),
            _ => Online::Off,
        };
        self.network(model, rule, online, start, swarm)
    }

    fn network<'a>(
        &'a self,
        model: &'a ModelFile,
        rule: Learning,
        online: Online,
        start: &[Motion],
        swarm: u64,
    ) -> Result<Box<dyn Pilot + 'a>> {
        let dimensions = Dimensions::of(&model.weights().header);
        let plan = MakePilot { model, task: task(model)?, rule, online, start };
        match &self.faults {
            None => profiles::visit(self.profile, dimensions, plan)?,
            Some(faults) => {
                profiles::visit_compact(self.profile, dimensions, MakeAirPilot { plan, faults, swarm })?
            }
        }
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

struct MakePilot<'a, 'b> {
    model: &'a ModelFile,
    task: Flocking,
    rule: Learning,
    online: Online,
    start: &'b [Motion],
}

impl<'a> MakePilot<'a, '_> {
    /// How every robot behaves: at the exchange rate that the model was trained for, which the profile has room for.
    fn behaviour(&self, learning: Learning) -> Behaviour {
        Behaviour::new(learning).every(self.model.weights().header.interval.into())
    }

    /// The network, and the rule by which every robot learns.
    fn network<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(
        &self,
    ) -> Result<(Folded<'a, FEATURES, TAPS, G, OUTPUTS, S::Deep<'a>>, Learning)> {
        let network =
            Network::from_weights(&self.model.weights()).map_err(|source| self.model.unusable(source))?;
        let learning = if self.online == Online::Decentralised {
            self.rule
        } else {
            Learning { through_clamp: self.rule.through_clamp, ..Learning::OFF }
        };
        Ok((Folded::new(network, self.rule.metric), learning))
    }
}

impl<'a> LinkVisitor for MakePilot<'a, '_> {
    type Output = Result<Box<dyn Pilot + 'a>>;

    fn visit<S: Shape<TAPS, G>, const TAPS: usize, const G: usize, P: LinkCodec>(self) -> Self::Output {
        let (network, learning) = self.network::<S, TAPS, G>()?;
        let behaviour = self.behaviour(learning);
        let checksum = self.model.weights().checksum;
        let swarm = Swarm::<_, P>::new(network, self.task, checksum, behaviour, self.online, self.start);
        Ok(Box::new(swarm))
    }
}

/// A swarm behind radios with faults.
struct MakeAirPilot<'a, 'b> {
    plan: MakePilot<'a, 'b>,
    faults: &'b Faults,
    swarm: u64,
}

impl<'a> LinkVisitor for MakeAirPilot<'a, '_> {
    type Output = Result<Box<dyn Pilot + 'a>>;

    fn visit<S: Shape<TAPS, G>, const TAPS: usize, const G: usize, P: LinkCodec>(self) -> Self::Output {
        let Self { plan, faults, swarm } = self;
        let (model, learning) = plan.network::<S, TAPS, G>()?;
        let behaviour = plan.behaviour(learning);
        let behaviour = match faults.trust {
            Trust::Robust => behaviour.robust(),
            Trust::AsTrained => behaviour,
            Trust::Plain => behaviour.plain(),
        };
        let checksum = plan.model.weights().checksum;
        let blueprint = Blueprint { model, task: plan.task, checksum, behaviour, key: air::swarm::KEY };
        let learns = plan.online != Online::Off;
        Ok(Box::new(AirSwarm::<_, P>::new(blueprint, faults, swarm, learns, plan.start)))
    }
}
