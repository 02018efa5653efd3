//! Motors with a delay and a gain of their own.

use std::collections::VecDeque;

use wdgnn_core::task::NodeId;
use wdgnn_sim::scene::SimTask;

use crate::{
    chance::{About, Chance},
    knobs::{Knobs, MAX_DELAY_TICKS},
};

/// Motors of a swarm.
#[derive(Debug)]
pub struct Motors<T: SimTask> {
    /// Past commands, newest first, up to the longest delay.
    told: VecDeque<Vec<T::Command>>,
}

impl<T: SimTask> Default for Motors<T> {
    fn default() -> Self {
        Self { told: VecDeque::new() }
    }
}

impl<T: SimTask> Motors<T> {
    /// Replaces commands by the motors' outputs.
    pub fn act(
        &mut self, knobs: &Knobs, chance: Chance, ids: impl Iterator<Item = NodeId>,
        commands: &mut [T::Command],
    ) {
        let mut latest = if self.told.len() > MAX_DELAY_TICKS as usize { self.told.pop_back() } else { None }
            .unwrap_or_default();
        latest.clear();
        latest.extend_from_slice(commands);
        self.told.push_front(latest);
        match self.told.get(knobs.delay as usize) {
            Some(told) => commands.copy_from_slice(told),
            None => commands.fill(T::zero_command()),
        }
        if knobs.spread > 0.0 || knobs.strength != 1.0 {
            for (command, id) in commands.iter_mut().zip(ids) {
                let own = 2.0 * chance.uniform(About::Motors, 0, id.into(), 0) - 1.0;
                let gain = knobs.strength * (1.0 + knobs.spread * own);
                command.as_mut().iter_mut().for_each(|x| *x *= gain);
            }
        }
    }

    /// Removes a robot.
    pub fn remove(&mut self, robot: usize) {
        for told in &mut self.told {
            told.remove(robot);
        }
    }
}
