//! Watches robots on an air: counts what they do, and checks what must always hold.

use std::collections::BTreeMap;

use wdgnn_core::task::NodeId;
use wdgnn_link::{
    error::Refusal,
    security::replay::{GUARD_TICKS, LATE_TICKS},
};

use super::{Acquaintance, Outcome, Thoughts};
use crate::{
    air::{blueprint::Common, impostor::Impostor, medium::Medium},
    scene::{Flown, Scene},
    tally::Tally,
};

/// Watches robots on an air.
#[derive(Debug, Default)]
pub struct Watch {
    /// What was counted.
    pub tally: Tally,
    /// Robots that were taken out, each with the tick.
    pub killed: BTreeMap<usize, u32>,
    /// Robots that were switched on, each with the tick, until they are back.
    pub returning: Vec<(usize, u32)>,
    /// Robots in whose name somebody else spoke, after those who have not heard them since; and when that was.
    muted: Vec<(usize, usize)>,
    since: u32,
    /// For how many ticks in a row somebody has known invented robots only.
    crowded: BTreeMap<usize, u32>,
    /// How often in a row an honest robot has believed a liar.
    deceived: BTreeMap<(usize, NodeId), u32>,
}

impl Watch {
    /// Somebody speaks in everybody's name.
    pub fn mute<T: Flown>(&mut self, scene: &Scene<'_, T::State>, medium: &Medium<'_, T>) {
        let links = (0..scene.places.len())
            .flat_map(|robot| scene.links.of(robot).iter().map(move |other| (robot, *other as usize)));
        let impostor = medium.impostor.as_ref().map(Impostor::robot);
        self.muted = links.filter(|(_, other)| Some(*other) != impostor).collect();
        self.since = scene.tick;
    }

    /// Counts what a robot did, and checks what must always hold.
    pub fn count<T: Flown>(
        &mut self,
        common: &Common<T>,
        thoughts: Option<&Thoughts>,
        before: Option<&Outcome>,
        now: &Outcome,
    ) {
        let tally = &mut self.tally;
        let Common { task, behaviour, offline, norm } = common;
        tally.heard += u64::from(now.counts.heard);
        tally.most_heard = tally.most_heard.max(now.counts.heard);
        for (refusal, count) in Refusal::ALL.iter().zip(now.counts.refused) {
            tally.refused.count_many(*refusal, count);
        }
        if let Some(thoughts) = thoughts {
            tally.judge(thoughts.verdict);
            let alone = !thoughts.known.iter().any(|other| other.counted);
            // A projection onto the ball rounds anew in every tick.
            let rounding = 1.0e-6 * norm;
            let before = before.map_or(&offline[..], |before| &before.wide);
            tally.learned_alone += u64::from(alone && distance(before, &now.wide) > rounding);
        }
        let ball = behaviour.learning.ball * norm;
        let command = now.output::<T>();
        let sound = task.command(&command) == command
            && now.wide.iter().all(|x| wdgnn_core::math::admissible(*x))
            // Rounding on the ball's surface.
            && (ball <= 0.0 || distance(&now.wide, offline) <= 1.001 * ball);
        tally.violations += u64::from(!sound);
    }

    /// Looks at everybody after a tick.
    pub fn inspect<T: Flown>(
        &mut self,
        scene: &Scene<'_, T::State>,
        medium: &Medium<'_, T>,
        thoughts: &[Option<Thoughts>],
    ) {
        let mut deceived = BTreeMap::new();
        for (robot, thoughts) in thoughts.iter().enumerate() {
            let Some(thoughts) = thoughts else { continue };
            let lies = medium.liars[robot];
            let robots = medium.liars.len();
            // Where names are invented, one that is heard from out of range is: its owner is somewhere else.
            let invented = |name: NodeId| {
                let known = scene.links.of(robot).contains(&name.into());
                usize::from(name) >= robots || (medium.faults.sybil > 0 && !known)
            };
            self.crowd(robot, scene, &invented, thoughts);
            let expelled = |robot: usize| medium.faults.expelled.contains(&robot);
            let changed = medium.faults.rekey.as_ref().map(|rekey| rekey.end);
            let since =
                changed.and_then(|changed| scene.tick.checked_sub(changed)).filter(|_| !expelled(robot));
            if let Some(since) = since {
                if thoughts.epoch == 0 {
                    self.tally.longest_rekey = self.tally.longest_rekey.max(since + 1);
                }
                let heard = |other: &Acquaintance| expelled(other.sender.into()) && other.heard_now;
                let late = since > LATE_TICKS + GUARD_TICKS && thoughts.epoch > 0;
                self.tally.fooled += u64::from(late && thoughts.known.iter().any(heard));
            }
            for &Acquaintance { sender, heard_now, followed, believed, counted, nowhere } in &thoughts.known {
                let other = usize::from(sender);
                self.tally.fooled += u64::from(nowhere);
                if let Some(tick) = self.killed.get(&other) {
                    self.tally.longest_stale = self.tally.longest_stale.max(scene.tick - tick);
                }
                if lies {
                    continue;
                }
                let liar = invented(sender) || medium.liars.get(other).copied().unwrap_or(true);
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
        self.wait(scene, medium, thoughts);
    }

    /// Whether somebody knows nobody but invented robots, though there are others in range.
    fn crowd<S>(
        &mut self,
        robot: usize,
        scene: &Scene<'_, S>,
        invented: &dyn Fn(NodeId) -> bool,
        thoughts: &Thoughts,
    ) {
        let crowded = !thoughts.known.is_empty() && thoughts.known.iter().all(|other| invented(other.sender));
        if crowded && !scene.links.of(robot).is_empty() {
            let ticks = self.crowded.entry(robot).or_default();
            *ticks += 1;
            self.tally.longest_crowded = self.tally.longest_crowded.max(*ticks);
        } else {
            self.crowded.remove(&robot);
        }
    }

    /// Waits for those who were away or silenced.
    fn wait<T: Flown>(
        &mut self,
        scene: &Scene<'_, T::State>,
        medium: &Medium<'_, T>,
        thoughts: &[Option<Thoughts>],
    ) {
        let tally = &mut self.tally;
        self.returning.retain(|(robot, since)| {
            tally.longest_return = tally.longest_return.max(scene.tick - since);
            let reaches = |other: &u32| medium.carries(scene.tick, *robot, *other as usize);
            let in_range: Vec<u32> = scene.links.of(*robot).iter().copied().filter(reaches).collect();
            !is_back(*robot, &in_range, thoughts)
        });
        // The spoofed frame itself is heard at once.
        let silent = scene.tick.saturating_sub(self.since);
        self.muted.retain(|(robot, other)| {
            let Some(thoughts) = &thoughts[*robot] else { return false };
            let hears = |known: &Acquaintance| usize::from(known.sender) == *other && known.heard_now;
            let still = scene.links.of(*robot).contains(&(*other as u32))
                && !(silent > 0 && thoughts.known.iter().any(hears));
            if still {
                tally.longest_muted = tally.longest_muted.max(silent);
            }
            still
        });
    }
}

/// How far apart numbers are. Eight sums at a time, since one would wait for itself.
fn distance(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; 8];
    for (a, b) in a.chunks(8).zip(b.chunks(8)) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += (a - b) * (a - b));
    }
    sums.iter().sum::<f32>().sqrt()
}

/// Whether a robot that was switched on counts somebody, and half of those that it can reach count it. Whom nobody can look into is back at
/// once.
fn is_back(robot: usize, in_range: &[u32], thoughts: &[Option<Thoughts>]) -> bool {
    let Some(own) = &thoughts[robot] else { return true };
    let counts_somebody = own.known.iter().any(|other| other.counted);
    let counted = in_range.iter().filter(|&&other| {
        let mut known = thoughts[other as usize].iter().flat_map(|thoughts| &thoughts.known);
        known.any(|other| other.counted && usize::from(other.sender) == robot)
    });
    // Nobody in range is nobody to be back with.
    in_range.is_empty() || (counts_somebody && 2 * counted.count() >= in_range.len())
}
