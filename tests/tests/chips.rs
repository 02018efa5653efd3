//! The sealed nRF52840 image, register by register: alone, in swarms, and under attack.

#![cfg(feature = "emulated")]

use std::{collections::VecDeque, sync::Arc};

use nrf52_emulator::{MICROSECOND, air::SECOND, image::elf_symbol, peripherals::radio::Frame, rtt::Rtt};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use system_tests::chips::{self, IMAGE, STORE, flight, natively, settings, unwanted};
use wdgnn_core::tasks::flocking::Motion;
use wdgnn_emulation::chips::{Outcome, RELEASE};
use wdgnn_protocol::companion::{MAX_MESSAGE, PoseMessage, encode};

const CYCLES_PER_SECOND: u64 = 1_000_000 * MICROSECOND;

/// Checks that no robot was reset and each equals its native twin.
fn assert_sound(outcome: &Outcome) {
    for (index, robot) in outcome.robots.iter().enumerate() {
        let resets: Vec<_> = robot.restarts.iter().filter(|restart| restart.reason & 4 == 0).collect();
        assert!(resets.is_empty(), "robot {index}: {resets:?}");
        assert_eq!(robot.differs, None, "robot {index} and its native twin");
        assert!(robot.equal > 100, "robot {index}: only {} ticks were compared", robot.equal);
    }
}

#[test]
fn without_a_companion_the_image_ticks_at_100_hz_and_sends_nothing() {
    let mut chip = chips::chip(7);
    chip.power_on(0);
    chip.run(2 * CYCLES_PER_SECOND);
    let before = chip.peripherals().uarte.tx_bytes.len();
    chip.run(12 * CYCLES_PER_SECOND);
    // A tick sends a command and a status, each with a final zero.
    let zeros = chip.peripherals().uarte.tx_bytes[before..].iter().filter(|(_, byte)| *byte == 0).count();
    assert!((1998..=2002).contains(&zeros), "{zeros} messages in 10 s");
    assert_eq!(unwanted(&chip), Vec::<String>::new());
    assert_eq!(chip.peripherals().radio.tx_frames.len(), 0, "a robot without a state sends nothing");
    assert_eq!(chip.illegal_writes(), Vec::<String>::new());
}

#[test]
fn ten_robots_with_random_phases_and_crystals_flock_as_native_ones_do() {
    let (mut here, mut native) = (0.0, 0.0);
    for seed in [1, 2, 3] {
        let outcome = flight(settings(10, seed, 3.0)).fly(|_| Ok(())).unwrap();
        assert_sound(&outcome);
        let frames = outcome.frames();
        assert!(frames.good as f64 >= 0.97 * frames.reached as f64, "seed {seed}: {frames:?}");
        for (index, robot) in outcome.robots.iter().enumerate() {
            assert!(
                (robot.rate - 100.0).abs() <= 0.4,
                "seed {seed}, robot {index}: {} ticks a second",
                robot.rate
            );
            let heard = robot.frames.good as f64 / robot.frames.reached as f64;
            assert!(
                heard >= 0.9 && robot.frames.sent >= 50,
                "seed {seed}, robot {index}: {:?}",
                robot.frames
            );
        }
        let stack = outcome.robots.iter().map(|robot| robot.stack).max();
        assert!(stack <= Some(5_120), "{stack:?} bytes of stack, of 16 KiB");
        let busy = outcome.robots.iter().map(|robot| robot.busy).sum::<f64>() / 10.0;
        assert!(busy <= 0.075, "seed {seed}: the processor is busy for {busy}");
        // One pair comes within 10 cm for one tick, where both start toward each other.
        assert!(outcome.close <= 1, "seed {seed}: {} close pairs", outcome.close);
        here += outcome.variation.iter().sum::<f64>();
        native += natively(&settings(10, seed, 3.0));
    }
    assert!(here <= 1.1 * native, "variation {here} on chips, {native} natively");
}

#[test]
fn robots_without_companions_slow_down_stop_and_report_their_place() {
    let mut settings = settings(4, 3, 3.0);
    settings.companions_die = Some(1.0);
    let outcome = flight(settings).fly(|_| Ok(())).unwrap();
    assert_sound(&outcome);
    for (index, robot) in outcome.robots.iter().enumerate() {
        // It extrapolates for a quarter of a second, slows down for the rest of the second, and stops.
        let late = || robot.commands.iter().filter(|(at, ..)| *at > 2.05);
        assert!(late().count() > 60, "robot {index} still sends commands");
        assert!(late().all(|(_, command, stop)| *command == [0.0; 2] && *stop), "robot {index}");
        assert!(robot.commands.iter().any(|(at, command, _)| *at < 1.0 && *command != [0.0; 2]));
        let last = robot.heard_at.iter().copied().fold(0.0, f64::max);
        assert!(last > 2.8, "robot {index} was last heard at {last} s: its place is not reported");
    }
}

#[test]
fn robots_return_within_a_second_after_a_reset() {
    for seed in [1, 2] {
        let mut settings = settings(6, seed, 3.0);
        settings.reboots = vec![(2, 1.0)];
        let outcome = flight(settings).fly(|_| Ok(())).unwrap();
        let robot = &outcome.robots[2];
        assert_eq!(
            robot
                .restarts
                .iter()
                .filter(|restart| restart.reason == nrf52_emulator::reset_reason::PIN)
                .count(),
            1
        );
        let back = robot.heard_at.iter().copied().find(|at| *at > 1.0).expect("it is heard again");
        assert!(back < 2.0, "seed {seed}: heard again after {} s", back - 1.0);
        let lines = chips::log(&robot.log);
        assert!(lines.iter().any(|line| line.contains("started: reset pin")), "{lines:?}");
        let others = outcome.robots.iter().enumerate().filter(|(index, _)| *index != 2);
        others.for_each(|(index, robot)| assert_eq!(robot.differs, None, "seed {seed}, robot {index}"));
    }
}

#[test]
fn ten_thousand_hostile_frames_neither_reset_a_chip_nor_change_a_command() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let mut flight = flight(settings(3, 4, 36.0));
    let mut recorded: VecDeque<Arc<[u8]>> = VecDeque::new();
    let (mut said, mut next) = (0, RELEASE);
    while flight.air.now() < flight.end() {
        while next < flight.air.now() + SECOND / 1_000 {
            let genuine = recorded.get(random.random_range(0..recorded.len().max(1))).cloned();
            let (length, content): (u8, Vec<u8>) = match random.random_range(0..5) {
                // Invalid lengths.
                0 => ([0, 1, 2, 128, 200, 255][random.random_range(0..6)], vec![0xff; 125]),
                // Random bytes.
                1 => {
                    let bytes: Vec<u8> = (0..random.random_range(0..60)).map(|_| random.random()).collect();
                    (bytes.len() as u8 + 2, bytes)
                }
                // A recording, original or with a flipped bit.
                kind => {
                    let mut bytes = genuine.map_or(vec![], |frame| frame.to_vec());
                    if kind == 2 && !bytes.is_empty() {
                        let at = random.random_range(0..bytes.len());
                        bytes[at] ^= 1 << random.random_range(0..8);
                    }
                    (bytes.len() as u8 + 2, bytes)
                }
            };
            let frame = Frame { length, content: content.into(), crc_ok: true, channel: 80 };
            // In sequence, so that frames do not overlap.
            let takes = frame.duration() * (SECOND / CYCLES_PER_SECOND);
            flight.air.inject(next, None, frame);
            next += takes + random.random_range(SECOND / 10_000..SECOND / 1_000);
            said += 1;
        }
        flight.step();
        // The attacker records all frames.
        recorded.clone_from(&flight.overheard);
    }
    assert!(said >= 10_000, "{said} frames");
    let outcome = flight.finish();
    assert_sound(&outcome);
    let refused: u64 = outcome.robots.iter().map(|robot| robot.refused).sum();
    assert!(refused > 1_000, "{refused} frames were rejected");
}

#[test]
fn hostile_serial_bytes_reset_no_chip_and_the_next_pose_is_read() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut flight = flight(settings(2, 6, 4.0));
    let hostile_until = RELEASE + 3 * SECOND;
    let mut bytes = 0;
    while flight.air.now() < flight.end() {
        let now = flight.air.now();
        if now > SECOND / 2 && now < hostile_until {
            let station = &mut flight.air.stations[0];
            let at = station.cycles_at(now);
            let mut burst: Vec<u8> = (0..random.random_range(0..40)).map(|_| random.random()).collect();
            // Well-formed messages with non-finite or huge numbers.
            let odd = [f32::NAN, f32::INFINITY, -f32::INFINITY, f32::MAX, f32::MIN_POSITIVE / 2.0];
            let mut number = || odd[random.random_range(0..odd.len())];
            let motion = Motion { position: [number(), number()], velocity: [number(), number()] };
            let mut frame = [0; MAX_MESSAGE];
            let length = encode(&PoseMessage { motion, number: 0, age_ms: u16::MAX }, &mut frame).unwrap();
            burst.extend(&frame[..length]);
            bytes += burst.len();
            station.chip.peripherals().uarte.receive(at, 460_800, &burst);
        }
        flight.step();
    }
    assert!(bytes > 100_000, "{bytes} bytes");
    let outcome = flight.finish();
    let resets =
        outcome.robots.iter().flat_map(|robot| &robot.restarts).filter(|restart| restart.reason & 4 == 0);
    assert_eq!(resets.count(), 0);
    let after = outcome.robots[0].commands.iter().filter(|(at, ..)| *at > 3.3);
    assert!(after.clone().count() > 60 && after.clone().all(|(.., stop)| !stop), "its state is known again");
}

/// Boot counts in a chip's log after a start.
fn boots(chip: &mut nrf52_emulator::Chip, seconds: u64) -> Vec<u32> {
    let rtt = Rtt::new(elf_symbol(&std::fs::read(&*IMAGE).unwrap(), "_SEGGER_RTT").unwrap());
    let until = chip.now() + seconds * CYCLES_PER_SECOND;
    chip.power_on(chip.now());
    chip.run(until);
    let lines = chips::log(&rtt.read(chip));
    let told = lines.iter().filter_map(|line| line.split("boot ").nth(1)?.split(',').next()?.parse().ok());
    told.collect()
}

#[test]
fn robots_start_and_count_boots_with_any_content_of_the_store() {
    let mut random = ChaCha8Rng::seed_from_u64(12);
    for fill in 0..24 {
        let mut chip = chips::chip(3);
        let bytes: Vec<u8> = match fill % 3 {
            0 => (0..STORE.len()).map(|_| random.random()).collect(),
            1 => vec![0; STORE.len()],
            // Record heads with arbitrary lengths.
            _ => (0..STORE.len() / 4)
                .flat_map(|_| (0x5277_0000_u32 | random.random_range(0..400)).to_le_bytes())
                .collect(),
        };
        chip.program(STORE.start, &bytes);
        let first = boots(&mut chip, 2);
        let second = boots(&mut chip, 2);
        assert_eq!(unwanted(&chip), Vec::<String>::new(), "fill {fill}");
        let (Some(first), Some(second)) = (first.last(), second.last()) else {
            panic!("fill {fill} does not start")
        };
        assert_eq!(*second, first + 1, "fill {fill}: the record was read at the next start");
    }
}

#[test]
fn power_loss_at_any_word_leaves_the_old_record_or_the_new_one() {
    let mut chip = chips::chip(3);
    let mut last = *boots(&mut chip, 1).last().expect("it starts");
    for words in 0..64 {
        chip.peripherals().nvmc.power_fails_after = Some(words);
        // The new count may be lost, and is not used, since power is off.
        boots(&mut chip, 1);
        chip.peripherals().nvmc.power_fails_after = None;
        let counted = *boots(&mut chip, 1).last().expect("it starts");
        assert!(counted == last + 1 || counted == last + 2, "{words} words: {last}, then {counted}");
        last = counted;
    }
    assert_eq!(unwanted(&chip), Vec::<String>::new());
}

#[test]
fn robots_with_worn_out_flash_never_repeat_a_boot_count() {
    let mut chip = chips::chip(3);
    let kept = *boots(&mut chip, 1).last().expect("it starts");
    // The flash is worn out: writes have no effect.
    chip.peripherals().nvmc.power_fails_after = Some(0);
    let mut counts: Vec<u32> = (0..6).map(|_| *boots(&mut chip, 1).last().expect("it starts")).collect();
    counts.push(kept);
    let told = counts.clone();
    counts.sort_unstable();
    counts.dedup();
    assert_eq!(counts.len(), told.len(), "a boot count and its nonces came twice: {told:?}");
    assert_eq!(unwanted(&chip), Vec::<String>::new());
}

#[test]
fn storing_parameters_erases_no_page_and_skips_no_tick() {
    let mut flight = flight(settings(2, 8, 25.0));
    while flight.air.now() < RELEASE {
        flight.step();
    }
    let words = |flight: &mut wdgnn_emulation::chips::Flight<'_>| {
        flight
            .air
            .stations
            .iter_mut()
            .map(|station| station.chip.peripherals().nvmc.words_written)
            .sum::<u64>()
    };
    let (before, erased) = (words(&mut flight), flight.air.stations[0].chip.peripherals().nvmc.erases.len());
    while flight.air.now() < flight.end() {
        flight.step();
    }
    assert!(words(&mut flight) >= before + 2 * 2 * 50, "two records each");
    assert_eq!(flight.air.stations[0].chip.peripherals().nvmc.erases.len(), erased);
    let outcome = flight.finish();
    assert_sound(&outcome);
    outcome.robots.iter().for_each(|robot| assert!((robot.rate - 100.0).abs() < 0.1, "{} Hz", robot.rate));
}

#[test]
fn chips_with_an_unresponsive_aes_log_it_and_send_nothing() {
    let mut chip = chips::chip(3);
    chip.peripherals().ecb.unresponsive = true;
    let rtt = Rtt::new(elf_symbol(&std::fs::read(&*IMAGE).unwrap(), "_SEGGER_RTT").unwrap());
    chip.power_on(0);
    chip.run(2 * CYCLES_PER_SECOND);
    let lines = chips::log(&rtt.read(&mut chip));
    assert!(lines.iter().any(|line| line.contains("AES self-test failed")), "{lines:?}");
    assert_eq!(chip.peripherals().radio.tx_frames.len(), 0);
}

#[test]
fn boards_without_the_32_khz_crystal_fly() {
    let mut flight = flight(settings(2, 3, 1.0));
    flight.air.stations.iter_mut().for_each(|station| station.chip.peripherals().clock.lfxo_missing = true);
    while flight.air.now() < flight.end() {
        flight.step();
    }
    let outcome = flight.finish();
    assert_sound(&outcome);
    assert!(outcome.frames().good > 30);
}

#[test]
fn occupied_channels_are_not_used() {
    let mut flight = flight(settings(2, 3, 1.0));
    while flight.air.now() < flight.end() {
        if flight.air.now() >= RELEASE && flight.air.now().is_multiple_of(SECOND / 1_000 * 7) {
            // Foreign frames for 40 % of the time.
            let frame = Frame { length: 78, content: vec![0; 76].into(), crc_ok: true, channel: 80 };
            flight.air.inject(flight.air.now(), None, frame);
        }
        flight.step();
    }
    let outcome = flight.finish();
    let frames = outcome.frames();
    assert!((5..36).contains(&frames.sent), "{} of 40 turns were taken", frames.sent);
}
