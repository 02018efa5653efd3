//! Command line of `train`.

use std::{path::Path, process::Command};

const SHORT: [&str; 6] = ["train", "--epochs", "2", "--seed", "5", "--out"];

/// Short runs of all training methods.
const WAYS: [&[&str]; 4] = [
    &["--swarms", "4", "--recipe", "through"],
    &["--swarms", "4", "--recipe", "paper", "--robots", "8"],
    &["--swarms", "4", "--recipe", "ours", "--robots", "8"],
    &["--task", "flocking-3d", "--recipe", "evolve", "--robots", "4"],
];

fn train(folder: &Path, threads: &str, out: &str, more: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_host-sim"))
        .current_dir(folder)
        .env("RAYON_NUM_THREADS", threads)
        .args(SHORT)
        .arg(out)
        .args(more)
        .output()
        .expect("it starts")
}

#[test]
fn training_is_deterministic_for_any_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    for way in WAYS {
        let bytes = |threads: &str| {
            let output = train(folder.path(), threads, "out.wdgnn", &[way, &["--force"]].concat());
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            std::fs::read(folder.path().join("out.wdgnn")).expect("written")
        };
        assert_eq!(bytes("1"), bytes("3"), "{way:?}");
    }
}

#[test]
fn every_architecture_and_a_deep_one_can_be_trained_and_flown() {
    let folder = tempfile::tempdir().expect("a folder");
    let kinds: [&[&str]; 3] = [
        &["--architecture", "gnn"],
        &["--architecture", "graph-filter"],
        &["--recipe", "ours", "--shape", "2,2,16"],
    ];
    for more in kinds {
        let options = [&["--force", "--swarms", "4"], more].concat();
        let output = train(folder.path(), "2", "out.wdgnn", &options);
        assert!(output.status.success(), "{more:?}: {}", String::from_utf8_lossy(&output.stderr));
        let flown = Command::new(env!("CARGO_BIN_EXE_host-sim"))
            .current_dir(folder.path())
            .args(["eval", "--swarms", "1", "--robots", "10", "--model", "out.wdgnn", "--json"])
            .output()
            .expect("it starts");
        assert!(flown.status.success(), "{more:?}: {}", String::from_utf8_lossy(&flown.stderr));
    }
}

#[test]
fn unknown_shapes_and_foreign_checkpoints_are_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |more: &[&str], sentence: &str| {
        let output = train(folder.path(), "1", "out.wdgnn", more);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {said}");
        assert!(said.contains(sentence), "{more:?}: {said}");
        assert!(!folder.path().join("out.wdgnn").exists());
    };
    refused(&["--shape", "9,4,32", "--recipe", "ours"], "it has (layers, taps, features) (1, 4, 32)");
    refused(&["--shape", "2,4,32"], "--recipe ours");
    refused(
        &["--profile", "dot154", "--exchange", "2"],
        "--exchange must be a whole number between 5 and 100, got 2",
    );
    refused(&["--task", "flocking-3d", "--profile", "esb32"], "does not fit the frames of --profile esb32");
    refused(&["--recipe", "evolve", "--swarms", "4"], "--swarms has no effect");
    refused(&["--task", "rendezvous", "--recipe", "paper"], "--recipe paper is not for --task rendezvous");
    refused(&["--task", "rendezvous", "--no-potential"], "--no-potential has no effect on --task rendezvous");
    refused(&["--resume"], "there is no checkpoint out.wdgnn.checkpoint");
    std::fs::write(folder.path().join("out.wdgnn.checkpoint"), b"not one").expect("written");
    refused(&["--resume"], "train without --resume");
}

/// Ctrl-C as from a terminal, then `--resume`: the file equals that of an uninterrupted run.
#[cfg(unix)]
#[test]
fn resumed_runs_give_identical_files() {
    for way in WAYS {
        let folder = tempfile::tempdir().expect("a folder");
        let run = |out: &str, more: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_host-sim"));
            command.current_dir(folder.path()).args(["train", "--epochs", "20", "--seed", "5"]).args(way);
            command.args(["--out", out]).args(more);
            command
        };
        let undisturbed = run("whole.wdgnn", &[]).output().expect("it starts");
        assert!(undisturbed.status.success(), "{way:?}: {}", String::from_utf8_lossy(&undisturbed.stderr));
        let mut child = run("parts.wdgnn", &[]).spawn().expect("it starts");
        // The first checkpoint, after at most ten epochs, shows that the training runs.
        let checkpoint = folder.path().join("parts.wdgnn.checkpoint");
        while !checkpoint.exists() {
            assert!(
                child.try_wait().expect("it can be asked").is_none(),
                "{way:?} ended without a checkpoint"
            );
            std::thread::yield_now();
        }
        let killed =
            Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
        assert!(killed.success());
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{way:?}");
        let resumed = run("parts.wdgnn", &["--resume"]).output().expect("it starts");
        assert!(resumed.status.success(), "{way:?}: {}", String::from_utf8_lossy(&resumed.stderr));
        let read = |name: &str| std::fs::read(folder.path().join(name)).expect("written");
        assert_eq!(read("whole.wdgnn"), read("parts.wdgnn"), "{way:?}");
        // A checkpoint of a finished run is complete; with more epochs it is not.
        let again = run("parts.wdgnn", &["--resume"]).output().expect("it starts");
        assert_eq!(again.status.code(), Some(2), "{way:?}");
        assert!(String::from_utf8_lossy(&again.stderr).contains("finished after 20 epochs"), "{way:?}");
    }
}

/// Continues a finished run.
#[test]
fn finished_runs_can_be_extended_and_report_quality() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = train(folder.path(), "2", "out.wdgnn", WAYS[0]);
    assert!(first.status.success());
    let said = String::from_utf8_lossy(&first.stdout).into_owned();
    assert!(said.contains("validation flights") && said.contains("of the expert's"), "{said}");
    let longer: Vec<&str> = ["--epochs", "4", "--resume"].iter().chain(WAYS[0]).copied().collect();
    let output = Command::new(env!("CARGO_BIN_EXE_host-sim"))
        .current_dir(folder.path())
        .args(["train", "--seed", "5", "--out", "out.wdgnn"])
        .args(longer)
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Ctrl-C before the first validation keeps a usable network.
#[cfg(target_os = "linux")]
#[test]
fn an_early_interrupt_keeps_a_usable_network() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = Command::new(env!("CARGO_BIN_EXE_host-sim"))
        .current_dir(folder.path())
        .args(["train", "--epochs", "50", "--seed", "5", "--out", "out.wdgnn"])
        .args(WAYS[2])
        .spawn()
        .expect("it starts");
    // Earlier signals would end the process.
    let listens = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or_default();
        u64::from_str_radix(caught.trim(), 16).is_ok_and(|caught| caught & 2 != 0)
    };
    while !listens() {
        std::thread::yield_now();
    }
    let killed =
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(killed.success());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let flown = crate::program::host_sim(
        folder.path(),
        &["eval", "--swarms", "1", "--robots", "8", "--model", "out.wdgnn", "--json"],
    );
    assert!(flown.status.success(), "{}", String::from_utf8_lossy(&flown.stderr));
}
