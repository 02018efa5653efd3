//! Workers that share a board in this process do what one process does, to the last bit.

use std::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    time::Duration,
};

use wdgnn_core::{
    behaviour::Behaviour,
    codec::Exact,
    flocking::{Flocking, Motion},
    robot::Onboard,
    shape::Shape,
};

use super::{worker::Make, *};
use crate::{
    air::{
        blueprint::Blueprint,
        clocks::{ClockFaults, Jump},
        events::{Events, Moment, Stretch},
        faulty::RadioFaults,
        loss::Loss,
        motors::{DriveFaults, Failure, MotorFault},
        options::{About, Bursts, Faults, Join, Liars},
        senses::{Noise, SenseFaults, SensorFault},
        turns::HeadingError,
    },
    error::{Error, Result},
    flight::Start,
    profiles::Profile,
    scene::Frame,
    seeds::{Purpose, generator},
    swarm::{
        Outcome, Robots, Waking,
        digest::FlightDigest,
        native::Native,
        networks::{AnyShare, AnySwarm, Network},
        on_air::{Air, KEY},
    },
    world::{Condition, World, coverage::Area, flock::Flock},
};

/// What is flown: on which profile, with a key or without one, and what goes wrong.
#[derive(Clone, Debug)]
struct Case {
    profile: Profile,
    sealed: bool,
    packed: bool,
    faults: Faults,
    condition: Condition,
}

impl Case {
    fn new(profile: Profile, sealed: bool, faults: Faults) -> Self {
        let condition = Condition { robots: 40, ticks: 120, ..Condition::PAPER };
        Self { profile, sealed, packed: false, faults, condition }
    }

    /// The digest of one process, and what so many workers make of it. Worker 1 is lost in the ticks that `lost` names.
    fn fly<W: World>(&self, workers: usize, lost: &[u32]) -> (String, Vec<Flown>, u64) {
        let (model, layout) = (W::model(self.profile).unwrap(), W::layout());
        let other = W::other_model(self.profile).ok().filter(|_| self.faults.other_models > 0.0);
        let network =
            Network { other: other.as_ref(), ..Network::<W::Task>::of(&model, self.profile).unwrap() };
        let air = Air { layout: &layout, faults: &self.faults, swarm: 0, key: KEY };
        let mut random = generator(1, Purpose::Testing, 0);
        let start = Start::draw(&W::default(), &self.condition, &mut random).unwrap();
        let make = || -> Result<AnyShare<'_, W::Task>> {
            if self.packed {
                return network.packed_share();
            }
            network.native(&air, self.condition.robots, self.sealed)
        };
        let one: AnySwarm<'_, W::Task> =
            if self.packed { network.packed(&start.states).unwrap() } else { make().unwrap() };
        self.fly_made(&network.task, &start, one, &make, workers, lost)
    }

    /// The same of a swarm that was made for one process, and of what `make` makes for each worker.
    fn fly_made<W: World>(
        &self,
        task: &W::Task,
        start: &Start<W>,
        mut one: AnySwarm<'_, W::Task>,
        make: Make<'_, '_, W>,
        workers: usize,
        lost: &[u32],
    ) -> (String, Vec<Flown>, u64) {
        let mut digest = FlightDigest::default();
        let stop = AtomicBool::new(false);
        let flight = start.fly(task, one.as_mut(), &mut [&mut digest], &stop).unwrap();
        let board = Board::new(workers);
        let draw = || Ok(start.clone());
        let fly = |number: usize| {
            let (board, draw) = (&board, &draw);
            let stop = AtomicBool::new(false);
            for life in 0.. {
                let last = AtomicU32::new(0);
                stop.store(false, Ordering::Relaxed);
                board.join(number, life);
                let progress = |tick: u32, _| {
                    let dies = number == 1 && lost.get(life as usize) == Some(&tick);
                    last.store(tick, Ordering::Relaxed);
                    stop.store(dies, Ordering::Relaxed);
                };
                let worker = Worker {
                    number,
                    post: board,
                    condition: &self.condition,
                    draw,
                    task,
                    make,
                    settings: 7,
                    patience: Duration::from_mins(1),
                    stop: &stop,
                    progress: &progress,
                };
                match worker.fly() {
                    Ok(flown) => return flown,
                    Err(Error::Interrupted) => board.leave(number, life),
                    Err(error) => panic!("{error}"),
                }
            }
            unreachable!("the last life goes to the end")
        };
        let flown: Vec<Flown> = std::thread::scope(|scope| {
            let fly = &fly;
            let threads: Vec<_> = (0..workers).map(|number| scope.spawn(move || fly(number))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(flown[0].score, Some(flight.last()), "of everybody together: {self:?}");
        let heard = flight.tally.map_or(0, |tally| tally.heard);
        (digest.finish(), flown, heard)
    }

    fn check<W: World>(&self, workers: usize) {
        let (digest, flown, heard) = self.fly::<W>(workers, &[]);
        for (worker, flown) in flown.iter().enumerate() {
            assert_eq!(flown.digest, digest, "worker {worker} of {workers}: {self:?}");
            assert_eq!(flown.heard, heard, "{self:?}");
        }
        assert!(flown.iter().all(|flown| flown.own.flown > 0), "everybody flies: {self:?}");
    }
}

fn moment(robot: usize, tick: u32) -> Moment {
    Moment { robot, tick }
}

/// Everything that can go wrong, and with which key.
fn troubles() -> Vec<(bool, Faults)> {
    let none = Faults::default();
    let radio = RadioFaults {
        loss: Loss { chance: 0.2, burst: 3.0 },
        corrupt: 0.05,
        duplicate: 0.1,
        delay: 0.2,
        latest: 3,
        hold_back: 0,
    };
    let events = Events {
        kills: vec![moment(3, 20), moment(17, 60)],
        reboots: vec![moment(5, 40)],
        brown_outs: vec![moment(9, 70)],
        drops: vec![Stretch { robot: 11, from: 30, to: 60 }],
    };
    let senses = SenseFaults {
        noise: Noise { position: 0.02, velocity: 0.05 },
        bias: Noise { position: 0.02, velocity: 0.02 },
        heading: Some(HeadingError { degrees: 10.0, share: 0.2 }),
        sensor: Some(SensorFault { lost: false, share: 0.2, tick: 40 }),
    };
    let blind = SensorFault { lost: true, share: 0.2, tick: 30 };
    let motor = |failure| Some(MotorFault { failure, share: 0.2, tick: 30 });
    let clocks =
        ClockFaults { drift: 5000.0, jumps: vec![Jump { moment: moment(4, 30), ticks: 2 }], skip: 0.1 };
    let liars = |about| Some(Liars { about, share: 0.2 });
    vec![
        (true, Faults { radio, ..none.clone() }),
        (
            true,
            Faults {
                radio: RadioFaults { hold_back: 1, ..RadioFaults::NONE },
                replay: Some(40),
                ..none.clone()
            },
        ),
        (true, Faults { forge: 3, skew: 1, one_way: 0.1, ..none.clone() }),
        (false, Faults { events: events.clone(), ..none.clone() }),
        (true, Faults { radio, events, clocks, ..none.clone() }),
        (true, Faults { liars: liars(About::State), ..none.clone() }),
        (true, Faults { liars: liars(About::Parameters), ..none.clone() }),
        (
            false,
            Faults {
                senses,
                drives: DriveFaults { motor: motor(Failure::Stuck), saturation: Some(3.0) },
                ..none.clone()
            },
        ),
        (
            false,
            Faults { senses: SenseFaults { sensor: Some(blind), ..SenseFaults::default() }, ..none.clone() },
        ),
        (
            true,
            Faults {
                partition: Some(30..60),
                interference: Some(Bursts { share: 0.1, ticks: 3 }),
                ..none.clone()
            },
        ),
        (true, Faults { spoof: Some(40), ..none.clone() }),
        (true, Faults { sybil: 10, ..none.clone() }),
        (true, Faults { rekey: Some(20..70), expelled: vec![2], ..none.clone() }),
        (true, Faults { proofs: true, sybil: 10, ..none.clone() }),
        (false, Faults { join: Some(Join { share: 0.3, tick: 55 }), other_models: 0.2, ..none }),
    ]
}

#[test]
fn two_and_four_workers_fly_every_profile_as_one_does() {
    Case::new(Profile::Exact, false, Faults::default()).check::<Flock>(1);
    for profile in Profile::ALL {
        for (sealed, workers) in [(false, 2), (true, 4)] {
            Case::new(*profile, sealed, Faults::default()).check::<Flock>(workers);
        }
    }
}

#[test]
fn whatever_goes_wrong_goes_wrong_with_several_workers_too() {
    for (workers, (sealed, faults)) in [2, 3].into_iter().cycle().zip(troubles()) {
        for profile in [Profile::Exact, Profile::Dot154] {
            Case::new(profile, sealed, faults.clone()).check::<Flock>(workers);
        }
    }
    let collisions = Faults { collisions: true, ..Faults::default() };
    Case::new(Profile::Espnow, true, collisions).check::<Flock>(3);
}

#[test]
fn other_tasks_are_shared_too() {
    let coverage = Condition { robots: 40, ticks: 60, ..Area::condition() };
    Case { condition: coverage, ..Case::new(Profile::Exact, false, Faults::default()) }.check::<Area>(3);
    Case::new(Profile::Exact, false, Faults::default()).check::<Flock<3>>(2);
}

#[test]
fn a_thousand_robots_go_from_strip_to_strip_as_bytes_and_packed() {
    let condition = Condition { robots: 1000, ticks: 60, speed: 30.0, ..Condition::PAPER };
    let bytes = Case { condition, ..Case::new(Profile::Exact, false, Faults::default()) };
    let packed = Case { packed: true, ..bytes.clone() };
    let mut digests = Vec::new();
    for (case, workers) in [(&bytes, 2), (&packed, 2), (&packed, 4)] {
        let (digest, flown, _) = case.fly::<Flock>(workers, &[]);
        assert!(flown.iter().all(|flown| flown.digest == digest && flown.own.given > 100), "{flown:?}");
        digests.push(digest);
    }
    assert_eq!(digests[0], digests[1], "what robots say in bytes changes nothing");
}

#[test]
fn a_robot_is_in_the_snapshot_of_one_worker_only() {
    let condition = Condition { robots: 1000, ticks: 60, ..Condition::PAPER };
    let packed = Case { packed: true, condition, ..Case::new(Profile::Exact, false, Faults::default()) };
    let [two, four] = [2, 4].map(|workers| {
        let (_, flown, _) = packed.fly::<Flock>(workers, &[]);
        flown.iter().map(|flown| flown.own.snapshots).sum::<u64>()
    });
    // Besides robots there are the tick, a count, bounds and a checksum's share in it.
    assert!(
        two > 1000 * 100 && (two..two + 200).contains(&four),
        "{two} bytes on two workers, {four} on four"
    );
}

#[test]
fn a_worker_that_is_lost_and_comes_back_changes_nothing() {
    let (sealed, faults) = troubles().swap_remove(4);
    for (case, workers) in [
        (Case::new(Profile::Dot154, sealed, faults), 2),
        (Case::new(Profile::Exact, false, Faults::default()), 4),
        (Case { packed: true, ..Case::new(Profile::Exact, false, Faults::default()) }, 3),
    ] {
        // Before the first snapshot, in the tick of one, and after it.
        for lost in [&[30][..], &[50], &[51], &[118, 110, 101]] {
            let (digest, flown, _) = case.fly::<Flock>(workers, lost);
            assert!(flown.iter().all(|flown| flown.digest == digest), "lost in {lost:?}: {flown:?}");
            assert_eq!(flown[0].own.returns as usize, lost.len(), "{lost:?}");
        }
    }
}

/// Robots that stay in the process that they were started by.
struct Rooted<R>(R);

impl<R: Robots<Flocking>> Robots<Flocking> for Rooted<R> {
    fn speak(&mut self, waking: &[Option<Waking<Motion>>]) -> Vec<Vec<Frame>> {
        self.0.speak(waking)
    }

    fn hear(&mut self, heard: &[Option<Vec<Frame>>]) -> Vec<Option<Outcome>> {
        self.0.hear(heard)
    }

    fn kill(&mut self, robot: usize) {
        self.0.kill(robot);
    }

    fn reboot(&mut self, robot: usize) -> Result {
        self.0.reboot(robot)
    }

    fn brown_out(&mut self, robot: usize) -> Result {
        self.0.brown_out(robot)
    }

    fn settled(&self) -> usize {
        0
    }
}

#[test]
fn robots_that_cannot_be_passed_on_stay_where_they_are() {
    let model = Flock::<2>::model(Profile::Exact).unwrap();
    let network = Network::<Flocking>::of(&model, Profile::Exact).unwrap();
    let weights = model.weights();
    let blueprint = Blueprint {
        model: <<Flocking as Onboard>::Shape as Shape<Flocking>>::from_weights(&weights).unwrap(),
        task: network.task,
        checksum: weights.checksum,
        behaviour: Behaviour::new(weights.header.learning),
    };
    let (_, faults) = troubles().swap_remove(3);
    let case = Case::new(Profile::Exact, false, faults);
    let (layout, robots) = (Flock::<2>::layout(), case.condition.robots);
    let air = Air { layout: &layout, faults: &case.faults, swarm: 0, key: KEY };
    let start =
        Start::draw(&Flock::default(), &case.condition, &mut generator(1, Purpose::Testing, 0)).unwrap();
    // A few of them, and all.
    for (first, workers, lost) in [(30, 2, &[][..]), (30, 3, &[70]), (0, 2, &[20, 110])] {
        let make = || {
            let rooted = Native::<_, _, Exact>::new(vec![blueprint; robots], &KEY, &case.faults);
            network.elsewhere(&air, Box::new(Rooted(rooted)), first, robots, false)
        };
        let native = network.native(&air, robots, false).unwrap();
        let (digest, flown, _) = case.fly_made::<Flock>(&network.task, &start, native, &make, workers, lost);
        for flown in &flown {
            assert_eq!(flown.digest, digest, "from {first} on, {workers} workers, lost in {lost:?}");
            assert_eq!(flown.own.snapshots, 0, "nobody can be written down");
        }
        assert!(flown.iter().all(|flown| flown.own.flown > 0));
    }
}

#[test]
fn who_does_not_come_or_flies_something_else_is_told() {
    let board = Board::new(2);
    let condition = Condition { robots: 5, ticks: 3, ..Condition::PAPER };
    let draw = || Start::draw(&Flock::default(), &condition, &mut generator(1, Purpose::Testing, 0));
    let model = Flock::<2>::model(Profile::Exact).unwrap();
    let make = || Network::of(&model, Profile::Exact)?.packed_share();
    let stop = AtomicBool::new(false);
    let fly = |number, settings| {
        let worker = Worker::<Flock> {
            number,
            post: &board,
            condition: &condition,
            draw: &draw,
            task: &Flocking::DEFAULT,
            make: &make,
            settings,
            patience: Duration::from_millis(1),
            stop: &stop,
            progress: &|_, _| (),
        };
        worker.fly().unwrap_err().to_string()
    };
    board.join(0, 1);
    assert!(fly(0, 1).contains("of 2 workers, 1 did not come"));
    board.join(1, 1);
    let told = std::thread::scope(|scope| {
        let other = scope.spawn(|| fly(1, 2));
        [fly(0, 1), other.join().unwrap()]
    });
    assert!(told[0].contains("worker 1 flies something else than worker 0"), "{told:?}");
    assert!(told[1].contains("worker 0 flies something else than worker 1"), "{told:?}");
}
