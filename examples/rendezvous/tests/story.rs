//! Steps of an external task: training, evaluation, pages and emulation.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

fn run(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_rendezvous")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Temporary folder of this test.
fn place(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn digest(arguments: &[&str]) -> String {
    let printed = run(arguments);
    let line = printed.lines().find_map(|line| line.strip_prefix("digest"));
    line.expect("a digest").trim().to_owned()
}

#[test]
fn networks_of_all_methods_work() {
    let folder = place("trained");
    for recipe in ["through", "evolve"] {
        let model = folder.join(format!("{recipe}.wdgnn"));
        let page = folder.join(format!("{recipe}.html"));
        let [model, page] = [&model, &page].map(|path| path.to_str().unwrap());
        run(&[
            "train",
            "--task",
            "rendezvous",
            "--recipe",
            recipe,
            "--epochs",
            "2",
            "--force",
            "--out",
            model,
        ]);
        let printed =
            run(&["eval", "--task", "rendezvous", "--model", model, "--swarms", "2", "--report", page]);
        assert!(
            printed.contains("to the neighbors' mean") && printed.contains("WD-GNN, learning in flight"),
            "{printed}"
        );
        assert!(std::fs::read_to_string(page).unwrap().contains("Robots that meet"));
    }
}

#[test]
fn the_supplied_network_beats_averaging() {
    let page = place("shipped").join("page.html");
    let json =
        run(&["eval", "--task", "rendezvous", "--swarms", "6", "--json", "--report", page.to_str().unwrap()]);
    let total = |name: &str| -> f64 {
        let (_, after) = json.split_once(&format!("\"{name}\": {{")).expect(name);
        let (_, mean) = after.split_once("\"mean\": ").expect("a mean");
        mean.split([',', '\n']).next().unwrap().trim().parse().unwrap()
    };
    assert!(total("wd-gnn") < 0.9 * total("averaging"), "{json}");
}

#[test]
fn invalid_training_options_are_rejected() {
    let out = place("told").join("x.wdgnn");
    let output = Command::new(env!("CARGO_BIN_EXE_rendezvous"))
        .args(["train", "--task", "rendezvous", "--recipe", "imitate", "--out", out.to_str().unwrap()])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), told.contains("has no expert")), (Some(2), true), "{told}");
}

#[test]
#[cfg(feature = "emulated")]
fn emulated_and_native_robots_are_identical() {
    let arguments = |target| ["run", "--task", "rendezvous", "--target", target, "--ticks", "60"];
    assert_eq!(digest(&arguments("native")), digest(&arguments("qemu")));
}

#[test]
fn episodes_are_deterministic() {
    let arguments = ["run", "--task", "rendezvous", "--ticks", "20", "--seed", "5"];
    assert_eq!(digest(&arguments), digest(&arguments));
}
