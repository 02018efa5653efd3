//! Who hears whom: robots within radio range, found by a grid of cells, so that the cost grows with the number of links and not
//! with the square of the number of robots.

/// For every robot, the others within a radius, in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Links {
    starts: Vec<u32>,
    others: Vec<u32>,
}

impl Links {
    /// All pairs no further apart than `radius`.
    #[must_use]
    pub fn within(places: &[[f32; 3]], radius: f32) -> Self {
        let cell = |place: &[f32; 3]| place.map(|x| (x / radius).floor() as i32);
        let mut cells: Vec<([i32; 3], u32)> = places.iter().map(cell).zip(0..).collect();
        cells.sort_unstable();
        // Robots of a plane are all in one layer.
        let flat = places.iter().all(|place| place[2] == 0.0);
        let around =
            |x: i32, flat: bool| if flat { x..=x } else { x.saturating_sub(1)..=x.saturating_add(1) };
        let mut links = Self { starts: Vec::with_capacity(places.len() + 1), others: Vec::new() };
        links.starts.push(0);
        for (robot, place) in places.iter().enumerate() {
            let first = links.others.len();
            let [column, row, layer] = cell(place);
            let layers = around(layer, flat);
            for x in around(column, false) {
                // Cells that differ in the last number only lie side by side in the order; in a plane, those of one column do.
                let rows = if flat { row..=row } else { around(row, false) };
                for y in rows {
                    let (low, high) = if flat { (y.saturating_sub(1), y.saturating_add(1)) } else { (y, y) };
                    let from = cells.partition_point(|(cell, _)| *cell < [x, low, *layers.start()]);
                    let near = cells[from..].iter().take_while(|(cell, _)| *cell <= [x, high, *layers.end()]);
                    for &(_, other) in near {
                        if other as usize != robot && distance(place, &places[other as usize]) <= radius {
                            links.others.push(other);
                        }
                    }
                }
            }
            links.others[first..].sort_unstable();
            links.starts.push(links.others.len() as u32);
        }
        links
    }

    /// How many robots there are.
    #[must_use]
    pub fn robots(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Those of the links for which `keep` says so, asked in order: listener first, then whom it hears.
    #[must_use]
    pub fn filtered(&self, mut keep: impl FnMut(u32, u32) -> bool) -> Self {
        let mut links = Self { starts: vec![0], others: Vec::with_capacity(self.others.len()) };
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

    /// Whether every robot can reach every other over links.
    #[must_use]
    pub fn connected(&self) -> bool {
        let robots = self.robots();
        let mut reached = vec![false; robots];
        let mut open = vec![0; usize::from(robots > 0)];
        let mut count = 0;
        while let Some(robot) = open.pop() {
            if !std::mem::replace(&mut reached[robot], true) {
                count += 1;
                open.extend(self.of(robot).iter().map(|&other| other as usize));
            }
        }
        count == robots
    }
}

/// Distance between two places in metres.
#[must_use]
pub fn distance(a: &[f32; 3], b: &[f32; 3]) -> f32 {
    let [dx, dy, dz] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    libm::sqrtf(dx * dx + dy * dy + dz * dz)
}

#[cfg(test)]
mod tests {
    use rand::RngExt as _;

    use super::*;
    use crate::seeds::{Purpose, generator};

    #[test]
    fn the_grid_finds_what_comparing_all_pairs_finds() {
        for (case, radius) in (0..).zip([0.3, 1.0, 2.0, 50.0]) {
            for height in [0.0, 6.0] {
                let mut random = generator(1, Purpose::Testing, case);
                let places: Vec<[f32; 3]> = (0..200)
                    .map(|_| {
                        let [x, y, z] = [0, 1, 2].map(|_| random.random_range(-6.0..6.0));
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
    fn a_chain_is_connected_until_a_link_breaks() {
        let chain = |gap: f32| [0.0, 1.0, 2.0, 2.0 + gap].map(|x| [x, 0.0, 0.0]);
        assert!(Links::within(&chain(1.0), 1.0).connected());
        assert!(!Links::within(&chain(1.1), 1.0).connected());
        assert!(Links::within(&[], 1.0).connected());
    }
}
