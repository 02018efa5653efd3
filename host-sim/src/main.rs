//! `host-sim`: the tasks of this repository.

use std::process::ExitCode;

use host_sim::{
    tasks::Of,
    world::{coverage::Area, flock::Flock},
};

// Written outside, as a task of one's own is; docs/bring-your-own-task.md goes through it line by line.
#[path = "../../examples/rendezvous/src/lib.rs"]
mod rendezvous;

fn main() -> ExitCode {
    host_sim::cli::main(&[
        &const { Of::<Flock<2>>::new() },
        &const { Of::<Flock<3>>::new() },
        &const { Of::<Area>::new() },
        &const { Of::<rendezvous::world::Plane>::new() },
    ])
}
