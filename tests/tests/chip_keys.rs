//! Key rotation and peer authentication on flashed images, register by register: files from `host-sim key`, provisioning by
//! `firmware/provision.py`, and key updates over one robot's serial line.

#![cfg(feature = "emulated")]

use std::{fs, path::Path, process::Command};

use host_sim::medium::key_operator::{MASTER, update_frames};
use nrf52_emulator::{Part, air::SECOND, image::hex_segments, reset_reason};
use system_tests::{
    chips::{self, told_flight, told_image},
    host_sim, image,
};
use wdgnn_emulation::chips::{
    Flight, RELEASE, Settings,
    operator::{Provisioning, Rekey},
};

const ROBOTS: usize = 6;
const EXPELLED: usize = 3;
const PROVEN: Provisioning = Provisioning { personal: true, proofs: true };

/// Provisioning pages for robots with this image, made with the operator's keys and the script.
fn provisioned(board: &str, image: &Path, place: u32, robots: usize) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let [master, keys, out] = ["master.key", "keys", "out"].map(path);
    fs::write(&master, MASTER).unwrap();
    host_sim(&["key", "robots", "--master", &master, "--robots", &robots.to_string(), "--out", &keys]);
    let (names, image) = (format!("0-{}", robots - 1), image.display().to_string());
    let output = Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/provision.py"))
        .args(["--board", board, "--robots", &names, "--image", &image, "--personal-keys", &keys])
        .args(["--peer-auth", "--out", &out])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = |robot: usize| {
        let file = fs::read_to_string(path(&format!("out/{board}-robot-{robot}.hex"))).unwrap();
        let pieces = hex_segments(&file).expect("a whole HEX file");
        let bytes = pieces.into_iter().flat_map(|(address, bytes)| (address..).zip(bytes));
        bytes.filter(|(address, _)| *address >= place).map(|(_, byte)| byte).collect()
    };
    (0..robots).map(page).collect()
}

/// Robots in radio range of each other, with this image.
fn together(robots: usize, seed: u64, seconds: f64, image: &Path) -> Settings {
    let settings = chips::settings(robots, seed, seconds);
    Settings { image: fs::read(image).unwrap(), radius: 1_000.0, pages: PROVEN.pages(robots), ..settings }
}

/// Flies to a time in seconds after the release.
fn fly_to(flight: &mut Flight<'_>, seconds: f64) {
    let until = RELEASE + (seconds * SECOND as f64) as u64;
    while flight.air.now() < until {
        flight.step();
    }
}

/// Interrupts the power of a robot.
fn cut_power(flight: &mut Flight<'_>, robot: usize) {
    let now = flight.air.now();
    let station = &mut flight.air.stations[robot];
    station.chip.power_on(station.cycles_at(now));
}

#[test]
fn provisioned_robots_change_keys_in_flight_without_the_expelled_one() {
    for (board, kind, place) in
        [("nrf52840", Part::Nrf52840, chips::SETTINGS_PAGE), ("microbit-v2", Part::Nrf52833, 0x0007_7000)]
    {
        let image = told_image(&format!("board-{board}"));
        let pages = provisioned(board, &image, place, ROBOTS);
        assert_eq!(pages, PROVEN.pages(ROBOTS), "{board}: host-sim and the script make equal pages");
        let mut settings = Settings { kind, settings_page: place, pages, ..together(ROBOTS, 1, 3.5, &image) };
        settings.rekey = Some(Rekey { ticks: 20..250, expelled: vec![EXPELLED] });
        let mut flight = told_flight(settings, PROVEN);
        fly_to(&mut flight, 2.4);
        let before: Vec<_> = flight.flown.iter().map(|flown| flown.status.unwrap()).collect();
        fly_to(&mut flight, 3.5);
        let outcome = flight.finish();
        let changes = outcome.key_changes.expect("a key change");
        for (index, robot) in outcome.robots.iter().enumerate() {
            let (was, is) = (before[index], robot.status.unwrap());
            assert_eq!((was.epoch, usize::from(was.neighbors)), (0, ROBOTS - 1), "{board}, robot {index}");
            assert_eq!(robot.differs, None, "{board}, robot {index} and its native twin");
            assert!(robot.equal > 450, "{board}, robot {index}: {} ticks were compared", robot.equal);
            assert!(robot.restarts.iter().all(|restart| restart.reason == reset_reason::SOFTWARE));
            assert!(
                robot.stack <= 6_144,
                "{board}, robot {index}: {} bytes of stack, of 16 KiB",
                robot.stack
            );
            let [(_, 0), rest @ ..] = &robot.epochs[..] else {
                panic!("{board}, robot {index}: {:?}", robot.epochs)
            };
            if index == EXPELLED {
                assert_eq!((rest, is.neighbors), (&[][..], 0), "{board}: it has no key and no neighbors");
            } else {
                assert_eq!(
                    rest,
                    [(changes, 1)],
                    "{board}, robot {index}: the key of epoch 1, from that tick on"
                );
                assert_eq!(
                    usize::from(is.neighbors),
                    ROBOTS - 2,
                    "{board}, robot {index}: all but the expelled one"
                );
            }
        }
    }
}

#[test]
fn keys_are_stored_within_100_ms_despite_a_recent_record() {
    let image = told_image("board-nrf52840");
    // No other robot can relay the key again.
    let mut flight = told_flight(together(1, 2, 4.0, &image), PROVEN);
    fly_to(&mut flight, 0.2);
    let at = flight.flown[0].status.unwrap().tick + 100;
    flight.companions[0].hand_over(update_frames([0].into_iter(), at, 8).remove(0));
    fly_to(&mut flight, 0.32);
    assert_eq!(flight.flown[0].epochs.len(), 1, "not used yet");
    cut_power(&mut flight, 0);
    fly_to(&mut flight, 4.0);
    let outcome = flight.finish();
    assert_eq!(outcome.robots[0].epochs.last().map(|(_, epoch)| *epoch), Some(1));
}

#[test]
fn keys_are_stored_in_a_full_store() {
    let image = told_image("board-nrf52840");
    let mut flight = told_flight(together(1, 2, 134.0, &image), PROVEN);
    fly_to(&mut flight, 0.2);
    // All pages but the first are full. The first one fills up within two minutes, at a record per ten seconds.
    let others = chips::STORE.start + 4_096..chips::STORE.end;
    flight.air.stations[0].chip.program(others.start, &vec![0; others.len()]);
    fly_to(&mut flight, 130.0);
    let at = flight.flown[0].status.unwrap().tick + 100;
    flight.companions[0].hand_over(update_frames([0].into_iter(), at, 8).remove(0));
    fly_to(&mut flight, 130.12);
    cut_power(&mut flight, 0);
    fly_to(&mut flight, 134.0);
    assert_eq!(flight.flown[0].epochs.last().map(|(_, epoch)| *epoch), Some(1));
}

#[test]
fn robots_that_lose_power_around_the_change_rejoin() {
    let image = told_image("board-nrf52840");
    let mut settings = together(ROBOTS, 3, 6.0, &image);
    settings.rekey = Some(Rekey { ticks: 20..250, expelled: vec![EXPELLED] });
    let mut flight = told_flight(settings, PROVEN);
    let cuts = [(1, 2.0), (2, 2.45), (4, 2.6)];
    for (robot, when) in cuts {
        fly_to(&mut flight, when);
        cut_power(&mut flight, robot);
    }
    fly_to(&mut flight, 6.0);
    let outcome = flight.finish();
    let changes = outcome.key_changes.unwrap();
    for (index, robot) in outcome.robots.iter().enumerate().filter(|(index, _)| *index != EXPELLED) {
        let (status, cut) = (robot.status.unwrap(), cuts.iter().find(|(cut, _)| *cut == index));
        assert_eq!((status.epoch, usize::from(status.neighbors)), (1, ROBOTS - 2), "robot {index}");
        if cut.is_none() {
            assert_eq!(robot.epochs, [(robot.epochs[0].0, 0), (changes, 1)], "robot {index}");
            assert_eq!(robot.differs, None, "robot {index} and its native twin");
        }
    }
    assert_eq!(outcome.robots[EXPELLED].status.unwrap().neighbors, 0);
}

#[test]
fn chips_prove_their_identity_and_reject_keys_of_another_operator() {
    let image = told_image("board-nrf52840");
    let mut settings = together(4, 4, 2.0, &image);
    // The last robot has the roster of another swarm and cannot verify the proofs that it receives.
    let foreign = PROVEN.roster(9, 4);
    let personal = wdgnn_link::security::key_update::personal_key(&MASTER, 3);
    settings.pages[3] = wdgnn_emulation::chips::operator::settings_page(3, 4, Some((&personal, 0)), foreign);
    let mut flight = told_flight(settings, PROVEN);
    let mut proofs = [0; 4];
    while flight.air.now() < flight.end() {
        flight.step();
        for frame in flight.overheard.drain(..) {
            let (_, content) = wdgnn_protocol::mac::parse(&frame).unwrap();
            let from = usize::from(u16::from_le_bytes([frame[7], frame[8]]));
            proofs[from] += u32::from(content[0] & wdgnn_link::security::peer_auth::PROOF_MARK != 0);
        }
    }
    let outcome = flight.finish();
    assert!(proofs.iter().all(|count| *count > 0), "frames with proofs: {proofs:?}");
    for (index, robot) in outcome.robots.iter().enumerate().take(3) {
        assert_eq!(robot.differs, None, "robot {index} and its native twin");
        assert!(robot.refused <= 2, "robot {index} rejects no proof, only frames during synchronization");
        assert_eq!(robot.status.unwrap().neighbors, 3);
    }
    assert!(outcome.robots[3].refused > 8, "it rejects all proofs");
    assert!(outcome.robots[3].differs.is_some(), "its twin has the right roster and trusts others");
}

#[test]
fn twenty_robots_at_10_hz_prove_their_identity_without_losing_slots() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ten-hertz.wdgnn");
    fs::write(&path, chips::model_with_exchange(10)).unwrap();
    let model = ("WDGNN_MODEL", path.to_str().unwrap());
    let settings = [("WDGNN_KEY", image::KEY), ("WDGNN_KEY_ROTATION", "on"), model];
    let image = image::build_with("robot", &chips::DEVELOPMENT_KIT, &settings).unwrap();
    let outcome = told_flight(together(20, 5, 2.0, &image), PROVEN).fly(|_| Ok(())).unwrap();
    let frames = outcome.frames();
    assert!(frames.sent >= 365, "{} of 400 turns were used; every robot listens now and then", frames.sent);
    assert!(frames.good as f64 >= 0.97 * frames.reached as f64, "{frames:?}");
}
