//! The program as a person or a script uses it: listening in.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use host_sim::{
    capture::{self, Capture},
    pcap::LinkType,
};
use serde_json::Value;

fn host_sim(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_host-sim"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // Who does not read all of it is no error here.
    let writer = std::thread::spawn(move || drop(pipe.write_all(&input)));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("it was written");
    output
}

fn lines(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = str::from_utf8(&output.stdout).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

fn golden() -> Value {
    serde_json::from_str(include_str!("../../tests/interop/vectors.json")).expect("JSON")
}

fn bytes(hex: &Value) -> Vec<u8> {
    let pairs = hex.as_str().expect("hexadecimal").as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).expect("digits"), 16).expect("digits")).collect()
}

/// The good golden frames of a profile.
fn frames(profile: &str, sealed: bool) -> Vec<Vec<u8>> {
    let golden = golden();
    let vectors = golden["vectors"].as_array().expect("a list").iter();
    let wanted = vectors.filter(|vector| vector["profile"] == profile && vector["sealed"] == sealed);
    wanted
        .filter(|vector| vector["beacon"].is_object())
        .map(|vector| bytes(&vector["frame"]))
        .take(5)
        .collect()
}

fn write(folder: &Path, name: &str, content: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).expect("it is written");
    path.display().to_string()
}

fn cobs_line(frames: &[Vec<u8>]) -> Vec<u8> {
    frames.iter().flat_map(|frame| [cobs::encode_vec(frame), vec![0]].concat()).collect()
}

#[test]
fn a_capture_of_sealed_frames_is_read_with_the_key_and_the_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sealed.pcap");
    let mut capture = Capture::create(&path, 101).expect("it begins");
    for (count, frame) in (0..).zip(frames("dot154", true)) {
        capture.frame(count * 50_000, 9, &frame).expect("it is written");
    }
    capture.finish().expect("it ends");
    let path = path.display().to_string();
    let key = write(folder.path(), "key", golden()["key"].as_str().expect("hexadecimal").as_bytes());
    let seen = lines(&host_sim(&["sniff", &path, "--key", &key, "--json"], b""));
    let (counts, seen) = seen.split_last().expect("counts");
    assert_eq!(counts["frames"], 5);
    assert_eq!(counts["refused"], serde_json::json!({}));
    for (count, line) in seen.iter().enumerate() {
        assert_eq!((&line["profile"], &line["sender"]), (&"dot154".into(), &9.into()));
        assert_eq!(line["seconds"].as_f64(), Some(count as f64 / 20.0));
        assert_eq!(line["wide_from"], 12 * (count % 4));
        assert_eq!(line["taps"].as_array().map(Vec::len), Some(18));
    }
    // Without the key, and with a wrong one.
    let table = host_sim(&["sniff", &path], b"");
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(table.contains("5 frames, 5 refused") && table.contains("Give --key"), "{table}");
    let wrong = write(folder.path(), "wrong", b"some other key!!");
    let refused = lines(&host_sim(&["sniff", &path, "--key", &wrong, "--json"], b""));
    assert_eq!(refused.last().expect("counts")["refused"], serde_json::json!({"forged": 5}));
    let wrong =
        String::from_utf8_lossy(&host_sim(&["sniff", &path, "--key", &wrong], b"").stdout).into_owned();
    assert!(!wrong.contains("some other key"));
}

#[test]
fn a_damaged_capture_is_read_on_and_what_was_skipped_is_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("damaged.pcap");
    let mut capture = Capture::create(&path, 93).expect("it begins");
    for (count, frame) in (0..).zip(frames("dot154", false)) {
        capture.frame(count * 50_000, 9, &frame).expect("it is written");
    }
    capture.finish().expect("it ends");
    let mut damaged = std::fs::read(&path).expect("it is there");
    // A record has 16 + 10 + 93 + 2 bytes: noise before the second, a changed byte in the third.
    damaged[24 + 2 * 121 + 16 + 40] ^= 1;
    damaged.splice(24 + 121..24 + 121, *b"noise on the disk");
    let path = write(folder.path(), "damaged.pcap", &damaged);
    let seen = lines(&host_sim(&["sniff", &path, "--json"], b""));
    let counts = seen.last().expect("counts");
    assert_eq!(
        *counts,
        serde_json::json!({"frames": 4, "refused": {}, "foreign_packets": 1, "skipped_bytes": 17})
    );
}

#[test]
fn a_serial_line_is_read_from_standard_input_and_from_a_fifo() {
    let sent = [frames("esb32", false), frames("espnow", false), frames("exact", false)].concat();
    // Half a frame first: whoever listens joins late.
    let stream = [&cobs_line(&sent[..1])[5..], &cobs_line(&sent), &[1, 2]].concat();
    let seen = lines(&host_sim(&["sniff", "-", "--json"], &stream));
    let (counts, seen) = seen.split_last().expect("counts");
    let good: Vec<_> = seen.iter().filter(|line| line["refused"].is_null()).collect();
    let profiles: Vec<_> = good.iter().map(|line| line["profile"].as_str().expect("a name")).collect();
    // Sequences of the golden frames begin anew with every profile; short ones count four times as fast.
    assert_eq!(profiles[..5], ["esb32"; 5]);
    assert!(counts["skipped_bytes"].as_u64().expect("a count") >= 2, "{counts}");
    #[cfg(unix)]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let fifo = folder.path().join("line");
        assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
        let (path, sent) = (fifo.clone(), cobs_line(&frames("dot154", false)));
        let writer = std::thread::spawn(move || std::fs::write(path, sent).expect("it is written"));
        let seen = lines(&host_sim(&["sniff", &fifo.display().to_string(), "--json"], b""));
        writer.join().expect("it ends");
        assert_eq!(seen.len(), 5 + 1);
        assert_eq!(seen[5]["skipped_bytes"], 0);
    }
}

#[test]
fn every_link_type_is_read_and_others_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let frame = frames("dot154", false).remove(0);
    for link in [LinkType::Dot154, LinkType::Dot154WithoutChecksum, LinkType::Plain] {
        let mut writer = host_sim::pcap::Writer::new(Vec::new(), link).expect("it begins");
        writer.packet(0, &capture::packet(link, 0, 9, &frame)).expect("it is written");
        let path = write(folder.path(), "a.pcap", &writer.finish().expect("it ends"));
        let seen = lines(&host_sim(&["sniff", &path, "--json"], b""));
        assert_eq!((&seen[0]["sender"], &seen[1]["frames"]), (&9.into(), &1.into()), "{link:?}");
    }
    let mut ethernet =
        host_sim::pcap::Writer::new(Vec::new(), LinkType::Plain).expect("it begins").finish().expect("bytes");
    ethernet[20] = 1;
    let path = write(folder.path(), "ethernet.pcap", &ethernet);
    refused(&["sniff", &path], "link type 1");
}

fn refused(arguments: &[&str], sentence: &str) {
    let output = host_sim(arguments, b"");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(said.contains(sentence), "{arguments:?}: {said}");
}

#[test]
fn bad_paths_keys_and_models_are_a_sentence() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), "short", b"abc");
    refused(&["sniff", "not/there"], "cannot read not/there");
    refused(&["sniff", &folder.path().display().to_string()], "it is a folder");
    refused(&["sniff", &path, "--key", "not/there"], "cannot read not/there");
    refused(&["sniff", &path, "--key", &path], "is no key");
    refused(&["sniff", &path, "--model", &path], "is not usable");
    refused(&["sniff", &path, "--format", "pcap"], "is no capture");
    refused(&["sniff", &path, "--profile", "morse"], "morse");
}

#[test]
fn what_a_swarm_says_is_captured_and_read_again_and_tshark_reads_it_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("swarm.pcap").display().to_string();
    let flown = host_sim(&["swarm", "--robots", "5", "--ticks", "20", "--capture", &path, "--json"], b"");
    assert!(flown.status.success());
    let seen = lines(&host_sim(&["sniff", &path, "--json"], b""));
    let (counts, seen) = seen.split_last().expect("counts");
    assert_eq!(counts["frames"], 100);
    assert_eq!(counts["refused"], serde_json::json!({}));
    assert_eq!((&seen[99]["sender"], &seen[99]["sequence"]), (&4.into(), &19.into()));
    // A short frame travels as an IEEE 802.15.4 broadcast, which tshark knows.
    let short = folder.path().join("short.pcap");
    let mut capture = Capture::create(&short, 93).expect("it begins");
    capture.frame(0, 0x0102, &frames("dot154", false)[0]).expect("it is written");
    capture.finish().expect("it ends");
    let tshark = |path: &str, field: &str| {
        Command::new("tshark").args(["-r", path, "-T", "fields", "-e", field]).output()
    };
    let Ok(long) = tshark(&path, "frame.len") else { return };
    assert!(long.status.success(), "{}", String::from_utf8_lossy(&long.stderr));
    assert_eq!(String::from_utf8_lossy(&long.stdout).lines().collect::<Vec<_>>(), ["302"; 100]);
    let short = short.display().to_string();
    for (field, value) in [("wpan.src16", "0x0102"), ("wpan.dst16", "0xffff"), ("wpan.fcs_ok", "1")] {
        let output = tshark(&short, field).expect("it starts");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim().to_lowercase(), value, "{field}");
    }
}
