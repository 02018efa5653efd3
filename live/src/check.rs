//! The page's own check: what robots do here is what they do natively, to the last bit.

use wdgnn_sim::{
    error::Result,
    swarm::digest::FlightDigest,
    world::{Condition, flock::Flock},
};

use crate::{
    flight::Flight,
    knobs::{Controller, Knobs},
    models,
};

/// The digest of `host-sim run`'s flight: the paper's condition, seed 1, the network that robots carry, learning in flight.
pub fn digest() -> Result<String> {
    let condition = Condition::PAPER;
    let mut flight = Flight::<Flock>::new(models::carried()?, condition, 1, Controller::Online)?;
    let knobs = Knobs { range: condition.radius, ..Knobs::default() };
    let mut digest = FlightDigest::default();
    for _tick in 0..condition.ticks {
        flight.tick(&knobs, |flight| flight.deeds(|command, wide| digest.add(command, wide)))?;
    }
    Ok(digest.finish())
}

#[cfg(test)]
mod tests {
    use wdgnn_sim::{
        air::options::Faults,
        flight::Start,
        profiles::Profile,
        seeds::{Purpose, generator},
        swarm::{networks::Network, on_air::Air},
        world::World as _,
    };

    use super::*;

    #[test]
    fn the_digest_is_that_of_robots_that_speak_in_bytes() {
        let condition = Condition::PAPER;
        let start =
            Start::draw(&Flock::<2>::default(), &condition, &mut generator(1, Purpose::Testing, 0)).unwrap();
        let network = Network::of(models::carried().unwrap(), Profile::Exact).unwrap();
        let (layout, faults) = (Flock::<2>::layout(), Faults::default());
        let air = Air { layout: &layout, faults: &faults, swarm: 0, key: [0; 16] };
        let mut swarm = network.native(&air, condition.robots, false).unwrap();
        let mut native = FlightDigest::default();
        start.fly(&network.task, swarm.as_mut(), &mut [&mut native], &false.into()).unwrap();
        assert_eq!(digest().unwrap(), native.finish());
    }
}
