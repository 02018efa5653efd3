//! Seeds: every random thing has its own stream, named by what it is for, so that results never depend on the order or the
//! number of threads in which they are drawn.

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

/// What random numbers are drawn for. Flights for training, validation and testing never share a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Starts that a network is trained on.
    Training = 1,
    /// Starts by which a network is chosen.
    Validation = 2,
    /// Held-out starts that results are reported on.
    Testing = 3,
    /// A network's first weights.
    Weights = 4,
    /// Which samples make a batch.
    Batches = 5,
    /// The air: losses, corruption, delays.
    Air = 6,
    /// What robots are like that are not as they should be.
    SwarmDynamics = 7,
    /// What robots' sensors err by.
    Senses = 8,
    /// What robots' sensors are off by for good.
    Biases = 9,
    /// Whose frame is turned, and which way.
    Headings = 10,
    /// Whose sensor stops.
    Sensors = 11,
    /// Whose motors fail.
    Motors = 12,
    /// Which links carry one way only.
    OneWay = 13,
    /// When everybody is deaf.
    Interference = 14,
    /// When robots begin to send.
    Contention = 15,
    /// What clocks do.
    Clocks = 16,
    /// Who joins in flight.
    Joins = 17,
    /// Who speaks in others' names.
    Impostors = 18,
    /// Who flies another model.
    Models = 19,
}

/// The generator for item `index` of `purpose` under the user's `seed`.
pub fn generator(seed: u64, purpose: Purpose, index: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&(purpose as u64).to_le_bytes());
    key[16..24].copy_from_slice(&index.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

#[cfg(test)]
mod tests {
    use rand::Rng as _;

    use super::*;

    #[test]
    fn streams_repeat_and_differ() {
        let first = |seed, purpose, index| generator(seed, purpose, index).next_u64();
        let base = first(1, Purpose::Training, 0);
        assert_eq!(base, first(1, Purpose::Training, 0));
        assert_ne!(base, first(2, Purpose::Training, 0));
        assert_ne!(base, first(1, Purpose::Testing, 0));
        assert_ne!(base, first(1, Purpose::Training, 1));
    }
}
