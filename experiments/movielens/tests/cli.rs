//! The program as its user runs it.

use std::{fs, process::Command};

use serde_json::Value;

/// Exit code, standard output and standard error.
fn movielens(arguments: &[&str], threads: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_movielens"));
    let output = command.args(arguments).env("RAYON_NUM_THREADS", threads).output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), stdout, stderr)
}

#[test]
fn table_shows_every_predictor_and_the_figures_of_the_paper() {
    let (code, text, error) = movielens(&["--synthetic", "--splits", "2"], "2");
    assert_eq!(code, Some(0), "{error}");
    for row in ["wd-gnn", "gnn", "graph-filter", "online-1", "online-3-bias", "constant", "running-mean"] {
        assert!(text.lines().any(|line| line.starts_with(row)), "{row} is missing:\n{text}");
    }
    assert!(text.contains("0.854") && text.contains("1.092"), "{text}");
    assert!(text.contains("online-1 - wd-gnn"), "{text}");
}

#[test]
fn json_depends_on_the_options_and_not_on_the_number_of_threads() {
    let json = |more: &[&str], threads: &str| -> Value {
        let arguments = [&["--synthetic", "--splits", "3", "--json"], more].concat();
        serde_json::from_str(&movielens(&arguments, threads).1).unwrap()
    };
    let first = json(&[], "1");
    assert_eq!(first, json(&[], "4"));
    assert_eq!((&first["splits"], first["errors"].as_object().unwrap().len()), (&3.into(), 11));
    let mean = |row: &str| first["errors"][row]["other"]["mean"].as_f64().unwrap();
    let paired = first["differences"]["gnn - wd-gnn"]["other"]["mean"].as_f64().unwrap();
    assert!((paired - (mean("gnn") - mean("wd-gnn"))).abs() < 1.0e-12);
    for option in [["--seed", "1"], ["--loss", "mse"], ["--similarity", "library"]] {
        assert_ne!(first["errors"]["wd-gnn"], json(&option, "2")["errors"]["wd-gnn"], "{option:?}");
    }
}

#[test]
fn errors_are_one_line_with_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("u.data");
    fs::write(&file, "7\t50\t5\t1\n").unwrap();
    for (arguments, words) in [
        (&[][..], &["--data", "grouplens.org"][..]),
        (&["--data", "missing"], &["cannot read", "grouplens.org"]),
        (&["--data", folder.path().to_str().unwrap()], &["SHA-256 is d7a2dbe8", "grouplens.org"]),
        (&["--data", "x", "--synthetic"], &["--synthetic"]),
        (&["--synthetic", "--splits", "1"], &["--splits must be at least 2, got 1"]),
        (&["--synthetic", "--step-size", "-1"], &["--step-size must be finite and at least 0, got -1"]),
        (&["--synthetic", "--similarity", "cosine"], &["--similarity", "pearson, library"]),
        (&["--unknown"], &["--unknown"]),
    ] {
        let (code, output, message) = movielens(arguments, "1");
        assert_eq!((code, output.as_str(), message.lines().count()), (Some(2), "", 1), "{message}");
        assert!(message.starts_with("error: "), "{message}");
        assert!(words.iter().all(|word| message.contains(word)), "{arguments:?}: {message}");
    }
}
