//! Golden frames in `tests/interop/vectors.json` for all implementations: valid and invalid, plain and sealed.
//!
//! `BLESS=1 cargo test -p wdgnn-robot vectors` writes the file.

use crate::common::prelude::*;
use serde_json::{Value, json};
use wdgnn_link::{
    frames::{
        PoseFrame, PoseHeader, U16Le, U32Le,
        poses::{POSE_BYTE, Pose, Switch},
    },
    security::pose_key::PoseKey,
};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/interop/vectors.json");
const KEY: Key = *b"a swarm's secret";
/// Tick of most frames.
const NOW: u32 = 5_000_000;

/// Vectors of one encoding, plain or sealed.
struct Vectors<L> {
    profile: &'static str,
    sealed: bool,
    link: fn(u32) -> L,
    list: Vec<Value>,
}

/// Frames received before, each with its tick.
type Before = Vec<(u32, Vec<u8>)>;

impl<L: TestLink> Vectors<L> {
    /// A message in the ticks around [`NOW`], each newer than the one before, within the allowed clock difference.
    fn message(count: u32) -> Numbered {
        full_message(
            &mut seeded(count.into()),
            9,
            (NOW - MAX_FRAME_LEAD_TICKS) * L::FRAMES_PER_EXCHANGE
                + count % ((2 * MAX_FRAME_LEAD_TICKS + 1) * L::FRAMES_PER_EXCHANGE),
        )
    }

    fn encode(&self, sent: &Numbered, exchange: u32, index: u32) -> Vec<u8> {
        encode(&mut (self.link)(MODEL), sent, exchange, index)
    }

    fn hear(&self, before: &Before, frame: &[u8]) -> Reading {
        let mut receiver = (self.link)(MODEL);
        for (now, frame) in before {
            // The result does not matter here.
            let _ = decode(&mut receiver, *now, frame);
        }
        decode(&mut receiver, NOW, frame)
    }

    fn vector(&self, name: &str, before: &Before, frame: &[u8]) -> Value {
        let before: Vec<_> =
            before.iter().map(|(now, frame)| json!({"now": now, "frame": hex(frame)})).collect();
        json!({
            "name": format!("{}{}: {name}", self.profile, if self.sealed { ", sealed" } else { "" }),
            "profile": self.profile,
            "sealed": self.sealed,
            "before": before,
            "now": NOW,
            "frame": hex(frame),
        })
    }

    fn good(&mut self, name: &str, sent: &Numbered, exchange: u32, index: u32) {
        let frame = self.encode(sent, exchange, index);
        let (read, parts) = self.hear(&Vec::new(), &frame).expect(name);
        let mut vector = self.vector(name, &Vec::new(), &frame);
        vector["exchange"] = exchange.into();
        vector["index"] = index.into();
        vector["beacon"] = told(&read, parts);
        self.list.push(vector);
    }

    fn bad(&mut self, name: &str, before: &Before, frame: &[u8], reason: FrameError) {
        assert_eq!(self.hear(before, frame).err(), Some(reason), "{}: {name}", self.profile);
        let mut vector = self.vector(name, before, frame);
        vector["refused"] = reason.name().into();
        self.list.push(vector);
    }

    /// Vectors of every encoding, plain or sealed.
    fn common(&mut self) {
        for exchange in 0..5 {
            for index in 0..L::FRAMES_PER_EXCHANGE {
                let name = format!("exchange {exchange}, frame {index}");
                self.good(&name, &Self::message(exchange * L::FRAMES_PER_EXCHANGE + index), exchange, index);
            }
        }
        // Ties of binary16, its smallest and largest numbers, and overflows.
        let mut edges = Self::message(0);
        let numbers = [
            1.0 + 0.5_f32.powi(11),
            1.0 + 3.0 * 0.5_f32.powi(11),
            0.5_f32.powi(24),
            0.5_f32.powi(25),
            -0.0,
            65519.0,
        ];
        edges.message.taps.line.0[0] = numbers;
        edges.message.taps.line.0[1] = [65520.0, -1.0e9, 0.5_f32.powi(14), -0.1, 1.0e-30, 2.5];
        self.good("numbers on edges", &edges, 0, 0);
        self.good("more numbers on edges", &edges, 0, 1 % L::FRAMES_PER_EXCHANGE);
        self.bad("empty", &Vec::new(), &[], FrameError::TooShort);
        let frame = self.encode(&Self::message(0), 0, 0);
        self.bad("less than a header", &Vec::new(), &frame[..L::HEADER_LEN - 1], FrameError::TooShort);
    }

    fn plain(mut self) -> Vec<Value> {
        self.common();
        let (none, header) = (Vec::new(), L::HEADER_LEN);
        let frame = self.encode(&Self::message(0), 0, 0);
        self.bad("a header alone", &none, &frame[..header], FrameError::Truncated);
        self.bad("a byte too few", &none, &frame[..frame.len() - 1], FrameError::Truncated);
        self.bad("a byte too many", &none, &[&frame[..], &[0]].concat(), FrameError::Trailing);
        let changed = |offset: usize, bytes: &[u8]| {
            let mut frame = frame.clone();
            frame[offset..offset + bytes.len()].copy_from_slice(bytes);
            frame
        };
        self.bad("another version", &none, &changed(0, &[frame[0] ^ 3]), FrameError::Version);
        let last = frame.len() - 2;
        if self.profile != "exact" {
            let other = if self.profile == "p2p57" { 0x41 } else { 0x51 };
            self.bad("another profile", &none, &changed(0, &[other]), FrameError::Profile);
        }
        if self.profile == "p2p57" {
            self.bad("another model", &none, &changed(2, &[0]), FrameError::Model);
            self.bad("no such part", &none, &changed(1, &[16]), FrameError::Dimensions);
            self.bad("an infinite state", &none, &changed(header, &[0x00, 0x7c]), FrameError::NotAdmissible);
            self.bad(
                "a number that is none",
                &none,
                &changed(last, &[0x01, 0xfc]),
                FrameError::NotAdmissible,
            );
            return self.list;
        }
        if L::FRAMES_PER_EXCHANGE > 1 {
            self.bad("no such piece", &none, &changed(7, &[11]), FrameError::Dimensions);
            self.bad("an infinite state", &none, &changed(10, &[0x00, 0x7c]), FrameError::NotAdmissible);
            self.bad(
                "a number that is none",
                &none,
                &changed(last, &[0x01, 0xfc]),
                FrameError::NotAdmissible,
            );
            return self.list;
        }
        if self.profile == "exact" {
            self.bad("another profile", &none, &changed(1, &[9]), FrameError::Profile);
            self.bad("other counts", &none, &changed(3, &[19]), FrameError::Dimensions);
            self.bad("another model", &none, &changed(7, &[0]), FrameError::Model);
        } else {
            self.bad("another model", &none, &changed(2, &[0]), FrameError::Model);
            self.bad("no such part", &none, &changed(1, &[4]), FrameError::Dimensions);
        }
        let numbers = [("NaN", f32::NAN), ("subnormal", 1.0e-40), ("huge", 1.2e18)];
        for (name, x) in numbers {
            self.bad(name, &none, &changed(header + 4, &x.to_le_bytes()), FrameError::NotAdmissible);
        }
        if self.profile != "exact" {
            self.bad(
                "an infinite parameter",
                &none,
                &changed(last, &[0x00, 0xfc]),
                FrameError::NotAdmissible,
            );
        }
        self.list
    }

    fn sealed(mut self) -> Vec<Value> {
        self.common();
        let none = Vec::new();
        let frame = self.encode(&Self::message(0), 0, 0);
        let flipped = |offset: usize| {
            let mut frame = frame.clone();
            frame[offset] ^= 1;
            frame
        };
        let header = L::HEADER_LEN;
        self.bad("no room for a tag", &none, &frame[..header + 3], FrameError::TooShort);
        self.bad("a byte too few", &none, &frame[..frame.len() - 1], FrameError::Forged);
        self.bad("a byte too many", &none, &[&frame[..], &[0]].concat(), FrameError::Forged);
        self.bad("longer than any", &none, &[&frame[..], &[0; 512]].concat(), FrameError::Trailing);
        self.bad("an altered header", &none, &flipped(1), FrameError::Forged);
        self.bad("altered content", &none, &flipped(header), FrameError::Forged);
        self.bad("an altered tag", &none, &flipped(frame.len() - 1), FrameError::Forged);
        let mut foreign = encode(&mut (self.link)(1), &Self::message(0), 0, 0);
        if self.profile != "esb32" {
            // The header names the model, so the tag must reject it.
            let model = if self.profile == "exact" { 7..11 } else { 2..6 };
            foreign[model.clone()].copy_from_slice(&frame[model]);
        }
        self.bad("of another swarm", &none, &foreign, FrameError::Forged);
        let later = self.encode(&Self::message(3), 0, 0);
        self.bad("a repetition", &vec![(NOW, frame.clone())], &frame, FrameError::Replayed);
        self.bad("a late frame", &vec![(NOW, later)], &frame, FrameError::Replayed);
        let of = |tick: u32| Numbered { sequence: tick * L::FRAMES_PER_EXCHANGE, ..Self::message(0) };
        let began = vec![(0, Vec::from(*b"noise in tick 0 that is long"))];
        let old = self.encode(&of(NOW - MAX_FRAME_AGE_TICKS - 1), 0, 0);
        self.bad("too old", &began, &old, FrameError::OutOfWindow);
        let early = self.encode(&of(NOW + MAX_FRAME_LEAD_TICKS + 1), 0, 0);
        self.bad("too early", &began, &early, FrameError::OutOfWindow);
        let before = self.encode(&of(NOW - MAX_FRAME_LEAD_TICKS - 1), 0, 0);
        self.bad("sent before anybody listened", &none, &before, FrameError::OutOfWindow);
        if self.profile == "esb32" {
            let of = |sender: u16| {
                let mut sent = Self::message(0);
                sent.message.sender = sender;
                self.encode(&sent, 0, 0)
            };
            let full = (100..).take(MAX_SENDERS).map(|sender| (NOW, of(sender))).collect();
            self.bad("one sender too many", &full, &frame, FrameError::TooManySenders);
        }
        self.list
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)]))
        .collect()
}

fn numbers(list: &[f32]) -> Value {
    list.iter().map(|x| f64::from(*x)).collect()
}

/// Content of a frame as JSON: the numbers and their positions.
fn told(Numbered { boot, sequence, message }: &Numbered, parts: Payload) -> Value {
    let Motion { position, velocity } = message.state;
    let (taps, wide) = (&message.taps.line.numbers()[..18], message.wide.numbers());
    json!({
        "sender": message.sender,
        "boot": boot,
        "sequence": sequence,
        "degree": message.degree,
        "state": numbers(&[position, velocity].concat()),
        "taps_from": parts.taps.from,
        "taps": numbers(parts.taps.of(taps)),
        "wide_from": parts.wide.from,
        "wide": numbers(parts.wide.of(wide)),
    })
}

/// Pose frame with three robots, or with a command alone.
fn pose_frame(sequence: u32, poses: bool) -> PoseFrame {
    let [boot, sequence] = [7, sequence].map(U32Le::new);
    let (sender, age) = (U16Le::new(0xfffe), U16Le::new(1_234));
    let mut frame = PoseFrame::new(PoseHeader { kind: POSE_BYTE, command: 3, sender, boot, sequence, age });
    for (robot, position, heading) in
        [(0, [0.0, 0.0], 0), (9, [1.234, -0.5], 0x4000), (2, [-99.0, 99.0], i16::MIN)]
    {
        assert!(!poses || frame.push(robot, &Pose { position, heading }));
    }
    frame
}

/// Vectors of pose frames, which have no profile.
fn poses() -> Vec<Value> {
    let key = |since| PoseKey::new(Aes::new(&KEY), since);
    let sealed = |sequence, poses| {
        let mut bytes = [0; 99];
        assert_eq!(key(0).seal(&pose_frame(sequence, poses), &mut bytes), Some(99));
        bytes.to_vec()
    };
    let good = sealed(NOW, true);
    let mut list = vec![];
    for (name, frame) in [("three robots", &good), ("a command alone", &sealed(NOW - 2, false))] {
        let read = key(0).open(NOW, frame).expect(name);
        let poses: Vec<Value> = read
            .poses()
            .map(|(robot, pose)| {
                let [x, y] = pose.position.map(|meters| (1_000.0 * meters).round() as i32);
                json!([robot, x, y, pose.heading])
            })
            .collect();
        let age = read.header.age.get();
        let told = json!({"command": read.header.command, "sender": read.header.sender.get(),
            "boot": read.header.boot.get(), "sequence": read.header.sequence.get(), "age": age, "poses": poses});
        list.push(json!({"name": name, "before": [], "now": NOW, "frame": hex(frame), "content": told}));
    }
    let flipped = |offset: usize| {
        let mut frame = good.clone();
        frame[offset] ^= 1;
        frame
    };
    for (name, before, frame, reason) in [
        ("an altered header", None, flipped(1), FrameError::Forged),
        ("an altered pose", None, flipped(30), FrameError::Forged),
        ("an altered tag", None, flipped(98), FrameError::Forged),
        ("a byte too few", None, good[..98].to_vec(), FrameError::Truncated),
        ("a byte too many", None, [&good[..], &[0]].concat(), FrameError::Trailing),
        ("a repetition", Some(&good), good.clone(), FrameError::Replayed),
        ("older poses", Some(&good), sealed(NOW - 1, true), FrameError::Replayed),
        ("too old", None, sealed(NOW - 3, true), FrameError::OutOfWindow),
        ("too early", None, sealed(NOW + 3, true), FrameError::OutOfWindow),
    ] {
        let mut receiver = key(0);
        let before: Vec<_> =
            before.into_iter().inspect(|frame| assert!(receiver.open(NOW, frame).is_ok())).collect();
        assert_eq!(receiver.open(NOW, &frame), Err(reason), "{name}");
        let before: Vec<_> = before.into_iter().map(|frame| hex(frame)).collect();
        list.push(json!({"name": name, "before": before, "now": NOW, "frame": hex(&frame), "refused": reason.name()}));
    }
    list
}

#[test]
fn recorded_poses_are_refused_unless_the_time_of_the_swarm_went_back() {
    let bytes = |sequence| {
        let mut bytes = [0; 99];
        PoseKey::new(Aes::new(&KEY), 0).seal(&pose_frame(sequence, true), &mut bytes).map(|_| bytes)
    };
    let (old, new) = (bytes(99).unwrap(), bytes(5_000).unwrap());
    let mut receiver = PoseKey::new(Aes::new(&KEY), 100);
    assert_eq!(receiver.open(100, &old), Err(FrameError::OutOfWindow), "from before the start");
    assert_eq!(receiver.authenticate(&old), None);
    assert_eq!(receiver.authenticate(&new), Some(pose_frame(5_000, true).header.id()));
    assert!(receiver.open(5_000, &new).is_ok());
    assert!(receiver.open(120, &bytes(120).unwrap()).is_ok());
    assert_eq!(receiver.authenticate(&new[..98]), None);
    assert_eq!(bytes(u32::MAX), None, "the last sequence may occur twice");
}

#[test]
fn the_newest_command_starts_or_stops_the_swarm() {
    let (mut one, mut other) = (Switch::default(), Switch::default());
    assert!(one.follow(200) && !one.is_on(), "a robot that starts takes every command");
    one.toggle();
    assert!(one.is_on() && other.follow(one.command()) && other.is_on());
    other.toggle();
    assert!(!other.is_on() && !other.follow(one.command()) && !other.is_on(), "an older command");
    assert!(one.follow(other.command()) && !one.is_on());
}

fn all() -> Vec<Value> {
    fn open<E: Encoding + core::fmt::Debug>(profile: &'static str) -> Vec<Value> {
        Vectors { profile, sealed: false, link: Link::<E>::open, list: Vec::new() }.plain()
    }
    fn sealed<E: Encoding + core::fmt::Debug, const TAG: usize>(profile: &'static str) -> Vec<Value> {
        let link = |model| sealed_link_of::<E, TAG>(model, &KEY);
        Vectors { profile, sealed: true, link, list: Vec::new() }.sealed()
    }
    [
        open::<Exact>("exact"),
        sealed::<Exact, 8>("exact"),
        open::<Dot154>("dot154"),
        sealed::<Dot154, 8>("dot154"),
        open::<EspNow>("espnow"),
        sealed::<EspNow, 8>("espnow"),
        open::<Esb32>("esb32"),
        sealed::<Esb32, 4>("esb32"),
        open::<P2p57>("p2p57"),
        sealed::<P2p57, 8>("p2p57"),
    ]
    .concat()
}

#[test]
fn golden_frames_match_the_encodings() {
    let [list, poses] = [all(), poses()]
        .map(|list| list.iter().map(|vector| format!("  {vector}")).collect::<Vec<_>>().join(",\n"));
    let (model, key) = (MODEL, hex(&KEY));
    let text = format!(
        "{{\n\"shape\": {{\"state\": 4, \"taps\": 18, \"wide\": 48}},\n\"model\": {model},\n\"key\": \"{key}\",\n\"vectors\": [\n{list}\n],\n\"poses\": [\n{poses}\n]\n}}\n"
    );
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(PATH, &text).unwrap();
    }
    let golden = std::fs::read_to_string(PATH).unwrap();
    let different = golden.lines().zip(text.lines()).position(|(golden, text)| golden != text);
    assert_eq!(different, None, "first different line of {PATH}, from 0");
    assert_eq!(golden.len(), text.len());
}

#[test]
fn golden_frames_cover_every_error_of_a_frame() {
    let list = all();
    for reason in FrameError::ALL {
        let found = list.iter().any(|vector| vector["refused"] == reason.name());
        // The others depend on the table or the control loop.
        let elsewhere = matches!(
            reason,
            FrameError::OwnFrame
                | FrameError::Old
                | FrameError::TableFull
                | FrameError::Flood
                | FrameError::Implausible
                | FrameError::UnknownSender
                | FrameError::KeyUpdate
        );
        assert_eq!(found, !elsewhere, "{}", reason.name());
    }
}
