//! Helpers of the system tests.

#![allow(clippy::missing_panics_doc, reason = "a failing helper fails its test")]

#[cfg(feature = "browser")]
pub mod browser;
#[cfg(feature = "c")]
pub mod c;
pub mod chips;
pub mod cycles;
pub mod gateway;
pub mod golden;
pub mod image;
pub mod model;
pub mod prose;
pub mod robot;

use clap::Parser as _;

/// Runs `host-sim` with these arguments.
pub fn host_sim(arguments: &[&str]) {
    let line =
        ::host_sim::cli::Cli::try_parse_from([&["host-sim"], arguments].concat()).expect("a command line");
    line.run(&::host_sim::tasks::built_in()).expect("what was asked for");
}
