//! Some of the robots of [`packed`](super::packed): those that one worker flies, of a swarm of any size.
//!
//! There is room for these robots and for what is told of others near them, and for nobody else. A robot keeps its slot for as long as it is
//! here, however many come and go; robots and what they say lie in the order of slots, and are found by their rows in the scene.

use std::ops::Range;

use wdgnn_core::{
    node::BeaconOf,
    passage::{Pass as _, Passage},
    robot::NEIGHBOURS,
    task::State as _,
    tensor::Tensor as _,
    wide::Model,
};

use super::{
    packed::{Robot, kind},
    share::{Near, Share},
};
use crate::{
    air::blueprint::Blueprint,
    error::Result,
    scene::{Flown, Scene, Swarm},
    threads::{TICKS, share, spread},
};

/// A slot or a row that nobody is in.
const NOBODY: u32 = u32::MAX;

/// Some robots of one model.
#[allow(missing_debug_implementations, reason = "swarms are told apart by what they do")]
pub struct PackedShare<T: Flown, M: Model> {
    blueprint: Blueprint<M, T>,
    learns: bool,
    slots: Vec<Slot<M, T>>,
    /// What is said in each slot; nothing by a robot that is blind, or that nobody would believe.
    said: Vec<Option<BeaconOf<M, T>>>,
    free: Vec<u32>,
    /// Everybody's number and slot, ascending; no slot of who has left in this tick.
    own: Vec<(u32, u32)>,
    /// The same of who came in this tick.
    came: Vec<(u32, u32)>,
    /// What others said in this tick.
    told: Vec<(u32, Option<BeaconOf<M, T>>)>,
    /// Where what is said by the robot in each row is: its slot, or behind all slots its place among those told.
    seats: Vec<u32>,
}

/// A robot's place.
struct Slot<M: Model, T: Flown> {
    robot: Robot<M, T>,
    /// Its row in the scene.
    row: u32,
    command: T::Output,
}

/// Some robots, and where what they say goes.
type Speaking<'a, M, T> = (&'a mut [Slot<M, T>], &'a mut [Option<BeaconOf<M, T>>]);

impl<T, M> PackedShare<T, M>
where
    T: Flown,
    M: Model<Features = T::Features, Output = T::Output> + Copy,
{
    /// Nobody yet.
    #[must_use]
    pub fn new(blueprint: &Blueprint<M, T>, learns: bool) -> Self {
        Self {
            blueprint: *blueprint,
            learns,
            slots: Vec::new(),
            said: Vec::new(),
            free: Vec::new(),
            own: Vec::new(),
            came: Vec::new(),
            told: Vec::new(),
            seats: Vec::new(),
        }
    }

    /// The slot of a robot that is here.
    fn slot(&self, number: u32) -> Option<usize> {
        // Whoever comes is asked for at once.
        let came = || self.came.iter().rev().find(|(came, _)| *came == number);
        let own = self.own.binary_search_by_key(&number, |(own, _)| *own).ok().map(|place| &self.own[place]);
        own.or_else(came).map(|(_, slot)| *slot as usize).filter(|slot| *slot != NOBODY as usize)
    }

    /// A slot for a robot in a state.
    fn seat(&mut self, state: T::State) -> u32 {
        let robot = Robot::new(kind(&self.blueprint), state);
        let slot = Slot { robot, row: NOBODY, command: T::nothing() };
        if let Some(free) = self.free.pop() {
            self.slots[free as usize] = slot;
            return free;
        }
        self.slots.push(slot);
        self.said.push(None);
        self.slots.len() as u32 - 1
    }

    /// Finds everybody's row in the scene, and of everybody in it where its words are.
    fn find_rows(&mut self, near: &Near<'_, T::State>) {
        self.own.retain(|(_, slot)| *slot != NOBODY);
        if !self.came.is_empty() {
            self.own.append(&mut self.came);
            // Runs that are in order already: who was here, and who came from each worker.
            self.own.sort_by_key(|(number, _)| *number);
        }
        self.told.sort_by_key(|(number, _)| *number);
        let mut own = self.own.iter().peekable();
        let mut told = (self.slots.len() as u32..).zip(&self.told).peekable();
        self.seats.clear();
        for (row, number) in (0..).zip(near.numbers) {
            let seat = if let Some((_, slot)) = own.next_if(|(own, _)| own == number) {
                self.slots[*slot as usize].row = row;
                *slot
            } else {
                told.next_if(|(_, (told, _))| told == number).map_or(NOBODY, |(seat, _)| seat)
            };
            self.seats.push(seat);
        }
    }
}

impl<T, M> Swarm<T> for PackedShare<T, M>
where
    T: Flown,
    M: Model<Features = T::Features, Output = T::Output> + Copy + Send + Sync,
{
    /// All robots, where all of them were taken.
    fn fly(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Output>) -> Result {
        let numbers: Vec<u32> = (0..).take(scene.states.len()).collect();
        let near = Near { scene: *scene, numbers: &numbers, mine: &vec![true; numbers.len()] };
        self.speak(&near)?;
        self.listen(&near, commands)
    }

    fn learns(&self) -> bool {
        self.learns
    }
}

impl<T, M> Share<T> for PackedShare<T, M>
where
    T: Flown,
    M: Model<Features = T::Features, Output = T::Output> + Copy + Send + Sync,
{
    fn sees_everybody(&self) -> bool {
        false
    }

    fn take(&mut self, own: &[(u32, T::State)]) {
        *self = Self::new(&self.blueprint, self.learns);
        self.slots.reserve_exact(own.len());
        self.said.reserve_exact(own.len());
        self.own = own.iter().map(|(number, state)| (*number, self.seat(*state))).collect();
    }

    fn speak(&mut self, near: &Near<'_, T::State>) -> Result {
        self.told.clear();
        self.find_rows(near);
        let some = share(self.slots.len(), TICKS);
        let Self { blueprint, slots, said, .. } = self;
        let (kind, states, tick) = (kind(blueprint), near.scene.states, near.scene.tick);
        let speak = |(slots, said): Speaking<'_, M, T>| {
            for (Slot { robot, row, .. }, said) in slots.iter_mut().zip(said) {
                if *row != NOBODY {
                    let row = *row as usize;
                    robot.speak(kind, near.numbers[row], tick, states[row], said);
                }
            }
        };
        spread(slots.chunks_mut(some).zip(said.chunks_mut(some)), speak);
        Ok(())
    }

    fn words(&mut self, robot: usize, passage: &mut Passage<'_>) {
        let silent = BeaconOf::<M, T>::silent(T::State::zero());
        let said = match self.slot(robot as u32) {
            Some(slot) => &mut self.said[slot],
            None => &mut self.told.push_mut((robot as u32, None)).1,
        };
        passage.option(said, silent, |passage, beacon| beacon.pass(passage));
    }

    fn listen(&mut self, near: &Near<'_, T::State>, commands: &mut Vec<T::Output>) -> Result {
        self.find_rows(near);
        let some = share(self.slots.len(), TICKS);
        let Self { blueprint, slots, said, told, seats, .. } = self;
        let (kind, said, told, seats) = (kind(blueprint), &said[..], &told[..], &seats[..]);
        let hears = |other: u32| {
            let seat = seats[other as usize] as usize;
            let words = match said.get(seat) {
                Some(said) => said,
                None => &told.get(seat - said.len())?.1,
            };
            Some((near.numbers[other as usize], words.as_ref()?))
        };
        let think = |slots: &mut [Slot<M, T>]| {
            let mut room = Vec::with_capacity(NEIGHBOURS);
            for Slot { robot, row, command } in slots.iter_mut().filter(|slot| slot.row != NOBODY) {
                robot.think(kind, near.scene.links.of(*row as usize), hears, &mut room, command);
            }
        };
        spread(slots.chunks_mut(some), think);
        commands.clear();
        commands.extend(
            seats.iter().map(|seat| slots.get(*seat as usize).map_or(T::nothing(), |slot| slot.command)),
        );
        Ok(())
    }

    fn wide(&self, row: usize) -> Option<&[f32]> {
        let slot = self.slots.get(*self.seats.get(row)? as usize)?;
        Some(slot.robot.memory.wide().numbers())
    }

    fn pass(&mut self, robot: usize, passage: &mut Passage<'_>) {
        match self.slot(robot as u32) {
            Some(slot) => self.slots[slot].robot.pass(passage),
            None => passage.refuse(),
        }
    }

    fn give(&mut self, robot: usize, here: bool) {
        let number = robot as u32;
        match (self.slot(number), here) {
            (None, true) => {
                let slot = self.seat(T::State::zero());
                // What it said was told before.
                if let Some((_, said)) = self.told.pop_if(|(told, _)| *told == number) {
                    self.said[slot as usize] = said;
                }
                self.came.push((number, slot));
            }
            (Some(slot), false) => {
                // Others here hear it still.
                self.told.push((number, self.said[slot].take()));
                self.slots[slot].row = NOBODY;
                self.free.push(slot as u32);
                // Nobody leaves in the tick in which he came.
                if let Ok(place) = self.own.binary_search_by_key(&number, |(own, _)| *own) {
                    self.own[place].1 = NOBODY;
                }
            }
            _ => {}
        }
    }

    fn pass_common(&mut self, _: &mut Passage<'_>) {}

    fn wide_numbers(&self) -> usize {
        self.blueprint.model.offline().numbers().len()
    }

    fn present(&self, robots: Range<usize>) -> u64 {
        robots.len() as u64
    }
}
