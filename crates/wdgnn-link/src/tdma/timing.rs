//! Slot timing and the slot information in frames.

use postcard_schema::Schema;
use serde::{Deserialize, Serialize};

/// Slot timing, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct SlotTiming {
    /// Duration of a tick.
    pub period: u32,
    /// Ticks per exchange: a robot sends in one of this many ticks.
    pub interval: u32,
    /// Slots per tick. An exchange has at most [`MAX_SLOTS`] slots.
    pub slots: u32,
    /// Time from the start of a tick to its first slot, to encode and seal a frame.
    pub lead: u32,
    /// Duration of a slot.
    pub slot: u32,
    /// Time from the start of a slot to the first symbol on the air.
    pub delay: u32,
    /// Delay of a frame per retry after a busy channel.
    pub retry: u32,
}

impl SlotTiming {
    pub(super) const fn interval_us(&self) -> i64 {
        self.period as i64 * self.interval as i64
    }

    pub(super) const fn all_slots(&self) -> u8 {
        let all = self.interval * self.slots;
        if all > MAX_SLOTS as u32 { MAX_SLOTS } else { all as u8 }
    }
}

/// Maximum number of slots per exchange, limited by the [`SlotInfo`].
pub const MAX_SLOTS: u8 = 31;

/// Slot information of a frame, one byte in front of it.
///
/// Bit 0 is the slot within the tick. Bits 1–2 are the number of retries after a busy channel. Bits
/// 3–7 are the slot of the exchange in which the sender received broken frames, plus one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotInfo(pub u8);

impl SlotInfo {
    /// Encodes a slot within the tick and the slot with broken frames, if any.
    pub const fn new(slot: u8, contested: Option<u8>) -> Self {
        let contested = match contested {
            Some(slot) => slot + 1,
            None => 0,
        };
        Self(slot & 1 | contested << 3)
    }

    /// Returns the note with the number of retries, at most three.
    #[must_use]
    pub const fn with_retries(self, retries: u8) -> Self {
        Self(self.0 & !0b110 | (if retries > 3 { 3 } else { retries }) << 1)
    }

    pub(super) const fn slot(self) -> u8 {
        self.0 & 1
    }

    pub(super) const fn retries(self) -> u8 {
        self.0 >> 1 & 3
    }

    pub(super) const fn contested(self) -> Option<u8> {
        (self.0 >> 3).checked_sub(1)
    }
}
