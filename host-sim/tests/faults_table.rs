//! Table of faults with few swarms, compared with a golden file. `BLESS=1` writes it.

use std::{env, fs, path::Path};

use host_sim::{
    controllers::EvalConfig,
    faults::{self, Plan, Row, bench::Bench},
    medium::options::Trust,
    profiles::Profile,
    recipe::RecipeName,
    table,
    world::{Scenario, flock::Flock},
};

fn flown(only: &str, profile: Profile) -> Vec<Row> {
    let eval = EvalConfig::<Flock>::for_profile(RecipeName::Ours, profile).unwrap();
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
        "host-sim eval --task flocking --profile exact --recipe ours --robots 20 --ticks 200 --swarms 2 --seed 7 --fault one-way=0.3"
    );
}

#[test]
fn collisions_need_a_radio() {
    assert!(flown("hidden terminals", Profile::Exact).is_empty());
    let [row] = &flown("hidden terminals", Profile::Espnow)[..] else { panic!("one row") };
    assert!(row.ratio.is_some_and(|ratio| ratio > 1.0), "{row:?}");
}
