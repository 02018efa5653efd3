//! Runs of the program.

use std::{
    path::Path,
    process::{Command, Output},
};

pub fn host_sim(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_host-sim"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .expect("it starts")
}

/// Checks that a command fails with a one-line message and writes no file.
pub fn refused(arguments: &[&str], sentence: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let output = host_sim(folder.path(), arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(said.contains(sentence), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty(), "{arguments:?} printed a result all the same");
    assert_eq!(folder.path().read_dir().expect("readable").count(), 0, "{arguments:?} left something behind");
}
