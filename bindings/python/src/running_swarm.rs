//! A swarm in flight, whatever its task: numbers in, numbers out.

use std::{collections::BTreeMap, time::Instant};

use wdgnn_core::{
    model::shape::Dimensions,
    task::{State as _, Task},
    tensor::Numbers as _,
};
use wdgnn_robot::safety::gate;
use wdgnn_sim::{
    error::Result,
    flight::{Aloft, Observer as _, Start},
    links::Links,
    model::ModelFile,
    scene::Flown,
    swarm::digest::FlightDigest,
    tally::by_name,
    world::{OutputOf, StateOf, World},
};

use crate::held::Held;

/// How many numbers of each kind there are.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub robots: usize,
    pub state: usize,
    pub outputs: usize,
    pub taps: usize,
    pub features: usize,
}

impl Sizes {
    /// The numbers of one robot's wide parameters.
    pub fn wide(&self) -> usize {
        self.taps * self.features * self.outputs
    }
}

/// What is seen of a swarm, robot by robot.
#[derive(Debug)]
pub struct Sight<'a> {
    pub states: &'a mut [f32],
    pub commands: &'a mut [f32],
    pub outputs: &'a mut [f32],
    pub taps: &'a mut [f32],
    pub wide: &'a mut [f32],
}

/// A swarm in flight.
pub trait Fleet: Send {
    fn sizes(&self) -> Sizes;
    fn tick(&self) -> u32;
    fn period(&self) -> f32;
    fn limits(&self) -> Vec<f32>;
    fn learns(&self) -> bool;

    /// Puts everybody somewhere else.
    fn place(&mut self, states: &[f32]);

    /// The first half of a tick, unless it was done already.
    fn think(&mut self) -> Result;

    /// The second half, by other commands than the robots' own if there are any. Those are limited, steered and kept apart as a
    /// network's output is, if they are to be `guarded`.
    fn go(&mut self, commands: Option<&[f32]>, guarded: bool);

    /// Whole ticks, until there are none left or it is time to look up. Returns how many.
    fn run(&mut self, ticks: u32, until: Instant) -> Result<u32>;

    /// Writes down what is to be seen. Robots that are gone have zeros.
    fn look(&self, sight: Sight<'_>);

    fn links(&self) -> &Links;

    /// Whom every robot counted when it last thought.
    fn counted(&self) -> Vec<Vec<u32>>;

    fn score(&self) -> f64;
    fn scores(&self) -> &[f64];
    fn min_distance(&self) -> f32;
    fn digest(&self) -> String;
    fn expert(&mut self) -> Result<Option<Vec<f32>>>;
    fn disagreement(&self) -> Option<f64>;

    /// What was counted on the air, where there is one: frames heard, commands and parameters that must never be, refusals.
    fn counts(&self) -> Option<(u64, u64, BTreeMap<&'static str, u64>)>;

    /// Which robots are still there.
    fn alive(&self) -> Vec<bool>;

    /// The wide parameters as they were trained.
    fn offline(&self) -> Vec<f32>;

    /// The frames of the last tick, robot by robot, where they speak in bytes.
    fn frames(&self) -> Vec<Vec<&[u8]>>;
}

/// A swarm in flight in the world `W`.
pub struct Sortie<W: World> {
    aloft: Aloft<W>,
    task: W::Task,
    held: Held<W::Task>,
    digest: FlightDigest,
    sizes: Sizes,
    thought: bool,
}

impl<W: World> Sortie<W> {
    /// From its start, with a network or without.
    pub fn new(start: &Start<W>, task: W::Task, held: Held<W::Task>, model: Option<&ModelFile>) -> Self {
        let size = model.map(|model| Dimensions::of(&model.weights().header));
        let sizes = Sizes {
            robots: start.states.len(),
            state: <StateOf<W> as wdgnn_core::task::State>::Numbers::COUNT,
            outputs: OutputOf::<W>::COUNT,
            taps: size.map_or(0, |size| size.taps),
            features: size.map_or(0, |size| size.features),
        };
        Self { aloft: start.begin(), task, held, digest: FlightDigest::default(), sizes, thought: false }
    }

    fn take(&mut self, commands: &[f32], guarded: bool) {
        let count = self.sizes.outputs;
        let swarm = self.held.swarm();
        for (robot, (own, given)) in
            self.aloft.commands.iter_mut().zip(commands.chunks_exact(count)).enumerate()
        {
            let mut output = <W::Task as Flown>::nothing();
            output.as_mut().copy_from_slice(given);
            if !guarded {
                *own = output;
                continue;
            }
            let Some(inside) = swarm.inside(robot) else { continue };
            // Whoever hears nobody does what it does alone.
            if !inside.counted.is_empty() {
                let others = inside.counted.iter().map(|(_, _, state)| *state);
                *own = gate::guard(&self.task, inside.state, others, &output).0;
            }
        }
    }
}

impl<W: World> Fleet for Sortie<W> {
    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn tick(&self) -> u32 {
        self.aloft.tick
    }

    fn period(&self) -> f32 {
        self.task.period()
    }

    fn limits(&self) -> Vec<f32> {
        let mut most = <W::Task as Flown>::nothing();
        most.as_mut().fill(f32::MAX);
        self.task.command(&most).as_ref().to_vec()
    }

    fn learns(&self) -> bool {
        self.held.swarm().learns()
    }

    fn place(&mut self, states: &[f32]) {
        for (state, numbers) in self.aloft.states.iter_mut().zip(states.chunks_exact(self.sizes.state)) {
            *state = StateOf::<W>::from_numbers(wdgnn_core::tensor::Numbers::gather(numbers));
        }
    }

    fn think(&mut self) -> Result {
        if !self.thought {
            self.aloft.think(self.held.swarm_mut())?;
            self.thought = true;
        }
        Ok(())
    }

    fn go(&mut self, commands: Option<&[f32]>, guarded: bool) {
        if let Some(commands) = commands {
            self.take(commands, guarded);
        }
        // It takes in numbers and never fails.
        let _taken_in = self.digest.see(&self.aloft.moment(self.held.swarm()));
        self.aloft.go(&self.task);
        self.thought = false;
    }

    fn run(&mut self, ticks: u32, until: Instant) -> Result<u32> {
        for done in 0..ticks {
            self.think()?;
            self.go(None, false);
            if Instant::now() >= until {
                return Ok(done + 1);
            }
        }
        Ok(ticks)
    }

    fn look(&self, sight: Sight<'_>) {
        let Sizes { state, outputs, taps, features, .. } = self.sizes;
        for (numbers, state) in sight.states.chunks_exact_mut(state).zip(&self.aloft.states) {
            numbers.copy_from_slice(state.numbers().as_ref());
        }
        for (numbers, command) in sight.commands.chunks_exact_mut(outputs).zip(&self.aloft.commands) {
            numbers.copy_from_slice(command.as_ref());
        }
        if taps == 0 {
            return;
        }
        let robots = sight.outputs.chunks_exact_mut(outputs);
        let robots = robots.zip(sight.taps.chunks_exact_mut(taps * features));
        let robots = robots.zip(sight.wide.chunks_exact_mut(self.sizes.wide()));
        for (robot, ((output, taps), wide)) in robots.enumerate() {
            let Some(view) = self.held.swarm().robot(robot) else {
                output.fill(0.0);
                taps.fill(0.0);
                wide.fill(0.0);
                continue;
            };
            wide.copy_from_slice(view.wide);
            if let Some(inside) = self.held.swarm().inside(robot) {
                output.copy_from_slice(inside.output.as_ref());
                taps.copy_from_slice(inside.taps);
            }
        }
    }

    fn links(&self) -> &Links {
        &self.aloft.links
    }

    fn counted(&self) -> Vec<Vec<u32>> {
        let inside = |robot| self.held.swarm().inside(robot);
        let of =
            |robot| inside(robot).iter().flat_map(|i| &i.counted).map(|(sender, _, _)| *sender).collect();
        (0..self.sizes.robots).map(of).collect()
    }

    fn score(&self) -> f64 {
        self.aloft.world.score(self.aloft.tick, &self.aloft.states)
    }

    fn scores(&self) -> &[f64] {
        &self.aloft.flight.score
    }

    fn min_distance(&self) -> f32 {
        self.aloft.flight.min_distance
    }

    fn digest(&self) -> String {
        self.digest.clone().finish()
    }

    fn expert(&mut self) -> Result<Option<Vec<f32>>> {
        let Some(mut expert) = self.aloft.world.expert(&self.task) else { return Ok(None) };
        let mut commands = Vec::new();
        let places: Vec<[f32; 3]> = self.aloft.states.iter().map(W::place).collect();
        let mut links = Links::default();
        self.aloft.world.clone().links(self.aloft.tick, &places, &self.aloft.condition, &mut links);
        let (tick, states) = (self.aloft.tick, &self.aloft.states[..]);
        expert
            .fly(&wdgnn_sim::scene::Scene { tick, states, places: &places, links: &links }, &mut commands)?;
        Ok(Some(commands.iter().flat_map(|command| command.as_ref().to_vec()).collect()))
    }

    fn disagreement(&self) -> Option<f64> {
        self.aloft.clone().land(self.held.swarm()).disagreement
    }

    fn counts(&self) -> Option<(u64, u64, BTreeMap<&'static str, u64>)> {
        let tally = self.held.swarm().tally()?;
        Some((tally.heard, tally.violations, by_name(&tally.refused)))
    }

    fn alive(&self) -> Vec<bool> {
        (0..self.sizes.robots).map(|robot| self.held.swarm().robot(robot).is_some()).collect()
    }

    fn offline(&self) -> Vec<f32> {
        let views = (0..self.sizes.robots).find_map(|robot| self.held.swarm().robot(robot));
        views.map_or_else(Vec::new, |view| view.offline.to_vec())
    }

    fn frames(&self) -> Vec<Vec<&[u8]>> {
        let frames = self.held.swarm().frames().iter();
        frames.map(|frames| frames.iter().map(AsRef::as_ref).collect()).collect()
    }
}
