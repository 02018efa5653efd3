//! Trajectories as CSV: one row per robot and tick.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use wdgnn_core::task::State as _;

use wdgnn_robot::tasks::MotionModel as _;

use crate::{
    controllers::{EvalConfig, ONLINE},
    episode::{Episode, Observer, TickView},
    error::Result,
    files,
    seeds::{Purpose, generator},
    world::{Environment, Scenario},
};

/// Observer that writes state and command of each robot.
#[derive(Debug)]
pub struct Trajectories {
    path: PathBuf,
    /// Control period in seconds.
    period: f32,
    controller: &'static str,
    text: String,
}

impl Trajectories {
    /// Creates an observer for a run with online learning.
    #[must_use]
    pub fn new<W: Environment>(path: PathBuf, task: &W::Task) -> Self {
        Self { path, period: task.period(), controller: ONLINE, text: String::new() }
    }

    /// Completes the file.
    pub fn finish(self) -> Result {
        files::write(&self.path, self.text.as_bytes())
    }
}

/// Runs the first held-out swarm of a seed under each shown controller and writes the trajectories.
pub fn write<W: Environment>(path: &Path, eval: &EvalConfig<W>, condition: &Scenario, seed: u64) -> Result {
    let task = eval.task()?;
    let start = Episode::draw(&eval.world, condition, &mut generator(seed, Purpose::Testing, 0))?;
    let mut trajectories = Trajectories::new::<W>(path.into(), &task);
    for controller in eval.controllers().into_iter().filter(|controller| controller.shown) {
        trajectories.controller = controller.name;
        let mut swarm = eval.swarm(&controller, &start, 0)?;
        start.fly(&task, swarm.as_mut(), &mut [&mut trajectories], &AtomicBool::new(false))?;
    }
    trajectories.finish()
}

/// Returns the column names of a state.
fn names<W: Environment>(numbers: usize) -> Vec<String> {
    let layout = W::layout();
    let axis = |of: &std::ops::Range<usize>, quantity: &str, at: usize| {
        of.contains(&at).then(|| match ["x", "y", "z"].get(at - of.start) {
            Some(axis) => format!("{quantity}_{axis}"),
            None => format!("{quantity}_{}", at - of.start),
        })
    };
    let name = |at: usize| {
        axis(&layout.position, "position", at)
            .or_else(|| axis(&layout.velocity, "velocity", at))
            .unwrap_or_else(|| format!("state_{at}"))
    };
    (0..numbers).map(name).collect()
}

impl<W: Environment> Observer<W> for Trajectories {
    fn observe(&mut self, moment: &TickView<'_, W>) -> Result {
        let TickView { world, scene, commands, swarm } = moment;
        let (tick, score) = (scene.tick, world.score(scene.tick, scene.states));
        // Rounded to microseconds: a period of 0.01 has no exact representation.
        let seconds = (f64::from(tick) * f64::from(self.period) * 1.0e6).round() / 1.0e6;
        for (robot, (state, command)) in scene.states.iter().zip(*commands).enumerate() {
            let (state, command) = (state.to_array(), command.as_ref());
            if self.text.is_empty() {
                let commands = (0..command.len()).map(|at| format!("command_{at}"));
                let names: Vec<String> =
                    names::<W>(state.as_ref().len()).into_iter().chain(commands).collect();
                self.text =
                    format!("controller,tick,seconds,score,robot,present,honest,{}\n", names.join(","));
            }
            let [present, honest] = [swarm.is_present(robot), swarm.counts(robot)].map(u8::from);
            // Writing to a string cannot fail.
            let _ =
                write!(self.text, "{},{tick},{seconds},{score},{robot},{present},{honest}", self.controller);
            for number in state.as_ref().iter().chain(command) {
                let _ = write!(self.text, ",{number}");
            }
            self.text.push('\n');
        }
        Ok(())
    }
}
