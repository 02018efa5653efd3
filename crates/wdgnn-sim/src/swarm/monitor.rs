//! Monitor of robots on a radio medium: counters and invariants.

use std::collections::BTreeMap;

use wdgnn_core::task::NodeId;
use wdgnn_link::{
    error::FrameError,
    security::replay::{MAX_FRAME_AGE_TICKS, MAX_FRAME_LEAD_TICKS},
};

use super::{NeighborStatus, TickOutcome, TrustSnapshot};
use crate::{
    counters::Counters,
    medium::{delivery::Medium, impostor::Impostor, robot_config::SharedConfig},
    scene::{Scene, SimTask},
};

/// Monitor of robots on a radio medium.
#[derive(Debug, Default)]
pub struct SwarmMonitor {
    /// Counters of the episode.
    pub counters: Counters,
    /// Removed robots and the ticks of their removal.
    pub killed: BTreeMap<usize, u32>,
    /// Restarted robots and the ticks of their restart, until they are back.
    pub returning: Vec<(usize, u32)>,
    /// Receiver and sender pairs without a frame since the spoofing attack.
    impersonated: Vec<(usize, usize)>,
    since: u32,
    /// Consecutive ticks in which a robot's table held invented robots only.
    crowded: BTreeMap<usize, u32>,
    /// Consecutive exchanges in which an honest robot trusted a liar.
    deceived: BTreeMap<(usize, NodeId), u32>,
}

impl SwarmMonitor {
    /// Starts measuring how long receivers reject the true senders after a spoofing attack.
    pub fn start_spoofing<T: SimTask>(&mut self, scene: &Scene<'_, T::State>, medium: &Medium<'_, T>) {
        let links = (0..scene.places.len())
            .flat_map(|robot| scene.links.of(robot).iter().map(move |other| (robot, *other as usize)));
        let impostor = medium.impostor.as_ref().map(Impostor::robot);
        self.impersonated = links.filter(|(_, other)| Some(*other) != impostor).collect();
        self.since = scene.tick;
    }

    /// Counts a robot's tick and checks its invariants.
    pub fn count<T: SimTask>(
        &mut self, common: &SharedConfig<T>, trust_snapshot: Option<&TrustSnapshot>,
        before: Option<&TickOutcome>, now: &TickOutcome,
    ) {
        let counters = &mut self.counters;
        let SharedConfig { robot, offline } = common;
        let norm = robot.agent.offline_norm;
        counters.heard += u64::from(now.counts.received);
        counters.most_heard = counters.most_heard.max(now.counts.received);
        for (refusal, count) in FrameError::ALL.iter().zip(now.counts.rejected) {
            counters.refused.count_many(*refusal, count);
        }
        if let Some(trust_snapshot) = trust_snapshot {
            counters.count_verdict(trust_snapshot.verdict);
            let alone = !trust_snapshot.neighbors.iter().any(|other| other.is_trusted);
            // A projection onto the ball rounds in every tick.
            let rounding = 1.0e-6 * norm;
            let before = before.map_or(&offline[..], |before| &before.wide);
            counters.learned_alone += u64::from(alone && distance(before, &now.wide) > rounding);
        }
        let ball = robot.agent.learning.ball * norm;
        let command = now.output::<T>();
        let sound = robot.agent.task.saturate(&command) == command
            && now.wide.iter().all(|x| wdgnn_core::math::is_admissible(*x))
            // Tolerance for rounding on the ball's surface.
            && (ball <= 0.0 || distance(&now.wide, offline) <= 1.001 * ball);
        counters.violations += u64::from(!sound);
    }

    /// Updates the counters about trust after a tick.
    pub fn inspect<T: SimTask>(
        &mut self, scene: &Scene<'_, T::State>, medium: &Medium<'_, T>,
        trust_snapshot: &[Option<TrustSnapshot>],
    ) {
        let mut deceived = BTreeMap::new();
        for (robot, trust_snapshot) in trust_snapshot.iter().enumerate() {
            let Some(trust_snapshot) = trust_snapshot else { continue };
            let lies = medium.liars[robot];
            let robots = medium.liars.len();
            // Under a Sybil attack, a name heard from out of range is invented: its owner is
            // elsewhere.
            let invented = |name: NodeId| {
                let known = scene.links.of(robot).contains(&name.into());
                usize::from(name) >= robots || (medium.faults.sybil > 0 && !known)
            };
            self.track_crowding(robot, scene, &invented, trust_snapshot);
            let expelled = |robot: usize| medium.faults.expel.contains(&robot);
            let changed = medium.faults.rekey.as_ref().map(|rekey| rekey.end);
            let since =
                changed.and_then(|changed| scene.tick.checked_sub(changed)).filter(|_| !expelled(robot));
            if let Some(since) = since {
                if trust_snapshot.epoch == 0 {
                    self.counters.longest_rekey = self.counters.longest_rekey.max(since + 1);
                }
                let heard = |other: &NeighborStatus| expelled(other.sender.into()) && other.heard_now;
                let late = since > MAX_FRAME_AGE_TICKS + MAX_FRAME_LEAD_TICKS && trust_snapshot.epoch > 0;
                self.counters.fooled += u64::from(late && trust_snapshot.neighbors.iter().any(heard));
            }
            for &NeighborStatus { sender, heard_now, is_checked, is_plausible, is_trusted, is_forged } in
                &trust_snapshot.neighbors
            {
                let other = usize::from(sender);
                self.counters.fooled += u64::from(is_forged);
                if let Some(tick) = self.killed.get(&other) {
                    self.counters.longest_stale = self.counters.longest_stale.max(scene.tick - tick);
                }
                if lies {
                    continue;
                }
                let liar = invented(sender) || medium.liars.get(other).copied().unwrap_or(true);
                if heard_now && is_checked {
                    let words = if liar { &mut self.counters.lies } else { &mut self.counters.truths };
                    words.told += 1;
                    words.refused += u64::from(!is_plausible);
                }
                if liar && is_trusted {
                    let pair = (robot, sender);
                    let before = self.deceived.get(&pair).copied().unwrap_or_default();
                    let times = before + u32::from(heard_now);
                    self.counters.longest_deceived = self.counters.longest_deceived.max(times);
                    deceived.insert(pair, times);
                }
            }
        }
        self.deceived = deceived;
        self.track_returns(scene, medium, trust_snapshot);
    }

    /// Counts ticks in which a robot with others in range knows invented robots only.
    fn track_crowding<S>(
        &mut self, robot: usize, scene: &Scene<'_, S>, invented: &dyn Fn(NodeId) -> bool,
        trust_snapshot: &TrustSnapshot,
    ) {
        let crowded = !trust_snapshot.neighbors.is_empty()
            && trust_snapshot.neighbors.iter().all(|other| invented(other.sender));
        if crowded && !scene.links.of(robot).is_empty() {
            let ticks = self.crowded.entry(robot).or_default();
            *ticks += 1;
            self.counters.longest_crowded = self.counters.longest_crowded.max(*ticks);
        } else {
            self.crowded.remove(&robot);
        }
    }

    /// Measures how long restarted and impersonated robots take to be heard again.
    fn track_returns<T: SimTask>(
        &mut self, scene: &Scene<'_, T::State>, medium: &Medium<'_, T>,
        trust_snapshot: &[Option<TrustSnapshot>],
    ) {
        let counters = &mut self.counters;
        self.returning.retain(|(robot, since)| {
            counters.longest_return = counters.longest_return.max(scene.tick - since);
            let reaches = |other: &u32| medium.carries(scene.tick, *robot, *other as usize);
            let in_range: Vec<u32> = scene.links.of(*robot).iter().copied().filter(reaches).collect();
            !is_back(*robot, &in_range, trust_snapshot)
        });
        // The spoofed frame itself arrives at once.
        let silent = scene.tick.saturating_sub(self.since);
        self.impersonated.retain(|(robot, other)| {
            let Some(trust_snapshot) = &trust_snapshot[*robot] else { return false };
            let hears = |known: &NeighborStatus| usize::from(known.sender) == *other && known.heard_now;
            let still = scene.links.of(*robot).contains(&(*other as u32))
                && !(silent > 0 && trust_snapshot.neighbors.iter().any(hears));
            if still {
                counters.longest_muted = counters.longest_muted.max(silent);
            }
            still
        });
    }
}

/// Euclidean distance, with eight independent sums for instruction-level parallelism.
fn distance(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; 8];
    for (a, b) in a.chunks(8).zip(b.chunks(8)) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += (a - b) * (a - b));
    }
    sums.iter().sum::<f32>().sqrt()
}

/// Returns whether a restarted robot trusts a neighbor and half of those in range trust it.
///
/// Robots without a trust snapshot count as back.
fn is_back(robot: usize, in_range: &[u32], trust_snapshot: &[Option<TrustSnapshot>]) -> bool {
    let Some(own) = &trust_snapshot[robot] else { return true };
    let trusts_any = own.neighbors.iter().any(|other| other.is_trusted);
    let counted = in_range.iter().filter(|&&other| {
        let mut known =
            trust_snapshot[other as usize].iter().flat_map(|trust_snapshot| &trust_snapshot.neighbors);
        known.any(|other| other.is_trusted && usize::from(other.sender) == robot)
    });
    // A robot without others in range counts as back.
    in_range.is_empty() || (trusts_any && 2 * counted.count() >= in_range.len())
}
