//! Ranges of parameters within a list.

/// The index range `from..to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamRange {
    /// First index.
    pub from: u16,
    /// One past the last index.
    pub to: u16,
}

impl ParamRange {
    /// Range of chunk `index` of a list of `count` elements in chunks of `length`; `None` beyond the end.
    pub fn chunk(index: u16, length: u16, count: u16) -> Option<Self> {
        let from = index.saturating_mul(length);
        (from < count).then_some(Self { from, to: from.saturating_add(length).min(count) })
    }

    /// Returns the range relative to a list that starts at index `numbers`.
    ///
    /// Indices before the start become 0.
    #[must_use]
    pub const fn beyond(&self, numbers: u16) -> Self {
        Self { from: self.from.saturating_sub(numbers), to: self.to.saturating_sub(numbers) }
    }

    /// Range of all indices.
    pub const ALL: Self = Self { from: 0, to: u16::MAX };
    /// Empty range.
    pub const NONE: Self = Self { from: 0, to: 0 };

    /// Joins two adjacent ranges; returns `other` if they are not adjacent.
    ///
    /// An empty range joined with `other` is `other`.
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

    /// Returns the part of `list` in this range.
    pub fn of<'a, T>(&self, list: &'a [T]) -> &'a [T] {
        let to = list.len().min(self.to.into());
        list.get(self.from.into()..to).unwrap_or_default()
    }

    /// Number of elements of a list of this `length` in this range.
    pub fn count_within(&self, length: u16) -> usize {
        usize::from(self.to.min(length).saturating_sub(self.from))
    }

    /// Returns the part of `list` in this range, mutable.
    pub fn of_mut<'a, T>(&self, list: &'a mut [T]) -> &'a mut [T] {
        let to = list.len().min(self.to.into());
        list.get_mut(self.from.into()..to).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_ranges_are_joined() {
        let range = |from, to| ParamRange { from, to };
        assert_eq!(range(3, 6).joined(range(6, 9)), range(3, 9));
        assert_eq!(range(6, 9).joined(range(3, 6)), range(3, 9));
        assert_eq!(range(3, 6).joined(range(9, 12)), range(9, 12));
        assert_eq!(ParamRange::NONE.joined(range(3, 6)), range(3, 6));
        assert_eq!(range(0, 12).joined(range(0, 12)), range(0, 12));
    }
}
