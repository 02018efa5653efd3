//! Tensors borrowed from a flat list of numbers.

/// Takes tensors from the front of a list of numbers, without copying.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Reader<'w> {
    rest: &'w [f32],
}

impl<'w> Reader<'w> {
    /// Starts at the front of `numbers`.
    #[must_use]
    pub fn new(numbers: &'w [f32]) -> Self {
        Self { rest: numbers }
    }

    /// Returns whether all numbers have been taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    fn take(&mut self, count: usize) -> Option<&'w [f32]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    /// Takes the next `N` numbers, or returns `None` if fewer are left.
    pub fn vector<const N: usize>(&mut self) -> Option<&'w [f32; N]> {
        self.take(N)?.try_into().ok()
    }

    /// Takes the next `ROWS` rows, or returns `None` if too few numbers are left.
    pub fn matrix<const ROWS: usize, const COLUMNS: usize>(&mut self) -> Option<&'w [[f32; COLUMNS]; ROWS]> {
        self.take(ROWS * COLUMNS)?.as_chunks().0.try_into().ok()
    }

    /// Takes the next filter, or returns `None` if too few numbers are left.
    pub fn filter<const TAPS: usize, const IN: usize, const OUT: usize>(
        &mut self,
    ) -> Option<&'w [[[f32; OUT]; IN]; TAPS]> {
        self.take(TAPS * IN * OUT)?.as_chunks().0.as_chunks().0.try_into().ok()
    }
}
