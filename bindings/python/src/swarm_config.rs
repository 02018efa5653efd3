//! Configuration of a swarm, and the swarm that it describes.

use std::sync::Arc;

use pyo3::{exceptions::PyValueError, prelude::*};
use wdgnn_link::security::key::Key;
use wdgnn_sim::{
    episode::Episode,
    error::{Error, Result},
    medium::options::Faults,
    model::ModelFile,
    profiles::Profile,
    seeds::{Purpose, generator},
    swarm::{in_memory::Online, networks::Network, radio_swarm::RadioConfig},
    world::{
        Environment, Scenario, World,
        flock::{Flock, body::BodyConfig},
    },
};

use crate::{
    faults::ActuatorFaults,
    guard::GuardSettings,
    owned_swarm::OwnedSwarm,
    running_swarm::{RunningSwarm, TypedSwarm},
};

/// Operation on a world that is chosen at run time.
pub trait WorldVisitor {
    /// Result of the operation.
    type Output;

    /// Runs the operation for the world `W`.
    fn visit<W: Environment>(self) -> Self::Output;
}

macro_rules! worlds {
    ($($(#[$only:meta])* $world:ty),+ $(,)?) => {
        /// Names of all tasks.
        pub const TASKS: &[&str] = &[$($(#[$only])* <$world as World>::NAME),+];

        /// Calls `visitor` with the world of this task.
        pub fn visit<V: WorldVisitor>(task: &str, visitor: V) -> PyResult<V::Output> {
            $($(#[$only])* if task == <$world as World>::NAME {
                return Ok(visitor.visit::<$world>());
            })+
            Err(PyValueError::new_err(format!("unknown task {task}, use one of {}", TASKS.join(", "))))
        }
    };
}

// To add a task, add its world to this list.
worlds! {
    Flock<2>,
    Flock<3>,
    #[cfg(feature = "rendezvous")] crate::rendezvous::world::Plane,
}

/// Names of all link profiles.
pub fn profiles() -> Vec<&'static str> {
    Profile::ALL.iter().map(|profile| profile.name()).collect()
}

/// Link profile with this name.
pub fn profile(name: &str) -> PyResult<Profile> {
    let found = Profile::ALL.iter().copied().find(|profile| profile.name() == name);
    found.ok_or_else(|| {
        PyValueError::new_err(format!("unknown profile {name}, use one of {}", profiles().join(", ")))
    })
}

/// Set of starts with this name. The three sets are disjoint.
pub fn purpose(name: &str) -> PyResult<Purpose> {
    match name {
        "training" => Ok(Purpose::Training),
        "validation" => Ok(Purpose::Validation),
        "testing" => Ok(Purpose::Testing),
        _ => Err(PyValueError::new_err(format!(
            "unknown purpose {name}, use one of training, validation, testing"
        ))),
    }
}

/// Conditions that replace the defaults of the task. Range in m, speed in m/s.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConditionOverrides {
    pub robots: Option<usize>,
    pub radius: Option<f32>,
    pub speed: Option<f32>,
}

/// Configuration of a swarm.
#[derive(Clone, Debug)]
pub struct SwarmConfig {
    pub condition: ConditionOverrides,
    /// `None` selects the network that is shipped for the task.
    pub model: Option<Arc<ModelFile>>,
    pub controller: String,
    pub profile: Profile,
    pub online: bool,
    pub faults: Option<Faults>,
    pub actuators: ActuatorFaults,
    pub body: Option<BodyConfig>,
    pub guard: GuardSettings,
    pub key: Option<Key>,
    pub seed: u64,
    pub start: u64,
    pub purpose: Purpose,
}

/// Name of the controller with a network.
pub const NETWORK: &str = "network";

impl WorldVisitor for &SwarmConfig {
    type Output = Result<Box<dyn RunningSwarm>>;

    fn visit<W: Environment>(self) -> Self::Output {
        let mut world = self.actuators.world::<W>()?;
        self.body.map_or(Ok(()), |body| world.set_body(body))?;
        let defaults = world.scenario();
        let ConditionOverrides { robots, radius, speed } = self.condition;
        let condition = Scenario {
            robots: robots.unwrap_or(defaults.robots),
            radius: radius.unwrap_or(defaults.radius),
            speed: speed.unwrap_or(defaults.speed),
            ticks: defaults.ticks,
        };
        condition.check()?;
        self.profile.check_robots(condition.robots)?;
        let mut random = generator(self.seed, self.purpose, self.start);
        let start = Episode::<W>::draw(&world, &condition, &mut random)?;
        if self.controller == NETWORK {
            return self.network(&start);
        }
        if self.faults.is_some() || self.key.is_some() {
            return Err(Error::usage("faults and key need the controller network"));
        }
        let task = self.guard.task(W::default_task())?;
        let baselines = W::baselines();
        let Some(rival) = baselines.iter().find(|rival| rival.name == self.controller) else {
            let names: Vec<&str> = baselines.iter().map(|rival| rival.name).collect();
            let (controller, names) = (&self.controller, names.join(", "));
            return Err(Error::usage(format!(
                "unknown controller {controller}, use one of {NETWORK}, {names}"
            )));
        };
        let swarm = OwnedSwarm::without_weights((rival.make)(&start.world, &task));
        Ok(Box::new(TypedSwarm::new(&start, task, swarm, None)))
    }
}

impl SwarmConfig {
    /// Swarm with the network as controller.
    fn network<W: Environment>(&self, start: &Episode<W>) -> Result<Box<dyn RunningSwarm>> {
        let model = match &self.model {
            Some(model) => ModelFile::clone(model),
            None => start.world.own_model(self.profile)?,
        };
        let model = Arc::new(self.guard.model::<W::Task>(model)?);
        self.profile.check(&model)?;
        let robots = start.states.len();
        let faults = Faults { seed: self.seed, ..self.faults.clone().unwrap_or_default() };
        faults.check(robots, u32::MAX)?;
        faults.check_profile(self.profile, robots)?;
        let task = Network::<W::Task>::of(&model, self.profile)?.task;
        let swarm = OwnedSwarm::with_weights(model.clone(), |model| {
            let mut network = Network::<W::Task>::of(model, self.profile)?;
            if !self.online {
                network.online = Online::Off;
            }
            if self.faults.is_none() && self.key.is_none() {
                return network.in_memory::<W::Shapes>(&start.states);
            }
            let (layout, key) = (W::layout(), self.key.unwrap_or_default());
            let air = RadioConfig { layout: &layout, faults: &faults, swarm: self.start, key };
            network.native(&air, robots, self.key.is_some())
        })?;
        Ok(Box::new(TypedSwarm::new(start, task, swarm, Some(&model))))
    }
}
