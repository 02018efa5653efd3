//! Merged shards have the output of one process.

use std::{fs, path::Path};

use crate::program::{complaint, folder, host_sim};

/// A short run of each command with shards.
const COMMANDS: [&str; 5] = [
    "eval --swarms 2 --seeds 2 --robots 8 --json --report page.html",
    "eval --task rendezvous --swarms 2 --robots 8 --ticks 30 --json --report page.html",
    "shift weak --swarms 1 --seeds 2 --retrain 1 --json --report page.html",
    "faults --only lost --swarms 1 --ticks 200 --robots 8 --json --report page.html",
    "sweep speed --values 2,3 --swarms 2 --robots 8 --json --report page.html",
];

/// Returns exit code, standard output and page of a run.
fn run(folder: &Path, line: &str) -> (Option<i32>, Vec<u8>, Option<Vec<u8>>) {
    let page = folder.join("page.html");
    drop(fs::remove_file(&page));
    let output = host_sim(folder, line);
    assert_ne!(output.status.code(), Some(2), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    (output.status.code(), output.stdout, fs::read(page).ok())
}

#[test]
fn merged_shards_are_the_output_of_one_process() {
    let folder = folder();
    for command in COMMANDS {
        let whole = run(folder.path(), command);
        assert!(whole.2.is_some(), "{command}: a page");
        for shard in ["1/3", "2/3", "3/3"] {
            let (code, json, page) = run(folder.path(), &format!("{command} --threads=1 --shard {shard}"));
            assert_eq!((code, page), (Some(0), None), "{command}: a shard has no page");
            fs::write(folder.path().join(format!("{}.json", &shard[..1])), json).expect("written");
        }
        assert!(run(folder.path(), "merge 3.json 1.json 2.json") == whole, "{command}");
    }
    let (code, error) = complaint(folder.path(), "merge 1.json 2.json");
    assert!(code == Some(2) && error.contains("shard 3/3 is missing"), "{error}");
}

#[test]
fn invalid_shards_are_rejected() {
    let folder = folder();
    let shard = |command: &str| {
        let words = format!(r#""version":"{}","work":"x""#, env!("CARGO_PKG_VERSION"));
        format!(r#"{{{words},"command":{command},"shard":"1/1","jobs":0,"results":[]}}"#)
    };
    for (content, sentence) in [
        ("{}".to_owned(), "it.json is not the output of a shard"),
        (shard("[]").replace("1/1", "0/1"), "it.json is not the output of a shard"),
        (shard("[]").replace(env!("CARGO_PKG_VERSION"), "0.0.9"), "it.json has version 0.0.9"),
        (shard(r#"["tasks"]"#), "`tasks` has no shards"),
        (shard(r#"["eval","--shard","1/2"]"#), "has no shards"),
        (shard("[]"), "`` has no shards"),
    ] {
        fs::write(folder.path().join("it.json"), &content).expect("written");
        let (code, error) = complaint(folder.path(), "merge it.json");
        assert!(code == Some(2) && error.contains(sentence), "{content}: {error}");
    }
    fs::write(folder.path().join("it.json"), shard(r#"["eval"]"#)).expect("written");
    fs::write(folder.path().join("other.json"), shard(r#"["run"]"#)).expect("written");
    let (_, error) = complaint(folder.path(), "merge it.json other.json");
    assert!(error.contains("other.json is a shard of another command: run"), "{error}");
}
