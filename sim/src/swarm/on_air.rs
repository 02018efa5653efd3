//! Robots on an air, with everything that goes wrong: whatever they run on, they hear it through the same radios with faults.
//!
//! This program listens for them and hands over what it heard; where somebody lies, it speaks for the liar.

use std::collections::BTreeMap;

use wdgnn_core::{ports::Radio as _, refusal::Refusal, robot::LONGEST_BUFFER, seal::Key, task::NodeId};

use super::{Acquaintance, Outcome, Robots, Thoughts};
use crate::{
    air::{
        blueprint::Common,
        medium::{Medium, Member, RobotRadio},
        options::Faults,
        voice::Voice,
    },
    error::Result,
    scene::{Flown, Frame, Layout, Scene, Swarm, View},
    tally::Tally,
};

/// A simulated swarm's key. Real swarms have their own, from a file.
pub const KEY: Key = *b"simulated swarm.";

/// Robots on an air.
#[allow(missing_debug_implementations, reason = "robots are told apart by what they do")]
pub struct OnAir<'a, T: Flown> {
    robots: Box<dyn Robots<T> + 'a>,
    medium: Medium<'a, T>,
    ears: Vec<Member>,
    learns: bool,
    /// What they said in the last tick.
    said: Vec<Vec<Frame>>,
    /// What they did in the last tick.
    outcomes: Vec<Option<Outcome>>,
    killed: Vec<Option<u32>>,
    /// Robots that were restarted, each with the tick, until they are back.
    returning: Vec<(usize, u32)>,
    /// How often in a row an honest robot has believed a liar.
    deceived: BTreeMap<(usize, NodeId), u32>,
    tally: Tally,
}

/// What an air is made of, besides robots.
#[derive(Clone, Copy, Debug)]
pub struct Air<'a> {
    /// What the numbers of a state are.
    pub layout: &'a Layout,
    /// What goes wrong.
    pub faults: &'a Faults,
    /// Which swarm it is: every one has faults of its own.
    pub swarm: u64,
    /// The swarm's key.
    pub key: Key,
}

impl<'a, T: Flown> OnAir<'a, T> {
    /// Puts `count` robots on an air. `voice` is that of those who are not robots of the swarm, or lie; `learns` tells whether robots'
    /// parameters can differ.
    pub fn new(
        robots: Box<dyn Robots<T> + 'a>,
        common: Common<T>,
        voice: Box<dyn Voice + 'a>,
        air: &Air<'_>,
        learns: bool,
        count: usize,
    ) -> Self {
        let (medium, ears) = Medium::new(common, voice, air.layout, air.faults, air.swarm, count);
        Self {
            robots,
            medium,
            ears,
            learns,
            said: Vec::new(),
            outcomes: Vec::new(),
            killed: vec![None; count],
            returning: Vec::new(),
            deceived: BTreeMap::new(),
            tally: Tally::default(),
        }
    }

    /// Does to single robots what is to be done before this tick.
    fn intervene(&mut self, tick: u32) -> Result {
        for robot in self.medium.faults.events.kills_at(tick) {
            self.robots.kill(robot);
            self.killed[robot] = Some(tick);
        }
        for robot in self.medium.faults.events.reboots_at(tick) {
            if self.killed[robot].is_none() {
                self.robots.reboot(robot)?;
                self.returning.push((robot, tick));
            }
        }
        Ok(())
    }

    /// Counts what a robot did, and checks what must always hold.
    fn count(&mut self, thoughts: Option<&Thoughts>, before: Option<&Outcome>, now: &Outcome) {
        let tally = &mut self.tally;
        let Common { task, behaviour, offline, norm } = &self.medium.common;
        tally.heard += u64::from(now.counts.heard);
        tally.most_heard = tally.most_heard.max(now.counts.heard);
        for (refusal, count) in Refusal::ALL.iter().zip(now.counts.refused) {
            tally.refused.count_many(*refusal, count);
        }
        let distance =
            |a: &[f32], b: &[f32]| a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + (a - b) * (a - b)).sqrt();
        if let Some(thoughts) = thoughts {
            tally.judge(thoughts.verdict);
            let alone = !thoughts.known.iter().any(|other| other.counted);
            // A projection onto the ball rounds anew in every tick.
            let rounding = 1.0e-6 * norm;
            let before = before.map_or(&offline[..], |before| &before.wide);
            tally.learned_alone += u64::from(alone && distance(before, &now.wide) > rounding);
        }
        let ball = behaviour.learning.ball * norm;
        let command = output::<T>(&now.command);
        let sound = task.command(&command) == command
            && now.wide.iter().all(|x| wdgnn_core::math::admissible(*x))
            // Rounding on the ball's surface.
            && (ball <= 0.0 || distance(&now.wide, offline) <= 1.001 * ball);
        tally.violations += u64::from(!sound);
    }

    /// Looks at everybody after a tick.
    fn inspect(&mut self, scene: &Scene<'_, T::State>, thoughts: &[Option<Thoughts>]) {
        let mut deceived = BTreeMap::new();
        for (robot, thoughts) in thoughts.iter().enumerate() {
            let Some(thoughts) = thoughts else { continue };
            let lies = self.medium.liars[robot];
            for &Acquaintance { sender, heard_now, followed, believed, counted, nowhere } in &thoughts.known {
                let other = usize::from(sender);
                self.tally.fooled += u64::from(nowhere);
                if let Some(Some(tick)) = self.killed.get(other) {
                    self.tally.longest_stale = self.tally.longest_stale.max(scene.tick - tick);
                }
                if lies {
                    continue;
                }
                let liar = self.medium.liars.get(other).copied().unwrap_or_default();
                if heard_now && followed {
                    let words = if liar { &mut self.tally.lies } else { &mut self.tally.truths };
                    words.told += 1;
                    words.refused += u64::from(!believed);
                }
                if liar && counted {
                    let pair = (robot, sender);
                    let before = self.deceived.get(&pair).copied().unwrap_or_default();
                    let times = before + u32::from(heard_now);
                    self.tally.longest_deceived = self.tally.longest_deceived.max(times);
                    deceived.insert(pair, times);
                }
            }
        }
        self.deceived = deceived;
        let returning = std::mem::take(&mut self.returning);
        for (robot, since) in returning {
            self.tally.longest_return = self.tally.longest_return.max(scene.tick - since);
            if !is_back(robot, scene, thoughts) {
                self.returning.push((robot, since));
            }
        }
    }
}

/// Whether a restarted robot counts somebody, and half of those in range count it. Whom nobody can look into is back at once.
fn is_back<S>(robot: usize, scene: &Scene<'_, S>, thoughts: &[Option<Thoughts>]) -> bool {
    let Some(own) = &thoughts[robot] else { return true };
    let counts_somebody = own.known.iter().any(|other| other.counted);
    let in_range = scene.links.of(robot);
    let counted = in_range.iter().filter(|&&other| {
        let mut known = thoughts[other as usize].iter().flat_map(|thoughts| &thoughts.known);
        known.any(|other| other.counted && usize::from(other.sender) == robot)
    });
    // Nobody in range is nobody to be back with.
    in_range.is_empty() || (counts_somebody && 2 * counted.count() >= in_range.len())
}

/// A command from its numbers.
fn output<T: Flown>(numbers: &[f32]) -> T::Output {
    let mut output = T::nothing();
    output.as_mut().iter_mut().zip(numbers).for_each(|(to, from)| *to = *from);
    output
}

impl<T: Flown> Swarm<T> for OnAir<'_, T> {
    fn fly(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Output>) -> Result {
        self.intervene(scene.tick)?;
        let sensed = self.medium.sense(scene.states);
        let clocks: Vec<u32> = self.ears.iter().map(|ear| scene.tick + ear.ahead).collect();
        let mut said = self.robots.speak(&clocks, &sensed);
        for (robot, (now, frames)) in clocks.iter().zip(&mut said).enumerate() {
            self.medium.lie(robot, *now, frames)?;
        }
        let ears = &mut self.ears;
        let forged = self.medium.carry(scene, &said, |robot, frame| {
            ears[robot].radio.inner().inner().put(frame.clone());
        });
        self.said = said;
        self.tally.forged += forged as u64;
        let heard: Vec<Vec<Frame>> = self.ears.iter_mut().map(|ear| listen(&mut ear.radio)).collect();
        let outcomes = self.robots.hear(&heard);
        let before = std::mem::take(&mut self.outcomes);
        let thoughts: Vec<Option<Thoughts>> =
            (0..outcomes.len()).map(|robot| self.robots.thoughts(robot)).collect();
        for (robot, now) in outcomes.iter().enumerate() {
            if let Some(now) = now {
                self.count(thoughts[robot].as_ref(), before.get(robot).and_then(Option::as_ref), now);
            }
        }
        commands.clear();
        // Who is gone does nothing.
        commands
            .extend(outcomes.iter().map(|o| o.as_ref().map_or(T::nothing(), |o| output::<T>(&o.command))));
        self.outcomes = outcomes;
        self.inspect(scene, &thoughts);
        Ok(())
    }

    fn robot(&self, robot: usize) -> Option<View<'_, T>> {
        let outcome = self.outcomes.get(robot)?.as_ref()?;
        let offline = &self.medium.common.offline;
        Some(View { wide: &outcome.wide, offline, inside: self.robots.inside(robot) })
    }

    fn learns(&self) -> bool {
        self.learns
    }

    fn counts(&self, robot: usize) -> bool {
        !self.medium.liars[robot]
    }

    fn frames(&self) -> &[Vec<Frame>] {
        &self.said
    }

    fn tally(&self) -> Option<Tally> {
        let replayed = self.ears.iter().map(|ear| ear.radio.played_frames()).sum();
        Some(Tally { replayed, ..self.tally.clone() })
    }

    fn lost(&mut self) -> Vec<String> {
        self.robots.lost()
    }

    fn logs(&mut self) -> Vec<Vec<String>> {
        self.robots.logs()
    }
}

/// Everything that is heard in one listening window.
fn listen(radio: &mut RobotRadio) -> Vec<Frame> {
    let mut buffer = [0; LONGEST_BUFFER];
    std::iter::from_fn(|| match radio.receive(&mut buffer) {
        // A mailbox's errors are `Infallible`. A frame may tell a length that was cut off.
        Ok(received) => received.map(|received| buffer[..received.length.min(LONGEST_BUFFER)].into()),
    })
    .collect()
}
