//! Scenario files.

use std::{ffi::OsString, fs, path::Path};

use crate::program::json;
use host_sim::{cli, commands::scenario::expanded, error::Result};

fn expand(text: &str, line: &str) -> Result<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.toml");
    fs::write(&path, text).unwrap();
    let line = format!("host-sim {line} --scenario {}", path.display());
    let words = expanded(line.split(' ').map(OsString::from).collect(), &cli::command())?;
    let words: Vec<String> = words.0.into_iter().map(|word| word.into_string().unwrap()).collect();
    let short = words.join(" ").replace(&path.display().to_string(), "FILE");
    Ok(short.replace(&folder.path().display().to_string(), "FOLDER"))
}

#[test]
fn the_command_line_takes_precedence_over_scenarios() {
    let text = "robots = 20\nno-robustness = false\nmodel = \"my.wdgnn\"\n[fault]\ndrop-chance = 0.3\ncollisions = true\n\
                peer-auth = false\nkill = [\"3@5\", \"4@6\"]\n[sweep]\nvalues = [1, 2]\n[eval]\nswarms = 3\n";
    let expanded_line = expand(text, "eval --robots 30 --fault drop-chance=0.1").unwrap();
    let mut words: Vec<&str> = expanded_line.split(' ').collect();
    words.sort_unstable();
    let mut expected: Vec<&str> = "host-sim eval --fault=collisions=true --fault=kill=3@5,4@6 --swarms=3 \
                                   --model=FOLDER/my.wdgnn --robots 30 --fault drop-chance=0.1 --scenario FILE"
        .split(' ')
        .collect();
    expected.sort_unstable();
    assert_eq!(words, expected);
    assert!(expand(text, "sweep radius").unwrap().contains("--values=1,2"));
    // Command lines without a scenario do not change.
    let plain = ["host-sim", "eval", "--json"].map(OsString::from).to_vec();
    assert_eq!(expanded(plain.clone(), &cli::command()).unwrap().0, plain);
}

#[test]
fn unknown_keys_are_reported_with_line_and_suggestion() {
    let wrong = |text: &str, line: &str| expand(text, line).unwrap_err().to_string();
    let unknown = wrong("radius = 1\nrobot = 20\n", "eval");
    assert!(unknown.contains("my.toml, line 2: eval has no option robot; did you mean robots?"), "{unknown}");
    let others = wrong("actuator-delay = 3\n", "run");
    assert!(others.contains("an option of eval, not of run: move it to [eval]"), "{others}");
    assert!(wrong("[flocks]\nrobots = 1\n", "eval").contains("there is no command flocks"));
    assert!(wrong("report = \"x\"\n", "eval").contains("give --report"));
    assert!(wrong("robots = {a = 1}\n", "eval").contains("line 1"));
    assert!(wrong("robots = 1979-05-27\n", "eval").contains("must be a number, a string or a list"));
    assert!(wrong("robots = \n", "eval").contains("line 1"));
    assert!(wrong("robots = [1, 2]\n", "eval").contains("robots takes one value, not a list"));
    assert!(wrong("kill = [\"3@5\"]\n", "eval").contains("kill is a fault: move it to [fault]"));
    assert!(wrong("[fault]\nkil = 3\n", "eval").contains("line 2: there is no fault kil"));
    // Tables of other commands are checked as well.
    assert!(wrong("[run]\ntargets = \"qemu\"\n", "eval").contains("did you mean target?"));
}

#[test]
fn the_examples_fly() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/scenarios");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 3);
    let outside = crate::program::folder();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "toml")) {
        let name = file.display().to_string();
        let word = name.replace(' ', "%20");
        let flown = json(outside.path(), &format!("run --scenario {word} --ticks 120"));
        assert_eq!(flown["scenario"], name);
        assert_eq!(flown["ticks"], 120);
    }
}
