//! Who hears whom: robots within radio range, found by a grid of cells, so that the cost grows with the number of links and not
//! with the square of the number of robots.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// From so many robots on, they are spread over the threads.
pub(crate) const PARALLEL_ROBOTS: usize = 4096;

/// Pieces of the work for each thread, so that nobody waits long for one that was disturbed.
const CHUNKS: usize = 4;

/// For every robot, the others within a radius, in ascending order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Links {
    starts: Vec<u32>,
    others: Vec<u32>,
    #[serde(skip)]
    room: Room,
}

/// What finding links needs again and again.
#[derive(Debug, Default)]
struct Room {
    grid: Grid,
    /// What is found in each piece of the work: how many others every robot has, and who they are.
    shares: Vec<(Vec<u32>, Vec<u32>)>,
}

/// Whoever keeps links over a tick has no use for it.
impl Clone for Room {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Robots by the cell that they are in, by a counting sort. Cells are a radius wide. There are no more of them than about two per robot:
/// where robots are further apart, the grid is laid over the world again and again, and who is far away falls into a cell with others.
#[derive(Debug, Default)]
struct Grid {
    low: [f64; 3],
    /// Cells per metre.
    scale: f64,
    /// Cells along each axis.
    sides: [usize; 3],
    /// Where the robots of each cell begin.
    starts: Vec<u32>,
    /// Robots in the order of cells, ascending within each.
    robots: Vec<(u32, [f32; 3])>,
}

impl Grid {
    fn sort(&mut self, places: &[[f32; 3]], radius: f32) {
        let mut low = [f64::INFINITY; 3];
        let mut high = [f64::NEG_INFINITY; 3];
        for place in places.iter().filter(|place| place.iter().all(|x| x.is_finite())) {
            for ((low, high), x) in low.iter_mut().zip(&mut high).zip(place) {
                *low = low.min(f64::from(*x));
                *high = high.max(f64::from(*x));
            }
        }
        // A little more than a radius: two robots within it are never more than a cell apart, whatever is rounded.
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
        for place in places {
            let cell = self.number(self.cell(place));
            self.starts[cell] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += std::mem::replace(start, sum);
        }
        self.robots.resize(places.len(), (0, [0.0; 3]));
        for (robot, place) in (0..).zip(places) {
            let cell = self.number(self.cell(place));
            let next = &mut self.starts[cell];
            self.robots[*next as usize] = (robot, *place);
            *next += 1;
        }
        // Every cell's start has become its end, which is the start of the one behind it.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
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

    /// Adds whoever is within a squared distance of a robot, in ascending order.
    fn around(&self, robot: u32, place: &[f32; 3], within: f32, others: &mut Vec<u32>) {
        let first = others.len();
        let [x, y, z] = self.cell(place);
        for (z, more_z) in near(z, self.sides[2]) {
            for z in z..z + more_z {
                for (y, more_y) in near(y, self.sides[1]) {
                    for y in y..y + more_y {
                        // Cells that differ in the first number only lie side by side.
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

/// Adds those of some robots who are near. Everybody is written down, and stays if it is: one in four is, which no processor guesses.
#[inline]
fn add_near(some: &[(u32, [f32; 3])], robot: u32, place: &[f32; 3], within: f32, others: &mut Vec<u32>) {
    let first = others.len();
    others.resize(first + some.len(), 0);
    let places = &mut others[first..];
    let mut count = 0;
    for (other, its_place) in some {
        if let Some(slot) = places.get_mut(count) {
            *slot = *other;
        }
        let near = squared(place, its_place) <= within;
        count += usize::from(near) * usize::from(*other != robot);
    }
    others.truncate(first + count);
}

/// Sorts a dozen numbers, none of which comes twice: each goes to the place of its rank, which takes no guesses either.
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

/// A cell and those on both sides of it, on a grid whose ends meet: runs of cells, each once.
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

/// The largest squared distance of which the root is no more than this, so that roots need not be taken.
fn square_of(distance: f32) -> f32 {
    let mut square = distance * distance;
    while square > 0.0 && libm::sqrtf(square) > distance {
        square = square.next_down();
    }
    while square.is_finite() && libm::sqrtf(square.next_up()) <= distance {
        square = square.next_up();
    }
    square
}

/// The squared distance between two places.
#[must_use]
#[inline]
pub fn squared(a: &[f32; 3], b: &[f32; 3]) -> f32 {
    let [dx, dy, dz] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    dx * dx + dy * dy + dz * dz
}

impl Links {
    /// All pairs no further apart than `radius`.
    #[must_use]
    pub fn within(places: &[[f32; 3]], radius: f32) -> Self {
        let mut links = Self::default();
        links.find(places, radius);
        links
    }

    /// The same in place of whoever heard whom before: memory is used again.
    pub fn find(&mut self, places: &[[f32; 3]], radius: f32) {
        let Self { starts, others, room: Room { grid, shares } } = self;
        grid.sort(places, radius);
        let within = square_of(radius);
        let threads = if places.len() < PARALLEL_ROBOTS { 1 } else { rayon::current_num_threads() };
        let pieces = if threads > 1 { CHUNKS * threads } else { 1 };
        let share = places.len().div_ceil(pieces).max(1);
        starts.clear();
        starts.push(0);
        others.clear();
        if threads == 1 {
            for (robot, place) in (0..).zip(places) {
                grid.around(robot, place, within, others);
                starts.push(others.len() as u32);
            }
            return;
        }
        shares.resize_with(pieces, Default::default);
        let work = shares.par_iter_mut().zip(places.par_chunks(share)).enumerate();
        work.for_each(|(number, ((ends, others), places))| {
            ends.clear();
            others.clear();
            for (robot, place) in ((number * share) as u32..).zip(places) {
                grid.around(robot, place, within, others);
                ends.push(others.len() as u32);
            }
        });
        for (ends, found) in shares.iter().take(places.len().div_ceil(share)) {
            let before = others.len() as u32;
            others.extend_from_slice(found);
            starts.extend(ends.iter().map(|end| before + end));
        }
    }

    /// Links of so many robots, row by row: `row` adds whom a robot hears, ascending.
    #[must_use]
    pub fn of_rows(robots: usize, mut row: impl FnMut(usize, &mut Vec<u32>)) -> Self {
        let mut links = Self { starts: vec![0], ..Self::default() };
        for robot in 0..robots {
            row(robot, &mut links.others);
            links.starts.push(links.others.len() as u32);
        }
        links
    }

    /// Whether these are links among so many robots: what came from elsewhere may be anything.
    #[must_use]
    pub fn is_sound(&self, robots: usize) -> bool {
        self.starts.len() == robots + 1
            && self.starts[0] == 0
            && self.starts[robots] as usize == self.others.len()
            && self.starts.is_sorted()
            && self.others.iter().all(|&other| (other as usize) < robots)
    }

    /// How many robots there are.
    #[must_use]
    pub fn robots(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Those of the links for which `keep` says so, asked in order: listener first, then whom it hears.
    #[must_use]
    pub fn filtered(&self, mut keep: impl FnMut(u32, u32) -> bool) -> Self {
        let mut links =
            Self { starts: vec![0], others: Vec::with_capacity(self.others.len()), room: Room::default() };
        for robot in 0..self.robots() {
            links.others.extend(self.of(robot).iter().filter(|&&other| keep(robot as u32, other)));
            links.starts.push(links.others.len() as u32);
        }
        links
    }

    /// The robots that `robot` hears.
    #[must_use]
    pub fn of(&self, robot: usize) -> &[u32] {
        &self.others[self.starts[robot] as usize..self.starts[robot + 1] as usize]
    }

    /// How many links there are, each counted from both ends.
    #[must_use]
    pub fn count(&self) -> usize {
        self.others.len()
    }

    /// Every pair once, the smaller robot first.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.robots())
            .flat_map(|robot| self.of(robot).iter().map(move |&other| (robot, other as usize)))
            .filter(|(robot, other)| robot < other)
    }
}

/// Whether every robot can reach every other over links of up to `radius`, and no two are nearer to each other than `closest`. Links are not
/// kept: of a swarm that several machines fly, each looks at all of it once.
#[must_use]
pub fn connected(places: &[[f32; 3]], radius: f32, closest: f32) -> bool {
    let mut grid = Grid::default();
    grid.sort(places, radius);
    let within = square_of(radius);
    // Each is in the group of another one with a smaller number, or the first of its own.
    let mut first: Vec<u32> = (0..).take(places.len()).collect();
    let mut group = |mut robot: u32, with: Option<u32>| {
        while first[robot as usize] != robot {
            // Half of the way is saved for the next time.
            first[robot as usize] = first[first[robot as usize] as usize];
            robot = first[robot as usize];
        }
        let joined = with.is_some_and(|with| with != robot);
        if let Some(with) = with {
            first[robot.max(with) as usize] = robot.min(with);
        }
        (robot, joined)
    };
    let mut groups = places.len();
    let mut others = Vec::new();
    for (robot, place) in (0..).zip(places) {
        others.clear();
        grid.around(robot, place, within, &mut others);
        for other in others.iter().filter(|other| **other > robot) {
            if distance(place, &places[*other as usize]) < closest {
                return false;
            }
            let (own, _) = group(robot, None);
            groups -= usize::from(group(*other, Some(own)).1);
        }
    }
    groups <= 1
}

/// Distance between two places in metres.
#[must_use]
pub fn distance(a: &[f32; 3], b: &[f32; 3]) -> f32 {
    libm::sqrtf(squared(a, b))
}

#[cfg(test)]
mod tests {
    use rand::RngExt as _;

    use super::*;
    use crate::seeds::{Purpose, generator};

    #[test]
    fn links_that_lead_nowhere_are_noticed() {
        let links = |starts: &[u32], others: &[u32]| Links {
            starts: starts.to_vec(),
            others: others.to_vec(),
            room: Room::default(),
        };
        assert!(Links::within(&[[0.0; 3], [1.0, 0.0, 0.0], [9.0, 0.0, 0.0]], 2.0).is_sound(3));
        assert!(links(&[0, 1, 2], &[1, 0]).is_sound(2));
        for (starts, others) in [
            (&[][..], &[][..]),
            (&[0, 1], &[1, 0]),
            (&[1, 1, 2], &[1, 0]),
            (&[0, 1, 3], &[1, 0]),
            (&[0, 2, 1], &[1]),
            (&[0, 1, 2], &[1, 2]),
        ] {
            assert!(!links(starts, others).is_sound(2), "{starts:?} {others:?}");
        }
    }

    #[test]
    fn the_grid_finds_what_comparing_all_pairs_finds() {
        for (case, radius) in (0..).zip([0.3, 1.0, 2.0, 50.0]) {
            for height in [0.0, 6.0] {
                let mut random = generator(1, Purpose::Testing, case);
                let spread = if case == 1 { 40.0 } else { 6.0 };
                let places: Vec<[f32; 3]> = (0..200)
                    .map(|_| {
                        let [x, y, z] = [0, 1, 2].map(|_| random.random_range(-spread..spread));
                        [x, y, if height > 0.0 { z } else { 0.0 }]
                    })
                    .collect();
                let links = Links::within(&places, radius);
                for (robot, place) in places.iter().enumerate() {
                    let near = |other: &u32| distance(place, &places[*other as usize]) <= radius;
                    let all: Vec<u32> =
                        (0..200).filter(|other| *other as usize != robot).filter(near).collect();
                    assert_eq!(links.of(robot), all, "robot {robot}, radius {radius}, height {height}");
                }
                assert_eq!(2 * links.pairs().count(), links.count());
            }
        }
    }

    #[test]
    fn links_are_the_same_at_any_number_of_threads_and_in_memory_that_is_used_again() {
        let mut random = generator(1, Purpose::Testing, 9);
        let mut swarm = |robots: usize, side: f32| -> Vec<[f32; 3]> {
            (0..robots)
                .map(|_| [random.random_range(0.0..side), random.random_range(0.0..side), 0.0])
                .collect()
        };
        let (many, few) = (swarm(PARALLEL_ROBOTS + 7, 60.0), swarm(30, 3.0));
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut links = Links::within(&few, 1.0);
                links.find(&many, 1.0);
                links
            })
        };
        let [one, three] = [1, 3].map(with);
        assert!(one.count() > PARALLEL_ROBOTS);
        assert_eq!((&one.starts, &one.others), (&three.starts, &three.others));
        assert_eq!(one.robots(), many.len());
    }

    #[test]
    fn robots_that_are_nowhere_or_far_away_are_nobodys_neighbours() {
        let far =
            [[0.0; 3], [1.0, 0.0, 0.0], [1.0e30, -1.0e30, 0.0], [f32::NAN, 0.0, 0.0], [f32::INFINITY; 3]];
        let links = Links::within(&far[2..], 1.0);
        assert_eq!((links.robots(), links.count()), (3, 0));
        let links = Links::within(&far, 1.0);
        assert_eq!((links.of(0), links.of(1)), (&[1][..], &[0][..]));
        assert_eq!(links.count(), 2);
    }

    #[test]
    fn squares_tell_what_roots_do() {
        for distance in [0.3_f32, 1.0, 2.0, 0.1, 50.0, 1.4] {
            let square = square_of(distance);
            assert!(
                libm::sqrtf(square) <= distance && libm::sqrtf(square.next_up()) > distance,
                "{distance}"
            );
        }
    }

    #[test]
    fn a_chain_is_connected_until_a_link_breaks() {
        let chain = |gap: f32| [0.0, 1.0, 2.0, 2.0 + gap].map(|x| [x, 0.0, 0.0]);
        assert!(connected(&chain(1.0), 1.0, 1.0));
        assert!(!connected(&chain(1.1), 1.0, 1.0));
        assert!(connected(&[], 1.0, 1.0) && connected(&[[0.0; 3]], 1.0, 1.0));
        assert!(!connected(&chain(0.9), 1.0, 0.95), "two are too near");
        // In any order: the ends first, and what joins them last.
        let mut row: Vec<[f32; 3]> = (0..40_u16).map(|x| [f32::from(x * 7 % 40), 0.0, 0.0]).collect();
        assert!(connected(&row, 1.0, 0.0));
        row.remove(13);
        assert!(!connected(&row, 1.0, 0.0));
    }
}
