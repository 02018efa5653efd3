//! What is to be flown, as it was asked for, and from that a fleet. Asked again with another seed, it is another flight.

use std::sync::Arc;

use pyo3::{exceptions::PyValueError, prelude::*};
use wdgnn_link::security::key::Key;
use wdgnn_sim::{
    air::options::Faults,
    error::{Error, Result},
    flight::Start,
    model::ModelFile,
    profiles::Profile,
    seeds::{Purpose, generator},
    swarm::{networks::Network, on_air::Air, typed::Online},
    world::{Condition, World, coverage::Area, flock::Flock},
};

use crate::{
    fleet::{Fleet, Sortie},
    held::Held,
};

/// Something to do with a world that is known only now.
pub trait WorldVisitor {
    /// What comes out.
    type Output;

    /// Does it.
    fn visit<W: World>(self) -> Self::Output;
}

macro_rules! worlds {
    ($($(#[$only:meta])* $world:ty),+ $(,)?) => {
        /// The tasks there are.
        pub const TASKS: &[&str] = &[$($(#[$only])* <$world as World>::NAME),+];

        /// Calls `visitor` with the world of this name.
        pub fn visit<V: WorldVisitor>(task: &str, visitor: V) -> PyResult<V::Output> {
            $($(#[$only])* if task == <$world as World>::NAME {
                return Ok(visitor.visit::<$world>());
            })+
            let there = TASKS.join(", ");
            Err(PyValueError::new_err(format!("there is no task {task}: there are {there}")))
        }
    };
}

// A task of one's own is a line here.
worlds! {
    Flock<2>,
    Flock<3>,
    Area,
    #[cfg(feature = "rendezvous")] crate::rendezvous::world::Plane,
}

/// The names of link profiles.
pub fn profiles() -> Vec<&'static str> {
    Profile::ALL.iter().map(|profile| profile.name()).collect()
}

/// The profile of this name.
pub fn profile(name: &str) -> PyResult<Profile> {
    let found = Profile::ALL.iter().copied().find(|profile| profile.name() == name);
    found.ok_or_else(|| {
        PyValueError::new_err(format!("there is no profile {name}: there are {}", profiles().join(", ")))
    })
}

/// Which flights' starts: those for training, validation and testing are never the same.
pub fn purpose(name: &str) -> PyResult<Purpose> {
    match name {
        "training" => Ok(Purpose::Training),
        "validation" => Ok(Purpose::Validation),
        "testing" => Ok(Purpose::Testing),
        _ => Err(PyValueError::new_err(format!(
            "there is no purpose {name}: there are training, validation, testing"
        ))),
    }
}

/// The circumstances, as far as somebody has said something about them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Circumstances {
    pub robots: Option<usize>,
    pub radius: Option<f32>,
    pub speed: Option<f32>,
}

/// What is to be flown.
#[derive(Clone, Debug)]
pub struct Order {
    pub circumstances: Circumstances,
    /// None for the network that comes with the task.
    pub model: Option<Arc<ModelFile>>,
    pub controller: String,
    pub profile: Profile,
    pub online: bool,
    pub faults: Option<Faults>,
    pub key: Option<Key>,
    pub seed: u64,
    pub start: u64,
    pub purpose: Purpose,
}

/// The controller that robots have.
pub const NETWORK: &str = "network";

impl WorldVisitor for &Order {
    type Output = Result<Box<dyn Fleet>>;

    fn visit<W: World>(self) -> Self::Output {
        let usual = W::condition();
        let Circumstances { robots, radius, speed } = self.circumstances;
        let condition = Condition {
            robots: robots.unwrap_or(usual.robots),
            radius: radius.unwrap_or(usual.radius),
            speed: speed.unwrap_or(usual.speed),
            ticks: usual.ticks,
        };
        condition.check()?;
        self.profile.check_robots(condition.robots)?;
        let mut random = generator(self.seed, self.purpose, self.start);
        let start = Start::<W>::draw(&W::default(), &condition, &mut random)?;
        if self.controller == NETWORK {
            return self.network(&start);
        }
        if self.faults.is_some() || self.key.is_some() {
            return Err(Error::usage("faults and a key are for the controller network alone"));
        }
        let task = W::task();
        let rivals = W::rivals();
        let Some(rival) = rivals.iter().find(|rival| rival.name == self.controller) else {
            let names: Vec<&str> = rivals.iter().map(|rival| rival.name).collect();
            let (controller, there) = (&self.controller, names.join(", "));
            return Err(Error::usage(format!(
                "there is no controller {controller}: there are {NETWORK}, {there}"
            )));
        };
        let held = Held::alone((rival.make)(&start.world, &task));
        Ok(Box::new(Sortie::new(&start, task, held, None)))
    }
}

impl Order {
    fn network<W: World>(&self, start: &Start<W>) -> Result<Box<dyn Fleet>> {
        let model = match &self.model {
            Some(model) => model.clone(),
            None => Arc::new(W::model(self.profile)?),
        };
        self.profile.check(&model)?;
        let robots = start.states.len();
        let faults = Faults { seed: self.seed, ..self.faults.clone().unwrap_or_default() };
        faults.check(robots, u32::MAX)?;
        faults.check_profile(self.profile, robots)?;
        let task = Network::<W::Task>::of(&model, self.profile)?.task;
        let held = Held::over(model.clone(), |model| {
            let mut network = Network::<W::Task>::of(model, self.profile)?;
            if !self.online {
                network.online = Online::Off;
            }
            if self.faults.is_none() && self.key.is_none() {
                return network.typed::<W::Shapes>(&start.states);
            }
            let (layout, key) = (W::layout(), self.key.unwrap_or_default());
            let air = Air { layout: &layout, faults: &faults, swarm: self.start, key };
            network.native(&air, robots, self.key.is_some())
        })?;
        Ok(Box::new(Sortie::new(start, task, held, Some(&model))))
    }
}
