//! Why a frame is refused. Every reason is counted; none is an error that ends a tick.

/// The reason for which a frame was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
#[repr(u8)]
pub enum FrameError {
    /// Shorter than a header.
    TooShort,
    /// Another version of the protocol.
    Version,
    /// Another link profile.
    Profile,
    /// Another number of state, tap or wide numbers.
    Dimensions,
    /// The frame ends before its content does.
    Truncated,
    /// Bytes behind the content.
    Trailing,
    /// The sender flies another model. Where frames are sealed, its state is taken in all the same.
    Model,
    /// A NaN, an infinity, a subnormal or a number too large.
    NotAdmissible,
    /// The frame carries this node's own address.
    Echo,
    /// Not newer than what was last heard of this sender: a duplicate, a late frame, a replay.
    Old,
    /// A newcomer, and the table is full of neighbors that are still talking.
    TableFull,
    /// More frames in one tick than a node looks at.
    Flood,
    /// The tag does not fit: made or changed by somebody without the key, or of another swarm. Both look the same.
    Forged,
    /// Sealed, but not newer than the last frame of this sender.
    Replayed,
    /// Sealed, but not of these ticks.
    Untimely,
    /// Sealed by one more sender than a node keeps count of.
    TooManySenders,
    /// The state contradicts what the sender said before, or taps or parameters are beyond what an honest robot can have.
    Implausible,
    /// Sealed in the name of somebody who does not exist in this swarm.
    Unlisted,
    /// It brings the swarm's next key, for this robot or for another one, and is no beacon ([`crate::security::key_update`]).
    NewKey,
}

impl FrameError {
    /// Every reason, in the order of their counters.
    pub const ALL: &'static [Self] = &[
        Self::TooShort,
        Self::Version,
        Self::Profile,
        Self::Dimensions,
        Self::Truncated,
        Self::Trailing,
        Self::Model,
        Self::NotAdmissible,
        Self::Echo,
        Self::Old,
        Self::TableFull,
        Self::Flood,
        Self::Forged,
        Self::Replayed,
        Self::Untimely,
        Self::TooManySenders,
        Self::Implausible,
        Self::Unlisted,
        Self::NewKey,
    ];

    /// A short name for tables and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooShort => "too-short",
            Self::Version => "version",
            Self::Profile => "profile",
            Self::Dimensions => "dimensions",
            Self::Truncated => "truncated",
            Self::Trailing => "trailing",
            Self::Model => "model",
            Self::NotAdmissible => "not-admissible",
            Self::Echo => "echo",
            Self::Old => "old",
            Self::TableFull => "table-full",
            Self::Flood => "flood",
            Self::Forged => "forged",
            Self::Replayed => "replayed",
            Self::Untimely => "untimely",
            Self::TooManySenders => "too-many-senders",
            Self::Implausible => "implausible",
            Self::Unlisted => "unlisted",
            Self::NewKey => "new-key",
        }
    }
}

/// How often each reason occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FrameErrorCounts([u32; FrameError::ALL.len()]);

impl FrameErrorCounts {
    /// Counts one.
    pub fn count(&mut self, refusal: FrameError) {
        if let Some(counter) = self.0.get_mut(refusal as usize) {
            *counter = counter.saturating_add(1);
        }
    }

    /// Counts so many.
    pub fn count_many(&mut self, refusal: FrameError, times: u32) {
        if let Some(counter) = self.0.get_mut(refusal as usize) {
            *counter = counter.saturating_add(times);
        }
    }

    /// How often for this reason.
    #[must_use]
    pub fn of(&self, refusal: FrameError) -> u32 {
        self.0.get(refusal as usize).copied().unwrap_or_default()
    }

    /// How often in all.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.0.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Adds another count, such as a tick's to a flight's.
    pub fn add(&mut self, other: &Self) {
        for (sum, count) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_add(count);
        }
    }

    /// The reasons that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (FrameError, u32)> {
        FrameError::ALL.iter().copied().zip(self.0).filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_own_counter_and_name() {
        let mut refusals = FrameErrorCounts::default();
        for (index, refusal) in FrameError::ALL.iter().copied().enumerate() {
            assert_eq!(refusal as usize, index);
            for _ in 0..=index {
                refusals.count(refusal);
            }
        }
        for (index, refusal) in FrameError::ALL.iter().copied().enumerate() {
            assert_eq!(refusals.of(refusal), index as u32 + 1);
            assert_eq!(FrameError::ALL.iter().filter(|other| other.name() == refusal.name()).count(), 1);
        }
        assert_eq!(refusals.total(), 190);
        let mut twice = refusals;
        twice.add(&refusals);
        assert_eq!(twice.total(), 380);
    }
}
