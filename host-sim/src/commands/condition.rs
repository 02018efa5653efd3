//! The circumstances of a flight of any task, as options.

use clap::Args;

use super::typed::Typed;
use crate::{
    error::{Error, Result},
    world::{
        Environment, Scenario,
        scenario::{RADIUS_METRES, ROBOTS, SPEED, TICKS},
    },
};

/// What is not said is the task's own.
#[derive(Args, Clone, Debug, Default)]
pub struct ConditionArguments {
    /// Robots per swarm [default: the task's own, 50 for flocking].
    #[arg(long, value_name = "N", value_parser = ROBOTS.parser::<usize>())]
    pub robots: Option<usize>,
    /// Length of a flight in ticks [default: the task's own, 200 of 10 ms for flocking].
    #[arg(long, value_name = "N", value_parser = TICKS.parser::<u32>())]
    pub ticks: Option<u32>,
    /// Radio range in metres; for flocking, the spacing at the start goes with it [default: the task's own, 2 for flocking].
    #[arg(long, value_name = "METRES", value_parser = RADIUS_METRES.parser::<f32>())]
    pub radius: Option<f32>,
    /// Largest starting speed per axis in m/s, where robots start with one [default: the task's own, 3 for flocking].
    #[arg(long, value_name = "M/S", value_parser = SPEED.parser::<f32>())]
    pub speed: Option<f32>,
}

impl ConditionArguments {
    /// The condition in the world `W`.
    pub fn of<W: Environment>(&self) -> Result<Scenario> {
        let usual = W::default_scenario();
        if self.speed.is_some() && usual.speed == 0.0 {
            return Err(Error::usage(format!(
                "--speed has no effect: robots of --task {} start at rest",
                W::NAME
            )));
        }
        let condition = Scenario {
            robots: self.robots.unwrap_or(usual.robots),
            radius: self.radius.unwrap_or(usual.radius),
            speed: self.speed.unwrap_or(usual.speed),
            ticks: self.ticks.unwrap_or(usual.ticks),
        };
        condition.check()?;
        Ok(condition)
    }

    /// What was told, with everything about the condition that nobody typed.
    pub fn settled(&self, typed: &Typed, condition: &Scenario) -> Typed {
        let Scenario { robots, radius, speed, ticks } = condition;
        let settled =
            typed.clone().or("robots", robots).or("radius", radius).without("seconds").or("ticks", ticks);
        // Robots that start at rest have none.
        if *speed > 0.0 { settled.or("speed", speed) } else { settled }
    }
}
