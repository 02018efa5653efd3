//! `firmware/companion.py` with emulated chips on pseudo-terminals instead of serial ports.

#![cfg(feature = "emulated")]

use std::{
    fs,
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use host_sim::{error::Error, medium::key_operator::MASTER};
use system_tests::{chips, host_sim};
use wdgnn_emulation::chips::{Settings, operator::Provisioning, ports};

const ROBOTS: usize = 3;

/// Numbers after a word.
fn behind<'a>(line: &'a str, word: &str) -> impl Iterator<Item = f64> + 'a {
    let parts: Vec<&str> = line.split(word).skip(1).collect();
    parts.into_iter().filter_map(|rest| rest.trim_start().split([' ', ',']).next()?.parse().ok())
}

/// Output of the companion for such robots and options.
fn flown(settings: Settings, options: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_path_buf();
    let done = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&done);
    let chips = thread::spawn(move || {
        ports::serve(&settings, &place, || {
            if ended.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
        })
    });
    let port = |robot: usize| folder.path().join(format!("robot{robot}"));
    let begun = Instant::now();
    while !port(ROBOTS - 1).exists() {
        assert!(begun.elapsed() < Duration::from_secs(20), "no ports: {:?}", chips.is_finished());
        thread::sleep(Duration::from_millis(10));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/companion.py");
    let ports = (0..ROBOTS).flat_map(|robot| ["--port".into(), port(robot)]);
    let output = Command::new("python3").arg(script).args(ports).args(options).output().unwrap();
    done.store(true, Ordering::Relaxed);
    let _ = chips.join().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

#[test]
fn the_companion_flies_three_chips_on_serial_ports() {
    let options = ["--seconds", "5", "--kick", "2.3", "--speed", "3", "--seed", "1"];
    let said = flown(chips::settings(ROBOTS, 1, 60.0), &options);
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("variation")).collect();
    let last = lines.last().unwrap();
    assert_eq!(last.matches("synchronized 2").count(), ROBOTS, "{said}");
    assert_eq!(last.matches("neighbors 2").count(), ROBOTS, "{said}");
    assert_eq!(last.matches(", clear").count() + last.matches(", limited").count(), ROBOTS, "{said}");
    assert!(!said.contains("restarts"), "{said}");
    let ticks: Vec<f64> = behind(last, "tick").collect();
    assert!(ticks.iter().all(|tick| (tick - ticks[0]).abs() <= 1.0), "all robots share one time: {said}");
    // Perturbed after two seconds, aligned two seconds later.
    let variation: Vec<f64> = lines.iter().flat_map(|line| behind(line, "variation")).collect();
    let (most, last) = (variation.iter().copied().fold(0.0, f64::max), variation[variation.len() - 1]);
    assert!(most > 0.3 && last < 0.2 * most, "{said}");
}

#[test]
fn the_companion_rotates_the_key_of_three_chips_through_one_port() {
    let folder = tempfile::tempdir().unwrap();
    let [master, rekey] =
        ["master.key", "rekey.txt"].map(|name| folder.path().join(name).display().to_string());
    fs::write(&master, MASTER).unwrap();
    let robots = ROBOTS.to_string();
    let frames = ["--robots", &robots, "--expel", "1", "--epoch", "1", "--at", "350", "--out", &rekey];
    host_sim(&[&["key", "rekey", "--master", &master], &frames[..]].concat());
    let image = fs::read(chips::told_image("board-nrf52840")).unwrap();
    let pages = Provisioning { personal: true, proofs: true }.pages(ROBOTS);
    let settings = Settings { image, pages, ..chips::settings(ROBOTS, 1, 60.0) };
    let said = flown(settings, &["--seconds", "5", "--kick", "-1", "--rekey", &rekey]);
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("variation")).collect();
    let robots = |line: &str| line.split(" | ").skip(1).map(str::to_owned).collect::<Vec<_>>();
    // The last line before the change; a busy machine prints less than one per second.
    let before = lines.iter().rfind(|line| behind(line, "tick").all(|tick| tick < 350.0));
    let (first, last) = (robots(before.unwrap()), robots(lines[lines.len() - 1]));
    assert!(first.iter().all(|robot| !robot.contains("key")), "a key came into use before its time: {said}");
    assert!(first.iter().all(|robot| robot.contains("neighbors 2")), "{said}");
    for robot in [0, 2] {
        assert!(last[robot].contains("key 1") && last[robot].contains("neighbors 1"), "{said}");
    }
    assert!(!last[1].contains("key") && last[1].contains("neighbors 0"), "{said}");
}
