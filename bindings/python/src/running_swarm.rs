//! A running swarm of any task, with numbers as input and output.

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use wdgnn_core::{
    model::shape::Dimensions,
    task::{State as _, Task},
    tensor::Array as _,
};
use wdgnn_robot::safety::gate;
use wdgnn_robot::tasks::MotionModel as _;
use wdgnn_sim::{
    counters::by_name,
    episode::{Episode, Observer as _, RunningEpisode},
    error::Result,
    links::Links,
    model::ModelFile,
    scene::SimTask,
    swarm::digest::EpisodeDigest,
    world::{Environment, OutputOf, StateOf},
};

use crate::owned_swarm::OwnedSwarm;

/// Number of robots, and lengths of their vectors.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub robots: usize,
    pub state: usize,
    pub outputs: usize,
    pub taps: usize,
    pub features: usize,
}

impl Sizes {
    /// Shape of an array of states.
    pub fn states_shape(&self) -> [usize; 2] {
        [self.robots, self.state]
    }

    /// Shape of an array of commands.
    pub fn commands_shape(&self) -> [usize; 2] {
        [self.robots, self.outputs]
    }

    /// Number of wide parameters of one robot.
    pub fn wide(&self) -> usize {
        self.taps * self.features * self.outputs
    }
}

/// Arrays to fill, with one row per robot.
#[derive(Debug)]
pub struct ArraysMut<'a> {
    pub states: &'a mut [f32],
    pub commands: &'a mut [f32],
    pub outputs: &'a mut [f32],
    pub taps: &'a mut [f32],
    pub wide: &'a mut [f32],
}

/// A running swarm of any task.
pub trait RunningSwarm: Send {
    fn sizes(&self) -> Sizes;
    fn tick(&self) -> u32;
    fn period(&self) -> f32;
    fn limits(&self) -> Vec<f32>;
    fn learns(&self) -> bool;

    /// Weight file of the network, if there is one.
    fn model(&self) -> Option<Arc<ModelFile>>;

    /// Replaces the states of all robots.
    fn set_states(&mut self, states: &[f32]);

    /// Whether these are the states of the robots.
    fn has_states(&self, states: &[f32]) -> bool;

    /// Whether the first half of the current tick is done.
    fn is_decided(&self) -> bool;

    /// First half of a tick: sense, exchange, infer, learn. Does nothing if it was done already.
    fn decide(&mut self) -> Result;

    /// Commands after the safety gate of the robots.
    fn guard(&self, commands: &[f32]) -> Vec<f32>;

    /// Second half of a tick: motion. `commands` replace those of the robots. With `states`, the motion comes from another
    /// simulator.
    fn end_tick(&mut self, commands: Option<&[f32]>, states: Option<&[f32]>);

    /// Runs whole ticks until `ticks` are done or the deadline has passed. Returns the number of ticks done.
    fn run(&mut self, ticks: u32, deadline: Instant) -> Result<u32>;

    /// Fills the arrays. Absent robots have zeros.
    fn read_into(&self, arrays: ArraysMut<'_>);

    fn links(&self) -> &Links;

    /// Neighbors that each robot used at its last decision.
    fn used_neighbors(&self) -> Vec<Vec<u32>>;

    fn score(&self) -> f64;
    fn scores(&self) -> &[f64];
    fn min_distance(&self) -> f32;
    fn digest(&self) -> String;
    fn expert(&mut self) -> Result<Option<Vec<f32>>>;
    fn disagreement(&self) -> Option<f64>;

    /// Received frames, safety violations, and frame errors by name. `None` without a simulated radio.
    fn radio_counters(&self) -> Option<(u64, u64, BTreeMap<&'static str, u64>)>;

    /// Whether each robot is present.
    fn alive(&self) -> Vec<bool>;

    /// Wide parameters of the weight file.
    fn offline_wide(&self) -> Vec<f32>;

    /// Frames of the last tick by robot. Empty without a simulated radio.
    fn frames(&self) -> Vec<Vec<&[u8]>>;
}

/// A running swarm in the world `W`.
pub struct TypedSwarm<W: Environment> {
    aloft: RunningEpisode<W>,
    task: W::Task,
    swarm: OwnedSwarm<W::Task>,
    digest: EpisodeDigest,
    sizes: Sizes,
    decided: bool,
}

impl<W: Environment> TypedSwarm<W> {
    /// Swarm at its start. `model` is the weight file of a network.
    pub fn new(
        start: &Episode<W>, task: W::Task, swarm: OwnedSwarm<W::Task>, model: Option<&ModelFile>,
    ) -> Self {
        let size = model.map(|model| Dimensions::of(&model.weights().header));
        let sizes = Sizes {
            robots: start.states.len(),
            state: <StateOf<W> as wdgnn_core::task::State>::Array::LEN,
            outputs: OutputOf::<W>::LEN,
            taps: size.map_or(0, |size| size.taps),
            features: size.map_or(0, |size| size.features),
        };
        Self { aloft: start.begin(), task, swarm, digest: EpisodeDigest::default(), sizes, decided: false }
    }

    /// Command of one robot after the safety gate.
    fn guarded(&self, robot: usize, command: OutputOf<W>, links: &Links) -> OutputOf<W> {
        let states = &self.aloft.states;
        match self.swarm.swarm().internals(robot) {
            Some(inside) if self.decided && inside.neighbors.is_empty() => self.aloft.commands[robot],
            Some(inside) if self.decided => {
                let others = inside.neighbors.iter().map(|(_, _, state)| *state);
                gate::guard_command(&self.task, inside.state, others, &command).0
            }
            _ => {
                let others = links.of(robot).iter().map(|&other| &states[other as usize]);
                gate::guard_command(&self.task, &states[robot], others, &command).0
            }
        }
    }

    /// Links of the robots at their present positions.
    fn present_links(&self) -> Links {
        let places: Vec<[f32; 3]> = self.aloft.states.iter().map(W::position).collect();
        let mut links = Links::default();
        self.aloft.world.clone().links(self.aloft.tick, &places, &self.aloft.scenario, &mut links);
        links
    }
}

impl<W: Environment> RunningSwarm for TypedSwarm<W> {
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
        let mut most = <W::Task as SimTask>::zero_command();
        most.as_mut().fill(f32::MAX);
        self.task.saturate(&most).as_ref().to_vec()
    }

    fn learns(&self) -> bool {
        self.swarm.swarm().learns()
    }

    fn model(&self) -> Option<Arc<ModelFile>> {
        self.swarm.weights().cloned()
    }

    fn set_states(&mut self, states: &[f32]) {
        for (state, numbers) in self.aloft.states.iter_mut().zip(states.chunks_exact(self.sizes.state)) {
            *state = StateOf::<W>::from_array(wdgnn_core::tensor::Array::from_slice(numbers));
        }
    }

    fn has_states(&self, states: &[f32]) -> bool {
        let mut rows = self.aloft.states.iter().zip(states.chunks_exact(self.sizes.state));
        rows.all(|(state, numbers)| state.to_array().as_ref() == numbers)
    }

    fn is_decided(&self) -> bool {
        self.decided
    }

    fn decide(&mut self) -> Result {
        if !self.decided {
            self.aloft.decide(self.swarm.swarm_mut())?;
            self.decided = true;
        }
        Ok(())
    }

    fn guard(&self, commands: &[f32]) -> Vec<f32> {
        let links = self.present_links();
        let guarded = commands.chunks_exact(self.sizes.outputs).enumerate().map(|(robot, numbers)| {
            let mut command = <W::Task as SimTask>::zero_command();
            command.as_mut().copy_from_slice(numbers);
            self.guarded(robot, command, &links)
        });
        guarded.flat_map(|command| command.as_ref().to_vec()).collect()
    }

    fn end_tick(&mut self, commands: Option<&[f32]>, states: Option<&[f32]>) {
        let numbers = commands.map(|commands| commands.chunks_exact(self.sizes.outputs));
        for (own, given) in self.aloft.commands.iter_mut().zip(numbers.into_iter().flatten()) {
            own.as_mut().copy_from_slice(given);
        }
        // The digest never fails.
        let _never_fails = self.digest.observe(&self.aloft.moment(self.swarm.swarm()));
        if let Some(states) = states {
            self.set_states(states);
            self.aloft.tick += 1;
        } else {
            self.aloft.advance(&self.task);
        }
        self.decided = false;
    }

    fn run(&mut self, ticks: u32, deadline: Instant) -> Result<u32> {
        for done in 0..ticks {
            self.decide()?;
            self.end_tick(None, None);
            if Instant::now() >= deadline {
                return Ok(done + 1);
            }
        }
        Ok(ticks)
    }

    fn read_into(&self, arrays: ArraysMut<'_>) {
        let Sizes { state, outputs, taps, features, .. } = self.sizes;
        for (numbers, state) in arrays.states.chunks_exact_mut(state).zip(&self.aloft.states) {
            numbers.copy_from_slice(state.to_array().as_ref());
        }
        for (numbers, command) in arrays.commands.chunks_exact_mut(outputs).zip(&self.aloft.commands) {
            numbers.copy_from_slice(command.as_ref());
        }
        if taps == 0 {
            return;
        }
        let robots = arrays.outputs.chunks_exact_mut(outputs);
        let robots = robots.zip(arrays.taps.chunks_exact_mut(taps * features));
        let robots = robots.zip(arrays.wide.chunks_exact_mut(self.sizes.wide()));
        for (robot, ((output, taps), wide)) in robots.enumerate() {
            let Some(view) = self.swarm.swarm().robot(robot) else {
                output.fill(0.0);
                taps.fill(0.0);
                wide.fill(0.0);
                continue;
            };
            wide.copy_from_slice(view.wide);
            if let Some(inside) = self.swarm.swarm().internals(robot) {
                output.copy_from_slice(inside.output.as_ref());
                taps.copy_from_slice(inside.taps);
            }
        }
    }

    fn links(&self) -> &Links {
        &self.aloft.links
    }

    fn used_neighbors(&self) -> Vec<Vec<u32>> {
        let inside = |robot| self.swarm.swarm().internals(robot);
        let of =
            |robot| inside(robot).iter().flat_map(|i| &i.neighbors).map(|(sender, _, _)| *sender).collect();
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
        let places: Vec<[f32; 3]> = self.aloft.states.iter().map(W::position).collect();
        let links = self.present_links();
        let (tick, states) = (self.aloft.tick, &self.aloft.states[..]);
        expert
            .fly(&wdgnn_sim::scene::Scene { tick, states, places: &places, links: &links }, &mut commands)?;
        Ok(Some(commands.iter().flat_map(|command| command.as_ref().to_vec()).collect()))
    }

    fn disagreement(&self) -> Option<f64> {
        self.aloft.clone().finish(self.swarm.swarm()).disagreement
    }

    fn radio_counters(&self) -> Option<(u64, u64, BTreeMap<&'static str, u64>)> {
        let counters = self.swarm.swarm().counters()?;
        Some((counters.heard, counters.violations, by_name(&counters.refused)))
    }

    fn alive(&self) -> Vec<bool> {
        (0..self.sizes.robots).map(|robot| self.swarm.swarm().robot(robot).is_some()).collect()
    }

    fn offline_wide(&self) -> Vec<f32> {
        let views = (0..self.sizes.robots).find_map(|robot| self.swarm.swarm().robot(robot));
        views.map_or_else(Vec::new, |view| view.offline.to_vec())
    }

    fn frames(&self) -> Vec<Vec<&[u8]>> {
        let frames = self.swarm.swarm().frames().iter();
        frames.map(|frames| frames.iter().map(AsRef::as_ref).collect()).collect()
    }
}
