//! Command line of `train`.

use std::{fs, path::Path, process::Output};

use crate::program::{command, complaint, folder, json, text};

/// Short runs of all training methods.
const METHODS: [&str; 4] = [
    "--swarms 4 --recipe through",
    "--swarms 4 --recipe paper --robots 8",
    "--swarms 4 --recipe ours --robots 8",
    "--task flocking-3d --recipe evolve --robots 4",
];

/// Starts a training and interrupts it as a terminal does. Returns its output.
#[cfg(unix)]
fn interrupted(folder: &Path, line: &str, ready: impl Fn(u32) -> bool) -> Output {
    let mut child = command(folder, line).spawn().expect("it starts");
    while !ready(child.id()) {
        assert!(child.try_wait().expect("it can be asked").is_none(), "{line} ended early");
        std::thread::yield_now();
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill is there").success());
    child.wait_with_output().expect("it ends")
}

#[test]
fn training_is_deterministic_for_any_number_of_threads() {
    let folder = folder();
    for method in METHODS {
        let bytes = |threads: u8| {
            let options = format!("--epochs 2 --seed 5 --out out.wdgnn --force --threads {threads}");
            text(folder.path(), &format!("train {options} {method}"));
            fs::read(folder.path().join("out.wdgnn")).expect("written")
        };
        assert_eq!(bytes(1), bytes(3), "{method}");
    }
}

#[test]
fn every_architecture_and_a_deep_one_can_be_trained_and_flown() {
    let folder = folder();
    for more in ["--architecture gnn", "--architecture graph-filter", "--recipe ours --shape 2,2,16"] {
        text(folder.path(), &format!("train --epochs 2 --out out.wdgnn --force --swarms 4 {more}"));
        json(folder.path(), "eval --swarms 1 --robots 10 --model out.wdgnn");
    }
}

/// Ctrl-C as from a terminal, then `--resume`: the file equals that of an uninterrupted run.
#[cfg(unix)]
#[test]
fn resumed_runs_give_identical_files() {
    for method in METHODS {
        let folder = folder();
        let train = |out: &str| format!("train --epochs 20 --seed 5 {method} --out {out}");
        text(folder.path(), &train("whole.wdgnn"));
        // The first checkpoint, after at most ten epochs, shows that the training runs.
        let checkpoint = folder.path().join("parts.wdgnn.checkpoint");
        let output = interrupted(folder.path(), &train("parts.wdgnn"), |_| checkpoint.exists());
        assert_eq!(output.status.code(), Some(130), "{method}");
        let resume = train("parts.wdgnn --resume");
        text(folder.path(), &resume);
        let read = |name: &str| fs::read(folder.path().join(name)).expect("written");
        assert_eq!(read("whole.wdgnn"), read("parts.wdgnn"), "{method}");
        // A checkpoint of a finished run is complete; with more epochs it is not.
        let (code, error) = complaint(folder.path(), &resume);
        assert!(code == Some(2) && error.contains("finished after 20 epochs"), "{method}: {error}");
    }
}

#[test]
fn finished_runs_can_be_extended_and_report_quality() {
    let folder = folder();
    let train = format!("train --seed 5 --out out.wdgnn {}", METHODS[0]);
    let said = text(folder.path(), &format!("{train} --epochs 2"));
    assert!(said.contains("validation flights") && said.contains("of the expert's"), "{said}");
    text(folder.path(), &format!("{train} --epochs 4 --resume"));
}

/// Ctrl-C before the first validation keeps a usable network.
#[cfg(target_os = "linux")]
#[test]
fn an_early_interrupt_keeps_a_usable_network() {
    let folder = folder();
    // Earlier signals would end the process.
    let listens = |process: u32| {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or_default();
        u64::from_str_radix(caught.trim(), 16).is_ok_and(|caught| caught & 2 != 0)
    };
    let train = format!("train --epochs 50 --seed 5 --out out.wdgnn {}", METHODS[2]);
    assert_eq!(interrupted(folder.path(), &train, listens).status.code(), Some(130));
    json(folder.path(), "eval --swarms 1 --robots 8 --model out.wdgnn");
}
