//! Links between robots within radio range.
//!
//! A grid of cells finds them, so that the cost grows with the number of links instead of the
//! square of the number of robots.

mod grid;

use self::grid::{Grid, square_of};
pub use self::grid::{distance, squared};
use crate::threads::{MIN_PARALLEL_LOOKUPS, chunk_len, for_each_chunk};

/// For each robot, the other robots within a radius, in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Links {
    starts: Vec<u32>,
    others: Vec<u32>,
    room: Room,
}

/// Memory that is reused by later searches.
#[derive(Debug, Default)]
struct Room {
    grid: Grid,
    /// Results of each chunk of robots: link counts, and robot numbers.
    shares: Vec<(Vec<u32>, Vec<u32>)>,
}

/// A clone starts with empty memory, since clones of links are not searched again.
impl Clone for Room {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Links {
    /// Finds all pairs with a distance of at most `radius`.
    pub fn within(places: &[[f32; 3]], radius: f32) -> Self {
        let mut links = Self::default();
        links.find(places, radius);
        links
    }

    /// Replaces the links by all pairs with a distance of at most `radius`, reusing memory.
    pub fn find(&mut self, places: &[[f32; 3]], radius: f32) {
        let Self { starts, others, room: Room { grid, shares } } = self;
        grid.sort(places, radius);
        let within = square_of(radius);
        let chunk = chunk_len(places.len(), MIN_PARALLEL_LOOKUPS);
        starts.clear();
        starts.push(0);
        others.clear();
        if chunk >= places.len() {
            for (robot, place) in (0..).zip(places) {
                grid.around(robot, place, within, others);
                starts.push(others.len() as u32);
            }
            return;
        }
        shares.resize_with(places.len().div_ceil(chunk), Default::default);
        let work = (0..).step_by(chunk).zip(places.chunks(chunk)).zip(&mut *shares);
        for_each_chunk(work, |((first, places), (ends, others))| {
            ends.clear();
            others.clear();
            for (robot, place) in (first..).zip(places) {
                grid.around(robot, place, within, others);
                ends.push(others.len() as u32);
            }
        });
        for (ends, found) in &*shares {
            let before = others.len() as u32;
            others.extend_from_slice(found);
            starts.extend(ends.iter().map(|end| before + end));
        }
    }

    /// Returns the number of robots.
    pub fn robots(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Returns the links for which `keep(receiver, sender)` holds, called in order.
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

    /// Returns the robots in range of `robot`.
    pub fn of(&self, robot: usize) -> &[u32] {
        &self.others[self.starts[robot] as usize..self.starts[robot + 1] as usize]
    }

    /// Returns the number of links, each counted in both directions.
    pub fn count(&self) -> usize {
        self.others.len()
    }

    /// Returns every pair once, the smaller robot number first.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.robots())
            .flat_map(|robot| self.of(robot).iter().map(move |&other| (robot, other as usize)))
            .filter(|(robot, other)| robot < other)
    }
}

/// Returns whether links of up to `radius` connect all robots.
///
/// Returns `false` if two robots are closer than `closest`.
pub fn connected(places: &[[f32; 3]], radius: f32, closest: f32) -> bool {
    let mut grid = Grid::default();
    grid.sort(places, radius);
    let within = square_of(radius);
    // Union-find: each robot points to one with a smaller number, or to itself.
    let mut first: Vec<u32> = (0..).take(places.len()).collect();
    let mut group = |mut robot: u32, with: Option<u32>| {
        while first[robot as usize] != robot {
            // Path halving.
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

#[cfg(test)]
mod tests {
    use rand::RngExt as _;

    use super::*;
    use crate::seeds::{Purpose, generator};

    #[test]
    fn grid_search_equals_comparison_of_all_pairs() {
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
    fn links_do_not_depend_on_threads_or_reused_memory() {
        let mut random = generator(1, Purpose::Testing, 9);
        let mut swarm = |robots: usize, side: f32| -> Vec<[f32; 3]> {
            (0..robots)
                .map(|_| [random.random_range(0.0..side), random.random_range(0.0..side), 0.0])
                .collect()
        };
        let (many, few) = (swarm(MIN_PARALLEL_LOOKUPS + 7, 60.0), swarm(30, 3.0));
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut links = Links::within(&few, 1.0);
                links.find(&many, 1.0);
                links
            })
        };
        let [one, three] = [1, 3].map(with);
        assert!(one.count() > MIN_PARALLEL_LOOKUPS);
        assert_eq!((&one.starts, &one.others), (&three.starts, &three.others));
        assert_eq!(one.robots(), many.len());
    }

    #[test]
    fn distant_and_non_finite_positions_have_no_neighbors() {
        let far =
            [[0.0; 3], [1.0, 0.0, 0.0], [1.0e30, -1.0e30, 0.0], [f32::NAN, 0.0, 0.0], [f32::INFINITY; 3]];
        let links = Links::within(&far[2..], 1.0);
        assert_eq!((links.robots(), links.count()), (3, 0));
        let links = Links::within(&far, 1.0);
        assert_eq!((links.of(0), links.of(1)), (&[1][..], &[0][..]));
        assert_eq!(links.count(), 2);
    }

    #[test]
    fn comparing_squares_equals_comparing_roots() {
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
        assert!(!connected(&chain(0.9), 1.0, 0.95), "two robots are too close");
        // Robots in an order in which groups merge late.
        let mut row: Vec<[f32; 3]> = (0..40_u16).map(|x| [f32::from(x * 7 % 40), 0.0, 0.0]).collect();
        assert!(connected(&row, 1.0, 0.0));
        row.remove(13);
        assert!(!connected(&row, 1.0, 0.0));
    }
}
