//! Grid of cells for neighbor search, and distances between positions.

use crate::threads::{MIN_PARALLEL_LOOKUPS, chunk_len, for_each_chunk};

/// Robots sorted by grid cell with a counting sort.
///
/// Cells are one radius wide. There are at most about two per robot: in larger worlds the grid
/// repeats, and distant robots share cells.
#[derive(Debug, Default)]
pub struct Grid {
    low: [f64; 3],
    /// Cells per meter.
    scale: f64,
    /// Number of cells along each axis.
    sides: [usize; 3],
    /// Cell of each robot.
    cells: Vec<u32>,
    /// Index of the first robot of each cell.
    starts: Vec<u32>,
    /// Robots in the order of cells, ascending within each cell.
    robots: Vec<(u32, [f32; 3])>,
}

impl Grid {
    /// Sorts robots into cells.
    pub fn sort(&mut self, places: &[[f32; 3]], radius: f32) {
        let mut low = [f64::INFINITY; 3];
        let mut high = [f64::NEG_INFINITY; 3];
        for place in places.iter().filter(|place| place.iter().all(|x| x.is_finite())) {
            for ((low, high), x) in low.iter_mut().zip(&mut high).zip(place) {
                *low = low.min(f64::from(*x));
                *high = high.max(f64::from(*x));
            }
        }
        // Slightly more than a radius, so that rounding never separates two robots in range by more
        // than one cell.
        self.scale = 1.0 / (f64::from(radius) * 1.000_001);
        self.low = low.map(|low| if low.is_finite() { low } else { 0.0 });
        let most = 2 * places.len() + 64;
        self.sides = std::array::from_fn(|axis| {
            let cells = ((high[axis] - self.low[axis]) * self.scale) as usize;
            cells.min(most) + 1
        });
        while self.sides.iter().product::<usize>() > most {
            let [x, y, z] = &mut self.sides;
            let longest = if *x >= *y && *x >= *z {
                x
            } else if *y >= *z {
                y
            } else {
                z
            };
            *longest = longest.div_ceil(2);
        }
        self.starts.clear();
        self.starts.resize(self.sides.iter().product::<usize>() + 1, 0);
        let mut cells = std::mem::take(&mut self.cells);
        cells.resize(places.len(), 0);
        let chunk = chunk_len(places.len(), MIN_PARALLEL_LOOKUPS);
        for_each_chunk(cells.chunks_mut(chunk).zip(places.chunks(chunk)), |(cells, places)| {
            cells
                .iter_mut()
                .zip(places)
                .for_each(|(cell, place)| *cell = self.number(self.cell(place)) as u32);
        });
        for cell in &cells {
            self.starts[*cell as usize] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += std::mem::replace(start, sum);
        }
        self.robots.resize(places.len(), (0, [0.0; 3]));
        for ((robot, place), cell) in (0..).zip(places).zip(&cells) {
            let next = &mut self.starts[*cell as usize];
            self.robots[*next as usize] = (robot, *place);
            *next += 1;
        }
        // Each cell's start index has become its end, which is the start of the next cell.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
        self.cells = cells;
    }

    fn cell(&self, place: &[f32; 3]) -> [usize; 3] {
        std::array::from_fn(|axis| {
            let cell = ((f64::from(place[axis]) - self.low[axis]) * self.scale) as usize;
            if cell < self.sides[axis] { cell } else { cell % self.sides[axis] }
        })
    }

    fn number(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.sides[1] + y) * self.sides[0] + x
    }

    /// Appends the robots within a squared distance of a robot, in ascending order.
    pub fn around(&self, robot: u32, place: &[f32; 3], within: f32, others: &mut Vec<u32>) {
        let first = others.len();
        let [x, y, z] = self.cell(place);
        for (z, more_z) in near(z, self.sides[2]) {
            for z in z..z + more_z {
                for (y, more_y) in near(y, self.sides[1]) {
                    for y in y..y + more_y {
                        // Cells that differ only in x are contiguous.
                        for (x, more_x) in near(x, self.sides[0]) {
                            let cell = self.number([x, y, z]);
                            let (from, to) = (self.starts[cell], self.starts[cell + more_x]);
                            add_near(&self.robots[from as usize..to as usize], robot, place, within, others);
                        }
                    }
                }
            }
        }
        sort(&mut others[first..]);
    }
}

/// Appends the robots of `chunk` that are near, without branches.
///
/// Every robot is written and kept only if it is near. About one in four is, which branch
/// predictors cannot guess.
#[inline]
fn add_near(chunk: &[(u32, [f32; 3])], robot: u32, place: &[f32; 3], within: f32, others: &mut Vec<u32>) {
    let first = others.len();
    others.resize(first + chunk.len(), 0);
    let places = &mut others[first..];
    let mut count = 0;
    for (other, its_place) in chunk {
        if let Some(slot) = places.get_mut(count) {
            *slot = *other;
        }
        let near = squared(place, its_place) <= within;
        count += usize::from(near) * usize::from(*other != robot);
    }
    others.truncate(first + count);
}

/// Sorts distinct numbers. Up to 16 are placed by their rank, without branches.
#[inline]
fn sort(numbers: &mut [u32]) {
    const FEW: usize = 16;
    let Some(few) = numbers.len().checked_sub(1).filter(|_| numbers.len() <= FEW) else {
        numbers.sort_unstable();
        return;
    };
    let mut all = [u32::MAX; FEW];
    all[..=few].copy_from_slice(numbers);
    for number in &all[..=few] {
        let rank = all.iter().fold(0, |rank, other| rank + u32::from(other < number));
        numbers[rank as usize & (FEW - 1)] = *number;
    }
}

/// Returns a cell and its neighbors on a periodic axis, as runs of (first, count).
fn near(cell: usize, side: usize) -> [(usize, usize); 2] {
    if side <= 3 {
        [(0, side), (0, 0)]
    } else if cell == 0 {
        [(0, 2), (side - 1, 1)]
    } else if cell == side - 1 {
        [(cell - 1, 2), (0, 1)]
    } else {
        [(cell - 1, 3), (0, 0)]
    }
}

/// Returns the largest square whose root is at most `distance`, to avoid roots in the search.
pub fn square_of(distance: f32) -> f32 {
    let mut square = distance * distance;
    while square > 0.0 && libm::sqrtf(square) > distance {
        square = square.next_down();
    }
    while square.is_finite() && libm::sqrtf(square.next_up()) <= distance {
        square = square.next_up();
    }
    square
}

/// Squared distance between two positions.
#[inline]
pub fn squared(a: &[f32; 3], b: &[f32; 3]) -> f32 {
    let [dx, dy, dz] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    dx * dx + dy * dy + dz * dz
}

/// Distance between two positions in meters.
pub fn distance(a: &[f32; 3], b: &[f32; 3]) -> f32 {
    libm::sqrtf(squared(a, b))
}
