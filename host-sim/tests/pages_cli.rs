//! Pages, charts and origin of all commands with results.

use std::{fs, path::Path};

use serde_json::Value;

use super::program::host_sim;

/// Minimal runs of the commands.
const COMMANDS: [&[&str]; 8] = [
    &[
        "eval",
        "--swarms",
        "1",
        "--robots",
        "6",
        "--ticks",
        "20",
        "--recipe",
        "ours",
        "--fault",
        "drop-chance=0.3",
    ],
    &["eval", "--task", "rendezvous", "--swarms", "1", "--robots", "6", "--ticks", "10"],
    &["run", "--robots", "6", "--ticks", "20", "--fault", "kill=2@5"],
    &["sweep", "speed", "--swarms", "1", "--robots", "6", "--values", "1,2"],
    &[
        "faults",
        "--only",
        "your",
        "--swarms",
        "1",
        "--robots",
        "6",
        "--ticks",
        "200",
        "--fault",
        "drop-chance=0.1",
    ],
    &["airtime", "--profile", "dot154"],
    &["theorem", "--robots", "10"],
    &["shift", "delay", "--swarms", "1", "--seeds", "1", "--retrain", "1"],
];

fn check(folder: &Path, command: &[&str]) {
    let files = ["--report", "it.html", "--svg", "it.svg", "--csv", "it.csv", "--json"];
    let output = host_sim(folder, &[command, &files].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some_and(|code| code < 2), "{command:?}: {said}");
    let json: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let page = fs::read_to_string(folder.join("it.html")).unwrap();
    for option in command.iter().filter(|word| word.starts_with("--")) {
        assert!(json["command"].as_str().unwrap().contains(option), "{command:?}: {}", json["command"]);
    }
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"), "{command:?}");
    assert!(json["models"].as_str().is_some_and(|models| !models.is_empty()), "{command:?}");
    let faults = json["faults"].as_str().unwrap_or_else(|| panic!("{command:?} has no faults"));
    let wrong = command.contains(&"--fault");
    assert_eq!(faults != "none", wrong, "{command:?}: {faults}");
    for mark in ["command", "version", "models", "faults"] {
        let text = json[mark].as_str().unwrap().replace('<', "&lt;").replace('>', "&gt;");
        assert!(page.contains(&text), "{command:?}: the page has no {mark} {text}");
    }
    let svg = fs::read_to_string(folder.join("it.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.matches("<path").count() > 5, "{command:?}");
    assert!(fs::read_to_string(folder.join("it.csv")).unwrap().lines().count() > 1, "{command:?}");
    // The command in the output repeats the run.
    let words: Vec<&str> = json["command"].as_str().unwrap().split(' ').skip(1).collect();
    let again = host_sim(folder, &[&words[..], &["--json", "--report", "again.html"]].concat());
    let mut sides =
        [&output.stdout, &again.stdout].map(|text| serde_json::from_slice::<Value>(text).unwrap());
    for side in &mut sides {
        let side = side.as_object_mut().unwrap();
        side.remove("wall_seconds");
        side.remove("command");
    }
    assert_eq!(sides[0], sides[1], "{command:?}");
}

#[test]
fn all_commands_have_pages_charts_and_an_origin() {
    let folder = tempfile::tempdir().unwrap();
    for command in COMMANDS {
        check(folder.path(), command);
    }
}

#[test]
fn training_has_a_page_with_curves() {
    let folder = tempfile::tempdir().unwrap();
    let train = ["train", "--out", "my.wdgnn", "--epochs", "3", "--swarms", "4", "--robots", "6"];
    let output = host_sim(
        folder.path(),
        &[&train[..], &["--report", "it.html", "--svg", "it.svg", "--csv", "it.csv", "--json"]].concat(),
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["epochs"].as_array().unwrap().len(), 3);
    assert!(json["command"].as_str().unwrap().contains("--swarms 4"), "{}", json["command"]);
    assert!(json["command"].as_str().unwrap().ends_with("--out my.wdgnn"), "{}", json["command"]);
    let page = fs::read_to_string(folder.path().join("it.html")).unwrap();
    assert!(page.contains("Validation episodes") && page.contains("Network: "));
    assert_eq!(fs::read_to_string(folder.path().join("it.csv")).unwrap().lines().count(), 4);
}
