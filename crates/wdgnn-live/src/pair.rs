//! Two swarms with one start and identical disturbances.

use wdgnn_sim::{
    error::{Error, Result},
    model::ModelFile,
    world::{Environment, Scenario, flock::Flock},
};

use crate::{
    flight::{Flight, Show},
    knobs::{Controller, Knobs},
    models,
};

/// Largest swarm on the page.
const MAX_ROBOTS: usize = 2000;

/// Task of the swarms, in the page's order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mission {
    /// Flocking in the plane.
    #[default]
    Plane,
    /// Flocking in space.
    Space,
    /// Coverage of an area.
    Coverage,
    /// Rendezvous.
    Rendezvous,
}

impl Mission {
    /// Returns the task with the page's number.
    pub fn numbered(number: u32) -> Self {
        match number {
            1 => Self::Space,
            2 => Self::Coverage,
            3 => Self::Rendezvous,
            _ => Self::Plane,
        }
    }

    fn begin(self, condition: Scenario, seed: u64, controller: Controller) -> Result<Box<dyn Show>> {
        fn of<W: Environment>(
            model: &'static ModelFile, condition: Scenario, seed: u64, controller: Controller,
        ) -> Result<Box<dyn Show>> {
            Ok(Box::new(Flight::<W>::new(model, condition, seed, controller)?))
        }
        match self {
            Self::Plane => of::<Flock<2>>(models::flocking()?, condition, seed, controller),
            Self::Space => of::<Flock<3>>(models::flocking_in_space()?, condition, seed, controller),
            Self::Coverage => of::<coverage::world::Area>(models::coverage()?, condition, seed, controller),
            Self::Rendezvous => {
                of::<rendezvous::world::Plane>(models::rendezvous()?, condition, seed, controller)
            }
        }
    }
}

/// Two swarms side by side.
#[allow(missing_debug_implementations, reason = "contains trait objects and functions")]
pub struct Pair {
    /// Controls of both swarms.
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
    /// Restarts both swarms.
    pub fn begin(&mut self, mission: Mission, robots: usize, speed: f32, seed: u64) -> Result {
        let condition = self.condition(robots, speed)?;
        let [left, right] = self.controllers.map(|controller| mission.begin(condition, seed, controller));
        self.flights = Some([left?, right?]);
        Ok(())
    }

    /// Restarts both swarms with the parameters that their robots have learned.
    pub fn land(&mut self, robots: usize, speed: f32, seed: u64) -> Result {
        let condition = self.condition(robots, speed)?;
        self.both().try_for_each(|flight| flight.land(condition, seed))
    }

    fn condition(&self, robots: usize, speed: f32) -> Result<Scenario> {
        if robots > MAX_ROBOTS {
            return Err(Error::usage(format!(
                "this page supports at most {MAX_ROBOTS} robots, got {robots}"
            )));
        }
        let condition = Scenario { robots, radius: self.knobs.range, speed, ticks: u32::MAX };
        condition.check()?;
        Ok(condition)
    }

    fn both(&mut self) -> impl Iterator<Item = &mut Box<dyn Show>> {
        self.flights.iter_mut().flatten()
    }

    /// Returns one of the swarms.
    pub fn side(&self, side: u32) -> Option<&dyn Show> {
        Some(self.flights.as_ref()?.get(side as usize)?.as_ref())
    }

    /// Changes the controller of one swarm.
    pub fn hand_over(&mut self, side: u32, controller: Controller) -> Result {
        if let Some(before) = self.controllers.get_mut(side as usize) {
            *before = controller;
        }
        match self.flights.as_mut().and_then(|flights| flights.get_mut(side as usize)) {
            Some(flight) => flight.hand_over(controller),
            None => Ok(()),
        }
    }

    /// Runs both swarms for `ticks` ticks.
    pub fn step(&mut self, ticks: u32) -> Result {
        let knobs = self.knobs;
        self.both().try_for_each(|flight| flight.step(&knobs, ticks))
    }

    /// Changes both swarms.
    pub fn each(&mut self, change: impl Fn(&mut dyn Show)) {
        self.both().for_each(|flight| change(flight.as_mut()));
    }

    /// Splits both swarms at the left swarm's median, or joins them again.
    pub fn cut(&mut self, on: bool) {
        let east = self.side(0).filter(|_| on).map(Show::eastern).unwrap_or_default();
        self.each(|flight| flight.cut(&east));
    }
}
