//! Links that carry nothing: partitions, outages, one-way links and interference.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::{
    events::covers,
    loss::{Channels, Loss},
    options::Faults,
};
use crate::{
    scene::Scene,
    seeds::{Purpose, generator},
};

/// Connectivity faults of one swarm.
#[derive(Clone, Debug)]
pub struct Connectivity {
    swarm: u64,
    /// Side of the partition that each robot is on.
    sides: Vec<bool>,
    noise: Channels,
    random: ChaCha8Rng,
    jammed: bool,
}

impl Connectivity {
    /// Creates the connectivity faults of swarm number `swarm`.
    pub fn new(faults: &Faults, swarm: u64) -> Self {
        let random = generator(faults.seed, Purpose::Interference, swarm);
        Self { swarm, sides: Vec::new(), noise: Channels::default(), random, jammed: false }
    }

    /// Starts a tick: splits the swarm if due and draws interference.
    pub fn begin_tick<S>(&mut self, faults: &Faults, scene: &Scene<'_, S>) {
        self.split(faults, scene);
        self.jammed = faults.interference.is_some_and(|bursts| {
            let bursts = Loss { chance: bursts.share, burst: bursts.ticks.into() };
            self.noise.lose(&bursts, 0, &mut self.random)
        });
    }

    /// Returns whether interference suppresses all frames in this tick.
    pub fn is_jammed(&self) -> bool {
        self.jammed
    }

    /// Returns whether frames from one robot can reach another one at this tick.
    pub fn carries(&self, faults: &Faults, tick: u32, from: usize, to: usize) -> bool {
        let is_out = |robot| covers(&faults.radio_outage, robot, tick);
        let apart = faults.partition.as_ref().is_some_and(|ticks| ticks.contains(&tick))
            && self.sides[from] != self.sides[to];
        !(apart || is_out(from) || is_out(to) || self.one_way(faults, from, to))
    }

    /// Returns whether this direction of a link carries nothing, for the whole episode.
    fn one_way(&self, faults: &Faults, from: usize, to: usize) -> bool {
        let link = self.swarm << 32 | (from as u64) << 16 | to as u64;
        faults.one_way > 0.0 && generator(faults.seed, Purpose::OneWay, link).random_bool(faults.one_way)
    }

    /// Splits the swarm at the median x coordinate when the partition begins.
    fn split<S>(&mut self, faults: &Faults, scene: &Scene<'_, S>) {
        if faults.partition.as_ref().is_some_and(|ticks| ticks.start == scene.tick) {
            let mut easting: Vec<f32> = scene.places.iter().map(|place| place[0]).collect();
            easting.sort_unstable_by(f32::total_cmp);
            let middle = easting[easting.len() / 2];
            self.sides = scene.places.iter().map(|place| place[0] < middle).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::Links;

    fn scene(tick: u32, links: &Links) -> Scene<'_, ()> {
        Scene { tick, states: &[], places: &[], links }
    }

    #[test]
    fn one_way_links_stay_one_way_for_the_whole_episode() {
        let faults = Faults { one_way: 0.3, ..Faults::default() };
        let connectivity = Connectivity::new(&faults, 0);
        let pairs: Vec<(usize, usize)> = (0..50).flat_map(|from| (0..50).map(move |to| (from, to))).collect();
        let carried = |tick| {
            pairs.iter().map(|(from, to)| connectivity.carries(&faults, tick, *from, *to)).collect::<Vec<_>>()
        };
        let shut = carried(0).iter().filter(|carries| !**carries).count();
        assert!((650..850).contains(&shut), "{shut} of 2500");
        assert_eq!(carried(0), carried(199));
        let back = |(from, to): &(usize, usize)| connectivity.carries(&faults, 0, *to, *from);
        let one_way = pairs.iter().zip(carried(0)).filter(|(pair, carries)| *carries && !back(pair)).count();
        assert!((420..630).contains(&one_way), "0.7 · 0.3 of 2500: {one_way}");
    }

    #[test]
    fn interference_has_its_share_of_ticks_and_its_burst_length() {
        let faults = Faults::parse("interference=0.2:5").unwrap();
        let (mut connectivity, links) = (Connectivity::new(&faults, 0), Links::default());
        let jammed: Vec<bool> = (0..20_000)
            .map(|tick| {
                connectivity.begin_tick(&faults, &scene(tick, &links));
                connectivity.is_jammed()
            })
            .collect();
        let count = jammed.iter().filter(|jammed| **jammed).count() as f64;
        let bursts = jammed.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        assert!((count / 20_000.0 - 0.2).abs() < 0.02, "{count}");
        assert!((count / bursts - 5.0).abs() < 0.5, "{bursts}");
    }
}
