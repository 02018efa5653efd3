//! Command line of `eval`, `sweep`, `shift`, `theorem` and `airtime`.

use serde_json::Value;

use crate::program::{command, complaint, folder, host_sim, json, model, text};

#[test]
fn json_is_complete_and_deterministic() {
    let folder = folder();
    let fly = |threads: &str| {
        let line = "eval --swarms 3 --seed 7 --json";
        let output =
            command(folder.path(), line).env("RAYON_NUM_THREADS", threads).output().expect("it starts");
        assert!(output.status.success());
        output.stdout
    };
    let one = fly("1");
    assert_eq!(one, fly("3"));
    let json: Value = serde_json::from_slice(&one).expect("JSON");
    assert_eq!((&json["robots"], &json["seed"]), (&50.into(), &7.into()));
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
    let json = json(folder().path(), "eval --seed 3");
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
    let folder = folder();
    let rows = |text: &str| -> Vec<String> {
        let table = text.lines().skip_while(|line| !line.starts_with('─')).skip(1);
        table.take_while(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let short = text(folder.path(), "eval --swarms 3 --robots 12");
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
    assert_eq!(rows(&text(folder.path(), "eval --swarms 3 --robots 12 --all")).len(), 14);
    // The output begins with a sentence about delayed actuators and ends with a legend of five lines.
    let first = "After 6 s with actuators delayed by 80 ms, the velocity variation";
    assert!(short.starts_with(first), "{short}");
    let legend = short.lines().skip_while(|line| !line.starts_with("total, final:"));
    assert_eq!(legend.take_while(|line| !line.is_empty()).count(), 5, "{short}");
}

#[test]
fn delayed_actuators_are_shown_unless_a_delay_is_given() {
    let folder = folder();
    let flown = json(folder.path(), "eval --swarms 1 --robots 12");
    let delayed = &flown["delayed_actuators"];
    assert_eq!((&delayed["milliseconds"], &delayed["seconds"]), (&80.into(), &6.into()), "{delayed}");
    assert!(delayed["as_trained"].as_f64() > Some(0.1), "{delayed}");
    assert!(delayed["learning_in_flight"].as_f64() < Some(0.01), "{delayed}");
    let page = folder.path().join("target/wdgnn/eval-flocking-robots-12-swarms-1.html");
    let page = std::fs::read_to_string(page).expect("a page");
    let [comparison, all] = ["Actuators delayed by 80 ms", "All controllers"].map(|text| page.find(text));
    assert!(comparison < all, "the comparison is first");
    let other = json(folder.path(), "eval --swarms 1 --robots 12 --actuator-delay 4");
    assert!(other["delayed_actuators"].is_null());
}

#[test]
fn bodies_change_flights_and_have_their_own_condition() {
    let folder = folder();
    let total = |body: &str| {
        let flown = json(folder.path(), &format!("eval --swarms 2 --body {body}"));
        (flown["robots"].clone(), flown["controllers"]["wd-gnn"]["total"]["mean"].as_f64().expect("a number"))
    };
    let (robots, nominal) = total("quadrotor");
    assert_eq!(robots, 10);
    assert!(total("quadrotor,lag=1.2").1 > nominal, "a slower body brakes later");
    assert!(total("differential").1 < 0.1 * nominal, "robots on wheels start at 0.1 m/s");
    assert_eq!(total("point").0, 50);
}

#[test]
fn sweep_shift_run_and_faults_fly_bodies() {
    let folder = folder();
    let sweep = json(folder.path(), "sweep speed --body quadrotor --values 1,2 --swarms 2 --robots 5");
    let total =
        |point: usize, name: &str| sweep["points"][point]["controllers"][name]["total"]["mean"].as_f64();
    assert!(total(1, "smith-1-hop") > total(0, "tuned-averaging-1-hop"), "{sweep}");
    let shift = json(folder.path(), "shift as-trained --body quadrotor --swarms 1 --seeds 1 --retrain 2");
    let column = |column: usize| shift["rows"][0]["total"][column]["mean"].as_f64().expect("a number");
    assert!(column(1) < 0.5 * column(0) && column(4) <= column(1), "the network of quadrotors: {shift}");
    let digest = |body: &str| json(folder.path(), &format!("run --robots 5 {body}"))["digest"].clone();
    assert_ne!(digest("--body quadrotor"), digest(""));
    assert_eq!(digest("--body point --ticks 200"), digest(""));
    // Rows need not hold: the network was trained for point masses.
    let rows = |body: &str| {
        let line =
            format!("faults --only noise%20of%20velocities --swarms 1 --ticks 200 --robots 10 --json {body}");
        host_sim(folder.path(), &line).stdout
    };
    assert_ne!(rows("--body quadrotor --speed 3"), rows(""));
}

#[test]
fn with_a_body_baselines_are_tuned_on_separate_swarms() {
    let folder = folder();
    let flown = json(folder.path(), "eval --body quadrotor --swarms 6");
    let ratio = |name: &str| {
        let total = |name: &str| flown["controllers"][name]["total"]["mean"].as_f64().expect("a number");
        total(name) / total("tuned-averaging-1-hop")
    };
    let gain = flown["tuning"]["tuned-averaging-1-hop"]["gain"].as_f64().expect("a gain");
    assert!((9.0..20.0).contains(&gain), "{gain}");
    assert!((0.9..0.99).contains(&ratio("tuned-averaging-3-hops")));
    assert!(ratio("smith-1-hop") < 0.9 && ratio("smith-3-hops") < ratio("smith-1-hop"));
    assert!((1.0..1.3).contains(&ratio("olfati-saber")) && ratio("tuned-expert") < ratio("smith-1-hop"));
    let table = text(folder.path(), "eval --body quadrotor --swarms 2 --profile dot154");
    assert!(
        table.contains("ratio to averaging") && table.contains("averaging over 1 hop, gain 1"),
        "{table}"
    );
}

#[test]
fn several_seeds_give_mean_and_spread() {
    let json = json(folder().path(), "eval --seeds 2 --swarms 2 --robots 12");
    assert_eq!(json["over_seeds"]["expert"]["ratio"]["mean"], 1.0);
    assert!(json["over_seeds"]["wd-gnn-online"]["ratio"]["std"].as_f64().is_some_and(|std| std > 0.0));
}

#[test]
fn shift_evaluates_all_columns() {
    let json = json(folder().path(), "shift delay --swarms 1 --seeds 1 --retrain 1");
    assert_eq!(json["columns"].as_array().map(Vec::len), Some(5));
    let late = |column: usize| json["rows"][0]["late"][column]["mean"].as_f64().expect("a number");
    assert!(late(3) < 0.2 * late(1), "learning ends the oscillation: {} of {}", late(3), late(1));
}

#[test]
fn csv_has_a_row_per_controller() {
    let folder = folder();
    text(folder.path(), "eval --swarms 2 --robots 10 --csv out.csv");
    let csv = std::fs::read_to_string(folder.path().join("out.csv")).expect("written");
    assert_eq!(csv.lines().count(), 1 + 7 + 7, "a heading, the paper's controllers, the baselines");
    assert!(csv.lines().all(|line| line.split(',').count() == 12), "{csv}");
}

/// Runs `theorem` with a ridge. Returns its exit code and, for each rule, whether the bound held at
/// all ticks and the final distance to the optimum relative to the initial one.
fn theorem(ridge: u32) -> (Option<i32>, [(bool, f64); 3]) {
    let output = host_sim(folder().path(), &format!("theorem --ridge {ridge} --json"));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = json["ticks"].as_array().expect("rows");
    assert_eq!(rows.len(), 200);
    let number = |row: &Value, name: &str| row[name].as_f64().expect("a number");
    let rules = ["centralised", "decentralised_mean", "decentralised_worst"].map(|rule| {
        let held = rows.iter().all(|row| number(row, rule) <= number(row, "bound") * (1.0 + 1.0e-9));
        assert_eq!(json["held"][rule], held, "{rule}");
        (held, number(&rows[199], rule) / number(&rows[0], rule))
    });
    (output.status.code(), rules)
}

#[test]
fn theorem_1_holds_on_the_taps_of_a_flight() {
    let (code, rules) = theorem(1);
    assert_eq!(code, Some(0));
    assert!(rules.iter().all(|(held, left)| *held && *left < 0.25), "{rules:?}");
}

#[test]
fn theorem_reports_a_robot_that_leaves_a_tight_bound() {
    let (code, [centralised, mean, worst]) = theorem(20);
    assert_eq!(code, Some(1), "the furthest robot leaves the bound, which is not proven for it");
    assert!(centralised.0 && centralised.1 < 0.01, "{centralised:?}");
    assert!(mean.0 && mean.1 < 0.01, "{mean:?}");
    assert!(!worst.0, "{worst:?}");
    let (_, error) = complaint(folder().path(), "theorem --ridge 20");
    assert!(error.contains("did not hold"), "{error}");
}

#[test]
fn small_radios_stay_within_their_limits() {
    let folder = folder();
    for (profile, robots) in [("dot154", 10), ("espnow", 50), ("esb32", 10), ("p2p57", 10)] {
        let line = format!("eval --profile {profile} --robots {robots} --swarms 10 --seed 3");
        let json = json(folder.path(), &line);
        assert_eq!(json["profile"], profile);
        let total = |name: &str| json["controllers"][name]["total"]["mean"].as_f64().expect(name);
        assert!(total("wd-gnn") <= 1.25 * total("expert"), "{profile}, offline");
        assert!(total("wd-gnn-online") <= 1.25 * total("expert"), "{profile}, online");
        assert!(json["controllers"]["gnn"].is_null(), "none was trained for it");
    }
}

#[test]
fn radio_faults_are_counted_by_reason() {
    let line = "eval --swarms 2 --robots 12 --fault corrupt-chance=0.2 --fault forge=3";
    let json = json(folder().path(), line);
    let online = &json["controllers"]["wd-gnn-online"];
    // Three per exchange and robot, plus corrupted frames.
    assert!(online["refused"]["forged"].as_u64().is_some_and(|count| count > 3 * 200 * 12 * 2), "{online}");
    assert!(online["heard"].as_u64() > online["refused"]["forged"].as_u64());
    assert!(json["controllers"]["wd-gnn-online-centralised"].is_null(), "no center on an air with faults");
}

#[test]
fn excessive_schedules_are_rejected_with_the_largest_possible_one() {
    let folder = folder();
    let airtime = |robots| format!("airtime --profile dot154 --robots {robots}");
    assert_eq!(json(folder.path(), &airtime(10))["profiles"][0]["frame_bytes"], 101);
    let beyond = host_sim(folder.path(), &airtime(11));
    let message = String::from_utf8_lossy(&beyond.stderr);
    assert_eq!(beyond.status.code(), Some(2), "{message}");
    assert!(message.contains("use 88 %") && message.contains("at most 10 robots"), "{message}");
    assert!(!beyond.stdout.is_empty(), "the table is printed all the same");
    text(folder.path(), "airtime");
}

#[test]
fn values_of_sweeps_are_sorted() {
    let json = json(folder().path(), "sweep radius --task rendezvous --values 3,2,3 --swarms 1");
    let values: Vec<&Value> =
        json["points"].as_array().expect("points").iter().map(|point| &point["value"]).collect();
    assert_eq!(values, [2.0, 3.0]);
    assert!(json["command"].as_str().is_some_and(|command| command.contains("--values 2,3")), "{json}");
    assert!(json["models"].as_str().is_some_and(|models| models.contains("checksum")), "{json}");
    assert!(json["version"].is_string());
}

#[test]
fn sweeps_combine_the_swarms_of_all_seeds() {
    let folder = folder();
    let total = |options: &str| {
        let line = format!("sweep speed --values 3 --swarms 2 --robots 8 {options}");
        let total = &json(folder.path(), &line)["points"][0]["controllers"]["wd-gnn"]["total"]["mean"];
        total.as_f64().expect("a number")
    };
    let mean = 0.5 * (total("--seed 7") + total("--seed 8"));
    assert!((total("--seed 7 --seeds 2") - mean).abs() < 1.0e-9 * mean);
}

#[test]
fn models_are_reported_by_architecture() {
    let gnn = model("paper-gnn");
    let json = json(folder().path(), &format!("eval --swarms 1 --robots 6 --ticks 20 --model {gnn}"));
    let models = json["models"].as_str().expect("models");
    assert!(models.contains(&format!("gnn {gnn}")) && models.contains("wd-gnn models/flocking"), "{models}");
}

#[test]
fn a_swarm_of_one_robot_has_no_invalid_figures() {
    let said = text(folder().path(), "eval --robots 1 --swarms 1");
    assert!(said.starts_with("1 swarm of 1 robot,"), "{said}");
    assert!(!said.contains("inf") && !said.contains("NaN"), "{said}");
}
