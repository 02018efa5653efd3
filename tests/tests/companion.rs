//! `firmware/companion.py` with emulated chips on pseudo-terminals, as it is used with boards on serial ports.

#![cfg(feature = "emulated")]

use std::{
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use host_sim::{chips::ports, error::Error};
use system_tests::chips;

const ROBOTS: usize = 3;

/// The number behind a word.
fn behind<'a>(line: &'a str, word: &str) -> impl Iterator<Item = f64> + 'a {
    let parts: Vec<&str> = line.split(word).skip(1).collect();
    parts.into_iter().filter_map(|rest| rest.trim_start().split([' ', ',']).next()?.parse().ok())
}

#[test]
fn three_chips_on_serial_ports_are_flown_by_the_companion_and_flock() {
    let folder = tempfile::tempdir().unwrap();
    let (place, settings) = (folder.path().to_path_buf(), chips::settings(ROBOTS, 1, 60.0));
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
    let output = Command::new("python3")
        .arg(script)
        .args(ports)
        .args(["--seconds", "5", "--kick", "2.3", "--speed", "3", "--seed", "1"])
        .output()
        .unwrap();
    done.store(true, Ordering::Relaxed);
    let _ = chips.join().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("variation")).collect();
    let last = lines.last().unwrap();
    assert_eq!(last.matches("company 2").count(), ROBOTS, "{said}");
    assert_eq!(last.matches("neighbours 2").count(), ROBOTS, "{said}");
    assert_eq!(last.matches(", clear").count() + last.matches(", limited").count(), ROBOTS, "{said}");
    assert!(!said.contains("restarts"), "{said}");
    let ticks: Vec<f64> = behind(last, "tick").collect();
    assert!(ticks.iter().all(|tick| (tick - ticks[0]).abs() <= 1.0), "one time for all: {said}");
    // Thrown after two seconds; two seconds later they fly as one.
    let variation: Vec<f64> = lines.iter().flat_map(|line| behind(line, "variation")).collect();
    let (most, last) = (variation.iter().copied().fold(0.0, f64::max), variation[variation.len() - 1]);
    assert!(most > 0.3 && last < 0.2 * most, "{said}");
}
