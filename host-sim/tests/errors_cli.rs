//! Invalid input: one line on standard error, exit code 2, and no changed files.

use std::fs;

use crate::program::{complaint, folder, host_sim, model};

/// Files that `refused.txt` names.
fn given() -> tempfile::TempDir {
    let given = folder();
    let good = fs::read(model("flocking-wd-gnn")).expect("a model");
    let mut damaged = good.clone();
    damaged[500] ^= 1;
    for (name, bytes) in [
        ("bad.key", &b"a secret"[..]),
        ("cut.wdgnn", &good[..200]),
        ("damaged.wdgnn", &damaged),
        ("my.wdgnn", b"ten hours of training"),
        ("negative.toml", b"radius = -1\n"),
        ("none.wdgnn", b"hello, this is no model"),
        ("unknown.toml", b"robots = 20\nrobust = 1\n"),
    ] {
        fs::write(given.path().join(name), bytes).expect("written");
    }
    given
}

#[test]
fn invalid_command_lines_are_refused_in_one_line() {
    let given = given();
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/../models").replace(' ', "%20");
    let rows = include_str!("refused.txt").lines().filter(|row| !row.is_empty() && !row.starts_with('#'));
    for row in rows {
        let (line, expected) = row.split_once(" => ").expect("a command and a message");
        let line = line.replace("{models}", &models).replace("{given}", &given.path().display().to_string());
        let folder = folder();
        let output = host_sim(folder.path(), &line);
        let message = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{row}: {message}");
        assert!(message.starts_with("host-sim: ") && message.lines().count() == 1, "{row}: {message}");
        assert!(message.contains(expected), "{row}: {message}");
        assert!(!message.contains("a secret"), "{row} shows a file: {message}");
        assert!(output.stdout.is_empty(), "{row} prints a result");
        assert_eq!(folder.path().read_dir().expect("readable").count(), 0, "{row} leaves a file");
    }
    let kept = fs::read(given.path().join("my.wdgnn")).expect("readable");
    assert_eq!(kept, b"ten hours of training");
}

#[test]
fn training_overwrites_with_force() {
    let folder = folder();
    let out = folder.path().join("my.wdgnn");
    fs::write(&out, "ten hours of training").expect("written");
    let (code, message) = complaint(folder.path(), "train --epochs 1 --swarms 2 --out my.wdgnn --force");
    assert_eq!(code, Some(0), "{message}");
    assert!(fs::read(&out).expect("written").starts_with(b"WDGN"));
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_reported_in_one_line() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("there is one");
    let output = crate::program::command(folder().path(), "tasks").stdout(full).output().expect("it starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        message.contains("cannot write to standard output") && !message.contains("panicked"),
        "{message}"
    );
}
