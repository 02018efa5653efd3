//! Split: who is trained on, who is held out, and in which order users come.

use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

use crate::{
    movie::signals::Signals,
    seeds::{self, Purpose},
};

/// One user in ten is held out (the paper's appendix).
const HELD_OUT: usize = 10;

/// Users of an online procedure (the paper's appendix): as many as there are, up to this.
pub const STREAM: usize = 400;

/// A movie to predict needs this many raters: two held out, and eighteen to train on.
pub const FEWEST_RATERS: usize = 20;

/// The raters of one movie, shuffled and divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raters {
    /// Those who are never trained on, nor adapted to before they are tested.
    pub held_out: Vec<usize>,
    /// The others.
    pub rest: Vec<usize>,
}

impl Raters {
    fn shuffle(mut users: Vec<usize>, random: &mut ChaCha8Rng) -> Self {
        users.shuffle(random);
        let rest = users.split_off(users.len().div_ceil(HELD_OUT).min(users.len()));
        Self { held_out: users, rest }
    }

    /// Those whom an online procedure meets, in the order in which they come.
    #[must_use]
    pub fn stream(&self) -> &[usize] {
        &self.rest[..self.rest.len().min(STREAM)]
    }
}

/// One split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The raters of the movie that is trained on.
    pub same: Raters,
    /// The raters of the other movie.
    pub other: Raters,
    /// Everybody who is not held out of anything, ascending: the graph's part of the data.
    pub graph: Vec<usize>,
}

impl Split {
    /// Split number `index` of a seed: the same on every machine, whatever ran before.
    #[must_use]
    pub fn draw(signals: &Signals, same: usize, other: usize, seed: u64, index: usize) -> Self {
        let mut random = seeds::generator(seed, Purpose::Raters, index as u64);
        let same = Raters::shuffle(signals.raters(same), &mut random);
        let other = Raters::shuffle(signals.raters(other), &mut random);
        let held_out = |user: &usize| same.held_out.contains(user) || other.held_out.contains(user);
        let graph = (0..signals.users.len()).filter(|user| !held_out(user)).collect();
        Self { same, other, graph }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::movie::synthetic;

    #[test]
    fn one_in_ten_is_held_out_and_nobody_is_in_two_parts() {
        let signals = synthetic::signals(1);
        let split = Split::draw(&signals, 0, 1, 7, 0);
        for (raters, target) in [(&split.same, 0), (&split.other, 1)] {
            let mut all = [raters.held_out.clone(), raters.rest.clone()].concat();
            assert_eq!(raters.held_out.len(), all.len().div_ceil(10));
            all.sort_unstable();
            assert_eq!(all, signals.raters(target));
            assert!(
                raters.held_out.iter().all(|user| !split.graph.contains(user)),
                "the graph has not seen them"
            );
        }
    }

    #[test]
    fn a_split_depends_on_its_seed_and_number_only() {
        let signals = synthetic::signals(1);
        let draw = |seed, index| Split::draw(&signals, 0, 1, seed, index);
        assert_eq!(draw(7, 3), draw(7, 3));
        assert_ne!(draw(7, 3), draw(7, 4));
        assert_ne!(draw(7, 3), draw(8, 3));
    }

    #[test]
    fn a_stream_is_at_most_400_long() {
        let raters = |count| Raters { held_out: vec![], rest: (0..count).collect() };
        assert_eq!(raters(458).stream().len(), 400);
        assert_eq!(raters(30).stream().len(), 30);
    }
}
