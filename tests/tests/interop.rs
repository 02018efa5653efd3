//! Robots and a program in another language, written from `docs/wire-format.md` alone, understand each other.

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
use wdgnn_core::tasks::flocking::{Flocking, Motion};
use wdgnn_link::{
    encoding::{
        Codec,
        esb32::Esb32,
        exact::Exact,
        half::{Dot154, EspNow},
        p2p57::P2p57,
    },
    error::Refusal,
    security::{
        group_key::{Sealed, SealedEsb32},
        key::Key,
    },
};
use wdgnn_robot::{
    onboard::{self, BUFFER_BYTES, Robot},
    ports::Sensed,
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

/// What Python is told of a profile: its name, the model, and the key if it is sealed.
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

/// Numbers that half precision holds as they are, near enough to each other for a robot that believes not just anything.
fn motion(tick: u32) -> Motion {
    let time = f32::from(tick as u8) * 0.015_625;
    Motion { position: [1.0 + time, -2.0], velocity: [1.5, time] }
}

/// What a beacon in JSON says about a motion.
fn told(beacon: &Value) -> [f32; 4] {
    let state = beacon["state"].as_array().unwrap_or_else(|| panic!("{beacon}"));
    [0, 1, 2, 3].map(|index| state[index].as_f64().unwrap() as f32)
}

fn numbers(motion: Motion) -> [f32; 4] {
    let Motion { position: [x, y], velocity: [v, w] } = motion;
    [x, y, v, w]
}

/// Whether a beacon tells what a robot sensed, to the last bit; a sealed robot is wary and tells its track, which follows that within
/// millimetres.
fn tells(profile: &Profile, beacon: &Value, sensed: Motion) -> bool {
    let (told, sensed) = (told(beacon), numbers(sensed));
    let near = || told.iter().zip(sensed).all(|(told, sensed)| (told - sensed).abs() < 2.0e-3);
    told == sensed || (profile.key.is_some() && near())
}

#[test]
fn python_reads_writes_and_refuses_every_golden_frame() {
    python(&["test_wire.py"], &[]);
}

fn speaks_and_hears<P: Codec>(profile: &Profile, codec: impl Fn() -> P) {
    let model = model();
    let weights = model.weights();
    let mut speaker: Robot<'_, P> = onboard::robot(7, &weights, codec()).unwrap();
    let mut sent = Vec::new();
    for tick in 0..6 {
        speaker.sense(tick, Some(Sensed::now(motion(tick))));
        for index in 0..P::FRAMES {
            let mut buffer = [0; BUFFER_BYTES + 16];
            let length = speaker.speak_frame(index, &mut buffer).unwrap();
            sent.push((tick, buffer[..length].to_vec()));
        }
    }
    let mut beacons = profile.decode(&sent);
    for ((tick, _), beacon) in sent.iter().zip(&mut beacons) {
        assert_eq!(beacon["sender"], 7);
        assert!(tells(profile, beacon, motion(*tick)), "{}: {beacon}", profile.name);
        // Somebody else says the same, in Python.
        beacon["sender"] = 9.into();
        beacon["exchange"] = (*tick).into();
        beacon["index"] = (beacon["sequence"].as_u64().unwrap() % u64::from(P::FRAMES)).into();
    }
    let mut listener: Robot<'_, P> = onboard::robot(1, &weights, codec()).unwrap();
    for (frame, (tick, original)) in profile.encode(&beacons).iter().zip(&sent) {
        listener.sense(*tick, Some(Sensed::now(motion(0))));
        let mut changed = frame.clone();
        *changed.last_mut().unwrap() ^= 0x80;
        if profile.key.is_some() {
            assert_eq!(listener.hear(&mut changed.clone()), Err(Refusal::Forged));
        }
        assert_eq!(listener.hear(&mut frame.clone()), Ok(()), "{}", profile.name);
        assert_eq!(listener.hear(&mut original.clone()), Ok(()));
        let heard: Vec<_> = listener.neighbours().map(|heard| (heard.beacon.sender, heard.beacon)).collect();
        let [(7, original), (9, copy)] = heard[..] else { panic!("{heard:?}") };
        assert_eq!(original, wdgnn_core::Beacon { sender: 7, ..copy }, "bit for bit");
    }
}

#[test]
fn robots_and_python_understand_each_other_on_every_profile() {
    speaks_and_hears(&Profile::new("exact", false), || Exact);
    speaks_and_hears(&Profile::new("dot154", false), Dot154::default);
    speaks_and_hears(&Profile::new("espnow", false), EspNow::default);
    speaks_and_hears(&Profile::new("esb32", false), || Esb32);
    speaks_and_hears(&Profile::new("p2p57", false), || P2p57);
}

#[test]
fn robots_and_python_understand_each_other_sealed() {
    speaks_and_hears(&Profile::new("exact", true), || Sealed::new(Exact, &KEY));
    speaks_and_hears(&Profile::new("dot154", true), || Sealed::new(Dot154::default(), &KEY));
    speaks_and_hears(&Profile::new("espnow", true), || Sealed::new(EspNow::default(), &KEY));
    speaks_and_hears(&Profile::new("esb32", true), || SealedEsb32::new(Esb32, &KEY));
    speaks_and_hears(&Profile::new("p2p57", true), || Sealed::new(P2p57, &KEY));
}

#[cfg(feature = "emulated")]
mod emulated {
    use std::path::Path;

    use host_sim::{
        key,
        medium::options::Faults,
        profiles,
        scene::Frame,
        swarm::{
            Robots, TickInput,
            emulated::{Emulated, Link},
            image::{self, Settings},
        },
    };
    use system_tests::{
        image::{KEY, alone},
        robot::motion,
    };

    use super::*;

    /// Two emulated robots hear each other's words as Python tells them again under other names, and those of a foreigner.
    fn understand(link: Link, [model_at, sequence_at]: [usize; 2], foreign: Refusal) {
        let key = link.sealed.then(|| Path::new(KEY));
        let model = models::for_profile(RecipeName::Ours, link.profile).unwrap();
        let profile = Profile {
            name: link.profile.name(),
            model: format!("{:08x}", model.weights().checksum),
            key: key.map(|path| hex(&key::read(path).unwrap())),
        };
        // The first and the last have their turn in the same ticks.
        let every = link.profile.exchange_ticks();
        let listeners = 1 + every as usize;
        // And two for whom Python speaks: nobody hears a name that the swarm does not have.
        let (robots, names) = (listeners + 2, [listeners, listeners + 1]);
        // As the simulator builds it, where others' images would come to lie.
        let mut emulated = alone(|| {
            let settings = Settings {
                task: "flocking",
                package: "wdgnn-firmware",
                profile: link.profile,
                key,
                ..Settings::default()
            };
            Emulated::new::<Flocking>(
                &image::build(&settings).unwrap(),
                &model,
                link,
                robots,
                &Faults::default(),
            )
            .unwrap()
        });
        let swarm: &mut dyn Robots<Flocking> = &mut emulated;
        for tick in 0..5 * every {
            let motions: Vec<_> = (0..robots as u16).map(|robot| motion(robot, tick)).collect();
            let inputs: Vec<_> = motions.iter().map(|motion| Some(TickInput::new(tick, *motion))).collect();
            let said = swarm.begin_tick(&inputs);
            let turns = (0..robots as u32).map(|robot| tick % every == robot % every);
            assert!(said.iter().map(|frames| !frames.is_empty()).eq(turns), "robots take turns");
            if !tick.is_multiple_of(every) {
                swarm.end_tick(&vec![Some(vec![]); robots]);
                continue;
            }
            let pair = [0, listeners - 1];
            let said = pair.map(|robot| (tick, said[robot][0].to_vec()));
            let mut beacons = profile.decode(&said);
            for ((robot, name), beacon) in pair.into_iter().zip(names).zip(&mut beacons) {
                assert_eq!((&beacon["sender"], &beacon["sequence"]), (&robot.into(), &tick.into()));
                assert!(tells(&profile, beacon, motions[robot]), "{beacon}");
                beacon["sender"] = name.into();
                beacon["exchange"] = (tick / every).into();
            }
            let written = profile.encode(&beacons);
            // Another model's: in the header of an unsealed frame, under the tag of a sealed one.
            let mut stranger = written[0].clone();
            stranger[model_at] ^= 1;
            stranger[sequence_at] += 1;
            let heard: Vec<Frame> = written.into_iter().chain([stranger]).map(Frame::from).collect();
            for outcome in swarm.end_tick(&vec![Some(heard); robots]).into_iter().take(listeners) {
                let outcome = outcome.expect("an emulated robot does something");
                assert_eq!(
                    (outcome.counts.heard, outcome.counts.neighbors),
                    (3, 2),
                    "both that Python wrote are neighbours"
                );
                let refused =
                    Refusal::ALL.iter().copied().zip(outcome.counts.refused).filter(|(_, count)| *count > 0);
                assert_eq!(refused.collect::<Vec<_>>(), [(foreign, 1)]);
            }
        }
    }

    #[test]
    fn emulated_robots_and_python_understand_each_other() {
        let (exact, dot154) = (profiles::Profile::Exact, profiles::Profile::Dot154);
        understand(Link { profile: exact, sealed: false }, [7, 17], Refusal::Model);
        understand(Link { profile: dot154, sealed: true }, [2, 12], Refusal::Forged);
    }
}
