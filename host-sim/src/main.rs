//! `host-sim`: the tasks of this repository.

use std::process::ExitCode;

use host_sim::{
    cli,
    tasks::{Of, built_in},
};

// Written outside, as a task of one's own is; docs/bring-your-own-task.md goes through it line by line.
#[path = "../../examples/rendezvous/src/lib.rs"]
mod rendezvous;

fn main() -> ExitCode {
    let mut tasks = built_in();
    tasks.push(&const { Of::<rendezvous::world::Plane>::new() });
    cli::main(&tasks)
}
