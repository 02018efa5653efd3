//! The program with the tasks of this repository, under whatever name it is started.

use std::process::ExitCode;

use crate::{
    cli,
    tasks::{Of, built_in},
};

// Written outside, as a task of one's own is; docs/bring-your-own-task.md goes through it line by line.
#[path = "../../examples/rendezvous/src/lib.rs"]
mod rendezvous;

/// Parses, runs, and says what went wrong in one sentence.
pub fn main() -> ExitCode {
    let mut tasks = built_in();
    tasks.push(&const { Of::<rendezvous::world::Plane>::new() });
    cli::main(&tasks)
}
