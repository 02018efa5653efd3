//! `host-sim`: the tasks of this repository.

use std::process::ExitCode;

use host_sim::{
    tasks::Of,
    world::{coverage::Area, flock::Flock},
};

fn main() -> ExitCode {
    host_sim::cli::main(&[
        &const { Of::<Flock<2>>::new() },
        &const { Of::<Flock<3>>::new() },
        &const { Of::<Area>::new() },
    ])
}
