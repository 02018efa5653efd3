//! Command line for all tasks.

use serde_json::Value;

use crate::program::{folder, json, text};

fn total(flown: &Value, controller: &str) -> f64 {
    let total = flown["controllers"][controller]["total"]["mean"].as_f64();
    total.unwrap_or_else(|| panic!("{controller}: {flown}"))
}

#[test]
fn tasks_are_listed_with_their_scores() {
    let list = text(folder().path(), "tasks");
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
    let folder = folder();
    let flown = |more: &str| {
        json(folder.path(), &format!("eval --task rendezvous --swarms 1 --ticks 20 --robots 5 {more}"))
    };
    let without = flown("");
    let condition = (&without["task"], &without["robots"], &without["ticks"]);
    assert_eq!(condition, (&"rendezvous".into(), &5.into(), &20.into()));
    assert!(total(&without, "expert") < total(&without, "averaging"));
    let page = folder.path().join("target/wdgnn/eval-rendezvous-robots-5-swarms-1-ticks-20.html");
    assert!(std::fs::read_to_string(page).expect("a page").contains("Robots that meet"));

    let trained = text(folder.path(), "train --task rendezvous --epochs 1 --swarms 2 --out mine.wdgnn");
    assert!(trained.contains("host-sim eval --task rendezvous --model mine.wdgnn"), "{trained}");
    let with = flown("--model mine.wdgnn");
    assert_eq!(total(&with, "expert"), total(&without, "expert"), "the swarm is equal");
    // An untrained network leaves the robots where they start, or worse.
    assert!(total(&with, "wd-gnn") < 1.1 * total(&with, "averaging"), "it has learned something: {with}");
    assert_ne!(total(&with, "wd-gnn-online"), total(&with, "wd-gnn"), "and learns in flight");
    assert_eq!(with["digest"].as_str().map(str::len), Some(16));
    // This task has no central online learning.
    assert!(with["controllers"]["wd-gnn-online-centralised"].is_null());
    assert_eq!(with, flown("--model mine.wdgnn"), "the run repeats");

    // Robots with the firmware's code, and their frames.
    let swarm = "run --task rendezvous --model mine.wdgnn --robots 5 --ticks 20";
    assert!(json(folder.path(), swarm)["heard"].as_u64() > Some(0));
    flown("--model mine.wdgnn --capture said.pcap");
    assert!(std::fs::metadata(folder.path().join("said.pcap")).expect("a capture").len() > 1000);
    // Faults apply to all tasks.
    let online = |flown: &Value| flown["controllers"]["wd-gnn-online"].clone();
    let forged = flown("--model mine.wdgnn --fault forge=2");
    assert_eq!(online(&forged)["refused"]["forged"], 2 * 20 * 5, "{forged}");
    let lossy = flown("--model mine.wdgnn --fault drop-chance=0.5");
    assert!(online(&lossy)["heard"].as_u64() < online(&forged)["heard"].as_u64(), "{lossy}");
}

#[test]
fn flocking_3d_is_trained_by_evolution_and_evaluated() {
    let folder = folder();
    text(folder.path(), "train --task flocking-3d --recipe evolve --epochs 1 --robots 8 --out mine.wdgnn");
    let swarm = "run --task flocking-3d --model mine.wdgnn --robots 12 --ticks 50";
    let flown = json(folder.path(), swarm);
    assert_eq!((&flown["robots"], &flown["ticks"]), (&12.into(), &50.into()));
    assert!(flown["heard"].as_u64() > Some(12 * 50) && flown["refused"] == serde_json::json!({}), "{flown}");
    assert_eq!(flown["digest"], json(folder.path(), swarm)["digest"]);
    assert_ne!(flown["digest"], json(folder.path(), &format!("{swarm} --seed 2"))["digest"]);
    let compared = json(folder.path(), "eval --task flocking-3d --model mine.wdgnn --robots 12 --swarms 1");
    assert!(total(&compared, "expert") > 0.0 && total(&compared, "wd-gnn-online-centralised") > 0.0);
    let swept =
        text(folder.path(), "sweep robots --task flocking-3d --model mine.wdgnn --values 6,9 --swarms 1");
    assert!(swept.contains("WD-GNN, learning in flight") && swept.lines().count() > 3, "{swept}");
}
