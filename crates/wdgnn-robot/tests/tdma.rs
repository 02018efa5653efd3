//! TDMA: swarm clock and slots of robots with different crystals and start times, where overlapping frames are lost.

use crate::common::prelude::*;
use wdgnn_link::tdma::{SlotClock, SlotInfo, SlotTiming};

/// Ten robots at 20 exchanges per second on IEEE 802.15.4, as on the nRF52840.
const TEN: SlotTiming =
    SlotTiming { period: 10_000, interval: 5, slots: 2, lead: 900, slot: 4_530, delay: 211, retry: 350 };
/// Twenty robots at 10 exchanges per second.
const TWENTY: SlotTiming = SlotTiming { interval: 10, ..TEN };
/// Duration of a sealed frame in microseconds.
const FRAME: u64 = 3_808;
/// Step of the simulation in microseconds.
const STEP: u64 = 10;

struct Robot {
    rhythm: Option<SlotClock<32>>,
    on: u64,
    fast: f64,
    beat: u64,
    tick: u32,
    slot_begins_us: Option<u64>,
    retries: u8,
    sending: bool,
    said: u64,
    /// Ticks that it adds to the tick in its frames.
    lie: u32,
    /// First tick of its clock.
    first: u32,
    /// How often its clock went back.
    back: u32,
}

#[derive(Clone, Copy)]
struct Frame {
    from: usize,
    tick: u32,
    boot: u32,
    note: SlotInfo,
    begins_us: u64,
    ends: u64,
}

struct Swarm {
    timing: SlotTiming,
    robots: Vec<Robot>,
    hears: Box<dyn Fn(usize, usize) -> bool>,
    frames: Vec<Frame>,
    now: u64,
    /// Frames that reached a robot, and frames that were decoded, since the count began.
    reached: u64,
    read: u64,
}

impl Swarm {
    fn new(timing: SlotTiming, seed: u64, robots: usize, apart_ms: u64, id: impl Fn(usize) -> u16) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let robots = (0..robots)
            .map(|index| Robot {
                rhythm: None,
                on: random.random_range(0..=apart_ms * 1_000),
                fast: random.random_range(-40.0e-6..40.0e-6),
                beat: 0,
                tick: u32::from(id(index)),
                slot_begins_us: None,
                retries: 0,
                sending: false,
                said: 0,
                lie: 0,
                first: 0,
                back: 0,
            })
            .collect();
        Self { timing, robots, hears: Box::new(|_, _| true), frames: Vec::new(), now: 0, reached: 0, read: 0 }
    }

    fn local(robot: &Robot, now: u64) -> u64 {
        ((now - robot.on) as f64 * (1.0 + robot.fast)) as u64
    }

    fn busy(&self, at: usize) -> bool {
        self.frames.iter().any(|frame| {
            (self.hears)(frame.from, at) && frame.begins_us < self.now && frame.ends + 128 > self.now
        })
    }

    fn step(&mut self) {
        self.now += STEP;
        for index in 0..self.robots.len() {
            if self.now < self.robots[index].on {
                continue;
            }
            let clear = !self.busy(index);
            let (timing, now) = (self.timing, self.now);
            let robot = &mut self.robots[index];
            let local = Self::local(robot, now);
            let (id, first) = (robot.tick as u16, robot.first);
            let rhythm = robot.rhythm.get_or_insert_with(|| {
                SlotClock::new(timing, id, local, u32::from(id) * 7 + 1).with_first_tick(first)
            });
            if local >= robot.beat {
                let beat = rhythm.next_tick(local);
                robot.back += u32::from(beat.went_back);
                (robot.beat, robot.tick) = (beat.begins_us, beat.tick);
                if beat.slot_begins_us.is_some() {
                    (robot.slot_begins_us, robot.retries) = (beat.slot_begins_us, 0);
                }
            }
            if let Some(at) = robot.slot_begins_us.filter(|at| local >= *at) {
                if clear {
                    robot.slot_begins_us = None;
                    robot.said += 1;
                    let note = rhythm.slot_info(local).with_retries(robot.retries);
                    let tick = rhythm_tick(robot, timing, at).saturating_add(robot.lie);
                    let begins = now + 211;
                    robot.sending = true;
                    let boot = robot.back;
                    self.frames.push(Frame {
                        from: index,
                        tick,
                        boot,
                        note,
                        begins_us: begins,
                        ends: begins + FRAME,
                    });
                } else if robot.retries < 1 {
                    robot.retries += 1;
                    robot.slot_begins_us = Some(at + u64::from(timing.retry));
                } else {
                    robot.slot_begins_us = None;
                    rhythm.record_busy_channel(local);
                }
            }
        }
        let ended: Vec<Frame> = self
            .frames
            .iter()
            .filter(|frame| frame.ends <= self.now && frame.ends + STEP > self.now)
            .copied()
            .collect();
        for frame in ended {
            self.robots[frame.from].sending = false;
            for index in 0..self.robots.len() {
                if index == frame.from
                    || self.robots[index].rhythm.is_none()
                    || !(self.hears)(frame.from, index)
                {
                    continue;
                }
                let overlaps = self.frames.iter().any(|other| {
                    other.from != frame.from
                        && ((self.hears)(other.from, index) || other.from == index)
                        && other.begins_us < frame.ends
                        && other.ends > frame.begins_us
                });
                let sent_here = self
                    .frames
                    .iter()
                    .any(|own| own.from == index && own.begins_us < frame.ends && own.ends > frame.begins_us);
                self.reached += 1;
                let robot = &mut self.robots[index];
                let arrived = Self::local(robot, frame.begins_us.max(robot.on));
                if let Some(rhythm) = &mut robot.rhythm
                    && !sent_here
                {
                    if overlaps {
                        rhythm.record_broken_frame(arrived);
                    } else {
                        self.read += 1;
                        let who =
                            FrameId { sender: frame.from as u16, boot: frame.boot, sequence: frame.tick };
                        rhythm.record_frame(&who, frame.note, arrived);
                    }
                }
            }
        }
        let now = self.now;
        self.frames.retain(|frame| frame.ends + 10_000 > now);
    }

    fn run(&mut self, until_ms: u64) {
        while self.now < until_ms * 1_000 {
            self.skip_to_next_event();
            self.step();
        }
    }

    /// Moves the time to shortly before the next tick, slot or end of a frame.
    fn skip_to_next_event(&mut self) {
        let due = |robot: &Robot| {
            let slot = robot.slot_begins_us.unwrap_or(u64::MAX);
            let local = if robot.rhythm.is_some() { robot.beat.min(slot) } else { 0 };
            robot.on + (local as f64 / (1.0 + robot.fast)) as u64
        };
        let ends = self.frames.iter().map(|frame| frame.ends).filter(|ends| *ends > self.now);
        let next = self.robots.iter().map(due).chain(ends).min().unwrap_or_default();
        self.now = self.now.max(next.saturating_sub(3 * STEP) / STEP * STEP);
    }

    /// Share of decoded frames over the next milliseconds.
    fn delivery(&mut self, over_ms: u64) -> f64 {
        (self.reached, self.read) = (0, 0);
        self.robots.iter_mut().for_each(|robot| robot.said = 0);
        self.run(self.now / 1_000 + over_ms);
        self.read as f64 / self.reached.max(1) as f64
    }

    /// Checks that at least 97 % of the frames are decoded over the next milliseconds.
    fn assert_delivers(&mut self, over_ms: u64, seed: u64) {
        let delivered = self.delivery(over_ms);
        assert!(delivered >= 0.97, "seed {seed}: {delivered}");
    }

    /// Checks that the ticks of all robots begin within a number of microseconds.
    fn assert_in_step(&self, most: f64, seed: u64) {
        assert!(self.spread() < most, "seed {seed}: {} µs", self.spread());
    }

    /// Checks that every robot has sent at least 30 frames since the last count.
    fn assert_all_send(&self, seed: u64) {
        let sent: Vec<u64> = self.robots.iter().map(|robot| robot.said).collect();
        assert!(sent.iter().all(|count| *count >= 30), "seed {seed}: a robot is silent: {sent:?}");
    }

    /// Largest difference between the ticks of two robots, in microseconds of true time.
    fn spread(&self) -> f64 {
        let period = f64::from(self.timing.period);
        let times = self.robots.iter().filter_map(|robot| {
            robot.rhythm.as_ref()?;
            let begins = robot.beat as f64 / (1.0 + robot.fast) + robot.on as f64;
            Some(begins - f64::from(robot.tick) * period)
        });
        let (low, high) =
            times.fold((f64::MAX, f64::MIN), |(low, high), time| (low.min(time), high.max(time)));
        high - low
    }
}

/// Tick of a slot.
fn rhythm_tick(robot: &Robot, timing: SlotTiming, slot_at: u64) -> u32 {
    // The last requested tick start is the next tick or the current one.
    if slot_at >= robot.beat {
        robot.tick
    } else {
        robot.tick - 1 - ((robot.beat - slot_at) / u64::from(timing.period)) as u32
    }
}

/// Swarm that has to share time and slots.
struct Case {
    name: &'static str,
    timing: SlotTiming,
    robots: usize,
    /// Robots are turned on within this time.
    apart_ms: u64,
    /// Address of a robot, by its index and a random number.
    id: fn(usize, u16) -> u16,
    prepare: fn(&mut Swarm),
    /// Time at which the swarm has to share one time.
    until_ms: u64,
    spread_us: f64,
}

#[test]
fn swarms_share_one_time_and_deliver_their_frames() {
    let ten = Case {
        name: "ten robots",
        timing: TEN,
        robots: 10,
        apart_ms: 400,
        id: |index, _| index as u16,
        prepare: |_| {},
        until_ms: 1_400,
        spread_us: 250.0,
    };
    let cases = [
        Case { name: "random addresses", apart_ms: 1_000, id: |_, random| random, until_ms: 2_500, ..ten },
        Case {
            name: "twenty robots at 10 Hz",
            timing: TWENTY,
            robots: 20,
            id: |index, _| index as u16 * 37,
            until_ms: 2_400,
            spread_us: 400.0,
            ..ten
        },
        Case {
            name: "a late robot",
            robots: 8,
            apart_ms: 300,
            prepare: |swarm| swarm.robots[3].on = 5_000_000,
            until_ms: 5_800,
            ..ten
        },
        Case {
            name: "different first ticks",
            prepare: |swarm| {
                let firsts = [0, 6_000, 6_000, 12_000, 400, 90_000, 6_000, 90_100, 17, 6_000];
                swarm.robots.iter_mut().zip(firsts).for_each(|(robot, first)| robot.first = first);
            },
            until_ms: 3_000,
            spread_us: 400.0,
            ..ten
        },
        ten,
    ];
    for case in cases {
        for seed in 0..10 {
            let mut random = ChaCha8Rng::seed_from_u64(seed + 100);
            let ids: Vec<u16> =
                (0..case.robots).map(|index| (case.id)(index, random.random_range(0..u16::MAX))).collect();
            let mut swarm =
                Swarm::new(case.timing, seed, case.robots, case.apart_ms, move |index| ids[index]);
            (case.prepare)(&mut swarm);
            swarm.run(case.until_ms);
            println!("{}, seed {seed}", case.name);
            swarm.assert_in_step(case.spread_us, seed);
            swarm.assert_delivers(2_000, seed);
            if case.timing == TEN {
                swarm.assert_all_send(seed);
            }
        }
    }
}

#[test]
fn two_swarms_merge_over_a_single_bridge() {
    for seed in 0..10 {
        let mut swarm = Swarm::new(TEN, seed, 10, 100, |index| index as u16);
        // The second five start three seconds later and are out of reach.
        swarm.robots.iter_mut().skip(5).for_each(|robot| robot.on += 3_000_000);
        swarm.hears = Box::new(|from, to| (from < 5) == (to < 5));
        swarm.run(6_000);
        assert!(swarm.spread() > 1_000_000.0, "seed {seed}: the swarms have different times");
        swarm.hears = Box::new(|from, to| (from < 5) == (to < 5) || (from.min(to) == 4 && from.max(to) == 5));
        swarm.run(20_000);
        swarm.assert_in_step(400.0, seed);
    }
}

#[test]
fn a_lying_clock_does_not_move_the_swarm() {
    for seed in 0..5 {
        let mut swarm = Swarm::new(TEN, seed, 10, 300, |index| index as u16);
        swarm.run(3_000);
        // Ten hours ahead: beyond the range that a robot with neighbors follows.
        swarm.robots[2].lie = 3_600_000;
        let before: Vec<u32> = swarm.robots.iter().map(|robot| robot.tick).collect();
        swarm.run(8_000);
        for (index, robot) in swarm.robots.iter().enumerate() {
            let passed = robot.tick - before[index];
            assert!((495..=505).contains(&passed), "seed {seed}: robot {index}'s clock went {passed} ticks");
        }
    }
}

#[test]
fn robots_that_restart_ahead_return_to_the_swarm_time() {
    for seed in 0..10 {
        let mut swarm = Swarm::new(TEN, seed, 8, 300, |index| index as u16);
        swarm.robots[3].on = 5_000_000;
        swarm.robots[3].first = 6_500;
        swarm.run(4_900);
        let before = swarm.robots[0].tick;
        swarm.run(5_900);
        assert!(
            (95..=105).contains(&(swarm.robots[0].tick - before)),
            "seed {seed}: the swarm time continued"
        );
        swarm.assert_in_step(250.0, seed);
        assert_eq!(swarm.robots[3].back, 0, "seed {seed}: no tick was used twice");
        swarm.assert_delivers(1_000, seed);
    }
}

#[test]
fn newcomers_follow_the_majority() {
    // Three robots share one time, and one is a year ahead and received first.
    let mut rhythm = SlotClock::<8>::new(TEN, 9, 0, 5);
    let said = |sender: u32, tick: u32, exchange: u64| {
        let slot = sender % 2;
        let into = u64::from(TEN.lead + TEN.delay + TEN.slot * slot);
        (sender as u16, tick, SlotInfo::new(slot as u8, None), exchange * 50_000 + into)
    };
    let hear = |rhythm: &mut SlotClock<8>, (sender, sequence, note, arrived)| {
        rhythm.record_frame(&FrameId { sender, boot: 1, sequence }, note, arrived);
    };
    hear(&mut rhythm, said(1, 1_000_000_000, 0));
    rhythm.next_tick(40_000);
    assert!(rhythm.next_tick(45_000).tick > 999_999_999, "a robot alone follows");
    for honest in 2..5 {
        hear(&mut rhythm, said(honest, 505, 1));
    }
    hear(&mut rhythm, said(1, 1_000_000_005, 1));
    rhythm.next_tick(60_000);
    assert!((500..520).contains(&rhythm.next_tick(75_000).tick), "{:?}", rhythm.next_tick(85_000));
}

#[test]
fn a_liar_at_most_doubles_the_speed_of_the_swarm_time() {
    for seed in 0..3 {
        let mut swarm = Swarm::new(TEN, seed, 6, 300, |index| index as u16);
        swarm.run(2_000);
        // One second ahead at any time: the others follow again and again.
        swarm.robots[2].lie = 100;
        let before: Vec<u32> = swarm.robots.iter().map(|robot| robot.tick).collect();
        swarm.run(14_000);
        for (index, robot) in swarm.robots.iter().enumerate() {
            let passed = robot.tick - before[index];
            assert!(
                (1195..=2600).contains(&passed),
                "seed {seed}: robot {index}'s clock went {passed} ticks in 12 s"
            );
        }
        let said: u64 = swarm.robots.iter().map(|robot| robot.said).sum();
        assert!(said > 6 * 200, "seed {seed}: no robot is silent: {said}");
    }
}

#[test]
fn clocks_do_not_follow_to_the_last_tick() {
    let mut rhythm = SlotClock::<8>::new(TEN, 3, 0, 9);
    for (sender, sequence) in [(1, u32::MAX), (2, u32::MAX - 100), (4, u32::MAX - 8_000_000)] {
        rhythm.record_frame(&FrameId { sender, boot: 1, sequence }, SlotInfo::new(0, None), 1_111);
    }
    assert!(rhythm.next_tick(5_000).tick < 10);
    // A robot at the last tick still has ticks of ten milliseconds.
    let mut rhythm = SlotClock::<8>::new(TEN, 3, 0, 9).with_first_tick(u32::MAX);
    let day = 8_640_000 * 10_000;
    let begins_us: Vec<u64> = (0..5)
        .scan(day, |now, _| {
            *now = rhythm.next_tick(*now).begins_us;
            Some(*now)
        })
        .collect();
    assert!(begins_us.windows(2).all(|pair| pair[1] - pair[0] >= 10_000), "{begins_us:?}");
}

#[test]
fn ticks_increase_strictly() {
    let mut rhythm = SlotClock::<8>::new(TEN, 3, 1_000, 9);
    let mut last = None;
    for now in (1_000..3_000_000).step_by(7_000) {
        let beat = rhythm.next_tick(now);
        assert!(beat.begins_us > now);
        assert!(last.is_none_or(|last| beat.tick > last));
        last = Some(beat.tick);
    }
}

/// Delay in microseconds of a robot's ticks after nine seconds with one neighbor, whose frames are delayed by `late` and have
/// the boot count `boot`, by exchange.
fn gone_back(late: impl Fn(u64) -> u64, boot: impl Fn(u64) -> u32) -> i64 {
    let mut rhythm = SlotClock::<8>::new(TEN, 9, 0, 5);
    let mut beat = rhythm.next_tick(0);
    for exchange in 0..180 {
        let who = FrameId { sender: 1, boot: boot(exchange), sequence: exchange as u32 * 5 };
        let arrived = exchange * 50_000 + u64::from(TEN.lead + TEN.delay) + late(exchange);
        while beat.begins_us <= arrived {
            beat = rhythm.next_tick(beat.begins_us);
        }
        rhythm.record_frame(&who, SlotInfo::new(0, None), arrived);
    }
    beat.begins_us.cast_signed() - i64::from(beat.tick) * 10_000
}

#[test]
fn delayed_frames_do_not_move_the_clock_back() {
    assert_eq!(gone_back(|_| 0, |_| 1), 0);
    // By 200 ms at once, from the second second on; and by one more millisecond per exchange, up to 140.
    let at_once = |exchange| if exchange < 40 { 0 } else { 200_000 };
    assert_eq!(gone_back(at_once, |_| 1), 0);
    let by_and_by = gone_back(|exchange: u64| exchange.saturating_sub(40) * 1_000, |_| 1);
    assert!((0..5_000).contains(&by_and_by), "{by_and_by} µs");
    // A new boot count announces another time and is believed, as it must be after a restart.
    assert_eq!(gone_back(at_once, |exchange| if exchange < 40 { 1 } else { 2 }), 200_000);
}

#[test]
fn local_clock_jumps_lose_no_tick() {
    for by in [0, 30_000, 400_000, 100_000_000] {
        let start = 200_000_000;
        let mut rhythm = SlotClock::<8>::new(TEN, 3, start, 9).with_first_tick(500);
        let (mut now, mut tick) = (start, 500);
        for count in 0..100 {
            if count == 50 {
                now -= by;
            }
            let beat = rhythm.next_tick(now);
            assert_eq!(beat.tick, tick + 1, "moved back by {by} us");
            assert!(beat.begins_us > now && beat.begins_us <= now + 20_000, "moved back by {by} us");
            (now, tick) = (beat.begins_us + 5_000, beat.tick);
        }
    }
}

#[test]
fn a_tracking_system_sets_the_time_and_takes_no_slot() {
    let timing = SlotTiming { interval: 10, slots: 1, ..TEN };
    let mut robot: SlotClock<8> = SlotClock::new(timing, 7, 0, 1);
    let (mut now, mut told, mut sent) = (0, 5_000_000, 0);
    for _ in 0..200 {
        let next = robot.next_tick(now);
        if next.slot_begins_us.is_some() {
            assert_eq!(next.tick % 10, 7, "the slot of its address");
            sent += 1;
        }
        // The tracking system's ticks begin 3 ms after multiples of 10 ms; it sends in the second slot of each.
        now = now / 10_000 * 10_000 + 10_000;
        told += 1;
        let id = FrameId { sender: 0xfffe, boot: 1, sequence: told };
        let slot = u64::from(timing.lead + timing.slot + timing.delay);
        robot.record_frame(&id, SlotInfo::new(1, None), now + 3_000 + slot);
        now += 9_500;
    }
    let next = robot.next_tick(now);
    assert_eq!((next.tick, robot.near_senders(now)), (told + 1, 1));
    assert!(next.begins_us.abs_diff(now / 10_000 * 10_000 + 13_000) < 500, "{next:?} at {now}");
    assert!(sent > 10, "{sent} frames");
}
