//! Files and standard output: pages, charts, trajectories and captures.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;

use crate::program::{folder, host_sim, json, text};

/// Minimal runs of the commands with pages.
const COMMANDS: [&str; 8] = [
    "eval --swarms 1 --robots 6 --ticks 20 --fault drop-chance=0.3",
    "eval --task rendezvous --swarms 1 --robots 6 --ticks 10",
    "run --robots 6 --ticks 20 --fault kill=2@5",
    "sweep speed --swarms 1 --robots 6 --values 1,2",
    "faults --only your --swarms 1 --robots 6 --ticks 200 --fault drop-chance=0.1",
    "airtime --profile dot154",
    "theorem --robots 10",
    "shift delay --swarms 1 --seeds 1 --retrain 1",
];

fn check(folder: &Path, command: &str) {
    let output = host_sim(folder, &format!("{command} --report it.html --svg it.svg --csv it.csv --json"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some_and(|code| code < 2), "{command}: {said}");
    let json: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{command}: {error}"));
    let of = |key: &str| json[key].as_str().unwrap_or_else(|| panic!("{command} has no {key}"));
    for option in command.split(' ').filter(|word| word.starts_with("--")) {
        assert!(of("command").contains(option), "{command}: {}", of("command"));
    }
    assert_eq!(of("version"), env!("CARGO_PKG_VERSION"), "{command}");
    assert!(!of("models").is_empty(), "{command}");
    assert_eq!(of("faults") != "none", command.contains("--fault"), "{command}: {}", of("faults"));
    let page = fs::read_to_string(folder.join("it.html")).unwrap();
    for mark in ["command", "version", "models", "faults"] {
        let text = of(mark).replace('<', "&lt;").replace('>', "&gt;");
        assert!(page.contains(&text), "{command}: the page has no {mark} {text}");
    }
    let svg = fs::read_to_string(folder.join("it.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.matches("<path").count() > 5, "{command}");
    assert!(fs::read_to_string(folder.join("it.csv")).unwrap().lines().count() > 1, "{command}");
    // The command in the output repeats the run.
    let repeat = of("command").strip_prefix("host-sim ").expect("the program");
    let again = host_sim(folder, &format!("{repeat} --json --report again.html"));
    let sides = [&output.stdout, &again.stdout].map(|text| {
        let mut side: Value = serde_json::from_slice(text).unwrap();
        side.as_object_mut().unwrap().retain(|key, _| key != "wall_seconds" && key != "command");
        side
    });
    assert_eq!(sides[0], sides[1], "{command}");
}

#[test]
fn all_commands_have_pages_charts_and_an_origin() {
    let folder = folder();
    for command in COMMANDS {
        check(folder.path(), command);
    }
}

#[test]
fn training_has_a_page_with_curves() {
    let folder = folder();
    let files = "--report it.html --svg it.svg --csv it.csv";
    let train = format!("train --epochs 3 --swarms 4 --robots 6 {files} --out my.wdgnn");
    let json = json(folder.path(), &train);
    assert_eq!(json["epochs"].as_array().unwrap().len(), 3);
    let command = json["command"].as_str().unwrap();
    assert!(command.contains("--swarms 4") && command.ends_with("--out my.wdgnn"), "{command}");
    let page = fs::read_to_string(folder.path().join("it.html")).unwrap();
    assert!(page.contains("Validation episodes") && page.contains("Network: "));
    assert_eq!(fs::read_to_string(folder.path().join("it.csv")).unwrap().lines().count(), 4);
}

#[test]
fn only_one_result_goes_to_standard_output() {
    let folder = folder();
    let out = |more: &str| text(folder.path(), &format!("eval --swarms 1 --robots 6 --ticks 20 {more}"));
    assert!(out("--report -").starts_with("<!"));
    let csv = out("--csv - --report page.html");
    assert!(csv.starts_with("controller,") && csv.lines().all(|line| line.contains(',')), "{csv}");
    assert!(folder.path().join("page.html").exists());
}

#[test]
fn pages_of_different_conditions_have_different_names() {
    let folder = folder();
    for robots in [5, 6] {
        let said = text(folder.path(), &format!("eval --swarms 1 --robots {robots} --ticks 20"));
        assert!(said.contains(&format!("eval-flocking-robots-{robots}-swarms-1-ticks-20.html")), "{said}");
    }
    assert_eq!(folder.path().join("target/wdgnn").read_dir().expect("made").count(), 2);
}

#[test]
fn trajectories_have_a_row_per_robot_and_tick() {
    let folder = folder();
    text(folder.path(), "run --robots 4 --ticks 5 --trajectories t.csv");
    let csv = fs::read_to_string(folder.path().join("t.csv")).expect("written");
    let heading = "controller,tick,seconds,score,robot,present,honest,position_x,position_y,velocity_x,velocity_y,command_0,command_1";
    assert_eq!(csv.lines().next(), Some(heading));
    assert_eq!(csv.lines().count(), 1 + 5 * 4);
    assert!(csv.lines().nth(5).is_some_and(|line| line.starts_with("wd-gnn-online,1,0.01,")), "{csv}");
}

#[test]
fn trajectories_of_a_comparison_have_every_shown_controller() {
    let folder = folder();
    for (command, controllers) in [("eval", 6), ("eval --task rendezvous", 4)] {
        text(folder.path(), &format!("{command} --robots 4 --ticks 5 --swarms 1 --trajectories t.csv"));
        let csv = fs::read_to_string(folder.path().join("t.csv")).expect("written");
        assert_eq!(csv.lines().count(), 1 + 5 * 4 * controllers, "{command}");
        let names: BTreeSet<&str> = csv.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
        assert_eq!(names.len(), controllers, "{command}: {names:?}");
    }
}
