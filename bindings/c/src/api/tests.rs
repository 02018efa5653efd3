//! The functions as C calls them, rightly and wrongly.

use core::mem::MaybeUninit;
use std::vec::Vec;

use wdgnn_core::weights::Aligned;
use wdgnn_link::security::{
    aes::Aes,
    key_update::{Notice, pair_key, personal_key, swarm_key},
};

use super::*;
use crate::{
    kind::{
        wdgnn_flocking_dot154 as dot154, wdgnn_flocking_exact as exact,
        wdgnn_flocking_exact_rekeyable as rekeyable, wdgnn_flocking_exact_sealed as sealed,
    },
    told::{MOST_COMMANDS, Verdict},
};

static WEIGHTS: &Aligned<[u8]> = &Aligned(*include_bytes!("../../../../models/flocking-wd-gnn.wdgnn"));

/// Memory for one robot or listener.
fn memory() -> Vec<u128> {
    std::vec![0; 1_200]
}

fn settings(address: u16) -> Settings {
    let weights = &WEIGHTS.0;
    Settings {
        address,
        weights: weights.as_ptr(),
        weights_bytes: weights.len(),
        key: ptr::null(),
        key_bytes: 0,
        boot: 0,
        robots: 0,
        epoch: 0,
        personal: ptr::null(),
        personal_bytes: 0,
        roster: ptr::null(),
        roster_bytes: 0,
    }
}

fn create(kind: &'static Kind, memory: &mut [u128], settings: &Settings) -> Result<*mut Robot, Error> {
    let mut robot = ptr::null_mut();
    let bytes = size_of_val(memory);
    // SAFETY: all of it is there.
    let error =
        unsafe { wdgnn_create(Some(kind), memory.as_mut_ptr().cast(), bytes, settings, &raw mut robot) };
    if error == Error::None { Ok(robot) } else { Err(error) }
}

#[test]
fn memory_that_will_not_do_is_told_apart_and_left_alone() {
    let mut memory = memory();
    let at: *mut u8 = memory.as_mut_ptr().cast();
    let (settings, bytes) = (settings(1), wdgnn_robot_bytes(Some(&exact)));
    let mut robot = ptr::null_mut();
    // SAFETY: none of these leads beyond the memory.
    unsafe {
        let mut make = |kind, at, bytes| wdgnn_create(kind, at, bytes, &raw const settings, &raw mut robot);
        assert_eq!(make(Some(&exact), ptr::null_mut(), bytes), Error::Null);
        assert_eq!(make(Some(&exact), at.add(8), bytes), Error::MemoryMisaligned);
        assert_eq!(make(Some(&exact), at, bytes - 1), Error::MemoryTooSmall);
        assert_eq!(make(None, at, bytes), Error::Null);
        assert!(memory.iter().all(|word| *word == 0));
        assert_eq!(wdgnn_create(Some(&exact), at, bytes, ptr::null(), &raw mut robot), Error::Null);
        assert_eq!(wdgnn_create(Some(&exact), at, bytes, &raw const settings, ptr::null_mut()), Error::Null);
        assert_eq!(wdgnn_robot_bytes(None), 0);
    }
}

#[test]
fn a_robot_is_not_made_of_what_does_not_fit_it() {
    let mut memory = memory();
    let mut changed = WEIGHTS.0.to_vec();
    changed[300] ^= 1;
    let made_of =
        |bytes: &[u8]| Settings { weights: bytes.as_ptr(), weights_bytes: bytes.len(), ..settings(1) };
    let mut refused = |kind, settings: &Settings| create(kind, &mut memory, settings).unwrap_err();
    assert_eq!(refused(&exact, &made_of(&[])), Error::NotWeights);
    assert_eq!(refused(&exact, &made_of(&WEIGHTS.0[..64])), Error::WeightsTruncated);
    assert_eq!(refused(&exact, &made_of(&changed)), Error::WeightsChecksum);
    assert_eq!(refused(&exact, &Settings { weights: ptr::null(), ..settings(1) }), Error::Null);
    assert_eq!(refused(&crate::kind::wdgnn_coverage_exact, &settings(1)), Error::WeightsTask);
    assert_eq!(refused(&dot154, &settings(1)), Error::ExchangeRate);
    assert_eq!(refused(&sealed, &settings(1)), Error::KeyMissing);
    let with_key = |key: &'static [u8]| Settings { key: key.as_ptr(), key_bytes: key.len(), ..settings(1) };
    assert_eq!(refused(&exact, &with_key(&[7; 16])), Error::KeyUnused);
    assert_eq!(refused(&sealed, &with_key(&[7; 15])), Error::KeyMalformed);
    let mut memory = self::memory();
    assert!(create(&sealed, &mut memory, &with_key(b"000102030405060708090a0b0c0d0e0f\n")).is_ok());
}

#[test]
fn what_is_no_robot_is_none_of_any_function() {
    let (mut memory, mut report) = (memory(), MaybeUninit::<Report>::uninit());
    let nothing = memory.as_mut_ptr().cast::<Robot>();
    // SAFETY: there is memory enough for the word that tells.
    unsafe {
        assert_eq!(wdgnn_finish(nothing, report.as_mut_ptr()), Error::NothingThere);
        assert_eq!(wdgnn_finish(ptr::null_mut(), report.as_mut_ptr()), Error::Null);
        assert_eq!(wdgnn_sense(nothing, 0, ptr::null(), 0, 0), Error::NothingThere);
        assert!(wdgnn_parameters(nothing, ptr::null_mut()).is_null());
    }
    let robot = create(&exact, &mut memory, &settings(1)).unwrap();
    // A robot is no listener.
    let mut beacon = MaybeUninit::<Beacon>::uninit();
    // SAFETY: a robot is there, and frames have no bytes.
    let error = unsafe { wdgnn_frame_read(robot.cast(), 0, [0].as_mut_ptr(), 0, beacon.as_mut_ptr()) };
    assert_eq!(error, Error::NothingThere);
    // And none is left where another one failed to be made.
    assert!(create(&sealed, &mut memory, &settings(1)).is_err());
    // SAFETY: as above.
    assert_eq!(unsafe { wdgnn_finish(nothing, report.as_mut_ptr()) }, Error::NothingThere);
}

/// A robot in memory of its own.
struct Flying(#[allow(dead_code, reason = "it is where the robot is")] Vec<u128>, *mut Robot, &'static Kind);

impl Flying {
    fn new(address: u16) -> Self {
        Self::of(&exact, &settings(address))
    }

    fn of(kind: &'static Kind, settings: &Settings) -> Self {
        let mut memory = memory();
        let robot = create(kind, &mut memory, settings).unwrap();
        Self(memory, robot, kind)
    }

    fn store(&self) -> Vec<u8> {
        let (mut record, mut length) = (std::vec![0; wdgnn_record_bytes(Some(self.2))], 0);
        // SAFETY: a robot is there, and so is the record.
        let error = unsafe { wdgnn_store(self.1, record.as_mut_ptr(), record.len(), &raw mut length) };
        assert_eq!(error, Error::None);
        record.truncate(length);
        record
    }

    fn sense(&self, tick: u32, state: [f32; 4]) -> Error {
        // SAFETY: a robot is there, and so are four numbers.
        unsafe { wdgnn_sense(self.1, tick, state.as_ptr(), 4, 0) }
    }

    fn speak(&self) -> Vec<u8> {
        let (mut frame, mut length) = (std::vec![0; wdgnn_frame_bytes(Some(self.2))], 0);
        // SAFETY: a robot is there, and so is the buffer.
        let error = unsafe { wdgnn_speak(self.1, frame.as_mut_ptr(), frame.len(), &raw mut length) };
        assert_eq!(error, Error::None);
        frame.truncate(length);
        frame
    }

    fn hear(&self, frame: &mut [u8]) -> (Error, Sender) {
        let mut sender = Sender::default();
        // SAFETY: a robot is there, and so is the frame.
        let error = unsafe { wdgnn_hear(self.1, frame.as_mut_ptr(), frame.len(), &raw mut sender) };
        (error, sender)
    }

    fn finish(&self) -> Report {
        let mut report = MaybeUninit::uninit();
        // SAFETY: a robot is there; the report was written unless there was an error.
        unsafe {
            assert_eq!(wdgnn_finish(self.1, report.as_mut_ptr()), Error::None);
            report.assume_init()
        }
    }
}

#[test]
fn two_robots_meet_and_everything_is_counted() {
    let (one, two) = (Flying::new(1), Flying::new(2));
    assert_eq!(one.sense(5, [f32::NAN; 4]), Error::StateRefused);
    assert_eq!(one.speak().len(), 0, "who never knew where it is says nothing");
    assert_eq!(one.finish().verdict, Verdict::Blind);
    one.sense(6, [0.0, 0.0, 1.0, 0.0]);
    two.sense(6, [1.0, 0.0, -1.0, 0.0]);
    let mut frame = two.speak();
    assert!(two.speak().is_empty(), "once per tick");
    let (error, sender) = one.hear(&mut frame);
    assert_eq!((error, sender), (Error::None, Sender { member: true, address: 2, boot: 0, tick: 6 }));
    assert_eq!(one.hear(&mut frame).0, Error::RefusedOld);
    assert_eq!(one.hear(&mut []).0, Error::RefusedTooShort);
    let report = one.finish();
    assert_eq!((report.tick, report.heard, report.neighbours), (6, 3, 1));
    assert_ne!(report.command, [0.0; MOST_COMMANDS]);
    let (mut counters, mut neighbour) = (Counters::default(), MaybeUninit::<Neighbour>::uninit());
    // SAFETY: a robot is there.
    unsafe {
        assert_eq!(wdgnn_counters(one.1, &raw mut counters), Error::None);
        assert_eq!(wdgnn_neighbour(one.1, 0, neighbour.as_mut_ptr()), Error::None);
        assert_eq!(wdgnn_neighbour(one.1, 1, neighbour.as_mut_ptr()), Error::NothingThere);
    }
    // SAFETY: it was written.
    let neighbour = unsafe { neighbour.assume_init() };
    assert_eq!((neighbour.address, neighbour.state), (2, [1.0, 0.0, -1.0, 0.0, 0.0, 0.0]));
    let refused = |error: Error| counters.refused[error as usize - Error::RefusedTooShort as usize];
    assert_eq!((counters.heard, refused(Error::RefusedOld), refused(Error::RefusedTooShort)), (3, 1, 1));
    assert_eq!((counters.unsensed, counters.blind), (1, 1));
}

#[test]
fn a_velocity_that_fades_away_is_one_of_zero() {
    let one = Flying::new(1);
    assert_eq!(one.sense(0, [1.0, 2.0, 1.0e-40, -1.0e-44]), Error::None);
    assert_eq!(one.sense(1, [1.0, f32::INFINITY, 0.0, 0.0]), Error::StateRefused);
}

#[test]
fn what_was_learned_outlives_a_restart() {
    let (one, two) = (Flying::new(1), Flying::new(2));
    for tick in 0..20 {
        one.sense(tick, [0.0, 0.0, 1.0, 0.0]);
        two.sense(tick, [1.0, 0.0, -1.0, 0.0]);
        one.hear(&mut two.speak());
        one.finish();
    }
    let parameters = |robot: &Flying| {
        let mut count = 0;
        // SAFETY: a robot is there, with as many parameters as it says.
        unsafe { slice::from_raw_parts(wdgnn_parameters(robot.1, &raw mut count), count) }.to_vec()
    };
    let mut record = std::vec![0; wdgnn_record_bytes(Some(&exact))];
    let mut length = 0;
    let again = Flying::new(1);
    assert_ne!(parameters(&one), parameters(&again));
    // SAFETY: robots are there, and so is the record.
    unsafe {
        assert_eq!(wdgnn_store(one.1, record.as_mut_ptr(), 10, &raw mut length), Error::BufferTooSmall);
        assert_eq!(wdgnn_store(one.1, record.as_mut_ptr(), record.len(), &raw mut length), Error::None);
        assert_eq!(wdgnn_restore(again.1, record.as_ptr(), length - 1), Error::RecordRefused);
        assert_eq!(wdgnn_restore(again.1, record.as_ptr(), length), Error::None);
    }
    assert_eq!(parameters(&one), parameters(&again));
    again.sense(30, [0.0; 4]);
    assert_eq!(two.hear(&mut again.speak()).1, Sender { member: true, address: 1, boot: 1, tick: 30 });
}

const MASTER: Key = *b"operator's alone";
/// Who has just started is not sure of the time for a second.
const CHANGE: u32 = 160;

/// A robot with a personal key, which knows by which keys three others prove their names.
fn told(address: u16, epoch: u8) -> Flying {
    let (key, personal) = (swarm_key(&MASTER, epoch), personal_key(&MASTER, address));
    let proof = |name| pair_key::<Aes>(&personal_key(&MASTER, name), address);
    let roster = std::boxed::Box::leak(std::boxed::Box::new([0, 1, 2].map(proof))).as_flattened();
    let settings = Settings {
        key: key.as_ptr(),
        key_bytes: key.len(),
        robots: 3,
        epoch,
        personal: personal.as_ptr(),
        personal_bytes: personal.len(),
        roster: roster.as_ptr(),
        roster_bytes: roster.len(),
        ..settings(address)
    };
    Flying::of(&rekeyable, &settings)
}

/// The operator's frame for a robot.
fn next_key(name: u16) -> Vec<u8> {
    let mut frame = std::vec![0; Notice::bytes(8)];
    let notice = Notice { name, epoch: 1, at: CHANGE };
    notice.write(&personal_key(&MASTER, name), &swarm_key(&MASTER, 1), 8, &mut frame).unwrap();
    frame
}

/// Ticks in which everybody hears everybody; returns what came of the last, by robot.
fn fly(robots: &[Flying; 3], ticks: core::ops::Range<u32>) -> Vec<Report> {
    let mut reports = Vec::new();
    for tick in ticks {
        let places = [0.0, 1.0, 2.0].map(|x| [x, 0.0, 0.0, 0.0]);
        robots
            .iter()
            .zip(places)
            .for_each(|(robot, state)| assert_eq!(robot.sense(tick, state), Error::None));
        let said: Vec<_> = robots.iter().map(Flying::speak).collect();
        reports.clear();
        for (index, robot) in robots.iter().enumerate() {
            let others = said.iter().enumerate().filter(|(other, _)| *other != index);
            others.for_each(|(_, frame)| _ = robot.hear(&mut frame.clone()));
            reports.push(robot.finish());
        }
    }
    reports
}

#[test]
fn a_key_that_one_robot_is_brought_comes_to_all_who_stay_and_the_lost_one_is_alone() {
    let mut robots = [0, 1, 2].map(|address| told(address, 0));
    let report = fly(&robots, 0..20);
    assert!(report.iter().all(|report| (report.neighbours, report.epoch, report.store) == (2, 0, false)));
    // Robot 2 was captured. Robot 0 hears what the operator says.
    for name in [0, 1] {
        assert_eq!(robots[0].hear(&mut next_key(name)).0, Error::RefusedNewKey);
    }
    assert!(fly(&robots, 20..21)[0].store, "a key is to be kept at once");
    let record = robots[0].store();
    let report = fly(&robots, 21..40);
    assert!(!report[0].store && report[1].store, "by now it was handed on");
    // Power fails on robot 0, before the change.
    robots[0] = told(0, 0);
    // SAFETY: a robot is there, and so is the record.
    assert_eq!(unsafe { wdgnn_restore(robots[0].1, record.as_ptr(), record.len()) }, Error::None);
    let (before, after) = (fly(&robots, 40..CHANGE), fly(&robots, CHANGE..CHANGE + 30));
    assert!(before.iter().all(|report| report.epoch == 0));
    let told = |report: &Report| (report.epoch, report.neighbours);
    assert_eq!((told(&after[0]), told(&after[1]), told(&after[2])), ((1, 1), (1, 1), (0, 0)));
    // A robot that is made today.
    robots[2] = self::told(2, 1);
    assert_eq!(fly(&robots, CHANGE + 30..CHANGE + 50)[1].neighbours, 2);
    let mut counters = Counters::default();
    // SAFETY: a robot is there.
    assert_eq!(unsafe { wdgnn_counters(robots[1].1, &raw mut counters) }, Error::None);
    assert!(counters.refused[Error::RefusedNewKey as usize - Error::RefusedTooShort as usize] > 0);
}

#[test]
fn what_a_robot_is_told_of_keys_must_fit_its_kind() {
    let (mut memory, key) = (memory(), [7; 16]);
    let with = |personal: &[u8], roster: &[u8]| Settings {
        key: key.as_ptr(),
        key_bytes: key.len(),
        personal: personal.as_ptr(),
        personal_bytes: personal.len(),
        roster: roster.as_ptr(),
        roster_bytes: roster.len(),
        ..settings(1)
    };
    let mut refused = |kind, settings: &Settings| create(kind, &mut memory, settings).unwrap_err();
    assert_eq!(refused(&rekeyable, &with(&[], &[])), Error::PersonalMissing);
    assert_eq!(refused(&rekeyable, &with(&[1; 15], &[])), Error::KeyMalformed);
    assert_eq!(refused(&rekeyable, &with(&[1; 16], &[2; 40])), Error::RosterMalformed);
    assert_eq!(refused(&rekeyable, &with(&[1; 16], &[2; 65 * 16])), Error::RosterMalformed);
    assert_eq!(refused(&sealed, &with(&[1; 16], &[])), Error::PersonalUnused);
    assert_eq!(refused(&sealed, &with(&[], &[2; 32])), Error::PersonalUnused);
    assert_eq!(refused(&exact, &with(&[1; 16], &[])), Error::PersonalUnused);
}
