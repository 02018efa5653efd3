//! Training with helpers as it is typed: processes, of which one may be killed.

use std::{fs, path::Path};

use crate::program::{host_sim, refused};

const PROGRAM: &str = env!("CARGO_BIN_EXE_host-sim");

/// Every way to train, quickly.
const WAYS: [&[&str]; 3] = [
    &["--epochs", "2", "--trajectories", "4", "--recipe", "through", "--profile", "dot154"],
    &["--epochs", "2", "--trajectories", "4", "--recipe", "ours", "--robots", "8", "--no-potential"],
    &["--epochs", "2", "--task", "flocking-3d", "--recipe", "evolve", "--robots", "4"],
];

/// The file, the table on the screen and the JSON of a training.
fn trained(folder: &Path, more: &[&str]) -> (Vec<u8>, Vec<u8>) {
    let line = [&["train", "--seed", "5", "--out", "it.wdgnn", "--json"], more].concat();
    let output = host_sim(folder, &line);
    assert!(output.status.success(), "{more:?}: {}", String::from_utf8_lossy(&output.stderr));
    (fs::read(folder.join("it.wdgnn")).expect("written"), output.stdout)
}

#[test]
fn helpers_train_the_network_of_one_process_and_nobody_can_tell() {
    let folder = tempfile::tempdir().expect("a folder");
    let helper = format!("'{PROGRAM}' helper --threads 1");
    for way in WAYS {
        let alone = trained(folder.path(), way);
        let helped = trained(folder.path(), &[way, &["--helper", &helper, "--helper", &helper]].concat());
        assert!(alone == helped, "{way:?}");
    }
}

/// A training of sixty epochs with a helper that notes its number, once its first checkpoint is there, which is after five.
#[cfg(unix)]
fn under_way(folder: &Path, way: &[&str]) -> std::process::Child {
    use std::{
        os::unix::process::CommandExt as _,
        process::{Command, Stdio},
    };
    let helper = format!("[ ! -e gone ] && echo $$ > number && exec '{PROGRAM}' helper --threads 1");
    let mut training = Command::new(PROGRAM)
        .current_dir(folder)
        .args(["train", "--seed", "5", "--out", "it.wdgnn", "--helper", &helper])
        .args(way)
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("it starts");
    while !folder.join("it.wdgnn.checkpoint").exists() {
        assert!(training.try_wait().expect("it can be asked").is_none(), "it ended without a checkpoint");
        std::thread::yield_now();
    }
    training
}

/// Ctrl-C, as a terminal sends it to everybody in the foreground, and the loss of all helpers: each leaves a checkpoint from which one
/// process goes on to the same bytes.
#[cfg(unix)]
#[test]
fn a_training_that_was_stopped_or_has_lost_all_helpers_is_gone_on_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let way = ["--epochs", "60", "--trajectories", "10", "--recipe", "through"];
    let alone = trained(folder.path(), &way);
    let kill = |what: &str, whom: &str| {
        let killed = std::process::Command::new("kill").args([what, "--", whom]).status();
        assert!(killed.expect("kill is there").success());
    };
    for (code, sentence) in [(130, "has the best network so far"), (1, "no helper is left, the last one was")]
    {
        fs::remove_file(folder.path().join("it.wdgnn.checkpoint")).expect("it was there");
        let training = under_way(folder.path(), &way);
        if code == 130 {
            kill("-INT", &format!("-{}", training.id()));
        } else {
            fs::write(folder.path().join("gone"), "").expect("written");
            kill("-KILL", fs::read_to_string(folder.path().join("number")).expect("it was started").trim());
        }
        let output = training.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(sentence) && said.contains("--resume goes on"), "{said}");
        let resumed = [&["train", "--seed", "5", "--out", "it.wdgnn", "--resume"], &way[..]].concat();
        assert!(host_sim(folder.path(), &resumed).status.success());
        assert!(fs::read(folder.path().join("it.wdgnn")).expect("written") == alone.0);
    }
}

/// The first helper dies in the middle of a request, and is started again. Another never answers, and is left behind.
#[cfg(unix)]
#[test]
fn helpers_that_die_change_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = format!("exec '{PROGRAM}' helper --threads 1");
    let dies = format!("if mkdir died; then head -c 100 >&2; exit 1; else {whole}; fi");
    for way in WAYS {
        let alone = trained(folder.path(), way);
        let helpers = ["--helper", &dies, "--helper", "exit 1", "--helper", &whole];
        assert!(alone == trained(folder.path(), &[way, &helpers].concat()), "{way:?}");
        fs::remove_dir(folder.path().join("died")).expect("it was there, and died");
        // The others are needed no more than that.
        assert!(alone == trained(folder.path(), &[way, &helpers[..2]].concat()), "{way:?}");
        fs::remove_dir(folder.path().join("died")).expect("it was there, and died");
    }
}

#[test]
fn what_is_no_helper_is_told() {
    let train = ["train", "--out", "it.wdgnn", "--epochs", "1"];
    let sentence = "the helper `echo Welcome` does not answer: what it says is nothing that a training";
    refused(&[&train[..], &["--helper", "echo Welcome"]].concat(), sentence);
    refused(
        &[&train[..], &["--helper", "unix:nowhere"]].concat(),
        "the helper `unix:nowhere` does not answer",
    );
    let helper = format!("'{PROGRAM}' helper");
    // What a flight says is said by the helper, and is the training's end.
    let coverage = ["--task", "coverage", "--recipe", "through", "--helper", &helper];
    refused(&[&train[..], &coverage].concat(), "--task coverage has no derivative");
}

#[test]
fn a_helper_that_is_told_something_else_says_so() {
    use std::{
        io::Write as _,
        process::{Command, Stdio},
    };
    for (bytes, sentence) in [
        (&b"GET / HTTP/1.1\r\n\r\n......"[..], "this is none: what it says is nothing"),
        (b"wdgnn-h\x01\x05\0\0", "this is none: it ended in the middle"),
        (b"wdgnn-h\x01\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0?", "this is none: what it says is damaged"),
    ] {
        let mut helper = Command::new(PROGRAM)
            .arg("helper")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        helper.stdin.take().expect("open").write_all(bytes).expect("it listens");
        let output = helper.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(sentence), "{said}");
        assert!(output.stdout.is_empty());
    }
}
