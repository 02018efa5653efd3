//! Program with the tasks of this repository, for all its names.

use std::process::ExitCode;

use crate::{
    cli,
    tasks::{Of, built_in},
};

// Example of an external task; docs/bring-your-own-task.md explains it line by line.
#[path = "../../examples/rendezvous/src/lib.rs"]
pub(crate) mod rendezvous;

/// Runs the program.
pub fn main() -> ExitCode {
    let mut tasks = built_in();
    tasks.push(&const { Of::<rendezvous::world::Plane>::new() });
    cli::main(&tasks)
}
