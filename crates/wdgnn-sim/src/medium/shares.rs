//! Shares of a swarm: parsing, and random choice of robots.

use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

use crate::seeds::{Purpose, generator};

/// Parses a share between 0 and 1.
pub fn share(text: &str) -> Option<f64> {
    text.parse().ok().filter(|share| (0.0..=1.0).contains(share))
}

/// Draws a share of a swarm's robots.
pub fn draw(share: f64, robots: usize, random: &mut ChaCha8Rng) -> Vec<bool> {
    let count = (share * robots as f64).round() as usize;
    let mut drawn: Vec<bool> = (0..robots).map(|robot| robot < count).collect();
    drawn.shuffle(random);
    drawn
}

/// Draws a share of swarm number `swarm` from the stream of `purpose`; no robot for `None`.
pub fn of(share: Option<f64>, seed: u64, purpose: Purpose, swarm: u64, robots: usize) -> Vec<bool> {
    draw(share.unwrap_or(0.0), robots, &mut generator(seed, purpose, swarm))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_configured_size_and_differ_between_swarms() {
        let drawn = |swarm| of(Some(0.3), 1, Purpose::Motors, swarm, 50);
        assert_eq!(drawn(0).iter().filter(|drawn| **drawn).count(), 15);
        assert_eq!(drawn(0), drawn(0));
        assert_ne!(drawn(0), drawn(1));
        assert_eq!(of(None, 1, Purpose::Motors, 0, 3), [false; 3]);
    }
}
