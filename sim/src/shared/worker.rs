//! One of the workers that fly a swarm together.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use wdgnn_core::{
    refusal::{Refusal, Refusals},
    task::{Numbers as _, State as _},
};

use super::{
    board::{Address, Lost, Post},
    checksum::ChecksumShare,
    cut::{self, Cut, Sample},
    parcel::{self, Parcel},
    snapshot::{RollCall, Snapshots, last_common, sender},
};
use crate::{
    error::{Error, Result},
    flight::Start,
    links::Links,
    passing,
    scene::Scene,
    swarm::networks::AnyShare,
    world::{OutputOf, StateOf, World},
};

/// Every so many ticks a snapshot is made, and strips are cut anew.
pub const EVERY: u32 = 50;

/// Parcels besides those of ticks.
const ROLL_CALL: u64 = u64::MAX;
const SHARES: u64 = u64::MAX - 1;
const RESULTS: u64 = u64::MAX - 2;
const FAREWELL: u64 = u64::MAX - 3;

/// Strips are found to be near with a little more than a radius: whatever is rounded, nobody within it is left out.
const MARGIN: f32 = 1.000_1;

/// Makes the swarm that all workers have a share of, at its start.
pub type Make<'a, 's, W> = &'a (dyn Fn() -> Result<AnyShare<'s, <W as World>::Task>> + Sync);

/// Which worker this is, and what all of them fly.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "swarms are told apart by what they do")]
pub struct Worker<'a, 's, W: World> {
    /// Its number.
    pub number: usize,
    /// Carries parcels.
    pub post: &'a dyn Post,
    /// The start.
    pub start: &'a Start<W>,
    /// The task.
    pub task: &'a W::Task,
    /// Makes the swarm.
    pub make: Make<'a, 's, W>,
    /// A checksum of all that workers have to agree about, besides what is above.
    pub settings: u64,
    /// For how long it waits for others to be there.
    pub patience: Duration,
    /// Whether it is to stop.
    pub stop: &'a AtomicBool,
    /// Told of every tick before it is flown, and with `true` when everybody goes back to it.
    pub progress: &'a (dyn Fn(u32, bool) + Sync),
}

/// What came of a flight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flown<S> {
    /// The digest of everybody.
    pub digest: String,
    /// Frames heard, by everybody.
    pub heard: u64,
    /// Those refused.
    pub refused: Refusals,
    /// Everybody in the last tick, at the first worker.
    pub states: Vec<S>,
    /// What this worker did.
    pub own: Account,
}

/// What a worker did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Account {
    /// Parcels that it sent in ticks.
    pub parcels: u64,
    /// Their bytes, without snapshots.
    pub bytes: u64,
    /// Bytes of snapshots that it sent.
    pub snapshots: u64,
    /// Robots that it gave away.
    pub given: u64,
    /// Robots of others' that it was told of.
    pub told: u64,
    /// Robots that it flew, summed over ticks.
    pub flown: u64,
    /// Seconds that it waited for others' parcels.
    pub waited: f64,
    /// How often everybody went back to a snapshot.
    pub returns: u32,
}

/// Why a flight does not go on.
enum Trouble {
    Lost,
    Ended(Error),
}

impl From<Lost> for Trouble {
    fn from(Lost: Lost) -> Self {
        Self::Lost
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Ended(error)
    }
}

type Outcome<T = ()> = std::result::Result<T, Trouble>;

/// A share of a swarm in flight.
struct Sky<'s, W: World> {
    world: W,
    swarm: AnyShare<'s, W::Task>,
    tick: u32,
    mine: Vec<bool>,
    cut: Cut,
    checksum: ChecksumShare,
    states: Vec<StateOf<W>>,
    sensed: Vec<StateOf<W>>,
    places: Vec<[f32; 3]>,
    links: Links,
    commands: Vec<OutputOf<W>>,
    /// Everybody at the last tick, as far as it is known here.
    last: Vec<StateOf<W>>,
}

impl<'s, W: World> Worker<'_, 's, W> {
    /// Flies to the end with all others; goes back to the last snapshot with them when one is lost.
    ///
    /// # Errors
    /// Workers that do not come, or fly something else; what ends a flight.
    pub fn fly(&self) -> Result<Flown<StateOf<W>>> {
        let mut snapshots = Snapshots::default();
        let mut account = Account::default();
        loop {
            match self.fly_an_age(&mut snapshots, &mut account) {
                Ok(flown) => return Ok(flown),
                Err(Trouble::Ended(error)) => return Err(error),
                Err(Trouble::Lost) if self.stop.load(Ordering::Relaxed) => return Err(Error::Interrupted),
                Err(Trouble::Lost) => account.returns += 1,
            }
        }
    }

    fn workers(&self) -> usize {
        self.post.board().workers()
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<W> {
        let own = self.number;
        (0..self.workers()).filter(move |worker| *worker != own)
    }

    /// Sends a parcel to each of some workers, and waits for theirs.
    fn swap(
        &self,
        age: u64,
        step: u64,
        parcels: impl IntoIterator<Item = (usize, Vec<u8>)>,
    ) -> Outcome<Vec<(usize, Vec<u8>)>> {
        let from: Vec<usize> = parcels
            .into_iter()
            .map(|(to, parcel)| {
                self.post.send(Address { age, from: self.number, to, step }, parcel);
                to
            })
            .collect();
        let take = |from| {
            let address = Address { age, from, to: self.number, step };
            Ok((from, self.post.board().take(address, self.stop)?))
        };
        from.into_iter().map(take).collect()
    }

    /// From when everybody is there to the end, or until somebody is lost.
    fn fly_an_age(&self, snapshots: &mut Snapshots, account: &mut Account) -> Outcome<Flown<StateOf<W>>> {
        let age =
            self.post.board().meet(self.patience, self.stop).map_err(|missing| self.missing(&missing))?;
        let mut sky = self.begin(age, snapshots)?;
        (self.progress)(sky.tick, true);
        let whole = !sky.world.is_local() || sky.swarm.sees_everybody();
        for tick in sky.tick..self.start.condition.ticks {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted.into());
            }
            (self.progress)(tick, false);
            self.tick(&mut sky, age, whole, snapshots, account)?;
        }
        self.results(sky, age, *account)
    }

    fn missing(&self, missing: &[usize]) -> Error {
        if self.stop.load(Ordering::Relaxed) {
            return Error::Interrupted;
        }
        let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
        let (names, of, seconds) = (names.join(", "), self.workers(), self.patience.as_secs());
        Error::Failed(format!(
            "of {of} workers, {names} did not come within {seconds} s: start each with its --worker"
        ))
    }

    /// Agrees with everybody where to begin.
    fn begin(&self, age: u64, snapshots: &mut Snapshots) -> Outcome<Sky<'s, W>> {
        let mut own = RollCall { settings: self.settings, shares: snapshots.list() };
        let mut bytes = Vec::new();
        passing::write(&mut bytes, |passage| own.pass(passage));
        let mut calls = vec![own; self.workers()];
        for (from, bytes) in self.swap(age, ROLL_CALL, self.others().map(|to| (to, bytes.clone())))? {
            let good = passing::read(&mut &bytes[..], |passage| calls[from].pass(passage));
            if !good || calls[from].settings != self.settings {
                return Err(Error::usage(format!(
                    "worker {from} flies something else than worker {}: give all of them the same options",
                    self.number
                ))
                .into());
            }
        }
        let tick = last_common(&calls);
        let share_for = |to: usize| {
            let share = snapshots.of(to, tick).filter(|_| sender(&calls, to, tick) == Some(self.number));
            (to, share.unwrap_or_default().to_vec())
        };
        let parcels: Vec<(usize, Vec<u8>)> = self.others().map(share_for).collect();
        for (from, share) in self.swap(age, SHARES, parcels)? {
            if sender(&calls, self.number, tick) == Some(from) {
                snapshots.keep(self.number, tick, share);
            }
        }
        snapshots.forget_after(tick);
        let mut sky = self.at_start()?;
        if let Some(share) = snapshots.of(self.number, tick) {
            let mut bytes = share;
            if !(passing::read(&mut bytes, |passage| sky.pass(passage)) && bytes.is_empty()) {
                return Err(Error::Failed(format!("the snapshot of tick {tick} cannot be read")).into());
            }
        }
        Ok(sky)
    }

    fn at_start(&self) -> Result<Sky<'s, W>> {
        let states = self.start.states.clone();
        let places: Vec<[f32; 3]> = states.iter().map(W::place).collect();
        let cut = Cut::new(self.workers(), &places);
        let mine: Vec<bool> = places.iter().map(|place| cut.owner(place) == self.number).collect();
        let mut swarm = (self.make)()?;
        swarm.take(&mine);
        Ok(Sky {
            world: self.start.world.clone(),
            swarm,
            tick: 0,
            mine,
            cut,
            checksum: ChecksumShare::new(self.number == 0),
            sensed: Vec::new(),
            links: Links::of_rows(states.len(), |_, _| ()),
            places,
            commands: Vec::new(),
            last: Vec::new(),
            states,
        })
    }

    /// One tick with everybody who is near.
    fn tick(
        &self,
        sky: &mut Sky<'s, W>,
        age: u64,
        whole: bool,
        snapshots: &mut Snapshots,
        account: &mut Account,
    ) -> Outcome {
        let (tick, step) = (sky.tick, u64::from(sky.tick) * 2);
        // In the first tick after the cut was made anew, robots go anywhere.
        let everybody = whole || tick % EVERY <= 1;
        let balances = tick.is_multiple_of(EVERY);
        let snapshot = (balances && tick > 0).then(|| {
            let mut share = Vec::new();
            passing::write(&mut share, |passage| sky.pass(passage));
            snapshots.keep(self.number, tick, share.clone());
            share
        });
        sky.speak()?;
        let own_sample = balances.then(|| sky.sample());
        let next = (self.number + 1) % self.workers();
        let radius = self.start.condition.radius * MARGIN;
        let before = account.snapshots;
        let mut parcels: Vec<Option<Parcel>> = vec![None; self.workers()];
        for to in self.others().filter(|to| everybody || sky.cut.close(self.number, *to, 2.0 * radius)) {
            let share = snapshot.as_deref().filter(|_| to == next);
            account.snapshots += share.map_or(0, <[u8]>::len) as u64;
            parcels[to] = Some(Parcel::new(own_sample.as_ref(), share));
        }
        let mut known: Vec<u32> = Vec::new();
        for robot in 0..sky.mine.len() {
            if !sky.mine[robot] {
                continue;
            }
            known.push(robot as u32);
            let owner = sky.cut.owner(&sky.places[robot]);
            for to in sky.told(robot, whole, radius).filter(|to| *to != self.number) {
                let Some(parcel) = &mut parcels[to] else {
                    return Err(Error::usage(format!(
                        "robot {robot} went farther than the radio's range in tick {tick}: workers do not follow, fly it in one process"
                    ))
                    .into());
                };
                parcel.tell(robot, sky.states[robot], to == owner, sky.swarm.as_mut());
            }
            if owner != self.number {
                sky.mine[robot] = false;
                sky.swarm.give(robot, false);
                account.given += 1;
            }
        }
        account.flown += known.len() as u64;
        let parcels: Vec<(usize, Vec<u8>)> =
            parcels.into_iter().enumerate().filter_map(|(to, parcel)| Some((to, parcel?.seal()))).collect();
        account.parcels += parcels.len() as u64;
        let bytes: usize = parcels.iter().map(|(_, parcel)| parcel.len()).sum();
        account.bytes += bytes as u64 + before - account.snapshots;
        let began = std::time::Instant::now();
        let arrived = self.swap(age, step, parcels)?;
        account.waited += began.elapsed().as_secs_f64();
        let mut samples = vec![own_sample.unwrap_or_default(); self.workers()];
        for (from, bytes) in arrived {
            let before = known.len();
            let (sample, share) = sky.hear_of(&bytes, &mut known).ok_or_else(|| unreadable(from))?;
            account.told += (known.len() - before) as u64;
            samples[from] = sample.unwrap_or_default();
            if let Some(share) = share {
                snapshots.keep(from, tick, share);
            }
        }
        known.sort_unstable();
        sky.listen(whole, &known, self.start)?;
        if whole {
            self.swap_commands(sky, age, step + 1)?;
        }
        if tick + 1 == self.start.condition.ticks {
            sky.last.clone_from(&sky.states);
        }
        sky.world.step(self.task, tick, &mut sky.states, &sky.commands);
        if balances {
            sky.cut.balance(&samples);
        }
        sky.tick += 1;
        Ok(())
    }

    /// Where a world is to be seen as a whole, everybody is told what everybody does.
    fn swap_commands(&self, sky: &mut Sky<'s, W>, age: u64, step: u64) -> Outcome {
        let mut bytes = Vec::new();
        passing::write(&mut bytes, |passage| {
            for (robot, _) in sky.mine.iter().enumerate().filter(|(_, mine)| **mine) {
                passage.word(&mut (robot as u32));
                passage.numbers(sky.commands[robot].as_mut());
            }
        });
        for (from, bytes) in self.swap(age, step, self.others().map(|to| (to, bytes.clone())))? {
            let mut bytes = &bytes[..];
            while !bytes.is_empty() {
                let (mut robot, mut command) = (0, OutputOf::<W>::ZERO);
                let good = passing::read(&mut bytes, |passage| {
                    passage.word(&mut robot);
                    passage.numbers(command.as_mut());
                });
                let place = sky.commands.get_mut(robot as usize).filter(|_| good);
                *place.ok_or_else(|| unreadable(from))? = command;
            }
        }
        Ok(())
    }

    /// Puts together what all workers have.
    fn results(&self, sky: Sky<'s, W>, age: u64, own: Account) -> Outcome<Flown<StateOf<W>>> {
        let tally = sky.swarm.tally().unwrap_or_default();
        let share = sky.checksum.finish(OutputOf::<W>::COUNT + sky.swarm.wide_numbers());
        let mut flown = Flown {
            digest: String::new(),
            heard: tally.heard,
            refused: tally.refused,
            states: sky.last,
            own,
        };
        let parcel = |to: usize| {
            let mut bytes = Vec::new();
            passing::write(&mut bytes, |passage| {
                passage.long(&mut share.clone());
                passage.long(&mut tally.heard.clone());
                for refusal in Refusal::ALL {
                    passage.word(&mut tally.refused.of(*refusal));
                }
                // The first worker tells how things are at the end.
                for (robot, state) in
                    flown.states.iter().enumerate().filter(|(robot, _)| to == 0 && sky.mine[*robot])
                {
                    passage.word(&mut (robot as u32));
                    state.clone().pass(passage);
                }
            });
            (to, bytes)
        };
        let parcels: Vec<_> = self.others().map(parcel).collect();
        let mut shares = vec![share];
        for (from, bytes) in self.swap(age, RESULTS, parcels)? {
            let mut bytes = &bytes[..];
            let mut good = passing::read(&mut bytes, |passage| {
                let (mut share, mut heard) = (0, 0);
                passage.long(&mut share);
                shares.push(share);
                passage.long(&mut heard);
                flown.heard += heard;
                for refusal in Refusal::ALL {
                    let mut count = 0;
                    passage.word(&mut count);
                    flown.refused.count_many(*refusal, count);
                }
            });
            while good && !bytes.is_empty() {
                good = passing::read(&mut bytes, |passage| {
                    let (mut robot, mut state) = (0, StateOf::<W>::zero());
                    passage.word(&mut robot);
                    state.pass(passage);
                    match flown.states.get_mut(robot as usize) {
                        Some(place) => *place = state,
                        None => passage.refuse(),
                    }
                });
            }
            if !good {
                return Err(unreadable(from).into());
            }
        }
        flown.digest = ChecksumShare::digest(shares);
        // Who leaves before everybody has this would be missed; who leaves now is not.
        match self.swap(age, FAREWELL, self.others().map(|to| (to, Vec::new()))) {
            Ok(_) | Err(Trouble::Lost) => Ok(flown),
            Err(Trouble::Ended(error)) => Err(error.into()),
        }
    }
}

fn unreadable(from: usize) -> Error {
    Error::Failed(format!("what worker {from} sent cannot be read: is it the same program?"))
}

impl<W: World> Sky<'_, W> {
    /// Passes everything that the tick about to begin depends on.
    fn pass(&mut self, passage: &mut wdgnn_core::passage::Passage<'_>) {
        passage.word(&mut self.tick);
        passage.numbers(&mut self.cut.bounds);
        let (mut sum, mut ahead) = self.checksum.state();
        passage.long(&mut sum);
        passage.long(&mut ahead);
        self.checksum.resume((sum, ahead));
        self.swarm.pass_common(passage);
        for robot in 0..self.mine.len() {
            let mut here = self.mine[robot];
            passage.flag(&mut here);
            if here != self.mine[robot] {
                self.mine[robot] = here;
                self.swarm.give(robot, here);
            }
            self.states[robot].pass(passage);
            if here {
                self.swarm.pass(robot, passage);
            }
        }
    }

    /// Everybody here senses and speaks.
    fn speak(&mut self) -> Result {
        let Self { world, tick, states, sensed, places, links, .. } = self;
        places.clear();
        places.extend(states.iter().map(W::place));
        world.sense(*tick, states, sensed);
        let scene = Scene { tick: *tick, states: sensed, places, links };
        self.swarm.speak(&scene)
    }

    /// Where own robots are.
    fn sample(&self) -> Sample {
        let own = self.places.iter().zip(&self.mine).filter(|(_, mine)| **mine);
        self.cut.sample(own.map(|(place, _)| *place))
    }

    /// Who is told of a robot.
    fn told(&self, robot: usize, whole: bool, radius: f32) -> std::ops::RangeInclusive<usize> {
        if whole { 0..=self.cut.bounds.len() } else { self.cut.near(&self.places[robot], radius) }
    }

    /// Opens a parcel: takes in who is known now, and who is here now.
    #[allow(clippy::type_complexity, reason = "what a parcel has")]
    fn hear_of(&mut self, bytes: &[u8], known: &mut Vec<u32>) -> Option<(Option<Sample>, Option<Vec<u8>>)> {
        let Self { swarm, mine, states, places, .. } = self;
        let robots = mine.len();
        parcel::open(bytes, robots, swarm.as_mut(), |told| {
            let robot = told.robot;
            // Where a world is seen as a whole, this is what it says already.
            states[robot] = told.state;
            places[robot] = W::place(&told.state);
            mine[robot] |= told.given;
            known.push(robot as u32);
        })
    }

    /// Everybody here hears, acts and learns.
    fn listen(&mut self, whole: bool, known: &[u32], start: &Start<W>) -> Result {
        let Self { world, swarm, tick, mine, states, sensed, places, links, commands, checksum, .. } = self;
        if whole {
            world.links(*tick, places, &start.condition, links);
        } else {
            let near: Vec<[f32; 3]> = known.iter().map(|robot| places[*robot as usize]).collect();
            let mut found = Links::default();
            world.links(*tick, &near, &start.condition, &mut found);
            *links = cut::spread(&found, known, mine);
            for robot in known {
                sensed[*robot as usize] = states[*robot as usize];
            }
        }
        let scene = Scene { tick: *tick, states: sensed, places, links };
        swarm.listen(&scene, commands)?;
        for (robot, mine) in mine.iter().enumerate().filter(|(robot, _)| swarm.present(*robot)) {
            match swarm.robot(robot).filter(|_| *mine) {
                Some(view) => checksum.add(commands[robot].as_ref(), view.wide),
                None => checksum.pass_over(),
            }
        }
        Ok(())
    }
}
