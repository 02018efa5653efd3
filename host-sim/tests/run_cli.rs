//! Command line of `run` with native robots. Tests of emulated ones are in `tests/tests`.

use std::{fs, path::Path};

use serde_json::Value;

use crate::program::{command, folder, json};

/// Runs a swarm with a key file.
fn flown(line: &str) -> Value {
    let folder = folder();
    fs::write(folder.path().join("swarm.key"), "000102030405060708090a0b0c0d0e0f\n").expect("written");
    json(folder.path(), &format!("run {line}"))
}

#[test]
fn the_default_run_has_the_golden_digest() {
    let flown = flown("");
    assert_eq!(flown["digest"], "b0419b0c6a829468");
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

/// Returns exit code and message with a gateway that sends these bytes.
#[cfg(unix)]
fn with_gateway(gateway: &[u8]) -> (Option<i32>, String) {
    use std::io::Write as _;

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let line = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
    grantpt(&line).and_then(|()| unlockpt(&line)).expect("its other end");
    let port = ptsname(&line, Vec::new()).expect("its name").into_string().expect("a path");
    let mut line = fs::File::from(line);
    let line_of_run = format!("run --gateway {port} --robots 4 --real 2-3");
    let mut program = command(Path::new("."), &line_of_run);
    let program = program.stderr(std::process::Stdio::piped()).spawn().expect("it starts");
    // The program reads after its first request.
    std::io::Read::read_exact(&mut line, &mut [0]).expect("a question");
    line.write_all(gateway).expect("an answer");
    let output = program.wait_with_output().expect("it ends");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[cfg(unix)]
#[test]
fn silent_outdated_and_foreign_gateways_are_reported_in_one_line() {
    use wdgnn_link::tdma::SlotTiming;
    use wdgnn_protocol::event::{GatewayEvent, Hello, MAX_EVENT_LEN};

    let mut other = [0; MAX_EVENT_LEN];
    let timing = SlotTiming { period: 0, interval: 0, slots: 0, lead: 0, slot: 0, delay: 0, retry: 0 };
    let hello = Hello { version: 9, profile: 2, boot_id: 0, timing };
    let length = GatewayEvent::Hello(hello).encode(&mut other).expect("room");
    for (said, sentence) in [
        (&[][..], "is silent: is it flashed"),
        (b"NMEA\0$GPGGA\0", "is not a gateway: its messages are unknown"),
        (&other[..length], "the gateway has message version 9, this program 2"),
    ] {
        let (code, told) = with_gateway(said);
        assert_eq!(code, Some(2), "{told}");
        assert!(told.contains(sentence), "{told}");
    }
}
