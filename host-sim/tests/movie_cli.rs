//! `host-sim movie` as a user meets it, on a small made-up set.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use host_sim::movie::synthetic;
use serde_json::Value;
use tempfile::TempDir;

/// A made-up set in the published format.
pub fn made_up() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    synthetic::write(folder.path(), 11).unwrap();
    folder
}

/// `host-sim movie` on a folder, with the options that a made-up set needs unless they are among `more`.
fn command(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_host-sim"));
    command.args(["movie", "--allow-other-data", "--data"]).arg(folder);
    for (option, value) in [("--movies", "45"), ("--train-on", "1"), ("--test-on", "2")] {
        if !more.contains(&option) {
            command.args([option, value]);
        }
    }
    command.args(more);
    command
}

fn movie(folder: &Path, more: &[&str]) -> Output {
    command(folder, more).output().unwrap()
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The sentence on stderr of a command that was refused with exit code 2.
fn refused(output: &Output) -> String {
    let sentence = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{sentence}");
    assert!(output.stdout.is_empty());
    sentence
}

/// Leaves no more than so many ratings of a movie in the made-up set.
fn thin_out(folder: &Path, movie: &str, most: usize) {
    let path = folder.join("u.data");
    let ratings = fs::read_to_string(&path).unwrap();
    let mut seen = 0;
    let keep = |line: &&str| {
        let of_movie = line.split('\t').nth(1) == Some(movie);
        seen += usize::from(of_movie);
        !of_movie || seen <= most
    };
    let kept: Vec<&str> = ratings.lines().filter(keep).collect();
    fs::write(&path, kept.join("\n")).unwrap();
}

#[test]
fn the_table_shows_every_row_and_the_paper_beside_them() {
    let text = printed(&movie(made_up().path(), &["--splits", "2"]));
    for row in [
        "wd-gnn",
        "gnn",
        "graph-filter",
        "online-1",
        "online-2",
        "online-3",
        "decentralised",
        "constant",
        "running-mean",
    ] {
        assert!(text.lines().any(|line| line.starts_with(row)), "{row} is missing:\n{text}");
    }
    assert!(text.contains("0.854") && text.contains("1.092"), "the paper's figures");
    assert!(text.contains("online-1 − wd-gnn"), "paired differences");
    assert!(text.contains("Made-up movie 1"), "what was predicted");
}

#[test]
fn json_and_csv_agree_and_do_not_depend_on_the_number_of_threads() {
    let folder = made_up();
    let csv = folder.path().join("out/splits.csv");
    let run = |threads: &str| {
        let options = ["--splits", "3", "--json", "--csv", csv.to_str().unwrap()];
        let output = command(folder.path(), &options).env("RAYON_NUM_THREADS", threads).output().unwrap();
        (printed(&output), fs::read_to_string(&csv).unwrap())
    };
    let (json, lines) = run("1");
    assert_eq!((&json, &lines), (&run("4").0, &run("4").1));
    let parsed: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(parsed["splits"], 3);
    assert_eq!(parsed["rows"].as_object().unwrap().len(), 8);
    let gnn: Vec<f64> = lines
        .lines()
        .filter(|line| line.contains(",gnn,"))
        .map(|line| line.split(',').nth(2).unwrap().parse().unwrap())
        .collect();
    let mean = gnn.iter().sum::<f64>() / 3.0;
    // The CSV has six digits.
    assert!((parsed["rows"]["gnn"]["same"]["mean"].as_f64().unwrap() - mean).abs() < 1.0e-6);
    let other_seed = printed(&movie(folder.path(), &["--splits", "3", "--json", "--seed", "1"]));
    assert_ne!(json, other_seed);
}

#[test]
fn options_change_what_they_say() {
    let folder = made_up();
    let run = |more: &[&str]| -> Value {
        let options = [&["--splits", "1", "--json"], more].concat();
        serde_json::from_str(&printed(&movie(folder.path(), &options))).unwrap()
    };
    let (plain, mse, library) = (run(&[]), run(&["--loss", "mse"]), run(&["--similarity", "library"]));
    let wide_and_deep = |json: &Value| json["rows"]["wd-gnn"]["same"]["mean"].as_f64().unwrap();
    assert_ne!(wide_and_deep(&plain), wide_and_deep(&mse));
    assert_ne!(wide_and_deep(&plain), wide_and_deep(&library));
    let bias = run(&["--adapt-bias"]);
    assert_eq!(bias["rows"]["online-1"], plain["rows"]["online-1"], "both are reported");
    assert_ne!(bias["rows"]["online-1-bias"], plain["rows"]["online-1"]);
    let still = run(&["--step-size", "0"]);
    assert_eq!(still["rows"]["online-3"], still["rows"]["wd-gnn"]);
}

#[test]
fn recommendations_name_unseen_movies_with_their_reasons() {
    let folder = made_up();
    let text = printed(&movie(folder.path(), &["--recommend", "7", "--top", "3"]));
    assert!(text.contains("User 7 rated") && text.contains("because you gave"), "{text}");
    let json = printed(&movie(folder.path(), &["--recommend", "7", "--top", "3", "--json"]));
    let json: Value = serde_json::from_str(&json).unwrap();
    let list = json["recommendations"].as_array().unwrap();
    assert_eq!(list.len(), 3);
    let ratings = fs::read_to_string(folder.path().join("u.data")).unwrap();
    for movie in list {
        let rated = format!("7\t{}\t", movie["movie"]);
        assert!(!ratings.lines().any(|line| line.starts_with(&rated)), "{rated} was rated");
        for reason in movie["because"].as_array().unwrap() {
            let line = format!("7\t{}\t{}\t", reason["movie"], reason["stars"].as_f64().unwrap());
            assert!(ratings.lines().any(|other| other.starts_with(&line)), "{line} was not rated");
        }
    }
}

#[test]
fn a_saved_network_recommends_the_same_without_training() {
    let folder = made_up();
    let file = folder.path().join("movie.wdgnn");
    let path = file.to_str().unwrap();
    let trained = printed(&movie(folder.path(), &["--recommend", "7", "--json", "--out", path]));
    let loaded = printed(&movie(folder.path(), &["--recommend", "7", "--json", "--model", path]));
    let [trained, loaded] = [trained, loaded].map(|text| serde_json::from_str::<Value>(&text).unwrap());
    assert_eq!(trained["recommendations"], loaded["recommendations"]);
    assert!(trained["recommendations"].as_array().is_some_and(|list| !list.is_empty()));
    assert_eq!(loaded["models"], path);
    let sentence =
        refused(&movie(folder.path(), &["--recommend", "7", "--model", path, "--similarity", "library"]));
    assert!(sentence.contains("--similarity"), "{sentence}");
    let mut bytes = fs::read(&file).unwrap();
    bytes[200] ^= 1;
    fs::write(&file, bytes).unwrap();
    let sentence = refused(&movie(folder.path(), &["--recommend", "7", "--model", path]));
    assert!(sentence.contains("checksum"), "{sentence}");
}

#[test]
fn without_data_it_says_where_to_get_them() {
    let empty = tempfile::tempdir().unwrap();
    assert!(refused(&movie(empty.path(), &[])).contains("grouplens.org"));
    let output = Command::new(env!("CARGO_BIN_EXE_host-sim")).arg("movie").output().unwrap();
    assert!(refused(&output).contains("--data"));
}

#[test]
fn another_set_needs_to_be_allowed() {
    let folder = made_up();
    let mut command = Command::new(env!("CARGO_BIN_EXE_host-sim"));
    let sentence = refused(&command.args(["movie", "--data"]).arg(folder.path()).output().unwrap());
    assert!(sentence.contains("SHA-256") && sentence.contains("--allow-other-data"), "{sentence}");
}

#[test]
fn a_damaged_line_is_named_with_its_number() {
    let folder = made_up();
    let path = folder.path().join("u.data");
    let good = fs::read_to_string(&path).unwrap();
    for damage in ["1\t1\tgreat\t0", "1\t1", "1\t999\t3\t0", "x\t1\t3\t0"] {
        let mut lines: Vec<&str> = good.lines().collect();
        lines[41] = damage;
        fs::write(&path, lines.join("\n")).unwrap();
        let sentence = refused(&movie(folder.path(), &[]));
        assert!(sentence.contains("u.data, line 42:"), "{sentence}");
    }
}

#[test]
fn questions_that_cannot_be_answered_are_named() {
    let folder = made_up();
    let items = folder.path().join("u.item");
    let listed = fs::read_to_string(&items).unwrap();
    fs::write(&items, format!("{listed}77|A lonely movie|01-Jan-1999||none|0\n")).unwrap();
    for (options, words) in [
        (&["--train-on", "999"][..], &["movie 999"][..]),
        (&["--test-on", "77"], &["A lonely movie", "line 46"]),
        (&["--test-on", "1"], &["same movie"]),
        (&["--recommend", "999"], &["user 999"]),
        (&["--movies", "46"], &["--movies 45"]),
        (&["--step-size", "NaN"], &["step size"]),
        (&["--splits", "0"], &["--splits"]),
        (&["--similarity", "cosine"], &["pearson"]),
    ] {
        let sentence = refused(&movie(folder.path(), options));
        for word in words {
            assert!(sentence.contains(word), "{options:?}: {sentence}");
        }
    }
}

#[test]
fn a_movie_with_too_few_common_raters_is_named_with_its_line() {
    let folder = made_up();
    thin_out(folder.path(), "9", 1);
    let sentence = refused(&movie(folder.path(), &["--splits", "1"]));
    assert!(sentence.contains("Made-up movie 9") && sentence.contains("line 9"), "{sentence}");
}

#[test]
fn a_movie_with_too_few_raters_cannot_be_predicted() {
    let folder = made_up();
    thin_out(folder.path(), "2", 15);
    let sentence = refused(&movie(folder.path(), &["--splits", "1"]));
    assert!(sentence.contains("15 ratings, 20 are needed"), "{sentence}");
}

#[test]
fn help_shows_examples() {
    let output = Command::new(env!("CARGO_BIN_EXE_host-sim")).args(["movie", "--help"]).output().unwrap();
    let text = printed(&output);
    assert!(text.contains("host-sim movie --data ml-100k --recommend 42"), "{text}");
}
