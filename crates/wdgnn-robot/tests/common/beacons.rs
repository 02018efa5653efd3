//! Beacons for tests of link profiles: the document's example, and random ones.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::{
    filter::{Chain, Chains, NoChain, Stacked},
    message::Beacon,
    tasks::flocking::Motion,
    tensor::{Filter, Tensor as _},
};
use wdgnn_link::{
    encoding::Codec,
    error::Refusal,
    header::{Link, Parts},
};

use super::random_numbers;

/// The document's example: F = 6, K = 1, O = 2.
pub type Example = Beacon<Motion, Stacked<2, 6, NoChain>, Filter<2, 6, 2>>;

/// The paper's dimensions: F = 6, K = 3, O = 2.
pub type Taps = Stacked<4, 6, NoChain>;
pub type Wide = Filter<4, 6, 2>;
pub type Full = Beacon<Motion, Taps, Wide>;

/// The model in the document's examples.
pub const MODEL: u32 = 0xdead_beef;

/// What a receiver of this profile looks for.
pub fn link<P: Codec>() -> Link {
    Link { profile: P::profile(true), checksum: MODEL }
}

pub fn example_beacon(sender: u16, sequence: u32) -> Example {
    let mut chain = Chain::ZERO;
    chain.0[0] = [1.5, -0.1, 0.0, 70_000.0, 1.0e-6, 2.0];
    let mut wide = Filter::ZERO;
    for (index, x) in wide.numbers_mut().iter_mut().enumerate() {
        *x = index as f32 * 0.25 - 3.0;
    }
    Beacon {
        sender,
        boot: 3,
        sequence,
        degree: 5,
        state: Motion { position: [1.0, -2.0], velocity: [0.5, 0.25] },
        chains: Stacked { chain, above: NoChain },
        wide,
    }
}

/// A beacon of random numbers, within what the shortest header can tell.
pub fn random_beacon(rng: &mut ChaCha8Rng, sender: u16, sequence: u32) -> Full {
    let mut chains = Taps::ZERO;
    chains.chain.numbers_mut()[..18].copy_from_slice(&random_numbers(rng, 18, 20.0));
    let mut wide = Wide::ZERO;
    wide.numbers_mut().copy_from_slice(&random_numbers(rng, 48, 2.0));
    let mut pair = |range: f32| [rng.random_range(-range..range), rng.random_range(-range..range)];
    let state = Motion { position: pair(16.0), velocity: pair(8.0) };
    Beacon { sender, boot: 3, sequence, degree: 5, state, chains, wide }
}

pub fn encode<P: Codec>(codec: &P, beacon: &Full, exchange: u32, index: u32) -> Vec<u8> {
    let mut frame = vec![0; P::bytes::<Motion, Taps, Wide>()];
    let length = codec.encode(&link::<P>(), beacon, exchange, index, &mut frame);
    frame.truncate(length.expect("the buffer is long enough"));
    frame
}

pub fn decode<P: Codec>(codec: &mut P, now: u32, frame: &[u8]) -> Result<(Full, Parts), Refusal> {
    codec.decode(&link::<P>(), now, frame)
}
