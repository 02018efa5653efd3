//! Matrix of LEDs between row and column pins.

use crate::pins::{Change, Output, Pin, Pins};

/// Matrix whose LEDs light while their row is high and their column is low.
#[derive(Clone, Debug)]
pub struct LedMatrix<const ROWS: usize, const COLUMNS: usize> {
    rows: [Pin; ROWS],
    columns: [Pin; COLUMNS],
    rows_high: [bool; ROWS],
    columns_low: [bool; COLUMNS],
    /// Time of the last change.
    since: u64,
    /// Start of the measurement of [`LedMatrix::take`].
    begin: u64,
    lit: [[u64; COLUMNS]; ROWS],
}

impl<const ROWS: usize, const COLUMNS: usize> LedMatrix<ROWS, COLUMNS> {
    /// Connects the matrix. The pins record their changes from now on.
    pub fn new(rows: [Pin; ROWS], columns: [Pin; COLUMNS], pins: &mut Pins) -> Self {
        rows.iter().chain(&columns).for_each(|pin| pins.record(*pin));
        let rows_high = rows.map(|pin| pins.output(pin) == Output::Level(true));
        let columns_low = columns.map(|pin| pins.output(pin) == Output::Level(false));
        Self { rows, columns, rows_high, columns_low, since: 0, begin: 0, lit: [[0; COLUMNS]; ROWS] }
    }

    fn advance(&mut self, now: u64) {
        let elapsed = now.saturating_sub(self.since);
        for (lit, _) in self.lit.iter_mut().zip(self.rows_high).filter(|(_, high)| *high) {
            for (lit, _) in lit.iter_mut().zip(self.columns_low).filter(|(_, low)| *low) {
                *lit += elapsed;
            }
        }
        self.since = now;
    }

    /// Reads recorded changes, [`Pins::changes`]. Changes of other pins are ignored.
    pub fn update(&mut self, changes: &[Change]) {
        for Change { at, pin, output } in changes {
            self.advance(*at);
            if let Some(row) = self.rows.iter().position(|row| row == pin) {
                self.rows_high[row] = *output == Output::Level(true);
            }
            if let Some(column) = self.columns.iter().position(|column| column == pin) {
                self.columns_low[column] = *output == Output::Level(false);
            }
        }
    }

    /// Returns each LED's share of time lit since the last call.
    pub fn take(&mut self, now: u64) -> [[f64; COLUMNS]; ROWS] {
        self.advance(now);
        let elapsed = now.saturating_sub(std::mem::replace(&mut self.begin, now)).max(1);
        std::mem::replace(&mut self.lit, [[0; COLUMNS]; ROWS])
            .map(|row| row.map(|lit| lit as f64 / elapsed as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_led_lights_while_its_row_is_high_and_its_column_is_low() {
        let [row0, row1, column0, column1] = [0, 1, 2, 3].map(|number| Pin::new(0, number));
        let mut matrix = LedMatrix::new([row0, row1], [column0, column1], &mut Pins::default());
        let change = |at, pin, high| Change { at, pin, output: Output::Level(high) };
        matrix.update(&[change(0, row0, true), change(10, column0, false), change(40, column1, false)]);
        matrix.update(&[change(80, row0, false), change(80, row1, true)]);
        assert_eq!(matrix.take(100), [[0.7, 0.4], [0.2, 0.2]]);
        assert_eq!(matrix.take(200), [[0.0, 0.0], [1.0, 1.0]]);
    }
}
