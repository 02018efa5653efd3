//! The table of faults, small and seeded, against a golden. `BLESS=1` writes it anew.

use std::{env, fs, path::Path};

use host_sim::{
    air::options::Trust,
    faults::{self, bench::Bench},
    lineup::Lineup,
    profiles::Profile,
    recipe::RecipeName,
    table,
    world::flock::Flock,
};

#[test]
fn the_table_of_faults_is_as_it_was() {
    let lineup = Lineup::<Flock>::of_profile(RecipeName::Ours, Profile::Exact).unwrap();
    let bench = Bench::new(lineup, 20, 2, 7, Trust::Robust).unwrap();
    let rows = faults::run(&bench, &|_| {}).unwrap();
    assert_eq!(rows.len() as u64, faults::ROWS);
    assert!(rows.iter().all(|row| row.holds), "{rows:#?}");
    let text = table::aligned(&faults::cells(&rows));
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
