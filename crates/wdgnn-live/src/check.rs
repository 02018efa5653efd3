//! Self-check of the page: episodes in the browser are bit-identical to native ones.

use wdgnn_sim::{
    error::Result,
    swarm::digest::EpisodeDigest,
    world::{Scenario, flock::Flock},
};

use crate::{
    flight::Flight,
    knobs::{Controller, Knobs},
    models,
};

/// The digest of `host-sim run`'s flight: the paper's condition, seed 1, the network that robots carry, learning in flight.
pub fn digest() -> Result<String> {
    let condition = Scenario::PAPER;
    let mut flight = Flight::<Flock>::new(models::flocking()?, condition, 1, Controller::Online)?;
    let knobs = Knobs { range: condition.radius, ..Knobs::default() };
    let mut digest = EpisodeDigest::default();
    for _tick in 0..condition.ticks {
        flight.tick(&knobs, |flight| flight.each_robot(|command, wide| digest.add(command, wide)))?;
    }
    Ok(digest.finish())
}

#[cfg(test)]
mod tests {
    use wdgnn_sim::{
        episode::Episode,
        medium::options::Faults,
        profiles::Profile,
        seeds::{Purpose, generator},
        swarm::{networks::Network, radio_swarm::RadioConfig},
        world::World as _,
    };

    use super::*;

    #[test]
    fn digest_equals_that_of_robots_that_exchange_bytes() {
        let condition = Scenario::PAPER;
        let start = Episode::draw(&Flock::<2>::default(), &condition, &mut generator(1, Purpose::Testing, 0))
            .unwrap();
        let network = Network::of(models::flocking().unwrap(), Profile::Exact).unwrap();
        let (layout, faults) = (Flock::<2>::layout(), Faults::default());
        let air = RadioConfig { layout: &layout, faults: &faults, swarm: 0, key: [0; 16] };
        let mut swarm = network.native(&air, condition.robots, false).unwrap();
        let mut native = EpisodeDigest::default();
        start.fly(&network.task, swarm.as_mut(), &mut [&mut native], &false.into()).unwrap();
        assert_eq!(digest().unwrap(), native.finish());
    }
}
