//! Instructions per step of a tick on the emulated Cortex-M4F.

#![cfg(feature = "emulated")]

use std::{fs, path::Path, process::Command};

use system_tests::{golden, image};
use wdgnn_emulation::log::Decoder;

/// Every change nearby moves a few instructions.
const TOLERANCE: f64 = 0.05;

/// Runs the bench in `folder` and returns what it logged.
fn run(bench: &Path, folder: &Path, options: &[&str]) -> Vec<(String, u64)> {
    let status = Command::new("qemu-system-arm")
        .args(["-machine", "mps2-an386", "-display", "none", "-monitor", "none", "-serial", "none"])
        .args(["-semihosting-config", "enable=on,target=native"])
        .args(options)
        .arg("-kernel")
        .arg(bench)
        .current_dir(folder)
        .status()
        .unwrap();
    assert!(status.success());
    let lines = Decoder::new(bench).unwrap().lines(&fs::read(folder.join("log")).unwrap());
    let number = |line: &String| {
        let (name, value) = line.trim().rsplit_once(' ').unwrap();
        (name.to_owned(), value.parse().unwrap())
    };
    lines.iter().map(number).collect()
}

#[test]
fn instruction_counts_match_the_goldens() {
    let bench = image::build("bench", &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // Every instruction takes 1,024 ns of emulated time; otherwise the host's time adds noise.
    let counted = run(&bench, folder.path(), &["-icount", "shift=10,sleep=off"]);
    golden::compare(
        "instructions.txt",
        "instructions on an emulated Cortex-M4F: F = 6, K = 3, G = 32, eight neighbors\nreceive: all eight frames; \
         tick: everything, with eight frames decoded and one encoded",
        &counted,
        TOLERANCE,
    );
    let of = |verb: &str| counted.iter().find(|(name, _)| name == verb).unwrap().1;
    assert!(of("tick") <= 30_000);
    assert!(of("learn") <= 5_000);
}
