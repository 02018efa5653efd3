//! Command line of `run` with native robots. Tests of emulated ones are in `tests/tests`.

use std::fs;

use serde_json::Value;

use crate::program::{folder, json};

/// Runs a swarm with a key file.
fn flown(line: &str) -> Value {
    let folder = folder();
    fs::write(folder.path().join("swarm.key"), "000102030405060708090a0b0c0d0e0f\n").expect("written");
    json(folder.path(), &format!("run {line}"))
}

#[test]
fn the_default_run_has_the_golden_digest() {
    let flown = flown("");
    assert_eq!(flown["digest"], "7987bc8615e616d6");
    assert_eq!(flown["refused"], serde_json::json!({}));
    assert!(flown["heard"].as_u64() > Some(50_000));
}

#[test]
fn faults_are_deterministic_and_counted_by_reason() {
    let fly =
        |faults: &str| flown(&format!("--robots 10 --ticks 100 --profile dot154 --key swarm.key {faults}"));
    let quiet = fly("");
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
        let (once, again) = (fly(faults), fly(faults));
        assert!(once["refused"][reason].as_u64() > Some(0), "{faults}: {once}");
        assert_eq!((&once["digest"], &once["refused"]), (&again["digest"], &again["refused"]), "{faults}");
    }
    for faults in ["drop-chance=0.5 --fault burst=4", "partition=20-60", "radio-outage=3@20-60", "kill=3@50"]
    {
        let heard = fly(&format!("--fault {faults}"))["heard"].as_u64();
        assert!(heard < quiet["heard"].as_u64(), "{faults}");
    }
    let skewed = fly("--fault skew=1");
    assert_ne!(skewed["digest"], quiet["digest"], "clocks differ");
    assert_eq!(skewed["refused"], serde_json::json!({}), "within the guard");
}

#[test]
fn forged_frames_affect_only_unsealed_swarms() {
    let digest = |options: &str| flown(&format!("--robots 10 --ticks 60 {options}"))["digest"].clone();
    assert_eq!(digest("--key swarm.key"), digest("--key swarm.key --fault forge=3"));
    assert_ne!(digest(""), digest("--fault forge=3"));
}
