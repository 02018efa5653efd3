//! Command line of `run` with native robots. Tests of emulated ones are in `tests/tests`.

use std::{
    fs,
    process::{Command, Output},
};

use serde_json::Value;

fn host_sim(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_host-sim")).args(arguments).output().expect("it starts")
}

fn flown(arguments: &[&str]) -> Value {
    let output = host_sim(&[&["run", "--json"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Returns a folder with a key file, and its path.
fn key() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("swarm.key");
    fs::write(&path, "000102030405060708090a0b0c0d0e0f\n").expect("it is written");
    (folder, path.display().to_string())
}

#[test]
fn the_default_run_has_the_golden_digest() {
    let flown = flown(&[]);
    assert_eq!(flown["digest"], "b0419b0c6a829468");
    assert_eq!(flown["refused"], serde_json::json!({}));
    assert!(flown["heard"].as_u64() > Some(50_000));
}

#[test]
fn faults_are_deterministic_and_counted_by_reason() {
    let (_folder, key) = key();
    let swarm = ["--robots", "10", "--ticks", "100", "--profile", "dot154", "--key", &key];
    let quiet = flown(&swarm);
    assert_eq!(quiet["refused"], serde_json::json!({}));
    for (faults, reason) in [
        ("--fault forge=3", "forged"),
        ("--fault replay=40", "out-of-window"),
        ("--fault corrupt-chance=0.5", "forged"),
        ("--fault duplicate-chance=0.5", "replayed"),
        ("--fault delay=0.5:9", "out-of-window"),
        ("--fault liars=STATE:0.2", "implausible"),
        ("--fault reboot=3@50 --fault replay=90", "out-of-window"),
    ] {
        let options = [&swarm[..], &faults.split(' ').collect::<Vec<_>>()].concat();
        let once = flown(&options);
        assert!(once["refused"][reason].as_u64() > Some(0), "{faults}: {once}");
        let again = flown(&options);
        assert_eq!((&once["digest"], &once["refused"]), (&again["digest"], &again["refused"]), "{faults}");
    }
    for faults in [
        "--fault drop-chance=0.5 --fault burst=4",
        "--fault partition=20-60",
        "--fault radio-outage=3@20-60",
        "--fault kill=3@50",
    ] {
        let options = [&swarm[..], &faults.split(' ').collect::<Vec<_>>()].concat();
        assert!(flown(&options)["heard"].as_u64() < quiet["heard"].as_u64(), "{faults}");
    }
    let skewed = flown(&[&swarm[..], &["--fault", "skew=1"]].concat());
    assert_ne!(skewed["digest"], quiet["digest"], "clocks differ");
    assert_eq!(skewed["refused"], serde_json::json!({}), "within the guard");
}

#[test]
fn forged_frames_affect_only_unsealed_swarms() {
    let (_folder, key) = key();
    let swarm = ["--robots", "10", "--ticks", "60"];
    let sealed = [&swarm[..], &["--key", &key]].concat();
    let forged = ["--fault", "forge=3"];
    assert_eq!(flown(&sealed)["digest"], flown(&[&sealed[..], &forged].concat())["digest"]);
    assert_ne!(flown(&swarm)["digest"], flown(&[&swarm[..], &forged].concat())["digest"]);
}

#[test]
fn invalid_runs_are_rejected() {
    let (folder, _) = key();
    let bad = folder.path().join("bad.key");
    fs::write(&bad, "a secret").expect("it is written");
    let bad = bad.display().to_string();
    let exact = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/flocking-wd-gnn.wdgnn");
    for (arguments, reason) in [
        (vec!["--key", &bad], "is not a key"),
        (vec!["--profile", "dot154", "--model", exact], "train --profile dot154"),
        (vec!["--profile", "esb32", "--robots", "300"], "at most 256 on --profile esb32"),
        (vec!["--fault", "kill=50@3"], "--fault kill names robot 50: the robots are 0 to 49"),
        (vec!["--fault", "drop-chance=2"], "--fault drop-chance must be a number between 0 and 1, got 2"),
    ] {
        let output = host_sim(&[&["run"], &arguments[..]].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(reason) && !said.contains("a secret"), "{arguments:?}: {said}");
    }
}

/// Returns exit code and message.
fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let output = host_sim(&[&["run"], arguments].concat());
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn invalid_gateways_and_options_are_reported_in_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("none").display().to_string();
    for (options, sentence) in [
        (vec!["--gateway", &missing, "--robots", "4", "--real", "2-3"], "there is no serial port"),
        (vec!["--gateway", "/dev/null", "--robots", "4", "--real", "2-3"], "/dev/null is not a serial port"),
        (vec!["--gateway", &missing, "--robots", "4"], "--gateway needs --real ADDRESSES"),
        (
            vec!["--gateway", &missing, "--robots", "4", "--real", "2-4"],
            "--real names robot 4: the robots are 0 to 3",
        ),
        (vec!["--gateway", &missing, "--robots", "4", "--real", "0-3"], "so none is simulated"),
        (
            vec!["--gateway", &missing, "--robots", "4", "--real", "3", "--profile", "exact"],
            "--gateway needs --profile dot154",
        ),
        (
            vec!["--gateway", &missing, "--robots", "4", "--real", "3", "--fault", "drop-chance=0.1"],
            "cannot be combined with faults",
        ),
        (
            vec!["--gateway", &missing, "--robots", "4", "--real", "3", "--target", "qemu:1"],
            "cannot be combined with --target",
        ),
        (vec!["--real", "3"], "--gateway is required"),
        (vec!["--target", "nrf52840", "--gateway-chip"], "--serial-ports is required"),
    ] {
        let (code, said) = refused(&options);
        assert_eq!(code, Some(2), "{options:?}: {said}");
        assert!(said.contains(sentence), "{options:?}: {said}");
    }
}

/// Returns exit code and message with a gateway that sends these bytes.
#[cfg(unix)]
fn with_gateway(gateway: &[u8]) -> (Option<i32>, String) {
    use std::io::Write as _;

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let line = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
    grantpt(&line).and_then(|()| unlockpt(&line)).expect("its other end");
    let port = ptsname(&line, Vec::new()).expect("its name").into_string().expect("a path");
    let mut line = fs::File::from(line);
    let options = ["run", "--gateway", &port, "--robots", "4", "--real", "2-3"];
    let mut program = Command::new(env!("CARGO_BIN_EXE_host-sim"));
    let program = program.args(options).stderr(std::process::Stdio::piped()).spawn().expect("it starts");
    // The program reads after its first request.
    std::io::Read::read_exact(&mut line, &mut [0]).expect("a question");
    line.write_all(gateway).expect("an answer");
    let output = program.wait_with_output().expect("it ends");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[cfg(unix)]
#[test]
fn silent_outdated_and_foreign_gateways_are_reported_in_one_line() {
    use wdgnn_protocol::gateway::{FromGateway, MAX_MESSAGE};

    let mut other = [0; MAX_MESSAGE];
    let length = FromGateway::OtherVersion(9).encode(&mut other).expect("room");
    for (said, sentence) in [
        (&[][..], "is silent: is it flashed"),
        (b"NMEA\0$GPGGA\0", "is not a gateway: its messages are unknown"),
        (&other[..length], "the gateway has message version 9, this program 1"),
    ] {
        let (code, told) = with_gateway(said);
        assert_eq!(code, Some(2), "{told}");
        assert!(told.contains(sentence), "{told}");
    }
}
