//! When things happen, and what a frame tells about it.

/// When things happen, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Timing {
    /// From tick to tick.
    pub period: u32,
    /// Ticks from one exchange to the next: a robot speaks in every so many-th.
    pub interval: u32,
    /// Slots in a tick. All slots of an exchange are at most [`MOST_SLOTS`].
    pub slots: u32,
    /// From a tick's beginning to its first slot: a frame is written and sealed.
    pub lead: u32,
    /// From slot to slot.
    pub slot: u32,
    /// From a slot's beginning to the first symbol in the air.
    pub delay: u32,
    /// By how much a frame is later for each time that the channel was not clear.
    pub retry: u32,
}

impl Timing {
    pub(super) const fn interval_us(&self) -> i64 {
        self.period as i64 * self.interval as i64
    }

    pub(super) const fn all_slots(&self) -> u8 {
        let all = self.interval * self.slots;
        if all > MOST_SLOTS as u32 { MOST_SLOTS } else { all as u8 }
    }
}

/// So many slots can be told apart in a [`Note`].
pub const MOST_SLOTS: u8 = 31;

/// What a frame tells about its slot, in one byte in front of it: bit 0 which of the tick's slots, bits 1–2 how often the
/// channel was not clear, bits 3–7 the slot of the exchange in which this sender heard broken frames, plus one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Note(pub u8);

impl Note {
    /// A note.
    #[must_use]
    pub const fn new(slot: u8, contested: Option<u8>) -> Self {
        let contested = match contested {
            Some(slot) => slot + 1,
            None => 0,
        };
        Self(slot & 1 | contested << 3)
    }

    /// The same with so many retries, three at most.
    #[must_use]
    pub const fn retried(self, retries: u8) -> Self {
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
