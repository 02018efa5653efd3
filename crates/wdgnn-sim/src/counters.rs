//! Counters of an episode with a radio medium.

use std::{collections::BTreeMap, fmt::Display};

use serde::{Deserialize, Serialize};
use wdgnn_link::error::FrameErrorCounts;
use wdgnn_robot::safety::gate::{IsolationPhase, Verdict};

/// Plausibility checks of states that arrived in time from known neighbors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageCounts {
    /// Number of states, at most one per sender and tick.
    pub told: u64,
    /// Number of states that contradicted the previous ones.
    pub refused: u64,
}

impl MessageCounts {
    /// Returns the share of rejected states.
    pub fn share(&self) -> f64 {
        self.refused as f64 / self.told.max(1) as f64
    }

    fn add(&mut self, other: &Self) {
        self.told += other.told;
        self.refused += other.refused;
    }
}

/// Counters over all robots and ticks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// Received frames, rejected ones included.
    pub heard: u64,
    /// Rejected frames, by reason.
    #[serde(with = "reasons")]
    pub refused: FrameErrorCounts,
    /// Largest number of frames that one robot examined in one tick.
    pub most_heard: u32,
    /// Replayed frames.
    pub replayed: u64,
    /// Received frames with a wrong key.
    pub forged: u64,
    /// Forged frames that a robot accepted. Must be zero.
    pub fooled: u64,
    /// Invariant violations. Must be zero.
    ///
    /// Counts commands beyond the limit or not finite, and parameters not finite or outside the
    /// ball.
    pub violations: u64,
    /// Checks of states from honest robots.
    pub truths: MessageCounts,
    /// Checks of states from liars.
    pub lies: MessageCounts,
    /// Most consecutive exchanges in which an honest robot trusted a liar.
    pub longest_deceived: u32,
    /// Most ticks that a removed robot stayed in a table.
    pub longest_stale: u32,
    /// Most ticks until a restarted robot was back.
    ///
    /// It is back when it trusts a neighbor and half of those in range trust it.
    pub longest_return: u32,
    /// Most ticks until an impersonated robot was heard again by a robot in range.
    pub longest_muted: u32,
    /// Most ticks that a robot with others in range had only invented robots in its table.
    pub longest_crowded: u32,
    /// Most ticks after a key change that a remaining robot used the old key.
    pub longest_rekey: u32,
    /// Ticks in which isolated robots held, slowed down and stopped.
    pub alone: [u64; 3],
    /// Changes of an isolated robot's parameters. Must be zero.
    pub learned_alone: u64,
}

impl Counters {
    /// Counts a verdict of the safety gate.
    pub fn count_verdict(&mut self, verdict: Verdict) {
        if let Verdict::Alone(isolation) = verdict {
            let phase = match isolation {
                IsolationPhase::Hold => 0,
                IsolationPhase::Slow => 1,
                IsolationPhase::Stop => 2,
            };
            self.alone[phase] += 1;
        }
    }

    /// Returns rejected frames by name of the reason.
    pub fn refused_by_name(&self) -> BTreeMap<&'static str, u64> {
        by_name(&self.refused)
    }

    /// Adds the counters of another episode.
    pub fn add(&mut self, other: &Self) {
        self.heard += other.heard;
        self.refused.add(&other.refused);
        self.most_heard = self.most_heard.max(other.most_heard);
        self.replayed += other.replayed;
        self.forged += other.forged;
        self.fooled += other.fooled;
        self.truths.add(&other.truths);
        self.lies.add(&other.lies);
        self.violations += other.violations;
        self.longest_deceived = self.longest_deceived.max(other.longest_deceived);
        self.longest_stale = self.longest_stale.max(other.longest_stale);
        self.longest_return = self.longest_return.max(other.longest_return);
        self.longest_muted = self.longest_muted.max(other.longest_muted);
        self.longest_crowded = self.longest_crowded.max(other.longest_crowded);
        self.longest_rekey = self.longest_rekey.max(other.longest_rekey);
        self.alone.iter_mut().zip(other.alone).for_each(|(sum, count)| *sum += count);
        self.learned_alone += other.learned_alone;
    }
}

/// Serialization of rejected frames: one count per reason, in order.
mod reasons {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};
    use wdgnn_link::error::{FrameError, FrameErrorCounts};

    pub fn serialize<S: Serializer>(refusals: &FrameErrorCounts, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(FrameError::ALL.iter().map(|reason| refusals.of(*reason)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<FrameErrorCounts, D::Error> {
        let counts = Vec::<u32>::deserialize(from)?;
        if counts.len() != FrameError::ALL.len() {
            return Err(D::Error::custom("wrong number of reasons"));
        }
        let mut refusals = FrameErrorCounts::default();
        FrameError::ALL.iter().zip(counts).for_each(|(reason, count)| refusals.count_many(*reason, count));
        Ok(refusals)
    }
}

/// Returns rejected frames by name of the reason.
pub fn by_name(refusals: &FrameErrorCounts) -> BTreeMap<&'static str, u64> {
    refusals.iter().map(|(reason, count)| (reason.name(), u64::from(count))).collect()
}

/// Formats rejected frames for tables.
pub fn format_rejections(refused: &BTreeMap<impl Display, u64>) -> String {
    let words: Vec<String> = refused.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    if words.is_empty() { "–".into() } else { words.join(", ") }
}
