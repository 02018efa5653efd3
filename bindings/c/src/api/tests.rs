//! Calls of the C functions with valid and invalid arguments.

use core::mem::MaybeUninit;
use std::vec::Vec;

use wdgnn_core::weights::Aligned;
use wdgnn_link::security::{
    aes::Aes,
    key_update::{KeyUpdate, pair_key, personal_key, swarm_key},
};

use super::*;
use crate::{
    robot_type::{
        wdgnn_flocking_dot154 as dot154, wdgnn_flocking_exact as exact,
        wdgnn_flocking_exact_key_rotation as key_rotation, wdgnn_flocking_exact_sealed as sealed,
    },
    types::{MAX_COMMAND_LEN, Verdict},
};

static WEIGHTS: &Aligned<[u8]> = &Aligned(*include_bytes!("../../../../models/flocking-wd-gnn.wdgnn"));

/// Memory for one robot or listener.
fn memory() -> Vec<u128> {
    std::vec![0; 1_200]
}

fn config(address: u16) -> RobotConfig {
    let weights = &WEIGHTS.0;
    RobotConfig {
        address,
        weights: weights.as_ptr(),
        weights_bytes: weights.len(),
        group_key: ptr::null(),
        group_key_bytes: 0,
        boot_count: 0,
        swarm_size: 0,
        key_epoch: 0,
        personal_key: ptr::null(),
        personal_key_bytes: 0,
        peer_keys: ptr::null(),
        peer_keys_bytes: 0,
    }
}

fn create(
    robot_type: &'static RobotType, memory: &mut [u128], config: &RobotConfig,
) -> Result<*mut Robot, Error> {
    let mut robot = ptr::null_mut();
    let bytes = size_of_val(memory);
    // SAFETY: all pointers are valid.
    let error = unsafe {
        wdgnn_robot_create(Some(robot_type), memory.as_mut_ptr().cast(), bytes, config, &raw mut robot)
    };
    if error == Error::None { Ok(robot) } else { Err(error) }
}

#[test]
fn unsuitable_memory_is_rejected_and_stays_unchanged() {
    let mut memory = memory();
    let at: *mut u8 = memory.as_mut_ptr().cast();
    let (config, bytes) = (config(1), wdgnn_robot_bytes(Some(&exact)));
    let mut robot = ptr::null_mut();
    // SAFETY: no call writes beyond the memory.
    unsafe {
        let mut create = |robot_type, at, bytes| {
            wdgnn_robot_create(robot_type, at, bytes, &raw const config, &raw mut robot)
        };
        assert_eq!(create(Some(&exact), ptr::null_mut(), bytes), Error::Null);
        assert_eq!(create(Some(&exact), at.add(8), bytes), Error::MemoryMisaligned);
        assert_eq!(create(Some(&exact), at, bytes - 1), Error::MemoryTooSmall);
        assert_eq!(create(None, at, bytes), Error::Null);
        assert!(memory.iter().all(|word| *word == 0));
        assert_eq!(wdgnn_robot_create(Some(&exact), at, bytes, ptr::null(), &raw mut robot), Error::Null);
        assert_eq!(
            wdgnn_robot_create(Some(&exact), at, bytes, &raw const config, ptr::null_mut()),
            Error::Null
        );
        assert_eq!(wdgnn_robot_bytes(None), 0);
    }
}

#[test]
fn weight_files_and_keys_that_do_not_fit_the_robot_type_are_rejected() {
    let mut memory = memory();
    let mut changed = WEIGHTS.0.to_vec();
    changed[300] ^= 1;
    let with_weights =
        |bytes: &[u8]| RobotConfig { weights: bytes.as_ptr(), weights_bytes: bytes.len(), ..config(1) };
    let mut rejected =
        |robot_type, config: &RobotConfig| create(robot_type, &mut memory, config).unwrap_err();
    assert_eq!(rejected(&exact, &with_weights(&[])), Error::NotWeights);
    assert_eq!(rejected(&exact, &with_weights(&WEIGHTS.0[..64])), Error::WeightsTruncated);
    assert_eq!(rejected(&exact, &with_weights(&changed)), Error::WeightsChecksum);
    assert_eq!(rejected(&exact, &RobotConfig { weights: ptr::null(), ..config(1) }), Error::Null);
    assert_eq!(rejected(&crate::robot_type::wdgnn_flocking_3d_exact, &config(1)), Error::WeightsTask);
    assert_eq!(rejected(&dot154, &config(1)), Error::ExchangeRate);
    assert_eq!(rejected(&sealed, &config(1)), Error::KeyMissing);
    let with_key =
        |key: &'static [u8]| RobotConfig { group_key: key.as_ptr(), group_key_bytes: key.len(), ..config(1) };
    assert_eq!(rejected(&exact, &with_key(&[7; 16])), Error::KeyUnused);
    assert_eq!(rejected(&sealed, &with_key(&[7; 15])), Error::KeyMalformed);
    let mut memory = self::memory();
    assert!(create(&sealed, &mut memory, &with_key(b"000102030405060708090a0b0c0d0e0f\n")).is_ok());
}

#[test]
fn functions_reject_memory_without_a_robot() {
    let (mut memory, mut report) = (memory(), MaybeUninit::<Report>::uninit());
    let empty = memory.as_mut_ptr().cast::<Robot>();
    // SAFETY: the memory has room for a prefix.
    unsafe {
        assert_eq!(wdgnn_end_tick(empty, report.as_mut_ptr()), Error::NotFound);
        assert_eq!(wdgnn_end_tick(ptr::null_mut(), report.as_mut_ptr()), Error::Null);
        assert_eq!(wdgnn_begin_tick(empty, 0, ptr::null(), 0, 0), Error::NotFound);
        assert!(wdgnn_get_parameters(empty, ptr::null_mut()).is_null());
    }
    let robot = create(&exact, &mut memory, &config(1)).unwrap();
    // A robot is not a listener.
    let mut message = MaybeUninit::<Message>::uninit();
    // SAFETY: the robot is valid, and the frame is empty.
    let error = unsafe { wdgnn_listener_read(robot.cast(), 0, [0].as_mut_ptr(), 0, message.as_mut_ptr()) };
    assert_eq!(error, Error::NotFound);
    // A failed creation invalidates the earlier robot.
    assert!(create(&sealed, &mut memory, &config(1)).is_err());
    // SAFETY: the memory has room for a prefix.
    assert_eq!(unsafe { wdgnn_end_tick(empty, report.as_mut_ptr()) }, Error::NotFound);
}

/// Robot with its memory.
struct OwnedRobot {
    robot: *mut Robot,
    robot_type: &'static RobotType,
    _memory: Vec<u128>,
}

impl OwnedRobot {
    fn new(address: u16) -> Self {
        Self::with_config(&exact, &config(address))
    }

    fn with_config(robot_type: &'static RobotType, config: &RobotConfig) -> Self {
        let mut memory = memory();
        let robot = create(robot_type, &mut memory, config).unwrap();
        Self { robot, robot_type, _memory: memory }
    }

    fn store(&self) -> Vec<u8> {
        let (mut record, mut length) = (std::vec![0; wdgnn_max_record_bytes(Some(self.robot_type))], 0);
        // SAFETY: the robot and the record are valid.
        let error = unsafe { wdgnn_store(self.robot, record.as_mut_ptr(), record.len(), &raw mut length) };
        assert_eq!(error, Error::None);
        record.truncate(length);
        record
    }

    fn begin_tick(&self, tick: u32, state: [f32; 4]) -> Error {
        // SAFETY: the robot is valid, and the state has four numbers.
        unsafe { wdgnn_begin_tick(self.robot, tick, state.as_ptr(), 4, 0) }
    }

    fn next_frame(&self) -> Vec<u8> {
        let (mut frame, mut length) = (std::vec![0; wdgnn_max_frame_bytes(Some(self.robot_type))], 0);
        // SAFETY: the robot and the buffer are valid.
        let error = unsafe { wdgnn_next_frame(self.robot, frame.as_mut_ptr(), frame.len(), &raw mut length) };
        assert_eq!(error, Error::None);
        frame.truncate(length);
        frame
    }

    fn receive(&self, frame: &mut [u8]) -> (Error, Sender) {
        let mut sender = Sender::default();
        // SAFETY: the robot and the frame are valid.
        let error = unsafe { wdgnn_receive(self.robot, frame.as_mut_ptr(), frame.len(), &raw mut sender) };
        (error, sender)
    }

    fn end_tick(&self) -> Report {
        let mut report = MaybeUninit::uninit();
        // SAFETY: the robot is valid; without an error, the report is written.
        unsafe {
            assert_eq!(wdgnn_end_tick(self.robot, report.as_mut_ptr()), Error::None);
            report.assume_init()
        }
    }
}

#[test]
fn two_robots_exchange_frames_and_count_them() {
    let (one, two) = (OwnedRobot::new(1), OwnedRobot::new(2));
    assert_eq!(one.begin_tick(5, [f32::NAN; 4]), Error::StateRejected);
    assert_eq!(one.next_frame().len(), 0, "a robot without a state sends no frames");
    assert_eq!(one.end_tick().verdict, Verdict::Blind);
    one.begin_tick(6, [0.0, 0.0, 1.0, 0.0]);
    two.begin_tick(6, [1.0, 0.0, -1.0, 0.0]);
    let mut frame = two.next_frame();
    assert!(two.next_frame().is_empty(), "one frame per tick");
    let (error, sender) = one.receive(&mut frame);
    assert_eq!(
        (error, sender),
        (Error::None, Sender { is_member: true, address: 2, boot_count: 0, tick: 6 })
    );
    assert_eq!(one.receive(&mut frame).0, Error::FrameOld);
    assert_eq!(one.receive(&mut []).0, Error::FrameTooShort);
    let report = one.end_tick();
    assert_eq!((report.tick, report.received_frames, report.neighbors), (6, 3, 1));
    assert_ne!(report.command, [0.0; MAX_COMMAND_LEN]);
    let (mut counters, mut neighbor) = (Counters::default(), MaybeUninit::<Neighbor>::uninit());
    // SAFETY: the robot is valid.
    unsafe {
        assert_eq!(wdgnn_get_counters(one.robot, &raw mut counters), Error::None);
        assert_eq!(wdgnn_get_neighbor(one.robot, 0, neighbor.as_mut_ptr()), Error::None);
        assert_eq!(wdgnn_get_neighbor(one.robot, 1, neighbor.as_mut_ptr()), Error::NotFound);
    }
    // SAFETY: wdgnn_get_neighbor wrote it.
    let neighbor = unsafe { neighbor.assume_init() };
    assert_eq!((neighbor.address, neighbor.state), (2, [1.0, 0.0, -1.0, 0.0, 0.0, 0.0]));
    let count = |error: Error| counters.frame_errors[error as usize - Error::FrameTooShort as usize];
    assert_eq!((counters.received_frames, count(Error::FrameOld), count(Error::FrameTooShort)), (3, 1, 1));
    assert_eq!((counters.sensor_errors, counters.blind_ticks), (1, 1));
}

#[test]
fn subnormal_velocities_count_as_zero() {
    let one = OwnedRobot::new(1);
    assert_eq!(one.begin_tick(0, [1.0, 2.0, 1.0e-40, -1.0e-44]), Error::None);
    assert_eq!(one.begin_tick(1, [1.0, f32::INFINITY, 0.0, 0.0]), Error::StateRejected);
}

#[test]
fn learned_parameters_survive_a_restart() {
    let (one, two) = (OwnedRobot::new(1), OwnedRobot::new(2));
    for tick in 0..20 {
        one.begin_tick(tick, [0.0, 0.0, 1.0, 0.0]);
        two.begin_tick(tick, [1.0, 0.0, -1.0, 0.0]);
        one.receive(&mut two.next_frame());
        one.end_tick();
    }
    let parameters = |robot: &OwnedRobot| {
        let mut count = 0;
        // SAFETY: the robot is valid and has `count` parameters.
        unsafe { slice::from_raw_parts(wdgnn_get_parameters(robot.robot, &raw mut count), count) }.to_vec()
    };
    let mut record = std::vec![0; wdgnn_max_record_bytes(Some(&exact))];
    let mut length = 0;
    let restarted = OwnedRobot::new(1);
    assert_ne!(parameters(&one), parameters(&restarted));
    // SAFETY: the robots and the record are valid.
    unsafe {
        assert_eq!(wdgnn_store(one.robot, record.as_mut_ptr(), 10, &raw mut length), Error::BufferTooSmall);
        assert_eq!(wdgnn_store(one.robot, record.as_mut_ptr(), record.len(), &raw mut length), Error::None);
        assert_eq!(wdgnn_restore(restarted.robot, record.as_ptr(), length - 1), Error::RecordRejected);
        assert_eq!(wdgnn_restore(restarted.robot, record.as_ptr(), length), Error::None);
    }
    assert_eq!(parameters(&one), parameters(&restarted));
    restarted.begin_tick(30, [0.0; 4]);
    assert_eq!(
        two.receive(&mut restarted.next_frame()).1,
        Sender { is_member: true, address: 1, boot_count: 1, tick: 30 }
    );
}

const MASTER: Key = *b"operator's alone";
/// Tick of the key rotation. In its first second, a robot does not yet trust its clock.
const ROTATION_TICK: u32 = 160;

/// Robot with a personal key and the peer keys of a swarm of three robots.
fn robot_with_keys(address: u16, epoch: u8) -> OwnedRobot {
    let (key, personal) = (swarm_key(&MASTER, epoch), personal_key(&MASTER, address));
    let peer_key = |name| pair_key::<Aes>(&personal_key(&MASTER, name), address);
    let peer_keys = std::boxed::Box::leak(std::boxed::Box::new([0, 1, 2].map(peer_key))).as_flattened();
    let config = RobotConfig {
        group_key: key.as_ptr(),
        group_key_bytes: key.len(),
        swarm_size: 3,
        key_epoch: epoch,
        personal_key: personal.as_ptr(),
        personal_key_bytes: personal.len(),
        peer_keys: peer_keys.as_ptr(),
        peer_keys_bytes: peer_keys.len(),
        ..config(address)
    };
    OwnedRobot::with_config(&key_rotation, &config)
}

/// Frame with the next group key for one robot, from the operator.
fn key_update(name: u16) -> Vec<u8> {
    let mut frame = std::vec![0; KeyUpdate::bytes(8)];
    let notice = KeyUpdate { name, epoch: 1, at: ROTATION_TICK };
    notice.write(&personal_key(&MASTER, name), &swarm_key(&MASTER, 1), 8, &mut frame).unwrap();
    frame
}

/// Runs ticks in which all robots receive each other's frames. Returns the reports of the last tick.
fn run(robots: &[OwnedRobot; 3], ticks: core::ops::Range<u32>) -> Vec<Report> {
    let mut reports = Vec::new();
    for tick in ticks {
        let places = [0.0, 1.0, 2.0].map(|x| [x, 0.0, 0.0, 0.0]);
        robots
            .iter()
            .zip(places)
            .for_each(|(robot, state)| assert_eq!(robot.begin_tick(tick, state), Error::None));
        let sent: Vec<_> = robots.iter().map(OwnedRobot::next_frame).collect();
        reports.clear();
        for (index, robot) in robots.iter().enumerate() {
            let others = sent.iter().enumerate().filter(|(other, _)| *other != index);
            others.for_each(|(_, frame)| _ = robot.receive(&mut frame.clone()));
            reports.push(robot.end_tick());
        }
    }
    reports
}

#[test]
fn key_updates_sent_to_one_robot_reach_all_others_and_exclude_a_captured_robot() {
    let mut robots = [0, 1, 2].map(|address| robot_with_keys(address, 0));
    let report = run(&robots, 0..20);
    assert!(
        report
            .iter()
            .all(|report| (report.neighbors, report.key_epoch, report.store_required) == (2, 0, false))
    );
    // Robot 2 was captured. The operator sends the key updates of the other robots to robot 0.
    for name in [0, 1] {
        assert_eq!(robots[0].receive(&mut key_update(name)).0, Error::FrameKeyUpdate);
    }
    assert!(run(&robots, 20..21)[0].store_required, "a new key must be stored at once");
    let record = robots[0].store();
    let report = run(&robots, 21..40);
    assert!(!report[0].store_required && report[1].store_required, "robot 0 has relayed the key update");
    // Robot 0 restarts before the rotation.
    robots[0] = robot_with_keys(0, 0);
    // SAFETY: the robot and the record are valid.
    assert_eq!(unsafe { wdgnn_restore(robots[0].robot, record.as_ptr(), record.len()) }, Error::None);
    let (before, after) = (run(&robots, 40..ROTATION_TICK), run(&robots, ROTATION_TICK..ROTATION_TICK + 30));
    assert!(before.iter().all(|report| report.key_epoch == 0));
    let state = |report: &Report| (report.key_epoch, report.neighbors);
    assert_eq!((state(&after[0]), state(&after[1]), state(&after[2])), ((1, 1), (1, 1), (0, 0)));
    // A new robot starts with the new key.
    robots[2] = robot_with_keys(2, 1);
    assert_eq!(run(&robots, ROTATION_TICK + 30..ROTATION_TICK + 50)[1].neighbors, 2);
    let mut counters = Counters::default();
    // SAFETY: the robot is valid.
    assert_eq!(unsafe { wdgnn_get_counters(robots[1].robot, &raw mut counters) }, Error::None);
    assert!(counters.frame_errors[Error::FrameKeyUpdate as usize - Error::FrameTooShort as usize] > 0);
}

#[test]
fn personal_key_and_peer_keys_must_fit_the_robot_type() {
    let (mut memory, key) = (memory(), [7; 16]);
    let with = |personal_key: &[u8], peer_keys: &[u8]| RobotConfig {
        group_key: key.as_ptr(),
        group_key_bytes: key.len(),
        personal_key: personal_key.as_ptr(),
        personal_key_bytes: personal_key.len(),
        peer_keys: peer_keys.as_ptr(),
        peer_keys_bytes: peer_keys.len(),
        ..config(1)
    };
    let mut rejected =
        |robot_type, config: &RobotConfig| create(robot_type, &mut memory, config).unwrap_err();
    assert_eq!(rejected(&key_rotation, &with(&[], &[])), Error::PersonalKeyMissing);
    assert_eq!(rejected(&key_rotation, &with(&[1; 15], &[])), Error::KeyMalformed);
    assert_eq!(rejected(&key_rotation, &with(&[1; 16], &[2; 40])), Error::PeerKeysMalformed);
    assert_eq!(rejected(&key_rotation, &with(&[1; 16], &[2; 65 * 16])), Error::PeerKeysMalformed);
    assert_eq!(rejected(&sealed, &with(&[1; 16], &[])), Error::PersonalKeyUnused);
    assert_eq!(rejected(&sealed, &with(&[], &[2; 32])), Error::PersonalKeyUnused);
    assert_eq!(rejected(&exact, &with(&[1; 16], &[])), Error::PersonalKeyUnused);
}
