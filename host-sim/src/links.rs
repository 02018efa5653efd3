//! Who hears whom: robots within radio range, found by a grid of cells, so that the cost grows with the number of links and not
//! with the square of the number of robots.

use wdgnn_core::flocking::Motion;

/// For every robot, the others within a radius, in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Links {
    starts: Vec<u32>,
    others: Vec<u32>,
}

impl Links {
    /// All pairs no further apart than `radius`.
    #[must_use]
    pub fn within(motions: &[Motion], radius: f32) -> Self {
        let cell = |motion: &Motion| motion.position.map(|x| (x / radius).floor() as i32);
        let mut cells: Vec<([i32; 2], u32)> = motions.iter().map(cell).zip(0..).collect();
        cells.sort_unstable();
        let mut links = Self { starts: Vec::with_capacity(motions.len() + 1), others: Vec::new() };
        links.starts.push(0);
        for (robot, motion) in motions.iter().enumerate() {
            let first = links.others.len();
            let [column, row] = cell(motion);
            for x in column.saturating_sub(1)..=column.saturating_add(1) {
                // Cells of one column lie side by side in the order.
                let from = cells.partition_point(|(cell, _)| *cell < [x, row.saturating_sub(1)]);
                let near = cells[from..].iter().take_while(|(cell, _)| *cell <= [x, row.saturating_add(1)]);
                for &(_, other) in near {
                    if other as usize != robot && distance(motion, &motions[other as usize]) <= radius {
                        links.others.push(other);
                    }
                }
            }
            links.others[first..].sort_unstable();
            links.starts.push(links.others.len() as u32);
        }
        links
    }

    /// Those of the links for which `keep` says so, asked in order: listener first, then whom it hears.
    #[must_use]
    pub fn filtered(&self, mut keep: impl FnMut(u32, u32) -> bool) -> Self {
        let mut links = Self { starts: vec![0], others: Vec::with_capacity(self.others.len()) };
        for robot in 0..self.starts.len().saturating_sub(1) {
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
        (0..self.starts.len().saturating_sub(1))
            .flat_map(|robot| self.of(robot).iter().map(move |&other| (robot, other as usize)))
            .filter(|(robot, other)| robot < other)
    }

    /// Whether every robot can reach every other over links.
    #[must_use]
    pub fn connected(&self) -> bool {
        let robots = self.starts.len().saturating_sub(1);
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

/// Distance between two robots in metres.
#[must_use]
pub fn distance(a: &Motion, b: &Motion) -> f32 {
    let [dx, dy] = [a.position[0] - b.position[0], a.position[1] - b.position[1]];
    libm::sqrtf(dx * dx + dy * dy)
}

#[cfg(test)]
mod tests {
    use rand::RngExt as _;

    use super::*;
    use crate::seeds::{Purpose, generator};

    #[test]
    fn the_grid_finds_what_comparing_all_pairs_finds() {
        for (case, radius) in (0..).zip([0.3, 1.0, 2.0, 50.0]) {
            let mut random = generator(1, Purpose::Testing, case);
            let motions: Vec<Motion> = (0..200)
                .map(|_| Motion {
                    position: [random.random_range(-6.0..6.0), random.random_range(-6.0..6.0)],
                    velocity: [0.0; 2],
                })
                .collect();
            let links = Links::within(&motions, radius);
            for (robot, motion) in motions.iter().enumerate() {
                let all: Vec<u32> = (0..200)
                    .filter(|&other| {
                        other as usize != robot && distance(motion, &motions[other as usize]) <= radius
                    })
                    .collect();
                assert_eq!(links.of(robot), all, "robot {robot}, radius {radius}");
            }
            assert_eq!(2 * links.pairs().count(), links.count());
        }
    }

    #[test]
    fn a_chain_is_connected_until_a_link_breaks() {
        let chain = |gap: f32| -> Vec<Motion> {
            [0.0, 1.0, 2.0, 2.0 + gap].map(|x| Motion { position: [x, 0.0], velocity: [0.0; 2] }).into()
        };
        assert!(Links::within(&chain(1.0), 1.0).connected());
        assert!(!Links::within(&chain(1.1), 1.0).connected());
        assert!(Links::within(&[], 1.0).connected());
    }
}
