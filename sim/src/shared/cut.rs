//! Who flies whom: space is cut into strips across one axis, one for each worker. Robots that cannot be passed on are dealt out in turn.

use std::ops::RangeInclusive;

/// How many places of its robots a worker tells when the cut is made anew.
const SAMPLES: usize = 256;

/// How many places the first cut is made by: all of them, where there are no more.
const FIRST_SAMPLES: usize = 1 << 16;

/// Strips of space, the same to every worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    axis: usize,
    /// Robots from this number on are dealt out in turn, and stay.
    settled: usize,
    /// Between one strip and the next, ascending: one less than there are workers.
    pub bounds: Vec<f32>,
}

/// Where some robots are: so many of them, and the places of a few along the axis, ascending, with as many between one and the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// How many robots there are.
    pub robots: u32,
    /// Where some of them are.
    pub places: Vec<f32>,
}

impl Cut {
    /// A cut for so many workers into strips with as many robots each, across the axis along which robots are spread most. Robots from number
    /// `settled` on are dealt out in turn.
    #[must_use]
    pub fn new(workers: usize, settled: usize, places: &[[f32; 3]]) -> Self {
        let spread = |axis: &usize| {
            let along = || places.iter().map(|place| place[*axis]).filter(|x| x.is_finite());
            along().fold(f32::NEG_INFINITY, f32::max) - along().fold(f32::INFINITY, f32::min)
        };
        let axis = (0..3).max_by(|a, b| spread(a).total_cmp(&spread(b))).unwrap_or(0);
        let mut cut = Self { axis, settled, bounds: vec![0.0; workers - 1] };
        cut.balance(&[Sample::of(places.iter().map(|place| place[axis]), FIRST_SAMPLES)]);
        cut
    }

    /// How many workers there are.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.bounds.len() + 1
    }

    /// Moves the bounds so that strips have as many robots each, as far as these samples tell.
    pub fn balance(&mut self, samples: &[Sample]) {
        let mut all: Vec<(f32, f64)> = Vec::new();
        for Sample { robots, places } in samples {
            let share = f64::from(*robots) / places.len().max(1) as f64;
            all.extend(places.iter().map(|place| (*place, share)));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (total, workers) = (all.iter().map(|(_, share)| share).sum::<f64>(), self.workers() as f64);
        let Some((end, _)) = all.last().copied() else { return };
        let (mut passed, mut next) = (0.0, 0);
        for (place, share) in all {
            while next < self.bounds.len() && passed >= total * (next + 1) as f64 / workers {
                self.bounds[next] = place;
                next += 1;
            }
            passed += share;
        }
        // Fewer robots than workers.
        self.bounds[next..].fill(end);
    }

    /// Where these robots are, in a few words.
    #[must_use]
    pub fn sample(&self, places: impl Iterator<Item = [f32; 3]>) -> Sample {
        Sample::of(places.map(|place| place[self.axis]), SAMPLES)
    }

    /// Who flies a robot at a place: whose strip that is in, or whom the robot was dealt out to.
    #[must_use]
    pub fn owner(&self, robot: usize, place: &[f32; 3]) -> usize {
        match dealt(robot, self.settled, self.workers()) {
            Some(worker) => worker,
            None => self.bounds.partition_point(|bound| *bound <= place[self.axis]),
        }
    }

    /// Whether any of so many robots stay where they are.
    #[must_use]
    pub fn settles(&self, robots: usize) -> bool {
        self.settled < robots
    }

    /// The workers whose strips are within a distance of a place.
    #[must_use]
    pub fn near(&self, place: &[f32; 3], distance: f32) -> RangeInclusive<usize> {
        let x = place[self.axis];
        let first = self.bounds.partition_point(|bound| *bound < x - distance);
        let last = self.bounds.partition_point(|bound| *bound <= x + distance);
        first..=last
    }

    /// Whether two workers' strips are within a distance of each other.
    #[must_use]
    pub fn close(&self, one: usize, other: usize, distance: f32) -> bool {
        let (low, high) = (one.min(other), one.max(other));
        low == high || self.bounds[high - 1] - self.bounds[low] <= distance
    }
}

/// The worker that a robot stays with, of so many, where those from number `settled` on do.
#[must_use]
pub fn dealt(robot: usize, settled: usize, workers: usize) -> Option<usize> {
    robot.checked_sub(settled).map(|number| number % workers)
}

impl Sample {
    fn of(places: impl Iterator<Item = f32>, most: usize) -> Self {
        let mut all: Vec<f32> = places.filter(|x| x.is_finite()).collect();
        all.sort_unstable_by(f32::total_cmp);
        let few = most.min(all.len());
        let places = (0..few).map(|number| all[(2 * number + 1) * all.len() / (2 * few)]).collect();
        Self { robots: all.len() as u32, places }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(robots: u16) -> Vec<[f32; 3]> {
        (0..robots).map(|robot| [0.0, f32::from(robot), 0.0]).collect()
    }

    #[test]
    fn strips_have_as_many_robots_each_and_lie_across_the_longest_axis() {
        let (cut, places) = (Cut::new(4, 100, &row(100)), row(100));
        assert_eq!((cut.axis, &cut.bounds[..]), (1, &[25.0, 50.0, 75.0][..]));
        let of = |worker| places.iter().filter(|place| cut.owner(0, place) == worker).count();
        assert_eq!([0, 1, 2, 3].map(of), [25; 4]);
        assert_eq!(cut.near(&[0.0, 24.0, 0.0], 0.9).collect::<Vec<_>>(), [0]);
        assert_eq!(cut.near(&[0.0, 49.0, 0.0], 30.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert!(
            cut.close(0, 1, 0.0) && !cut.close(0, 2, 24.9) && cut.close(2, 0, 25.0) && cut.close(1, 1, 0.0)
        );
    }

    #[test]
    fn robots_that_stay_are_dealt_out_in_turn_wherever_they_are() {
        let (cut, places) = (Cut::new(4, 90, &row(100)), row(100));
        let owners: Vec<usize> = (88..100).map(|robot| cut.owner(robot, &places[robot])).collect();
        assert_eq!(owners, [3, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1]);
        assert_eq!(cut.owner(91, &places[0]), 1);
        assert!(cut.settles(100) && !cut.settles(90));
    }

    #[test]
    fn samples_of_several_workers_move_the_bounds_to_where_robots_are() {
        let mut cut = Cut::new(2, 100, &row(100));
        let moved: Vec<[f32; 3]> = row(100).iter().map(|[x, y, z]| [*x, y + 1000.0, *z]).collect();
        let samples = [&moved[..20], &moved[20..]].map(|some| cut.sample(some.iter().copied()));
        cut.balance(&samples);
        assert!((cut.bounds[0] - 1050.0).abs() < 2.0, "{cut:?}");
    }

    #[test]
    fn robots_that_are_nowhere_are_somebodys_and_a_worker_may_have_none() {
        let cut = Cut::new(3, 1, &[]);
        assert_eq!(cut.owner(0, &[f32::NAN; 3]), 0);
        assert_eq!(Cut::new(3, 1, &row(1)).bounds.len(), 2);
    }
}
