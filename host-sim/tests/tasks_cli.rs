//! Command line for all tasks.

use std::path::Path;

use serde_json::Value;

use crate::program::{host_sim, refused};

/// Returns the output of a successful run.
fn said(folder: &Path, arguments: &[&str]) -> String {
    let output = host_sim(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&said(folder, arguments)).expect("JSON")
}

fn total(flown: &Value, controller: &str) -> f64 {
    let total = flown["controllers"][controller]["total"]["mean"].as_f64();
    total.unwrap_or_else(|| panic!("{controller}: {flown}"))
}

#[test]
fn tasks_are_listed_with_their_scores() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = said(folder.path(), &["tasks"]);
    for words in [
        ["flocking", "flocking in the plane", "velocity variation", "through"],
        ["flocking-3d", "flocking in space", "velocity variation", "through"],
        ["rendezvous", "robots that meet", "mean squared distance", "through"],
    ] {
        let row = list.lines().find(|line| line.starts_with(&format!("{} ", words[0])));
        assert!(row.is_some_and(|row| words.iter().all(|word| row.contains(word))), "{words:?}: {list}");
    }
}

#[test]
fn rendezvous_is_trained_and_evaluated() {
    let folder = tempfile::tempdir().expect("a folder");
    let small = ["--swarms", "1", "--ticks", "20", "--robots", "5", "--json"];
    let flown =
        |more: &[&str]| json(folder.path(), &[&["eval", "--task", "rendezvous"], &small[..], more].concat());
    let without = flown(&[]);
    assert_eq!(
        (&without["task"], &without["robots"], &without["ticks"]),
        (&"rendezvous".into(), &5.into(), &20.into())
    );
    assert!(total(&without, "expert") < total(&without, "averaging"));
    let page = std::fs::read_to_string(
        folder.path().join("target/wdgnn/eval-rendezvous-robots-5-swarms-1-ticks-20.html"),
    )
    .expect("a page");
    assert!(page.contains("Robots that meet"));

    let train = ["train", "--task", "rendezvous", "--epochs", "1", "--swarms", "2", "--out", "mine.wdgnn"];
    let trained = said(folder.path(), &train);
    assert!(trained.contains("host-sim eval --task rendezvous --model mine.wdgnn"), "{trained}");
    let with = flown(&["--model", "mine.wdgnn"]);
    assert_eq!(total(&with, "expert"), total(&without, "expert"), "the same swarm");
    assert!(total(&with, "wd-gnn") < total(&with, "averaging"), "it has learned something: {with}");
    assert_ne!(total(&with, "wd-gnn-online"), total(&with, "wd-gnn"), "and learns in flight");
    assert_eq!(with["digest"].as_str().map(str::len), Some(16));
    // This task has no central online learning.
    assert!(with["controllers"]["wd-gnn-online-centralised"].is_null());
    assert_eq!(with, flown(&["--model", "mine.wdgnn"]), "the same again");

    // Robots with the firmware's code, and their frames.
    let swarm =
        ["run", "--task", "rendezvous", "--model", "mine.wdgnn", "--robots", "5", "--ticks", "20", "--json"];
    assert!(json(folder.path(), &swarm)["heard"].as_u64() > Some(0));
    let open = ["eval", "--task", "rendezvous", "--model", "mine.wdgnn", "--capture", "said.pcap"];
    json(folder.path(), &[&open[..], &small].concat());
    assert!(std::fs::metadata(folder.path().join("said.pcap")).expect("a capture").len() > 1000);
    // Faults apply to all tasks.
    let forged = flown(&["--model", "mine.wdgnn", "--fault", "forge=2"]);
    let online = |flown: &Value| flown["controllers"]["wd-gnn-online"].clone();
    assert_eq!(online(&forged)["refused"]["forged"], 2 * 20 * 5, "{forged}");
    let lossy = flown(&["--model", "mine.wdgnn", "--fault", "drop-chance=0.5"]);
    assert!(online(&lossy)["heard"].as_u64() < online(&forged)["heard"].as_u64(), "{lossy}");
}

#[test]
fn flocking_3d_is_trained_by_evolution_and_evaluated() {
    let folder = tempfile::tempdir().expect("a folder");
    let train = ["train", "--task", "flocking-3d", "--recipe", "evolve", "--epochs", "1", "--robots", "8"];
    said(folder.path(), &[&train[..], &["--out", "mine.wdgnn"]].concat());
    let swarm = [
        "run",
        "--task",
        "flocking-3d",
        "--model",
        "mine.wdgnn",
        "--robots",
        "12",
        "--ticks",
        "50",
        "--json",
    ];
    let flown = json(folder.path(), &swarm);
    assert_eq!((&flown["robots"], &flown["ticks"]), (&12.into(), &50.into()));
    assert!(flown["heard"].as_u64() > Some(12 * 50) && flown["refused"] == serde_json::json!({}), "{flown}");
    assert_eq!(flown["digest"], json(folder.path(), &swarm)["digest"]);
    let other = json(folder.path(), &[&swarm[..], &["--seed", "2"]].concat());
    assert_ne!(flown["digest"], other["digest"]);
    let fly = [
        "eval",
        "--task",
        "flocking-3d",
        "--model",
        "mine.wdgnn",
        "--robots",
        "12",
        "--swarms",
        "1",
        "--json",
    ];
    let compared = json(folder.path(), &fly);
    assert!(total(&compared, "expert") > 0.0 && total(&compared, "wd-gnn-online-centralised") > 0.0);
}

#[test]
fn sweeps_support_all_tasks() {
    let folder = tempfile::tempdir().expect("a folder");
    let train = ["train", "--task", "flocking-3d", "--recipe", "evolve", "--epochs", "1", "--robots", "8"];
    said(folder.path(), &[&train[..], &["--out", "mine.wdgnn"]].concat());
    let swept = said(
        folder.path(),
        &[
            "sweep",
            "robots",
            "--task",
            "flocking-3d",
            "--model",
            "mine.wdgnn",
            "--values",
            "6,9",
            "--swarms",
            "1",
        ],
    );
    assert!(swept.contains("WD-GNN, learning in flight") && swept.lines().count() > 3, "{swept}");
}

#[test]
fn unknown_tasks_and_options_are_rejected() {
    let there = "there are flocking, flocking-3d, rendezvous";
    for command in ["eval", "run", "train", "faults"] {
        let out: &[&str] = if command == "train" { &["--out", "out.wdgnn"] } else { &[] };
        refused(&[&[command, "--task", "juggling"], out].concat(), there);
    }
    refused(&["eval", "--task", "rendezvous", "--speed", "3"], "--speed has no effect");
    refused(&["run", "--task", "rendezvous", "--speed", "3"], "--speed has no effect");
    refused(
        &["eval", "--task", "rendezvous", "--robots", "0"],
        "--robots must be a whole number between 1 and 20000000, got 0",
    );
    refused(
        &["eval", "--task", "rendezvous", "--ticks", "0"],
        "--ticks must be a whole number between 1 and 1000000, got 0",
    );
    refused(&["eval", "--task", "rendezvous", "--model", "missing.wdgnn"], "cannot read missing.wdgnn");
    refused(
        &["eval", "--task", "rendezvous", "--profile", "esb32", "--robots", "300"],
        "at most 256 on --profile esb32",
    );
    let plane = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/flocking-wd-gnn.wdgnn");
    let other = "was trained for the task flocking, not for";
    refused(&["eval", "--task", "rendezvous", "--model", plane], &format!("{other} rendezvous: fly it with"));
    refused(&["run", "--task", "flocking-3d", "--model", plane], &format!("{other} flocking-3d"));
    refused(
        &["eval", "--task", "rendezvous", "--actuator-delay", "3"],
        "--actuator-delay needs --task flocking",
    );
    refused(
        &["eval", "--task", "rendezvous", "--recipe", "ours"],
        "--recipe needs --task flocking, got rendezvous",
    );
    let radio = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/flocking-dot154.wdgnn");
    let chips = ["run", "--task", "rendezvous", "--target", "nrf52840", "--model", radio];
    refused(&chips, "chips run flocking");
}
