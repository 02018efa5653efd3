//! A flight: a swarm from its start to its end under one pilot, and what is measured on the way.

use wdgnn_core::flocking::Motion;

use crate::{
    air::tally::Tally,
    body::{Bodies, Quirks},
    links::Links,
    seeds::{Purpose, generator},
    start::Condition,
    world,
};

/// What a pilot sees at a tick.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The tick's number.
    pub tick: u32,
    /// Every robot.
    pub motions: &'a [Motion],
    /// Who hears whom.
    pub links: &'a Links,
}

/// Whatever flies a swarm.
pub trait Pilot {
    /// The command of every robot at this tick.
    fn fly(&mut self, scene: &Scene<'_>, commands: &mut Vec<[f32; 2]>);

    /// How far the robots' parameters are apart, relative to the offline parameters, where there are any.
    fn disagreement(&self) -> Option<f64> {
        None
    }

    /// What was counted on the air, where there is one.
    fn tally(&self) -> Option<Tally> {
        None
    }
}

/// Whoever watches a flight: a recorder for the page, a collector of training samples.
pub trait Observer {
    /// Sees the scene and the commands about to be carried out.
    fn see(&mut self, scene: &Scene<'_>, commands: &[[f32; 2]]);
}

impl Observer for () {
    fn see(&mut self, _: &Scene<'_>, _: &[[f32; 2]]) {}
}

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Flight {
    /// Velocity variation at every tick.
    pub variation: Vec<f64>,
    /// Smallest distance between two robots at any tick, in metres.
    pub min_distance: f32,
    /// Pairs closer than 0.1, 0.2 and 0.3 m, summed over the ticks.
    pub close_pairs: [u32; 3],
    /// How far the robots' parameters were apart at the end.
    pub disagreement: Option<f64>,
    /// What was counted on the air, where there was one.
    pub tally: Option<Tally>,
}

impl Flight {
    /// Total velocity variation (eq. `totalVariance`).
    #[must_use]
    pub fn total(&self) -> f64 {
        self.variation.iter().sum()
    }

    /// Velocity variation at the end (eq. `finalVariance`).
    #[must_use]
    pub fn last(&self) -> f64 {
        self.variation.last().copied().unwrap_or_default()
    }
}

/// Flies a swarm from `start` with robots that are as they should be.
pub fn fly(
    condition: &Condition,
    start: &[Motion],
    period: f32,
    pilot: &mut dyn Pilot,
    observer: &mut dyn Observer,
) -> Flight {
    // No quirk draws a random number in flight.
    let random = generator(0, Purpose::Bodies, 0);
    let mut bodies = Bodies::new(Quirks::default(), start.len(), random);
    fly_in(condition, start, period, &mut bodies, pilot, observer)
}

/// Flies a swarm from `start` with robots as they are.
pub fn fly_in(
    condition: &Condition,
    start: &[Motion],
    period: f32,
    bodies: &mut Bodies,
    pilot: &mut dyn Pilot,
    observer: &mut dyn Observer,
) -> Flight {
    let mut motions = start.to_vec();
    let mut commands = Vec::with_capacity(motions.len());
    let mut flight = Flight {
        variation: Vec::with_capacity(condition.ticks as usize),
        min_distance: f32::INFINITY,
        close_pairs: [0; 3],
        disagreement: None,
        tally: None,
    };
    for tick in 0..condition.ticks {
        let links = bodies.links(tick, &motions, condition.radius);
        let (smallest, close) = world::closeness(&motions, &links);
        flight.variation.push(world::variation(&motions));
        flight.min_distance = flight.min_distance.min(smallest);
        for (sum, close) in flight.close_pairs.iter_mut().zip(close) {
            *sum += close;
        }
        let sensed = bodies.sensed(tick, &motions);
        pilot.fly(&Scene { tick, motions: &sensed, links: &links }, &mut commands);
        observer.see(&Scene { tick, motions: &motions, links: &links }, &commands);
        let accelerations = bodies.act(tick, &motions, &commands, period);
        world::step(&mut motions, &accelerations, period);
    }
    flight.disagreement = pilot.disagreement();
    flight.tally = pilot.tally();
    flight
}
