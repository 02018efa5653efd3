//! What is counted in a flight with faults.

use std::{collections::BTreeMap, fmt::Display};

use serde::{Deserialize, Serialize};
use wdgnn_link::error::Refusals;
use wdgnn_robot::safety::gate::{Isolation, Verdict};

/// What honest robots thought of words that came in time from somebody they knew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageCounts {
    /// How many there were, at most one per sender and tick.
    pub told: u64,
    /// How many of them contradicted the ones before.
    pub refused: u64,
}

impl MessageCounts {
    /// The share that was refused.
    pub fn share(&self) -> f64 {
        self.refused as f64 / self.told.max(1) as f64
    }

    fn add(&mut self, other: &Self) {
        self.told += other.told;
        self.refused += other.refused;
    }
}

/// What was counted, over all robots and ticks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// Frames heard, refused ones included.
    pub heard: u64,
    /// Frames refused, by reason.
    #[serde(with = "reasons")]
    pub refused: Refusals,
    /// The most frames that one robot looked at in one tick.
    pub most_heard: u32,
    /// Frames of a recording that were played.
    pub replayed: u64,
    /// Frames with a wrong key that were heard.
    pub forged: u64,
    /// Forged frames that somebody believed. Must be none.
    pub fooled: u64,
    /// Commands beyond the limit or not finite, and parameters not finite or outside the ball. Must be none.
    pub violations: u64,
    /// Honest robots' words.
    pub truths: MessageCounts,
    /// Liars' words.
    pub lies: MessageCounts,
    /// In how many exchanges in a row at most an honest robot believed a liar.
    pub longest_deceived: u32,
    /// For how many ticks at most a robot that was gone stayed in a table.
    pub longest_stale: u32,
    /// How many ticks it took at most until a restarted robot was back: it counts somebody, and half of those in range
    /// count it.
    pub longest_return: u32,
    /// How many ticks it took at most until somebody in whose name an impostor spoke was heard again by somebody in range.
    pub longest_muted: u32,
    /// For how many ticks at most somebody with robots in range had nobody but invented ones in its table.
    pub longest_crowded: u32,
    /// How many ticks after the change at most somebody who stays still used the old key.
    pub longest_rekey: u32,
    /// Ticks of lonely robots that held, slowed down and stopped.
    pub alone: [u64; 3],
    /// How often a lonely robot's parameters changed. Must never be.
    pub learned_alone: u64,
}

impl Counters {
    /// Counts what the safety gate said.
    pub fn judge(&mut self, verdict: Verdict) {
        if let Verdict::Alone(isolation) = verdict {
            let phase = match isolation {
                Isolation::Hold => 0,
                Isolation::Slow => 1,
                Isolation::Stop => 2,
            };
            self.alone[phase] += 1;
        }
    }

    /// Refusals by name.
    pub fn refused_by_name(&self) -> BTreeMap<&'static str, u64> {
        by_name(&self.refused)
    }

    /// Adds another flight's.
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

/// Refusals as they are kept in files: how often for each reason, in the order of reasons.
mod reasons {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};
    use wdgnn_link::error::{Refusal, Refusals};

    pub fn serialize<S: Serializer>(refusals: &Refusals, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(Refusal::ALL.iter().map(|reason| refusals.of(*reason)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Refusals, D::Error> {
        let counts = Vec::<u32>::deserialize(from)?;
        if counts.len() != Refusal::ALL.len() {
            return Err(D::Error::custom("another number of reasons"));
        }
        let mut refusals = Refusals::default();
        Refusal::ALL.iter().zip(counts).for_each(|(reason, count)| refusals.count_many(*reason, count));
        Ok(refusals)
    }
}

/// Refusals by name.
pub fn by_name(refusals: &Refusals) -> BTreeMap<&'static str, u64> {
    refusals.iter().map(|(reason, count)| (reason.name(), u64::from(count))).collect()
}

/// Refusals as people read them.
pub fn in_words(refused: &BTreeMap<impl Display, u64>) -> String {
    let words: Vec<String> = refused.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    if words.is_empty() { "–".into() } else { words.join(", ") }
}
