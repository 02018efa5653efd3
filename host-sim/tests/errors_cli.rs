//! Invalid input: one line on standard error, exit code 2, and no changed files.

use std::fs;

use crate::program::{host_sim, refused};

const SPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/flocking-3d.wdgnn");
const TRAIN: [&str; 7] = ["train", "--epochs", "1", "--swarms", "2", "--out", "my.wdgnn"];

/// Returns the message of a rejected command: one line.
fn message(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = host_sim(folder.path(), arguments);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert_eq!(message.lines().count(), 1, "{arguments:?}: {message}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "{arguments:?} left a file");
    message.trim_end().strip_prefix("host-sim: ").unwrap_or_else(|| panic!("{message}")).to_owned()
}

#[test]
fn models_of_other_tasks_are_rejected_by_name() {
    for command in [&["eval"][..], &["run"], &["sweep", "speed"], &["shift"], &["theorem"], &["faults"]] {
        let message = message(&[command, &["--model", SPACE]].concat());
        assert!(message.contains("was trained for the task flocking-3d, not for flocking"), "{message}");
        assert!(!message.contains("--out"), "{message}");
    }
}

#[test]
fn training_overwrites_only_with_force() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("my.wdgnn");
    fs::write(&out, "ten hours of training").unwrap();
    let refused = host_sim(folder.path(), &TRAIN);
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&refused.stderr),
        "host-sim: my.wdgnn exists: --force replaces it, --resume continues its training\n"
    );
    assert_eq!(fs::read(&out).unwrap(), b"ten hours of training");
    let forced = host_sim(folder.path(), &[&TRAIN[..], &["--force"]].concat());
    assert!(forced.status.success(), "{}", String::from_utf8_lossy(&forced.stderr));
    assert!(fs::read(&out).unwrap().starts_with(b"WDGN"));
}

#[test]
fn missing_folders_are_named_and_not_created() {
    for arguments in [
        &["train", "--out", "none/my.wdgnn"][..],
        &["eval", "--csv", "none/my.csv"],
        &["eval", "--report", "none/my.html"],
        &["eval", "--task", "rendezvous", "--svg", "none/my.svg"],
        &["eval", "--save-scenario", "none/my.toml"],
        &["key", "master", "--out", "none/master.key"],
        &["run", "--robots", "4", "--ticks", "5", "--trajectories", "none/my.csv"],
        &["run", "--robots", "4", "--ticks", "5", "--capture", "none/my.pcap"],
    ] {
        let message = message(arguments);
        assert!(message.ends_with("the folder none does not exist"), "{arguments:?}: {message}");
    }
}

#[test]
fn numbers_out_of_range_are_refused_with_option_constraint_and_value() {
    for (arguments, expected) in [
        (&["eval", "--robots", "-5"][..], "--robots must be a whole number between 1 and 20000000, got -5"),
        (&["eval", "--robots", "many"], "--robots must be a whole number between 1 and 20000000, got many"),
        (&["eval", "--radius", "1e38"], "--radius must be a number above 0.1 and at most 1000, got 1e38"),
        (&["eval", "--speed", "NaN"], "--speed must be a number between 0 and 340, got NaN"),
        (
            &["eval", "--ticks", "99999999999"],
            "--ticks must be a whole number between 1 and 1000000, got 99999999999",
        ),
        (
            &["eval", "--task", "rendezvous", "--step-size", "inf"],
            "--step-size must be a number between 0 and 1000000, got inf",
        ),
        (&["sweep", "speed", "--values", "1,x"], "--values must be a number between 0 and 1000000000, got x"),
        (
            &["train", "--out", "x", "--epochs", "0"],
            "--epochs must be a whole number between 1 and 100000, got 0",
        ),
        (&["--threads", "0"], "--threads must be a whole number between 1 and 4096, got 0"),
        (&["key", "robots", "--robots", "0"], "--robots must be a whole number between 1 and 65535, got 0"),
        (&["eval", "--profile", "wifi"], "--profile must be exact, dot154, esb32, espnow or p2p57, got wifi"),
        (&["sweep", "taste"], "PARAMETER must be radius, speed or robots, got taste"),
        (
            &["eval", "--actuator-delay", "101"],
            "--actuator-delay must be a whole number between 0 and 100, got 101",
        ),
        (&["eval", "--robots"], "--robots needs a value"),
    ] {
        assert_eq!(message(arguments), expected);
    }
}

#[test]
fn options_without_effect_are_refused() {
    for (arguments, expected) in [
        (
            &["eval", "--fault", "sybil-distance=0.5"][..],
            "--fault sybil-distance has no effect without sybil",
        ),
        (&["eval", "--fault", "burst=3"], "--fault burst has no effect without drop-chance"),
        (&["eval", "--fault", "expel=3"], "--fault expel has no effect without rekey"),
        (&["sweep", "radius", "--radius", "3"], "--radius has no effect: it is swept, give --values"),
        (&["airtime", "--rate", "3"], "--rate needs --profile"),
        (
            &["eval", "--fault", "replay=200"],
            "--fault replay names tick 200: the last tick of this flight is 199",
        ),
    ] {
        assert_eq!(message(arguments), expected);
    }
}

#[test]
fn files_without_a_model_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let damaged = folder.path().join("damaged.wdgnn");
    fs::write(&damaged, &fs::read(SPACE).unwrap()[..100]).unwrap();
    let damaged = damaged.display().to_string();
    refused(&["eval", "--model", &damaged], "damaged.wdgnn: the weight file has 100 bytes");
    refused(&["eval", "--model", env!("CARGO_MANIFEST_DIR")], "Is a directory");
}
