//! Command line of `eval`, `shift` and `theorem`.

use std::process::Command;

use crate::program::{host_sim, refused};

#[test]
fn json_is_complete_and_deterministic() {
    let folder = tempfile::tempdir().expect("a folder");
    let fly = |threads: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_host-sim"))
            .current_dir(folder.path())
            .env("RAYON_NUM_THREADS", threads)
            .args(["eval", "--swarms", "3", "--seed", "7", "--json"])
            .output()
            .expect("it starts");
        assert!(output.status.success());
        output.stdout
    };
    let one = fly("1");
    assert_eq!(one, fly("3"));
    let json: serde_json::Value = serde_json::from_slice(&one).expect("JSON");
    assert_eq!(json["robots"], 50);
    assert_eq!(json["seed"], 7);
    for name in
        ["limit", "expert", "wd-gnn", "wd-gnn-online-centralised", "wd-gnn-online", "gnn", "graph-filter"]
    {
        let controller = &json["controllers"][name];
        assert!(controller["total"]["mean"].as_f64().is_some_and(|mean| mean > 10.0), "{name}: {controller}");
        assert!(controller["final"]["std"].is_number(), "{name}: {controller}");
        assert!(controller["min_distance"].is_number() && controller["close_pairs"].is_number(), "{name}");
    }
    assert!(json["controllers"]["wd-gnn-online"]["disagreement"].is_number());
    assert!(json["controllers"]["gnn"]["disagreement"].is_null());
}

#[test]
fn supplied_networks_reach_the_documented_scores() {
    // 40 swarms under the paper's condition; the bounds are those of the README.
    let folder = tempfile::tempdir().expect("a folder");
    let output = host_sim(folder.path(), &["eval", "--seed", "3", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let of = |name: &str, field: &str| json["controllers"][name][field]["mean"].as_f64().expect("a number");
    let expert = of("expert", "total");
    assert!((48.0..55.0).contains(&expert), "the world is another one: expert {expert}");
    assert!(of("limit", "total") < expert);
    assert!(of("wd-gnn", "total") < 0.945 * expert);
    assert!(of("wd-gnn-online", "total") < 0.945 * expert);
    // Between the bound of any controller and averaging without a network.
    let floor = of("flooding", "total");
    assert!(of("limit-guarded", "total") <= floor && floor < of("wd-gnn-online", "total"));
    assert!(of("wd-gnn-online", "total") < of("averaging-1-hop", "total"));
    assert!(of("wd-gnn-online", "final") < 1.1 * of("expert", "final"));
    assert!(of("graph-filter", "total") < 1.10 * expert);
    let close = |name: &str| json["controllers"][name]["close_pairs"].as_f64().expect("a number");
    assert!(close("wd-gnn-online") <= close("expert"));
}

#[test]
fn the_table_has_six_rows_with_measured_errors_and_all_rows_on_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let printed = |more: &[&str]| {
        let output = host_sim(folder.path(), &[&["eval", "--swarms", "3", "--robots", "12"], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let rows = |text: &str| -> Vec<String> {
        let table = text.lines().skip_while(|line| !line.starts_with('─')).skip(1);
        table.take_while(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let short = printed(&[]);
    let names = [
        "expert (sees all robots)",
        "averaging over 1 hop",
        "averaging over 3 hops",
        "GNN alone",
        "WD-GNN, as trained",
        "WD-GNN, learning in flight",
    ];
    let table = rows(&short);
    assert_eq!(table.len(), names.len(), "{short}");
    assert!(table.iter().zip(names).all(|(row, name)| row.starts_with(name)), "{short}");
    assert!(table[1..].iter().all(|row| row.matches('±').count() == 2), "total and ratio: {short}");
    assert_eq!(rows(&printed(&["--all"])).len(), 14);
    // The output begins with a sentence about delayed actuators and ends with a legend of five
    // lines.
    assert!(
        short.starts_with("After 6 s with actuators delayed by 80 ms, the velocity variation"),
        "{short}"
    );
    let legend = short.lines().skip_while(|line| !line.starts_with("total, final:"));
    assert_eq!(legend.take_while(|line| !line.is_empty()).count(), 5, "{short}");
}

#[test]
fn delayed_actuators_are_shown_unless_a_delay_is_given() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = |more: &[&str]| -> serde_json::Value {
        let arguments = [&["eval", "--swarms", "1", "--robots", "12", "--json"], more].concat();
        serde_json::from_slice(&host_sim(folder.path(), &arguments).stdout).expect("JSON")
    };
    let flown = json(&[]);
    let delayed = &flown["delayed_actuators"];
    assert_eq!((&delayed["milliseconds"], &delayed["seconds"]), (&80.into(), &6.into()), "{delayed}");
    assert!(delayed["as_trained"].as_f64() > Some(0.1), "{delayed}");
    assert!(delayed["learning_in_flight"].as_f64() < Some(0.01), "{delayed}");
    assert!(json(&["--actuator-delay", "4"])["delayed_actuators"].is_null());
    let page =
        std::fs::read_to_string(folder.path().join("target/wdgnn/eval-flocking-robots-12-swarms-1.html"));
    let page = page.expect("a page");
    assert!(
        page.find("Actuators delayed by 80 ms") < page.find("All controllers"),
        "the comparison is first"
    );
}

#[test]
fn several_seeds_give_mean_and_spread() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["eval", "--seeds", "2", "--swarms", "2", "--robots", "12", "--json"];
    let json: serde_json::Value =
        serde_json::from_slice(&host_sim(folder.path(), &arguments).stdout).expect("JSON");
    assert_eq!(json["over_seeds"]["expert"]["ratio"]["mean"], 1.0);
    assert!(json["over_seeds"]["wd-gnn-online"]["ratio"]["std"].as_f64().is_some_and(|std| std > 0.0));
}

#[test]
fn shift_evaluates_all_columns() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["shift", "delay", "--swarms", "1", "--seeds", "1", "--retrain", "1", "--json"];
    let json: serde_json::Value =
        serde_json::from_slice(&host_sim(folder.path(), &arguments).stdout).expect("JSON");
    assert_eq!(json["columns"].as_array().map(Vec::len), Some(5));
    let late = |column: usize| json["rows"][0]["late"][column]["mean"].as_f64().expect("a number");
    assert!(
        late(3) < 0.2 * late(1),
        "learning from what happened ends the swing: {} of {}",
        late(3),
        late(1)
    );
    refused(&["shift", "sunshine"], "there is no condition sunshine");
}

#[test]
fn invalid_options_are_rejected_in_one_line() {
    refused(&["eval", "--robots", "0"], "--robots must be a whole number between 1 and 20000000, got 0");
    refused(&["eval", "--robots", "20000001"], "between 1 and 20000000, got 20000001");
    refused(
        &["eval", "--robots", "70000", "--profile", "dot154"],
        "--robots must be at most 65536 on --profile",
    );
    refused(
        &["eval", "--robots", "70000", "--fault", "drop-chance=0.1"],
        "--robots must be at most 65536 on --profile",
    );
    refused(&["eval", "--radius", "-1"], "--radius must be a number above 0.1 and at most 1000, got -1");
    refused(&["eval", "--speed", "-1"], "--speed must be a number between 0 and 340, got -1");
    refused(&["eval", "--swarms", "0"], "--swarms must be a whole number between 1 and");
    refused(&["eval", "--step-size", "-1"], "--step-size");
    refused(&["sweep", "robots", "--values", "2.5"], "whole number");
    refused(&["sweep", "radius", "--values", "0"], "--radius must be a number above 0.1");
    refused(&["theorem", "--ridge", "0"], "--ridge must be a number above 0");
}

#[test]
fn an_unusable_model_is_refused_by_name() {
    refused(&["eval", "--model", "missing.wdgnn"], "cannot read missing.wdgnn");
    let folder = tempfile::tempdir().expect("a folder");
    let good = std::fs::read("../models/flocking-wd-gnn.wdgnn").expect("a model that comes with the program");
    let mut damaged = good.clone();
    damaged[500] ^= 1;
    for (name, bytes, sentence) in [
        ("damaged.wdgnn", &damaged[..], "checksum"),
        ("cut.wdgnn", &good[..200], "bytes"),
        ("none.wdgnn", b"hello, this is no model", "not a weight file"),
    ] {
        std::fs::write(folder.path().join(name), bytes).expect("written");
        let output = host_sim(folder.path(), &["eval", "--swarms", "1", "--model", name]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {said}");
        assert!(said.contains(name) && said.contains(sentence), "{name}: {said}");
    }
}

#[test]
fn unwritable_outputs_are_reported_first() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("taken")).expect("made");
    for option in ["--csv", "--report"] {
        let output = host_sim(folder.path(), &["eval", option, "taken"]);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write taken"), "{option}");
    }
}

#[test]
fn csv_has_a_row_per_controller() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = host_sim(folder.path(), &["eval", "--swarms", "2", "--robots", "10", "--csv", "out.csv"]);
    assert!(output.status.success());
    let csv = std::fs::read_to_string(folder.path().join("out.csv")).expect("written");
    assert_eq!(csv.lines().count(), 1 + 7 + 7, "a heading, the paper's controllers, the baselines");
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(columns, [12; 15]);
}

/// Runs `theorem` with a ridge. Returns its exit code and, for each rule, whether the bound held at
/// all ticks and the final distance to the optimum relative to the initial one.
fn theorem(ridge: &str) -> (Option<i32>, [(bool, f64); 3]) {
    let folder = tempfile::tempdir().expect("a folder");
    let output = host_sim(folder.path(), &["theorem", "--ridge", ridge, "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = json["ticks"].as_array().expect("rows");
    assert_eq!(rows.len(), 200);
    let number = |row: &serde_json::Value, name: &str| row[name].as_f64().expect("a number");
    let rules = ["centralised", "decentralised_mean", "decentralised_worst"].map(|rule| {
        let held = rows.iter().all(|row| number(row, rule) <= number(row, "bound") * (1.0 + 1.0e-9));
        assert_eq!(json["held"][rule], held, "{rule}");
        (held, number(&rows[199], rule) / number(&rows[0], rule))
    });
    (output.status.code(), rules)
}

#[test]
fn theorem_1_holds_on_the_taps_of_a_flight() {
    let (code, rules) = theorem("1");
    assert_eq!(code, Some(0));
    assert!(rules.iter().all(|(held, left)| *held && *left < 0.25), "{rules:?}");
}

#[test]
fn theorem_reports_a_robot_that_leaves_a_tight_bound() {
    let (code, [centralised, mean, worst]) = theorem("20");
    assert_eq!(code, Some(1), "the furthest robot leaves the bound, which is not proven for it");
    assert!(centralised.0 && centralised.1 < 0.01, "{centralised:?}");
    assert!(mean.0 && mean.1 < 0.01, "{mean:?}");
    assert!(!worst.0, "{worst:?}");
}

#[test]
fn small_radios_stay_within_their_limits() {
    let folder = tempfile::tempdir().expect("a folder");
    for (profile, robots) in [("dot154", "10"), ("espnow", "50"), ("esb32", "10"), ("p2p57", "10")] {
        let arguments =
            ["eval", "--profile", profile, "--robots", robots, "--swarms", "10", "--seed", "3", "--json"];
        let output = host_sim(folder.path(), &arguments);
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(json["profile"], profile);
        let total = |name: &str| json["controllers"][name]["total"]["mean"].as_f64().expect(name);
        assert!(total("wd-gnn") <= 1.25 * total("expert"), "{profile}, offline");
        assert!(total("wd-gnn-online") <= 1.25 * total("expert"), "{profile}, online");
        assert!(json["controllers"]["gnn"].is_null(), "none was trained for it");
    }
}

#[test]
fn radio_faults_are_counted_by_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = [
        "eval",
        "--swarms",
        "2",
        "--robots",
        "12",
        "--fault",
        "corrupt-chance=0.2",
        "--fault",
        "forge=3",
        "--json",
    ];
    let output = host_sim(folder.path(), &arguments);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let online = &json["controllers"]["wd-gnn-online"];
    // Three per exchange and robot, plus corrupted frames.
    assert!(online["refused"]["forged"].as_u64().is_some_and(|count| count > 3 * 200 * 12 * 2), "{online}");
    assert!(online["heard"].as_u64() > online["refused"]["forged"].as_u64());
    assert!(json["controllers"]["wd-gnn-online-centralised"].is_null(), "no center on an air with faults");
}

#[test]
fn invalid_faults_and_profiles_are_rejected() {
    refused(
        &["eval", "--fault", "drop-chance=2"],
        "--fault drop-chance must be a number between 0 and 1, got 2",
    );
    refused(&["eval", "--fault", "kill=50@3"], "--fault kill names robot 50: the robots are 0 to 49");
    refused(&["eval", "--fault", "liars=TASTE:0.1"], "--fault liars must be STATE:SHARE");
    refused(&["eval", "--recipe", "paper", "--profile", "dot154"], "leave --recipe out");
    refused(&["eval", "--profile", "esb32", "--robots", "300"], "at most 256 on --profile esb32");
    refused(
        &["eval", "--realizations", "2", "--fault", "drop-chance=0.1"],
        "cannot be combined with --profile or faults",
    );
    let exact = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/flocking-wd-gnn.wdgnn");
    refused(&["eval", "--profile", "dot154", "--model", exact], "train --profile dot154");
    refused(&["faults", "--robots", "100"], "--robots must be a whole number between 5 and 64, got 100");
    refused(&["airtime", "--robots", "0"], "between 1 and 65535, got 0");
    refused(&["airtime", "--rate", "-3"], "--rate must be a number above 0");
    refused(&["airtime", "--rate", "50"], "--rate needs --profile");
}

#[test]
fn excessive_schedules_are_rejected_with_the_largest_possible_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let air =
        |robots| host_sim(folder.path(), &["airtime", "--profile", "dot154", "--robots", robots, "--json"]);
    assert!(air("10").status.success());
    let beyond = air("11");
    assert_eq!(beyond.status.code(), Some(2));
    let said = String::from_utf8_lossy(&beyond.stderr);
    assert!(said.contains("use 88 %") && said.contains("at most 10 robots"), "{said}");
    let json: serde_json::Value = serde_json::from_slice(&beyond.stdout).expect("JSON all the same");
    assert_eq!(json["profiles"][0]["frame_bytes"], 101);
    assert!(host_sim(folder.path(), &["airtime"]).status.success(), "an overview refuses nothing");
}
