//! Runs of numbers within a list.

/// A run of numbers, `from..to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ParamRange {
    /// The first.
    pub from: u16,
    /// One behind the last.
    pub to: u16,
}

impl ParamRange {
    /// The same run in a list that begins so many numbers later.
    #[must_use]
    pub const fn beyond(&self, numbers: u16) -> Self {
        Self { from: self.from.saturating_sub(numbers), to: self.to.saturating_sub(numbers) }
    }

    /// Every number, however many there are.
    pub const ALL: Self = Self { from: 0, to: u16::MAX };
    /// None.
    pub const NONE: Self = Self { from: 0, to: 0 };

    /// This run and another one that begins where it ends, or ends where it begins; where they do not meet, the other one.
    #[must_use]
    pub const fn joined(self, other: Self) -> Self {
        if self.from >= self.to {
            other
        } else if self.to == other.from {
            Self { from: self.from, to: other.to }
        } else if other.to == self.from {
            Self { from: other.from, to: self.to }
        } else {
            other
        }
    }

    /// The numbers of a list that lie in this run.
    #[must_use]
    pub fn of<'a, T>(&self, list: &'a [T]) -> &'a [T] {
        let to = list.len().min(self.to.into());
        list.get(self.from.into()..to).unwrap_or_default()
    }

    /// How many numbers of a list of this length lie in this run.
    #[must_use]
    pub fn count(&self, length: u16) -> usize {
        usize::from(self.to.min(length).saturating_sub(self.from))
    }

    /// The numbers of a list that lie in this run, to change.
    #[must_use]
    pub fn of_mut<'a, T>(&self, list: &'a mut [T]) -> &'a mut [T] {
        let to = list.len().min(self.to.into());
        list.get_mut(self.from.into()..to).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_meet_are_one() {
        let run = |from, to| ParamRange { from, to };
        assert_eq!(run(3, 6).joined(run(6, 9)), run(3, 9));
        assert_eq!(run(6, 9).joined(run(3, 6)), run(3, 9));
        assert_eq!(run(3, 6).joined(run(9, 12)), run(9, 12));
        assert_eq!(ParamRange::NONE.joined(run(3, 6)), run(3, 6));
        assert_eq!(run(0, 12).joined(run(0, 12)), run(0, 12));
    }
}
