//! Tasks by name. An entry is a pair of task and world.

use std::marker::PhantomData;

use wdgnn_core::task::Task as _;

use crate::{
    commands::{
        eval::EvalArguments, faults::FaultsArguments, run::RunArguments, sweep::SweepArguments,
        train::TrainArguments,
    },
    error::{Error, Result},
    train::recipe::Recipe,
    world::{Environment, flock::Flock},
};

/// Commands of a task.
pub trait Entry: Sync {
    /// Name on the command line.
    fn name(&self) -> &'static str;
    /// Number in weight files.
    fn number(&self) -> u16;
    /// Title, score and default recipe.
    fn words(&self) -> (&'static str, &'static str, &'static str);
    fn train(&self, arguments: &TrainArguments) -> Result;
    fn eval(&self, arguments: &EvalArguments) -> Result;
    fn run(&self, arguments: &RunArguments) -> Result;
    fn sweep(&self, arguments: &SweepArguments) -> Result;
    fn faults(&self, arguments: &FaultsArguments) -> Result;
}

/// Tasks of a program.
pub type Tasks<'a> = &'a [&'static dyn Entry];

/// Returns the tasks of this crate. As a function, they are compiled here and not in each program.
pub fn built_in() -> Vec<&'static dyn Entry> {
    vec![&const { Of::<Flock<2>>::new() }, &const { Of::<Flock<3>>::new() }]
}

/// Entry of a world.
#[derive(Debug)]
pub struct Of<W>(PhantomData<fn() -> W>);

impl<W: Environment> Of<W> {
    /// Creates the entry of the world `W`.
    #[allow(clippy::new_without_default, reason = "it is made in constants")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<W: Environment> Entry for Of<W> {
    fn name(&self) -> &'static str {
        W::NAME
    }

    fn number(&self) -> u16 {
        W::Task::ID
    }

    fn words(&self) -> (&'static str, &'static str, &'static str) {
        (W::TITLE, W::SCORE, Recipe::<W>::usual().name())
    }

    fn train(&self, arguments: &TrainArguments) -> Result {
        arguments.run::<W>()
    }

    fn eval(&self, arguments: &EvalArguments) -> Result {
        arguments.run::<W>()
    }

    fn run(&self, arguments: &RunArguments) -> Result {
        arguments.run::<W>()
    }

    fn sweep(&self, arguments: &SweepArguments) -> Result {
        arguments.run::<W>()
    }

    fn faults(&self, arguments: &FaultsArguments) -> Result {
        arguments.run::<W>()
    }
}

pub fn named(tasks: Tasks<'_>, name: &str) -> Result<&'static dyn Entry> {
    tasks.iter().find(|task| task.name() == name).copied().ok_or_else(|| {
        let names: Vec<&str> = tasks.iter().map(|task| task.name()).collect();
        Error::usage(format!("there is no task {name}: there are {}", names.join(", ")))
    })
}

/// Returns the name of the task with this number in weight files.
pub fn name_of(tasks: Tasks<'_>, number: u16) -> Option<&'static str> {
    tasks.iter().find(|task| task.number() == number).map(|task| task.name())
}
