//! Simulated robots on one channel with emulated chips, through the gateway's image. All but one test run in emulated time;
//! that one uses a serial port of this machine.

#![cfg(feature = "emulated")]

use std::{
    fs,
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use host_sim::error::Error;
use nrf52_emulator::{
    Chip, MICROSECOND, Part, air::SECOND, image as memory, peripherals::radio::Frame, reset_reason,
};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use system_tests::{
    chips,
    gateway::{IMAGE, Mixed, gateway_of, simulated},
    image::{self, alone},
    listener, run,
};
use wdgnn_emulation::{
    chips::{Settings, ports},
    gateway::port,
};
use wdgnn_link::error::FrameErrorCounts;
use wdgnn_protocol::{
    event::{BAUD, GatewayEvent, GatewayRequest, Hello, MAX_EVENT_LEN, MAX_REQUEST_LEN},
    line::Deframer,
};

const MILLISECOND: u64 = SECOND / 1_000;

/// Number of frames that robots on chips have rejected.
fn refused(mixed: &Mixed) -> u64 {
    mixed.chips.flown.iter().map(|robot| robot.refused).sum()
}

/// Checks that nothing was reset, chips equal their twins, and all robots are neighbors.
fn assert_sound(mixed: Mixed, simulated: u8) {
    assert!(mixed.gateway_restarts().is_empty(), "{:?}", mixed.gateway_restarts());
    let outcome = mixed.chips.finish();
    let others = simulated + outcome.robots.len() as u8 - 1;
    for (index, robot) in outcome.robots.iter().enumerate() {
        assert!(
            robot.restarts.iter().all(|restart| restart.reason == reset_reason::SOFTWARE),
            "robot {index}"
        );
        assert_eq!(robot.differs, None, "robot {index} and its native twin");
        let known = robot.status.map(|status| (status.neighbors, status.synchronized));
        assert_eq!(known, Some((others, others)), "robot {index}");
    }
}

/// Frames of three simulated robots in one exchange. Once in some seconds, all of an exchange can reach the gateway after their slots.
const ONE_EXCHANGE: u64 = 3;

#[test]
fn simulated_and_real_robots_flock_together_as_native_ones_do() {
    let (mut together, mut native) = (0.0, 0.0);
    for seed in [1, 2, 3] {
        let mut mixed = Mixed::new(3, 3, seed, 3.0);
        mixed.run_until(0.0);
        // During synchronization a frame may have a wrong tick.
        let before = refused(&mixed);
        mixed.run_until(3.0);
        let counts = &mixed.simulated.counts;
        assert_eq!((counts.late_up, counts.lost, counts.damaged), (0, 0, 0), "seed {seed}");
        assert!(counts.late_down <= ONE_EXCHANGE, "seed {seed}: {counts:?}");
        assert_eq!((counts.foreign, counts.refused_down), (0, 0), "seed {seed}");
        // A frame may be under way, and a channel may be occupied during slot assignment.
        assert!(counts.sent >= 200 && counts.sent + 8 >= counts.given, "seed {seed}: {counts:?}");
        // Three chips send twenty times per second, less listening time; all three simulated robots receive every frame.
        assert!(counts.heard >= 200, "seed {seed}: {counts:?}");
        assert!(counts.taken_of_real as f64 >= 0.97 * 3.0 * counts.heard as f64, "seed {seed}: {counts:?}");
        assert!(
            counts.taken_of_simulated as f64 >= 0.97 * 2.0 * counts.sent as f64,
            "seed {seed}: {counts:?}"
        );
        assert_eq!(mixed.simulated.counts.refused, FrameErrorCounts::default(), "seed {seed}");
        assert_eq!(refused(&mixed) - before, 0, "seed {seed}: frames that robots on chips refused in flight");
        let seen: Vec<u16> = mixed.simulated.real.keys().copied().collect();
        assert_eq!(seen, [0, 1, 2], "seed {seed}");
        assert!(mixed.simulated.conflicts.is_empty());
        let last = mixed.variation.last().copied().unwrap_or(f64::MAX);
        assert!(last < 0.002, "seed {seed}: the velocities agree, {last}");
        together += mixed.variation.iter().sum::<f64>();
        native += mixed.native();
        assert_sound(mixed, 3);
    }
    // Frames over the serial line are one exchange older: this costs a network with a high gain a fifth.
    assert!(together <= 1.25 * native, "variation {together} together, {native} natively");
}

#[test]
fn five_simulated_and_five_real_robots_share_ten_slots() {
    let mut mixed = Mixed::new(5, 5, 6, 2.0);
    mixed.run_until(2.0);
    let counts = mixed.simulated.counts.clone();
    assert_eq!((counts.late_up, counts.late_down, counts.lost, counts.damaged), (0, 0, 0, 0), "{counts:?}");
    // Robots with an occupied slot move; then all ten send twenty times per second, less listening time.
    assert!(counts.sent >= 250 && counts.heard >= 250 && counts.busy <= 10, "{counts:?}");
    assert!(counts.taken_of_real as f64 >= 0.97 * 5.0 * counts.heard as f64, "{counts:?}");
    let last = mixed.variation.last().copied().unwrap_or(f64::MAX);
    assert!(last < 0.05 * mixed.variation[0], "the swarm flocks: {last}");
    assert_sound(mixed, 5);
}

#[test]
fn late_frames_of_a_slow_pc_are_counted_and_disturb_no_robot() {
    let mut mixed = Mixed::new(3, 3, 2, 3.0);
    // Slots begin 10.9 ms after the gateway's message, less the time on the line.
    mixed.takes = 7 * MILLISECOND;
    mixed.run_until(1.0);
    assert!(mixed.simulated.counts.late_down <= ONE_EXCHANGE, "{:?}", mixed.simulated.counts);
    let (sent, refused_before) = (mixed.simulated.counts.sent, refused(&mixed));
    mixed.takes = 30 * MILLISECOND;
    mixed.run_until(1.5);
    mixed.takes = 0;
    mixed.run_until(3.0);
    let counts = &mixed.simulated.counts;
    // Half a second and frames under way make eleven exchanges of three robots, less listening time.
    assert!((20..=36).contains(&counts.late_down), "{counts:?}");
    assert!(counts.sent >= sent + 70, "then their frames arrive again: {counts:?}");
    assert!(counts.sent + counts.late_down + 8 >= counts.given, "{counts:?}");
    assert_eq!((counts.late_up, counts.lost, counts.damaged), (0, 0, 0));
    assert_eq!(refused(&mixed) - refused_before, 0, "no frame was sent in another tick's time");
    assert_eq!(mixed.simulated.counts.refused, FrameErrorCounts::default());
    assert_sound(mixed, 3);
}

#[test]
fn the_gateway_counts_hostile_bytes_and_frames_and_continues() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut mixed = Mixed::new(2, 2, 4, 2.0);
    let mut next = 0;
    while mixed.chips.air.now() < mixed.chips.end() {
        let now = mixed.chips.air.now();
        if (SECOND / 2..2 * SECOND).contains(&now) {
            let mut burst: Vec<u8> = (0..random.random_range(0..30)).map(|_| random.random()).collect();
            // Also inside a valid message; well-formed messages have impossible times and frames.
            burst.push(0);
            let frame: Vec<u8> = (0..random.random_range(0..=125)).map(|_| random.random()).collect();
            let slot_us = [0, u64::MAX, random.random()][random.random_range(0..3)];
            let mut bytes = [0; MAX_REQUEST_LEN];
            let number = random.random_range(40_000..50_000);
            let request = GatewayRequest::Send { number, slot_us, frame: &frame };
            let length = request.encode(&mut bytes).unwrap();
            if random.random_range(0..8) == 0 {
                burst.extend(&bytes[..length]);
            }
            mixed.give(&burst);
        }
        if now >= next {
            next = now + 40 * MILLISECOND;
            let content: Vec<u8> = (0..20).map(|_| random.random()).collect();
            let crc_ok = random.random();
            let frame = Frame { length: 22, content: content.into(), crc_ok, channel: 80 };
            mixed.chips.air.inject(now, None, frame);
        }
        mixed.step();
    }
    let counts = &mixed.simulated.counts;
    assert!(counts.damaged > 500, "{counts:?}");
    assert!(counts.foreign > 10 && counts.spoilt > 10, "{counts:?}");
    assert!(counts.sent > 60 && counts.heard > 60, "{counts:?}");
    assert!(mixed.gateway_restarts().is_empty(), "{:?}", mixed.gateway_restarts());
    let stack = mixed.gateway_stack();
    assert!(stack <= 7 * 1024, "{stack} bytes of stack, of 16 KiB");
}

#[test]
fn listeners_in_rust_and_python_read_the_events_of_a_gateway() {
    let mut mixed = Mixed::new(2, 1, 4, 1.0);
    mixed.run_until(1.0);
    let folder = tempfile::tempdir().unwrap();
    let stream = folder.path().join("events");
    fs::write(&stream, &mixed.recorded).unwrap();
    let arguments = [stream.to_str().unwrap(), image::KEY, "models/flocking-dot154.wdgnn"];
    let rust = listener(&arguments);
    let python = run("python3", &[&["examples/listener/listener.py"], &arguments[..]].concat());
    assert_eq!(rust, python);
    assert_eq!(rust.lines().count() as u64, mixed.simulated.counts.heard);
    assert!(rust.lines().all(|line| line.contains(": dot154 from ")), "{rust}");
}

/// Introduction message of a gateway.
fn hello(chip: &mut Chip) -> Option<Hello> {
    let mut line = Deframer::<MAX_EVENT_LEN>::default();
    let said = std::mem::take(&mut chip.peripherals().uarte.tx_bytes);
    said.into_iter().find_map(|(_, byte)| match GatewayEvent::decode(line.push(byte)?) {
        Some(GatewayEvent::Hello(hello)) => Some(hello),
        _ => None,
    })
}

#[test]
fn gateways_boot_and_answer_queries() {
    for (feature, kind, begins, _) in chips::boards() {
        let pieces = memory::elf_segments(&fs::read(gateway_of(feature)).unwrap()).unwrap();
        let mut chip = Chip::new(kind, 77);
        chip.flash(&pieces);
        chip.boot_from(begins);
        chip.power_on(0);
        chip.run(100_000 * MICROSECOND);
        let first = hello(&mut chip).unwrap_or_else(|| panic!("{feature} sends nothing"));
        assert_eq!((first.profile, first.timing.period, first.timing.slots), (2, 10_000, 2), "{feature}");
        let mut ask = [0; MAX_REQUEST_LEN];
        let length = GatewayRequest::Query.encode(&mut ask).unwrap();
        let now = chip.now();
        chip.peripherals().uarte.receive(now, BAUD.into(), &ask[..length]);
        chip.run(110_000 * MICROSECOND);
        assert_eq!(hello(&mut chip), Some(first), "{feature}");
        assert!(
            chip.resets.iter().all(|restart| restart.reason == reset_reason::SOFTWARE),
            "{:?}",
            chip.resets
        );
        assert_eq!(chip.illegal_writes(), Vec::<String>::new(), "{feature}");
    }
}

#[test]
fn provision_makes_gateways_and_rejects_robot_images() {
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/provision.py");
    let provision = |options: &[&str]| {
        let mut command = Command::new("python3");
        command.arg(&script).args(["--board", "nrf52840", "--out"]).arg(folder.path()).args(options);
        let output = alone(|| command.output().unwrap());
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(provision(&["--gateway"]), (Some(0), String::new()));
    let hex = fs::read_to_string(folder.path().join("nrf52840-gateway.hex")).unwrap();
    let mut chip = Chip::new(Part::Nrf52840, 78);
    memory::hex_segments(&hex).unwrap().iter().for_each(|(address, bytes)| chip.program(*address, bytes));
    chip.power_on(0);
    chip.run(100_000 * MICROSECOND);
    assert!(hello(&mut chip).is_some());
    let [robot, gateway] = [&*chips::IMAGE, &*IMAGE].map(|path| path.display().to_string());
    for (options, sentence) in [
        (["--gateway", "--image", &robot], "is a robot image"),
        (["--robots=1", "--image", &gateway], "is a gateway image"),
        (["--gateway", "--key", &robot], "--key is not available with --gateway"),
    ] {
        let (code, said) = provision(&options);
        assert!(code == Some(2) && said.contains(sentence), "{options:?}: {said}");
    }
}

#[test]
fn simulated_robots_fly_with_real_ones_over_a_serial_port() {
    const ROBOTS: usize = 3;
    let folder = tempfile::tempdir().unwrap();
    let gateway = Some(fs::read(&*IMAGE).unwrap());
    let mut settings = Settings { gateway, ..chips::settings(2 * ROBOTS, 1, 120.0) };
    settings.start.truncate(ROBOTS);
    let (ended, failed) = (AtomicBool::new(false), |error: Error| panic!("{error}"));
    let ends = || if ended.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) };
    thread::scope(|scope| {
        scope.spawn(|| ports::serve(&settings, folder.path(), ends));
        // The gateway's port is created last.
        while !folder.path().join("gateway").exists() {
            thread::yield_now();
        }
        let companions = scope.spawn(|| {
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/companion.py");
            let ports =
                (0..ROBOTS).flat_map(|robot| ["--port".into(), folder.path().join(format!("robot{robot}"))]);
            Command::new("python3")
                .arg(script)
                .args(ports)
                .args(["--seconds", "6", "--kick", "-1"])
                .output()
                .unwrap()
        });
        let mut flight = simulated(ROBOTS, ROBOTS, 1);
        // How late frames are depends on this machine; the sum of all counts does not.
        let flown =
            port::fly(&folder.path().join("gateway"), &mut flight, &AtomicBool::new(false), |flight| {
                flight.variation.len() >= 150
            });
        flown.unwrap_or_else(failed);
        let companions = companions.join().unwrap();
        ended.store(true, Ordering::Relaxed);
        let counts = &flight.counts;
        assert!(counts.taken_of_real > 0 && counts.heard > 0 && counts.given > 0, "{counts:?}");
        assert!(counts.sent + counts.late_down + counts.busy + 8 >= counts.given, "{counts:?}");
        assert_eq!((counts.late_up, counts.foreign), (0, 0), "{counts:?}");
        assert_eq!(flight.real.len(), ROBOTS, "{:?}", flight.real);
        assert!(companions.status.success(), "{}", String::from_utf8_lossy(&companions.stderr));
    });
}
