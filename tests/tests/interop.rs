//! Robots exchange frames with a Python program that is written from `docs/wire-format.md` alone.

#![cfg(feature = "interop")]

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use host_sim::{
    model::ModelFile,
    models,
    recipe::{Architecture, RecipeName},
};
use serde_json::Value;
use wdgnn_core::{
    message::Message,
    tasks::flocking::{Flocking, Motion},
};
use wdgnn_link::{
    encoding::{
        Encoding,
        esb32::Esb32,
        exact::Exact,
        half::{Dot154, EspNow},
        p2p57::P2p57,
    },
    error::FrameError,
    link::{Link, Sealed, SealedEsb32},
    security::{LinkSecurity, group_key::GroupKey, key::Key},
};
use wdgnn_robot::{
    onboard::{self, BUFFER_LEN, TaskRobot},
    ports::Measurement,
};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/interop");
const KEY: Key = *b"a swarm's secret";

/// Runs a script of `tests/interop` and returns its lines.
fn python(arguments: &[&str], input: &[String]) -> Vec<String> {
    let mut child = Command::new("python3")
        .args(arguments)
        .current_dir(FOLDER)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python3 is installed");
    let mut lines = child.stdin.take().unwrap();
    let input = input.join("\n");
    let writer = std::thread::spawn(move || lines.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)]))
        .collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn model() -> ModelFile {
    models::shipped(RecipeName::Ours, Architecture::WdGnn).unwrap()
}

/// Parameters of Python's codec: profile, model, and the key if sealed.
struct Profile {
    name: &'static str,
    model: String,
    key: Option<String>,
}

impl Profile {
    fn new(name: &'static str, sealed: bool) -> Self {
        let model = format!("{:08x}", model().weights().checksum);
        Self { name, model, key: sealed.then(|| hex(&KEY)) }
    }

    fn run(&self, way: &str, lines: &[String]) -> Vec<String> {
        let arguments = ["robot_wire.py", way, self.name, &self.model];
        let arguments: Vec<&str> = arguments.into_iter().chain(self.key.as_deref()).collect();
        let answers = python(&arguments, lines);
        assert_eq!(answers.len(), lines.len());
        answers
    }

    fn decode(&self, frames: &[(u32, Vec<u8>)]) -> Vec<Value> {
        let lines: Vec<_> = frames.iter().map(|(tick, frame)| format!("{tick} {}", hex(frame))).collect();
        self.run("decode", &lines).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn encode(&self, beacons: &[Value]) -> Vec<Vec<u8>> {
        let lines: Vec<_> = beacons.iter().map(Value::to_string).collect();
        self.run("encode", &lines).iter().map(|line| bytes(line)).collect()
    }
}

/// Motions that half precision represents exactly, plausible from tick to tick.
fn motion(tick: u32) -> Motion {
    let time = f32::from(tick as u8) * 0.015_625;
    Motion { position: [1.0 + time, -2.0], velocity: [1.5, time] }
}

/// State in a JSON message.
fn told(beacon: &Value) -> [f32; 4] {
    let state = beacon["state"].as_array().unwrap_or_else(|| panic!("{beacon}"));
    [0, 1, 2, 3].map(|index| state[index].as_f64().unwrap() as f32)
}

fn numbers(motion: Motion) -> [f32; 4] {
    let Motion { position: [x, y], velocity: [v, w] } = motion;
    [x, y, v, w]
}

/// Whether a message carries the sensed state exactly, or within 2 mm for a sealed robot, which sends its filtered track.
fn tells(profile: &Profile, beacon: &Value, sensed: Motion) -> bool {
    let (told, sensed) = (told(beacon), numbers(sensed));
    let near = || told.iter().zip(sensed).all(|(told, sensed)| (told - sensed).abs() < 2.0e-3);
    told == sensed || (profile.key.is_some() && near())
}

#[test]
fn python_decodes_encodes_or_rejects_every_golden_frame() {
    python(&["test_wire.py"], &[]);
}

fn exchanges<E: Encoding, S: LinkSecurity>(profile: &Profile, link: impl Fn(u32) -> Link<E, S>) {
    let model = model();
    let weights = model.weights();
    let mut speaker: TaskRobot<'_, Flocking, _> =
        onboard::robot_from_weights(7, &weights, link(weights.checksum)).unwrap();
    let mut sent = Vec::new();
    for tick in 0..6 {
        speaker.sense(tick, Some(Measurement::now(motion(tick))));
        for index in 0..E::FRAMES_PER_EXCHANGE {
            let mut buffer = [0; BUFFER_LEN + 16];
            let length = speaker.send(index, &mut buffer).unwrap();
            sent.push((tick, buffer[..length].to_vec()));
        }
    }
    let mut beacons = profile.decode(&sent);
    for ((tick, _), beacon) in sent.iter().zip(&mut beacons) {
        assert_eq!(beacon["sender"], 7);
        assert!(tells(profile, beacon, motion(*tick)), "{}: {beacon}", profile.name);
        // Python repeats the message as another sender.
        beacon["sender"] = 9.into();
        beacon["exchange"] = (*tick).into();
        beacon["index"] = (beacon["sequence"].as_u64().unwrap() % u64::from(E::FRAMES_PER_EXCHANGE)).into();
    }
    let mut listener: TaskRobot<'_, Flocking, _> =
        onboard::robot_from_weights(1, &weights, link(weights.checksum)).unwrap();
    for (frame, (tick, original)) in profile.encode(&beacons).iter().zip(&sent) {
        listener.sense(*tick, Some(Measurement::now(motion(0))));
        let mut changed = frame.clone();
        *changed.last_mut().unwrap() ^= 0x80;
        if profile.key.is_some() {
            assert_eq!(listener.receive(&mut changed.clone()), Err(FrameError::Forged));
        }
        assert_eq!(listener.receive(&mut frame.clone()), Ok(()), "{}", profile.name);
        assert_eq!(listener.receive(&mut original.clone()), Ok(()));
        let heard: Vec<_> = listener.neighbors().map(|heard| (heard.message.sender, heard.message)).collect();
        let [(7, original), (9, copy)] = heard[..] else { panic!("{heard:?}") };
        assert_eq!(original, Message { sender: 7, ..copy }, "bit for bit");
    }
}

#[test]
fn robots_and_python_exchange_frames_on_every_profile() {
    exchanges(&Profile::new("exact", false), Link::<Exact>::open);
    exchanges(&Profile::new("dot154", false), Link::<Dot154>::open);
    exchanges(&Profile::new("espnow", false), Link::<EspNow>::open);
    exchanges(&Profile::new("esb32", false), Link::<Esb32>::open);
    exchanges(&Profile::new("p2p57", false), Link::<P2p57>::open);
}

#[test]
fn robots_and_python_exchange_sealed_frames() {
    exchanges(&Profile::new("exact", true), |model| Sealed::<Exact>::new(model, GroupKey::new(&KEY)));
    exchanges(&Profile::new("dot154", true), |model| Sealed::<Dot154>::new(model, GroupKey::new(&KEY)));
    exchanges(&Profile::new("espnow", true), |model| Sealed::<EspNow>::new(model, GroupKey::new(&KEY)));
    exchanges(&Profile::new("esb32", true), |model| SealedEsb32::new(model, GroupKey::new(&KEY)));
    exchanges(&Profile::new("p2p57", true), |model| Sealed::<P2p57>::new(model, GroupKey::new(&KEY)));
}
