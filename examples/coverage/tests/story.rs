//! The task by hand, and the steps of its program: training, evaluation, emulation.

use std::process::Command;

use coverage::{
    task::{Cell, Coverage},
    world::Area,
};
use wdgnn_core::task::Task as _;
use wdgnn_sim::{
    seeds::{Purpose, generator},
    world::{Scenario, World as _},
};

const HERE: Cell = Cell { position: [1.0, 1.0], to_center: [0.2, -0.1], mass: 1.0 };
const THERE: Cell = Cell { position: [3.0, 1.0], to_center: [0.0, 0.0], mass: 3.0 };

#[test]
fn features_and_gradient_by_hand() {
    // d = 2 along x: repulsion −2/4, attraction 2 · 2/4, both halved by n = 2.
    let features = Coverage.features(&HERE, [THERE].iter());
    assert_eq!(features, [0.2, -0.1, -0.25, 0.0, 0.5, 0.0]);
    // 2 · 0.5 s · (0.5 s · u − c) of a cell with mass 1.
    let gradient = Coverage.loss_gradient(&HERE, [].iter(), &[1.0, 2.0]);
    assert_eq!(gradient, [0.5 - 0.2, 1.0 + 0.1]);
}

#[test]
fn cells_partition_the_density_within_range() {
    let scenario = Scenario { robots: 10, radius: 100.0, ..Area::default_scenario() };
    let cells = Area::default().begin(&scenario, &mut generator(1, Purpose::Testing, 0)).unwrap();
    let sum: f32 = cells.iter().map(|cell| cell.mass).sum();
    assert!((sum - 10.0).abs() < 1.0e-3, "{sum}");
}

/// Runs the program; returns exit code, standard output and standard error.
fn run(arguments: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coverage"));
    let output = command
        .args(arguments.split(' '))
        .args(["--task", "coverage"])
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), stdout, stderr)
}

fn total(json: &str, name: &str) -> f64 {
    let (_, after) = json.split_once(&format!("\"{name}\": {{")).expect(name);
    let (_, mean) = after.split_once("\"mean\": ").expect("a mean");
    mean.split([',', '\n']).next().unwrap().trim().parse().unwrap()
}

#[test]
fn supplied_and_trained_networks_are_compared_with_lloyd() {
    let (code, json, error) = run("eval --swarms 4 --json --report page.html");
    assert_eq!(code, Some(0), "{error}");
    let [lloyd, local, still] = ["expert", "lloyd-local", "still"].map(|name| total(&json, name));
    assert!(lloyd < local && local < 0.8 * still, "{json}");
    assert!(total(&json, "wd-gnn") < local, "{json}");
    let (code, _, error) = run("train --epochs 1 --swarms 2 --force --out trained.wdgnn");
    assert_eq!(code, Some(0), "{error}");
    let (_, json, _) = run("eval --swarms 1 --model trained.wdgnn --json");
    assert!(total(&json, "wd-gnn") < total(&json, "still"), "{json}");
    let (code, _, error) = run("train --recipe through --out x.wdgnn");
    assert_eq!((code, error.contains("needs the derivative")), (Some(2), true), "{error}");
}

#[test]
#[cfg(feature = "emulated")]
fn emulated_and_native_robots_are_identical() {
    let digest = |target| {
        let (code, printed, error) = run(&format!("run --target {target} --robots 12 --ticks 60"));
        assert_eq!(code, Some(0), "{error}");
        printed.lines().find_map(|line| line.strip_prefix("digest")).expect("a digest").to_owned()
    };
    assert_eq!(digest("native"), digest("qemu"));
}
