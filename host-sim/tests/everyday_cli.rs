//! Files, pipes, full disks and unusual numbers.

use std::{
    collections::BTreeSet,
    fs::OpenOptions,
    process::{Command, Stdio},
};

use crate::program::{host_sim, refused};

#[cfg(unix)]
#[test]
fn a_full_disk_is_reported_in_one_line() {
    let full = OpenOptions::new().write(true).open("/dev/full").expect("there is one");
    let output = Command::new(env!("CARGO_BIN_EXE_host-sim"))
        .arg("tasks")
        .stdout(Stdio::from(full))
        .stderr(Stdio::piped())
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot write to standard output") && !said.contains("panicked"), "{said}");
}

#[test]
fn only_one_result_goes_to_standard_output() {
    let folder = tempfile::tempdir().expect("a folder");
    let small = ["eval", "--swarms", "1", "--robots", "6", "--ticks", "20"];
    let out = |more: &[&str]| {
        let output = host_sim(folder.path(), &[&small, more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    assert!(out(&["--report", "-"]).starts_with("<!"));
    let csv = out(&["--csv", "-", "--report", "page.html"]);
    assert!(csv.starts_with("controller,") && csv.lines().all(|line| line.contains(',')), "{csv}");
    assert!(folder.path().join("page.html").exists());
    refused(&["eval", "--csv", "x", "--report", "x"], "name two files");
    refused(&["eval", "--json", "--report", "-"], "both write to standard output");
}

#[test]
fn pages_of_different_conditions_have_different_names() {
    let folder = tempfile::tempdir().expect("a folder");
    for robots in ["5", "6"] {
        let output = host_sim(folder.path(), &["eval", "--swarms", "1", "--robots", robots, "--ticks", "20"]);
        assert!(output.status.success());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(&format!("eval-flocking-robots-{robots}-swarms-1-ticks-20.html")), "{said}");
    }
    let pages = folder.path().join("target/wdgnn").read_dir().expect("made").count();
    assert_eq!(pages, 2);
}

#[test]
fn unusual_numbers_are_reported_as_numbers() {
    refused(&["eval", "--speed", "1e30"], "--speed must be a number between 0 and 340, got 1e30");
    refused(&["eval", "--ticks", "0"], "--ticks must be a whole number between 1 and 1000000, got 0");
    let folder = tempfile::tempdir().expect("a folder");
    let output = host_sim(folder.path(), &["eval", "--swarms", "-1"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(said, "host-sim: --swarms must be a whole number between 1 and 100000, got -1\n");
    let alone = host_sim(folder.path(), &["eval", "--robots", "1", "--swarms", "1"]);
    let said = String::from_utf8_lossy(&alone.stdout);
    assert!(alone.status.success() && !said.contains("inf") && !said.contains("NaN"), "{said}");
    assert!(said.starts_with("1 swarm of 1 robot,"), "{said}");
}

#[test]
fn trajectories_have_a_row_per_robot_and_tick() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["run", "--robots", "4", "--ticks", "5", "--trajectories", "t.csv"];
    let output = host_sim(folder.path(), &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let csv = std::fs::read_to_string(folder.path().join("t.csv")).expect("written");
    let heading = "controller,tick,seconds,score,robot,present,honest,position_x,position_y,velocity_x,velocity_y,command_0,command_1";
    assert_eq!(csv.lines().next(), Some(heading));
    assert_eq!(csv.lines().count(), 1 + 5 * 4);
    assert!(csv.lines().nth(5).is_some_and(|line| line.starts_with("wd-gnn-online,1,0.01,")), "{csv}");
}

#[test]
fn trajectories_of_a_comparison_have_every_shown_controller() {
    let folder = tempfile::tempdir().expect("a folder");
    let small = ["--robots", "4", "--ticks", "5", "--swarms", "1", "--trajectories", "t.csv"];
    for (command, controllers) in [(&["eval"][..], 6), (&["eval", "--task", "rendezvous"], 4)] {
        let output = host_sim(folder.path(), &[command, &small].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let csv = std::fs::read_to_string(folder.path().join("t.csv")).expect("written");
        assert_eq!(csv.lines().count(), 1 + 5 * 4 * controllers, "{command:?}");
        let names: BTreeSet<&str> = csv.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
        assert_eq!(names.len(), controllers, "{command:?}: {names:?}");
    }
}

#[test]
fn values_are_sorted() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = host_sim(
        folder.path(),
        &["sweep", "radius", "--task", "rendezvous", "--values", "3,2,3", "--swarms", "1", "--json"],
    );
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let values: Vec<&serde_json::Value> =
        json["points"].as_array().expect("points").iter().map(|point| &point["value"]).collect();
    assert_eq!(values, [2.0, 3.0]);
    assert!(json["command"].as_str().is_some_and(|command| command.contains("--values 2,3")), "{json}");
    assert!(json["models"].as_str().is_some_and(|models| models.contains("checksum")), "{json}");
    assert!(json["version"].is_string());
}

#[test]
fn a_violated_bound_exits_with_1() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = host_sim(folder.path(), &["theorem", "--ridge", "20"]);
    let (said, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(said.contains("did NOT hold"), output.status.code() == Some(1), "{said}{error}");
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(error.contains("did not hold"), "{error}");
}

#[test]
fn models_are_reported_by_architecture() {
    let gnn = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/through-gnn.wdgnn");
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["eval", "--swarms", "1", "--robots", "6", "--ticks", "20", "--model", gnn, "--json"];
    let output = host_sim(folder.path(), &arguments);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let models = json["models"].as_str().expect("models");
    assert!(models.contains(&format!("gnn {gnn}")) && models.contains("wd-gnn models/through"), "{models}");
}

#[test]
fn options_without_effect_are_refused() {
    refused(&["run", "--log"], "no effect on native robots");
    refused(&["run", "--image", "x"], "no effect on native robots");
    refused(&["run", "--compare", "--target", "nrf52840"], "--compare has no effect on chips");
    refused(&["run", "--compare", "--fault", "mixed-models=0.2"], "robots in QEMU run one image");
}

#[cfg(unix)]
#[test]
fn endless_files_are_rejected() {
    refused(&["eval", "--model", "/dev/zero"], "longer than");
}
