//! Runs of the program.

use std::{
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;

/// Returns the command of a line. Spaces separate words; `%20` is a space in a word.
pub fn command(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_host-sim"));
    command.current_dir(folder).args(line.split_whitespace().map(|word| word.replace("%20", " ")));
    command
}

pub fn host_sim(folder: &Path, line: &str) -> Output {
    command(folder, line).output().expect("it starts")
}

/// Returns the standard output of a successful run.
pub fn text(folder: &Path, line: &str) -> String {
    let output = host_sim(folder, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Returns the JSON output of a successful run.
pub fn json(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&text(folder, &format!("{line} --json"))).expect("JSON")
}

/// Returns exit code and error message.
pub fn complaint(folder: &Path, line: &str) -> (Option<i32>, String) {
    let output = host_sim(folder, line);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Path of a model of this repository, as a word of a command line.
pub fn model(name: &str) -> String {
    format!("{}/../models/{name}.wdgnn", env!("CARGO_MANIFEST_DIR")).replace(' ', "%20")
}
