//! Helpers of the system tests.

#![allow(clippy::missing_panics_doc, reason = "a failing helper fails its test")]

#[cfg(feature = "browser")]
pub mod browser;
pub mod buggies;
#[cfg(feature = "c")]
pub mod c;
pub mod chips;
pub mod gateway;
pub mod golden;
pub mod image;
pub mod robot;

use std::{env, path::Path, process::Command};

use clap::Parser as _;

/// Root of the repository.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Runs `host-sim` with these arguments.
pub fn host_sim(arguments: &[&str]) {
    let line =
        ::host_sim::cli::Cli::try_parse_from([&["host-sim"], arguments].concat()).expect("a command line");
    line.run(&::host_sim::tasks::built_in()).expect("what was asked for");
}

/// Runs a program in the root of the repository and returns its output.
pub fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(ROOT)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("an installed program");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Runs a program of the workspace and returns its output.
///
/// The variable `WDGNN_PROGRAMS` names a folder with built programs (`test.sh`). Without it, cargo builds the program.
pub fn cargo_run(package: &str, program: &str, arguments: &[&str]) -> String {
    if let Some(folder) = env::var_os("WDGNN_PROGRAMS") {
        let path = Path::new(&folder).join(program);
        return run(path.to_str().expect("a path in UTF-8"), arguments);
    }
    let target: &[&str] = match program.strip_prefix("examples/") {
        Some(example) => &["--example", example],
        None => &["--bin", program],
    };
    run(env!("CARGO"), &[&["run", "--quiet", "--package", package], target, &["--"], arguments].concat())
}

/// Runs `examples/listener` and returns its output.
pub fn listener(arguments: &[&str]) -> String {
    cargo_run("wdgnn-protocol", "examples/listener", arguments)
}
