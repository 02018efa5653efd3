//! Messages for tests of encodings: the example of the document, and random ones.

use super::{flock::MODEL, prelude::*, random_numbers};

/// Dimensions of the example in the document: F = 6, K = 1, O = 2.
pub type Example = Beacon<Motion, Stacked<2, 6, NoChain>, Filter<2, 6, 2>>;

/// Dimensions of the paper: F = 6, K = 3, O = 2.
pub type Taps = Stacked<4, 6, NoChain>;
pub type Wide = Filter<4, 6, 2>;
pub type Full = Beacon<Motion, Taps, Wide>;

/// Model and profile that a receiver expects.
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

/// A beacon of random numbers whose header fields fit the shortest header.
pub fn full_beacon(rng: &mut ChaCha8Rng, sender: u16, sequence: u32) -> Full {
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

/// Runs a check with the constructor of every sealed encoding.
macro_rules! the_sealed_encodings {
    ($check:ident) => {
        $check(|key| Sealed::new(Exact, key));
        $check(|key| Sealed::new(Dot154::default(), key));
        $check(|key| Sealed::new(EspNow::default(), key));
        $check(|key| SealedEsb32::new(Esb32, key));
        $check(|key| Sealed::new(P2p57, key));
    };
}

/// Runs a check with every encoding.
macro_rules! the_encodings {
    ($check:ident) => {
        $check(Exact);
        $check(Dot154::default());
        $check(EspNow::default());
        $check(Esb32);
        $check(P2p57);
    };
}

pub(crate) use the_encodings;
pub(crate) use the_sealed_encodings;
