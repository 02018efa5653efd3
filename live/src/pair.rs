//! Two swarms from the same start, with the same done to them.

use wdgnn_core::task::NodeId;
use wdgnn_sim::{
    error::{Error, Result},
    model::ModelFile,
    world::{Scenario, World, coverage::Area, flock::Flock},
};

use crate::{
    flight::{Flight, Show},
    knobs::{Controller, Knobs},
    models,
};

/// The largest swarm that is flown here.
const MOST_ROBOTS: usize = 2000;

/// What robots do, in the order of the page's numbers for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mission {
    /// Flocking in the plane.
    #[default]
    Plane,
    /// Flocking in space.
    Space,
    /// Coverage of an area.
    Coverage,
    /// Robots that meet.
    Rendezvous,
}

impl Mission {
    /// By the page's number.
    pub fn numbered(number: u32) -> Self {
        match number {
            1 => Self::Space,
            2 => Self::Coverage,
            3 => Self::Rendezvous,
            _ => Self::Plane,
        }
    }

    fn begin(self, condition: Scenario, seed: u64, controller: Controller) -> Result<Box<dyn Show>> {
        fn of<W: World>(
            model: &'static ModelFile,
            condition: Scenario,
            seed: u64,
            controller: Controller,
        ) -> Result<Box<dyn Show>> {
            Ok(Box::new(Flight::<W>::new(model, condition, seed, controller)?))
        }
        match self {
            Self::Plane => of::<Flock<2>>(models::flocking()?, condition, seed, controller),
            Self::Space => of::<Flock<3>>(models::flocking_in_space()?, condition, seed, controller),
            Self::Coverage => of::<Area>(models::coverage()?, condition, seed, controller),
            Self::Rendezvous => {
                of::<rendezvous::world::Plane>(models::rendezvous()?, condition, seed, controller)
            }
        }
    }
}

/// Two swarms side by side.
#[allow(missing_debug_implementations, reason = "swarms are told apart by what they do")]
pub struct Pair {
    /// What can be turned, for both.
    pub knobs: Knobs,
    controllers: [Controller; 2],
    flights: Option<[Box<dyn Show>; 2]>,
}

impl Default for Pair {
    fn default() -> Self {
        Self {
            knobs: Knobs::default(),
            controllers: [Controller::Offline, Controller::Online],
            flights: None,
        }
    }
}

impl Pair {
    /// Starts both swarms anew.
    pub fn begin(&mut self, mission: Mission, robots: usize, speed: f32, seed: u64) -> Result {
        let condition = self.condition(robots, speed)?;
        let [left, right] = self.controllers.map(|controller| mission.begin(condition, seed, controller));
        self.flights = Some([left?, right?]);
        Ok(())
    }

    /// Starts both swarms anew with what their robots have learned.
    pub fn land(&mut self, robots: usize, speed: f32, seed: u64) -> Result {
        let condition = self.condition(robots, speed)?;
        self.both().try_for_each(|flight| flight.land(condition, seed))
    }

    fn condition(&self, robots: usize, speed: f32) -> Result<Scenario> {
        if robots > MOST_ROBOTS {
            return Err(Error::usage(format!(
                "{robots} robots are too many for a page: at most {MOST_ROBOTS}"
            )));
        }
        let condition = Scenario { robots, radius: self.knobs.range, speed, ticks: u32::MAX };
        condition.check()?;
        Ok(condition)
    }

    fn both(&mut self) -> impl Iterator<Item = &mut Box<dyn Show>> {
        self.flights.iter_mut().flatten()
    }

    /// One of the two.
    pub fn side(&self, side: u32) -> Option<&dyn Show> {
        Some(self.flights.as_ref()?.get(side as usize)?.as_ref())
    }

    /// Has somebody else fly one of the swarms from now on.
    pub fn hand_over(&mut self, side: u32, controller: Controller) -> Result {
        if let Some(before) = self.controllers.get_mut(side as usize) {
            *before = controller;
        }
        match self.flights.as_mut().and_then(|flights| flights.get_mut(side as usize)) {
            Some(flight) => flight.hand_over(controller),
            None => Ok(()),
        }
    }

    /// Flies so many ticks.
    pub fn step(&mut self, ticks: u32) -> Result {
        let knobs = self.knobs;
        self.both().try_for_each(|flight| flight.step(&knobs, ticks))
    }

    /// Takes a robot out of both swarms.
    pub fn kill(&mut self, id: NodeId) {
        self.both().for_each(|flight| flight.kill(id));
    }

    /// Pushes a robot in both swarms.
    pub fn push(&mut self, id: NodeId, change: [f32; 2]) {
        self.both().for_each(|flight| flight.push(id, change));
    }

    /// Has a robot lie in both swarms, or not.
    pub fn set_liar(&mut self, id: NodeId, lies: bool) {
        self.both().for_each(|flight| flight.set_liar(id, lies));
    }

    /// Cuts both swarms in two where the left one has its middle, or joins them again.
    pub fn cut(&mut self, on: bool) {
        let east = self.side(0).filter(|_| on).map(Show::eastern).unwrap_or_default();
        self.both().for_each(|flight| flight.cut(&east));
    }
}
