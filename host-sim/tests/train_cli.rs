//! Command line of `train`.

use std::{fs, path::Path, process::Output};

use crate::program::{command, folder, json, text};

/// Short runs of all training methods.
const METHODS: [&str; 5] = [
    "--swarms 4 --recipe through",
    "--swarms 4 --recipe paper --robots 8",
    "--swarms 4 --recipe imitate --robots 8",
    "--task flocking-3d --recipe evolve --robots 4",
    "--swarms 4 --robots 8 --body quadrotor,lag=0.8..1.2,delay=0..4,noise=0..0.05",
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
    for more in [
        "--architecture gnn --swarms 4",
        "--architecture graph-filter --swarms 4",
        "--recipe evolve --shape 2,2,16",
    ] {
        text(folder.path(), &format!("train --epochs 2 --out out.wdgnn --force {more}"));
        json(folder.path(), "eval --swarms 1 --robots 10 --model out.wdgnn");
    }
}

#[test]
fn training_continues_from_a_weight_file_and_reports_quality() {
    let folder = folder();
    let train = format!("train --seed 5 {} --epochs 2", METHODS[0]);
    let said = text(folder.path(), &format!("{train} --out one.wdgnn"));
    assert!(said.contains("validation flights") && said.contains("of the expert's"), "{said}");
    text(folder.path(), &format!("{train} --out two.wdgnn --model one.wdgnn"));
    let read = |name: &str| fs::read(folder.path().join(name)).expect("written");
    assert_ne!(read("one.wdgnn"), read("two.wdgnn"));
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
