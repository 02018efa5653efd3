//! Every robot at every tick, as comma-separated values.

use std::{fmt::Write as _, path::PathBuf};

use wdgnn_core::task::{State as _, Task as _};

use crate::{
    error::Result,
    files,
    flight::{Moment, Observer},
    world::World,
};

/// Writes down how every robot moves, and what it is told to do.
#[derive(Debug)]
pub struct Trajectories {
    path: PathBuf,
    /// Control period in seconds.
    period: f32,
    text: String,
}

impl Trajectories {
    /// Writes to `path` how robots of a task move.
    #[must_use]
    pub fn new<W: World>(path: PathBuf, task: &W::Task) -> Self {
        Self { path, period: task.period(), text: String::new() }
    }

    /// Writes the file.
    ///
    /// # Errors
    /// [`crate::error::Error::Write`].
    pub fn finish(self) -> Result {
        files::write(&self.path, self.text.as_bytes())
    }
}

/// What a state's numbers are called.
fn names<W: World>(numbers: usize) -> Vec<String> {
    let layout = W::layout();
    let axis = |of: &std::ops::Range<usize>, what: &str, at: usize| {
        of.contains(&at).then(|| match ["x", "y", "z"].get(at - of.start) {
            Some(axis) => format!("{what}_{axis}"),
            None => format!("{what}_{}", at - of.start),
        })
    };
    let name = |at: usize| {
        axis(&layout.position, "position", at)
            .or_else(|| axis(&layout.velocity, "velocity", at))
            .unwrap_or_else(|| format!("state_{at}"))
    };
    (0..numbers).map(name).collect()
}

impl<W: World> Observer<W> for Trajectories {
    fn see(&mut self, moment: &Moment<'_, W>) -> Result {
        let Moment { scene, commands, .. } = moment;
        for (robot, (state, command)) in scene.states.iter().zip(*commands).enumerate() {
            let (state, command) = (state.numbers(), command.as_ref());
            if self.text.is_empty() {
                let commands = (0..command.len()).map(|at| format!("command_{at}"));
                let names: Vec<String> =
                    names::<W>(state.as_ref().len()).into_iter().chain(commands).collect();
                self.text = format!("tick,seconds,robot,{}\n", names.join(","));
            }
            // Seconds as they are said: a period of 0.01 is not exactly that.
            let seconds = (f64::from(scene.tick) * f64::from(self.period) * 1.0e6).round() / 1.0e6;
            // Writing to a string cannot fail.
            let _ = write!(self.text, "{},{seconds},{robot}", scene.tick);
            for number in state.as_ref().iter().chain(command) {
                let _ = write!(self.text, ",{number}");
            }
            self.text.push('\n');
        }
        Ok(())
    }
}
