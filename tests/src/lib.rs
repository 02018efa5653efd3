//! What the system tests share.

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

/// Runs `host-sim` with these arguments, as its users do.
///
/// # Panics
/// When it fails.
pub fn host_sim(arguments: &[&str]) {
    let line =
        ::host_sim::cli::Cli::try_parse_from([&["host-sim"], arguments].concat()).expect("a command line");
    line.run(&::host_sim::tasks::built_in()).expect("what was asked for");
}
