//! Command line of `faults`, and its table with few swarms compared with a golden file.

use std::{env, fs, path::Path};

use host_sim::{
    controllers::EvalConfig,
    faults::{self, Plan, Row, bench::Bench},
    medium::options::Trust,
    profiles::Profile,
    table,
    world::{Scenario, flock::Flock},
};

use crate::program::{folder, host_sim, json, text};

fn flown(only: &str, profile: Profile) -> Vec<Row> {
    let eval = EvalConfig::<Flock>::for_profile(profile).unwrap();
    let condition = Scenario { robots: 20, ..Scenario::PAPER };
    let bench = Bench::new(eval, condition, 2, 7, Trust::Robust).unwrap();
    let plan = Plan::new(&bench, only, "").unwrap();
    (0..plan.count()).map(|row| plan.fly(row).unwrap()).collect()
}

#[test]
fn the_table_of_faults_matches_the_golden_file() {
    let text = table::aligned(&faults::cells(&flown("", Profile::Exact)));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/faults.txt");
    if env::var_os("BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    for (line, expected) in text.lines().zip(golden.lines()) {
        assert_eq!(line, expected, "right so? BLESS=1 writes {} anew", path.display());
    }
    assert_eq!(text, golden);
}

#[test]
fn selected_rows_run_alone_and_contain_their_command() {
    let rows = flown("one-WAY links", Profile::Exact);
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].options, "one-way=0.3");
    assert_eq!(
        rows[0].command,
        "host-sim eval --task flocking --profile exact --robots 20 --ticks 200 --swarms 2 --seed 7 --fault one-way=0.3"
    );
}

#[test]
fn collisions_need_a_radio() {
    assert!(flown("hidden terminals", Profile::Exact).is_empty());
    let [row] = &flown("hidden terminals", Profile::Espnow)[..] else { panic!("one row") };
    assert!(row.ratio.is_some_and(|ratio| ratio > 1.0), "{row:?}");
}

#[test]
fn failed_rows_are_named_and_exit_with_1() {
    // The motors are too weak for any limit.
    let line = "faults --only saturate --robots 8 --swarms 2 --ticks 200 --no-robustness";
    let output = host_sim(folder().path(), line);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("motors saturate") && printed.contains("3 m/s²"), "{printed}");
    assert!(printed.contains("pairs") && printed.contains("nearest"), "{printed}");
    assert!(!printed.contains("loss, independent"), "{printed}");
    let holds = !printed.contains("DOES NOT HOLD");
    assert_eq!(output.status.code(), Some(i32::from(!holds)));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(complaint.contains("rows do not hold: motors saturate (3 m/s², 2 s)"), !holds, "{complaint}");
}

#[test]
fn json_has_every_seed_and_the_worst_of_them_with_both_lengths() {
    let json = json(folder().path(), "faults --only motors%20weak --robots 6 --swarms 1 --seeds 2");
    let tables = json["tables"].as_array().expect("tables");
    let seconds: Vec<_> = tables.iter().map(|table| table["seconds"].as_f64()).collect();
    assert_eq!(seconds, [Some(2.0), Some(10.0)]);
    for table in tables {
        let worst = &table["faults"][0];
        assert_eq!(worst["options"], "motor=weak:0.2");
        let seeds = table["seeds"].as_array().expect("seeds");
        assert_eq!(seeds.iter().map(|rows| rows[0]["seed"].as_u64()).collect::<Vec<_>>(), [Some(7), Some(8)]);
        assert!(seeds.iter().any(|rows| rows[0] == *worst));
        for field in ["close_pairs", "most_close_pairs", "nearest"] {
            assert!(worst["nearness"][field].is_number(), "{field}: {worst}");
        }
        let command = worst["command"].as_str().expect("a command");
        assert!(command.ends_with("--fault motor=weak:0.2"), "{command}");
    }
}

#[test]
fn the_list_of_faults_has_every_key() {
    let list = text(folder().path(), "faults --list");
    for fault in host_sim::medium::options::FAULTS {
        assert!(list.contains(&format!("{}={}", fault.key, fault.form)), "{}: {list}", fault.key);
    }
}
