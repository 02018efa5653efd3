//! Options for the condition of an episode: robots, length, radio range, speed.

use clap::Args;

use super::invocation::Invocation;
use crate::{
    error::{Error, Result},
    world::{
        Environment, Scenario,
        scenario::{RADIUS_METRES, ROBOTS, SPEED, TICKS},
    },
};

/// Heading of options for swarms.
pub const SWARMS: &str = "Swarms";

/// Scenario of an episode; options without a value take the task's default.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = SWARMS)]
pub struct ConditionArguments {
    /// Robots per swarm [default: the task's, 50 for flocking].
    #[arg(long, value_name = "N", value_parser = ROBOTS.parser::<usize>())]
    pub robots: Option<usize>,
    /// Ticks per episode [default: the task's, 200 of 10 ms for flocking].
    #[arg(long, value_name = "N", value_parser = TICKS.parser::<u32>())]
    pub ticks: Option<u32>,
    /// Radio range in m; for flocking, the initial spacing is proportional to it [default: the task's, 2 for flocking].
    #[arg(long, value_name = "METERS", value_parser = RADIUS_METRES.parser::<f32>())]
    pub radius: Option<f32>,
    /// Largest starting speed per axis in m/s [default: the task's, 3 for flocking].
    #[arg(long, value_name = "M/S", value_parser = SPEED.parser::<f32>())]
    pub speed: Option<f32>,
}

impl ConditionArguments {
    pub fn of<W: Environment>(&self, world: &W) -> Result<Scenario> {
        let usual = world.scenario();
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

    /// Returns the invocation with all values of the condition.
    pub fn resolved(&self, invocation: &Invocation, condition: &Scenario) -> Invocation {
        let Scenario { robots, radius, speed, ticks } = condition;
        let resolved = invocation.clone().with_default("robots", robots).with_default("radius", radius);
        let resolved = resolved.with_default("ticks", ticks);
        // Robots of tasks without a starting speed start at rest.
        if *speed > 0.0 { resolved.with_default("speed", speed) } else { resolved }
    }
}
