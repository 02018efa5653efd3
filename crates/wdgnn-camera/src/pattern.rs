//! Printed patterns: reflectance of a flat plate at a point.
//!
//! Plate coordinates are meters from the middle, x to the right and y up, as seen from the front.

use crate::marker::{CELLS, cells};

/// Reflectance of white paper (a typical value of matt paper).
pub const WHITE: f32 = 0.85;
/// Reflectance of printer's black (a typical value of toner).
pub const BLACK: f32 = 0.04;

/// Grid of cells in a white border: a marker, a ChArUco board, or one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// Half of width and height in meters, with the border.
    half: [f32; 2],
    /// Half of width and height in meters, without the border.
    inner: [f32; 2],
    /// Columns and rows.
    count: [usize; 2],
    /// Columns and rows per meter.
    per_meter: [f32; 2],
    /// Reflectances, row by row from the top, in a ring of one cell for the border.
    cells: Vec<f32>,
}

impl Pattern {
    fn new(count: [usize; 2], cell: [f32; 2], border: f32, cells: &[f32]) -> Self {
        let inner = [0, 1].map(|axis| count[axis] as f32 * cell[axis] / 2.0);
        let half = inner.map(|half| half + border);
        let ring = vec![WHITE; count[0] + 2];
        let rows = cells.chunks(count[0]).flat_map(|row| [&[WHITE], row, &[WHITE]].concat());
        let cells = ring.iter().copied().chain(rows).chain(ring.iter().copied()).collect();
        Self { half, inner, count, per_meter: cell.map(|side| 1.0 / side), cells }
    }

    /// Rectangle of one reflectance with this width and height in meters.
    pub fn plain(size: [f32; 2], reflectance: f32) -> Self {
        Self::new([1, 1], size, 0.0, &[reflectance])
    }

    /// Marker with a side of `side` meters in a white border; `None` for an unknown marker.
    pub fn marker(id: u8, side: f32, border: f32) -> Option<Self> {
        let cells: Vec<f32> = cells(id)?.concat().into_iter().map(reflectance).collect();
        Some(Self::new([CELLS; 2], [side / CELLS as f32; 2], border, &cells))
    }

    /// Board of OpenCV's class `CharucoBoard`: squares, black at the top left, with markers in the
    /// white ones, numbered row by row from `first`; `None` if there are not enough markers.
    ///
    /// A square is `square` meters wide and has `cells_of_square` cells, a marker has 6: with 8
    /// cells, the marker's side is 3/4 of the square's.
    pub fn board(
        [columns, rows]: [usize; 2], square: f32, cells_of_square: usize, first: u8,
    ) -> Option<Self> {
        let margin = cells_of_square.checked_sub(CELLS)? / 2;
        let width = columns * cells_of_square;
        let mut white = vec![false; width * rows * cells_of_square];
        let mut id = first;
        for row in 0..rows {
            for column in (0..columns).filter(|column| (column + row) % 2 == 1) {
                let marker = cells(id)?;
                id += 1;
                for y in 0..cells_of_square {
                    for x in 0..cells_of_square {
                        let inside = |at: usize| at.checked_sub(margin).filter(|&at| at < CELLS);
                        let at = (row * cells_of_square + y) * width + column * cells_of_square + x;
                        white[at] = inside(x).zip(inside(y)).is_none_or(|(x, y)| marker[y][x]);
                    }
                }
            }
        }
        let cells: Vec<f32> = white.into_iter().map(reflectance).collect();
        let side = square / cells_of_square as f32;
        Some(Self::new([width, rows * cells_of_square], [side; 2], square / 2.0, &cells))
    }

    /// Half of width and height in meters.
    #[inline]
    pub fn half(&self) -> [f32; 2] {
        self.half
    }

    /// Reflectance at a point; `None` outside the plate.
    #[inline]
    pub fn reflectance(&self, [x, y]: [f32; 2]) -> Option<f32> {
        let (sum, count) = self.sum(&[x], &[y]);
        (count > 0.0).then_some(sum)
    }

    /// Sum of the reflectances at points, and the number of those on the plate. Without branches,
    /// so that the compiler computes several points at once.
    #[inline]
    pub fn sum<const N: usize>(&self, x: &[f32; N], y: &[f32; N]) -> (f32, f32) {
        let width = self.count[0] as u32 + 2;
        let (last_column, last_row) = (self.count[0] as f32 + 0.5, self.count[1] as f32 + 0.5);
        let (mut index, mut inside) = ([0_u32; N], [0.0_f32; N]);
        for at in 0..N {
            let column = (x[at] + self.inner[0]) * self.per_meter[0];
            let row = (self.inner[1] - y[at]) * self.per_meter[1];
            let column = integer_part(column.max(-0.5).min(last_column) + 1.0);
            let row = integer_part(row.max(-0.5).min(last_row) + 1.0);
            index[at] = row * width + column;
            let covers = (x[at].abs() <= self.half[0]) & (y[at].abs() <= self.half[1]);
            inside[at] = f32::from(u8::from(covers));
        }
        let (mut sum, mut count) = (0.0, 0.0);
        for (index, inside) in index.into_iter().zip(inside) {
            sum += inside * self.cells.get(index as usize).copied().unwrap_or(WHITE);
            count += inside;
        }
        (sum, count)
    }

    /// Lower bound of the distance to the next edge in meters; negative outside the plate.
    #[inline]
    pub fn distance_to_edge(&self, point: [f32; 2]) -> f32 {
        let distance = |axis: usize| {
            let at: f32 = point[axis];
            let cells = (at + self.inner[axis]) * self.per_meter[axis];
            let phase = cells - cells.floor();
            let inner = phase.min(1.0 - phase) / self.per_meter[axis];
            (self.half[axis] - at.abs()).min(inner)
        };
        distance(0).min(distance(1))
    }
}

/// Integer part of a number from 0.5 to a million, by its bits: a conversion would also check the
/// range.
#[inline]
fn integer_part(number: f32) -> u32 {
    // Numbers from 2²³ on have no fraction.
    const SHIFT: f32 = 8_388_608.0;
    (number - 0.5 + SHIFT).to_bits() & 0x7f_ffff
}

fn reflectance(white: bool) -> f32 {
    if white { WHITE } else { BLACK }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marker_is_upright_in_its_border() {
        let pattern = Pattern::marker(0, 0.06, 0.01).unwrap();
        let at = |x: f32, y: f32| pattern.reflectance([x / 100.0, y / 100.0]);
        assert_eq!((pattern.half(), at(4.1, 0.0), at(3.9, 0.0)), ([0.04; 2], None, Some(WHITE)));
        // Cells of 1 cm. The first row of marker 0 is white, black, white, white from the left.
        let row = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5].map(|x| at(x, 1.5) == Some(WHITE));
        assert_eq!(row, [false, true, false, true, true, false]);
        assert_eq!(at(-0.5, -1.5), Some(BLACK));
        assert_eq!(at(0.5, -1.5), Some(WHITE), "the last row is black, black, white, black");
    }

    #[test]
    fn board_starts_black_and_has_markers_in_white_squares() {
        let board = Pattern::board([3, 2], 0.08, 8, 30).unwrap();
        assert_eq!(board.count, [24, 16]);
        let square = |column: usize, row: usize| -> Vec<f32> {
            (0..64).map(|i| board.cells[(row * 8 + i / 8 + 1) * 26 + column * 8 + i % 8 + 1]).collect()
        };
        assert_eq!((square(0, 0), square(1, 1)), (vec![BLACK; 64], vec![BLACK; 64]));
        for ((column, row), id) in [((1, 0), 30), ((0, 1), 31), ((2, 1), 32)] {
            let found = square(column, row);
            let inner: Vec<bool> = (0..36).map(|i| found[(1 + i / 6) * 8 + 1 + i % 6] == WHITE).collect();
            assert_eq!(inner, cells(id).unwrap().concat());
            assert_eq!(found[..8], [WHITE; 8]);
        }
        assert_eq!(Pattern::board([9, 12], 0.03, 8, 0), None, "54 markers are too many");
    }

    #[test]
    fn integer_parts_are_those_of_a_conversion() {
        for step in 51..100_000 {
            let number = step as f32 * 0.01 + 0.003;
            assert_eq!(integer_part(number), number as u32, "{number}");
        }
    }

    #[test]
    fn distance_to_edge_never_exceeds_the_distance_to_another_reflectance() {
        let pattern = Pattern::marker(7, 0.06, 0.01).unwrap();
        for step in 0..2_000 {
            let point = [step * 37 % 83, step * 53 % 79].map(|number| (number as f32 - 40.0) / 1e3);
            let Some(here) = pattern.reflectance(point) else { continue };
            // On an edge, rounding decides.
            let reach = pattern.distance_to_edge(point) - 1e-6;
            if reach <= 0.0 {
                continue;
            }
            for [x, y] in [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.7, 0.7], [-0.7, 0.7]] {
                let near = [point[0] + x * reach, point[1] + y * reach];
                assert_eq!(pattern.reflectance(near), Some(here), "{point:?} {near:?}");
            }
        }
    }
}
