//! Collisions: frames that overlap at a receiver are all lost.
//!
//! Each sender starts at a random time within the tick and senses the carrier first. It waits while
//! a robot in range is sending. Robots in range of each other therefore take turns. Two hidden
//! terminals, out of range of each other but in range of a common receiver, collide there.

use rand::{RngExt as _, seq::SliceRandom as _};
use rand_chacha::ChaCha8Rng;

use crate::{
    links::Links,
    radio::Radio,
    scene::Frame,
    seeds::{Purpose, generator},
};

/// Time to detect another transmission, as a share of a frame's airtime.
///
/// This is 192 µs on IEEE 802.15.4 and 9 µs on Wi-Fi.
const SLOT: f64 = 0.05;
/// Largest random backoff in slots, so that waiting robots do not start simultaneously.
const BACKOFF: f64 = 16.0;

/// Transmission times of frames, in microseconds from the start of a tick.
#[derive(Clone, Debug)]
pub struct Contention {
    radio: Radio,
    /// Length of a tick in microseconds.
    period: f64,
    random: ChaCha8Rng,
    /// Start and end of each transmission, per robot.
    sending: Vec<Vec<[f64; 2]>>,
}

impl Contention {
    /// Creates the channel of swarm number `swarm` with ticks of `period` seconds.
    pub fn new(radio: Radio, period: f32, seed: u64, swarm: u64) -> Self {
        let random = generator(seed, Purpose::Contention, swarm);
        Self { radio, period: 1.0e6 * f64::from(period), random, sending: Vec::new() }
    }

    /// Schedules the frames `said` in a tick, robot by robot.
    pub fn send(&mut self, links: &Links, said: &[Vec<Frame>]) {
        let mut speakers: Vec<(f64, usize)> = (0..said.len())
            .filter(|robot| !said[*robot].is_empty())
            .map(|robot| (self.random.random_range(0.0..self.period), robot))
            .collect();
        // Robots with equal start times are ordered randomly.
        speakers.shuffle(&mut self.random);
        speakers.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.sending = vec![Vec::new(); said.len()];
        for (moment, robot) in speakers {
            let slot = SLOT * self.radio.frame_us(said[robot][0].len());
            let mut now = self.next_idle(links, robot, moment, slot);
            for frame in &said[robot] {
                let end = now + self.radio.frame_us(frame.len());
                self.sending[robot].push([now, end]);
                now = end;
            }
        }
    }

    /// Returns the first time from `now` on at which a robot senses an idle channel.
    ///
    /// Transmissions that began less than `slot` ago are not sensed yet.
    fn next_idle(&mut self, links: &Links, robot: usize, mut now: f64, slot: f64) -> f64 {
        let heard = || links.of(robot).iter().flat_map(|other| &self.sending[*other as usize]);
        while let Some([_, end]) = heard().find(|[from, to]| from + slot <= now && now < *to) {
            now = end + slot * self.random.random_range(0.0..BACKOFF);
        }
        now
    }

    /// Returns whether a frame collides at a receiver with another transmission.
    ///
    /// A receiver also loses frames while it sends.
    pub fn collides(&self, links: &Links, receiver: usize, sender: usize, index: usize) -> bool {
        let Some([from, to]) = self.sending[sender].get(index) else { return false };
        let around = links.of(receiver).iter().map(|other| *other as usize).chain([receiver]);
        let others = around.filter(|other| *other != sender).flat_map(|other| &self.sending[other]);
        others.into_iter().any(|[begin, end]| begin < to && from < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Robots in a row, each in range of its neighbors; a frame takes 3,968 µs of a tick of 10 ms.
    fn contention(robots: usize, seed: u64) -> (Contention, Links) {
        let places: Vec<[f32; 3]> = (0..robots).map(|robot| [robot as f32, 0.0, 0.0]).collect();
        let links = Links::within(&places, 1.0);
        (Contention::new(Radio::Dot154, 0.01, seed, 0), links)
    }

    fn frame() -> Vec<Frame> {
        vec![[0; 101].as_slice().into()]
    }

    #[test]
    fn overlapping_frames_are_lost_at_common_receivers() {
        let (mut channel, links) = contention(4, 1);
        channel.sending = vec![vec![[0.0, 10.0]], vec![], vec![[9.0, 20.0]], vec![]];
        assert!(channel.collides(&links, 1, 0, 0) && channel.collides(&links, 1, 2, 0));
        assert!(!channel.collides(&links, 3, 2, 0), "robots 3 and 0 are out of range");
        channel.sending[2] = vec![[10.0, 20.0]];
        assert!(!channel.collides(&links, 1, 0, 0), "frames do not overlap");
        channel.sending[1] = vec![[5.0, 15.0]];
        assert!(channel.collides(&links, 1, 0, 0), "a sending robot receives nothing");
    }

    #[test]
    fn robots_in_range_take_turns_and_hidden_terminals_collide() {
        let (mut near, mut hidden) = (0, 0);
        for seed in 0..200 {
            let (mut channel, links) = contention(3, seed);
            channel.send(&links, &[frame(), frame(), vec![]]);
            near += u32::from(channel.collides(&links, 1, 0, 0));
            channel.send(&links, &[frame(), vec![], frame()]);
            hidden += u32::from(channel.collides(&links, 1, 0, 0));
        }
        // Both within 198 µs of 10 ms: 4 %. Both within 3,968 µs: 1 − (1 − 0.397)² = 64 %.
        assert!(near < 20, "{near} of 200");
        assert!((105..150).contains(&hidden), "{hidden} of 200");
    }
}
