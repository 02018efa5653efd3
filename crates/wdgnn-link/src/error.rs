//! Reasons for rejecting a frame. Each is counted; none ends a tick.

use postcard_schema::Schema;
use serde::{Deserialize, Serialize};

/// Declares the reasons with their names.
macro_rules! frame_errors {
    ($($(#[$doc:meta])* $reason:ident $name:literal,)*) => {
        /// Reason for rejecting a frame.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema, thiserror::Error)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[error("{}", self.name())]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum FrameError {
            $($(#[$doc])* $reason,)*
        }

        impl FrameError {
            /// All reasons, in the order of their counters.
            pub const ALL: &'static [Self] = &[$(Self::$reason),*];

            /// Short name for tables and logs.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$reason => $name,)*
                }
            }
        }
    };
}

frame_errors! {
    /// Shorter than a header.
    TooShort "too-short",
    /// Other version of the protocol.
    Version "version",
    /// Other link profile.
    Profile "profile",
    /// Other number of state numbers, taps or wide parameters.
    Dimensions "dimensions",
    /// Shorter than its content.
    Truncated "truncated",
    /// Longer than its content.
    Trailing "trailing",
    /// The sender runs another weight file. A sealed link still delivers its state.
    Model "model",
    /// A number is NaN, infinite, subnormal or too large.
    NotAdmissible "not-admissible",
    /// Sent from the receiver's own address.
    OwnFrame "own-frame",
    /// Not newer than the last frame of the sender.
    Old "old",
    /// The sender is new, and the table is full of neighbors that still send.
    TableFull "table-full",
    /// More frames in one tick than a robot reads.
    Flood "flood",
    /// Wrong tag: made or changed without the key, or from another swarm.
    Forged "forged",
    /// Sealed, but not newer than the last frame of the sender.
    Replayed "replayed",
    /// Sealed, but neither of this tick nor of the ticks next to it.
    OutOfWindow "out-of-window",
    /// Sealed by one more sender than a robot keeps in its replay window.
    TooManySenders "too-many-senders",
    /// The state contradicts earlier frames, or taps or parameters exceed those of an honest robot.
    Implausible "implausible",
    /// Sealed by an address that does not exist in the swarm.
    UnknownSender "unknown-sender",
    /// A valid key update, which carries no message ([`crate::security::key_update`]).
    KeyUpdate "key-update",
}

/// Number of rejected frames by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameErrorCounts([u32; FrameError::ALL.len()]);

#[cfg(feature = "defmt")]
impl defmt::Format for FrameErrorCounts {
    fn format(&self, log: defmt::Formatter<'_>) {
        // A loop over a list of unknown length stays a loop: 200 bytes of flash.
        defmt::write!(log, "{=[?]}", core::hint::black_box(self.0.as_slice()));
    }
}

impl FrameErrorCounts {
    /// Counts one frame.
    pub fn count(&mut self, error: FrameError) {
        self.count_many(error, 1);
    }

    /// Counts `times` frames.
    pub fn count_many(&mut self, error: FrameError, times: u32) {
        if let Some(counter) = self.0.get_mut(error as usize) {
            *counter = counter.saturating_add(times);
        }
    }

    /// Number of frames rejected for a reason.
    pub fn of(&self, error: FrameError) -> u32 {
        self.0.get(error as usize).copied().unwrap_or_default()
    }

    /// Number of rejected frames.
    pub fn total(&self) -> u32 {
        self.0.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Adds the counts of another period.
    pub fn add(&mut self, other: &Self) {
        for (sum, count) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_add(count);
        }
    }

    /// Reasons that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (FrameError, u32)> {
        FrameError::ALL.iter().copied().zip(self.0).filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_own_counter_and_name() {
        let mut counts = FrameErrorCounts::default();
        for (index, error) in FrameError::ALL.iter().copied().enumerate() {
            assert_eq!(error as usize, index);
            for _ in 0..=index {
                counts.count(error);
            }
        }
        for (index, error) in FrameError::ALL.iter().copied().enumerate() {
            assert_eq!(counts.of(error), index as u32 + 1);
            assert_eq!(FrameError::ALL.iter().filter(|other| other.name() == error.name()).count(), 1);
        }
        assert_eq!(counts.total(), 190);
        let mut twice = counts;
        twice.add(&counts);
        assert_eq!(twice.total(), 380);
    }
}
