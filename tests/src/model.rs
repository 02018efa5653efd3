//! Weight files with random numbers: bits, bytes and instructions do not depend on training.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use wdgnn_core::{
    filter::scale::Scale,
    model::activation::Activation,
    online::Learning,
    task::Task as _,
    tasks::flocking::Flocking,
    weights::{self, Header, LayerDimensions, MAX_LAYERS, TaskSettings},
};
use wdgnn_robot::onboard::{FEATURES, OUTPUTS, TAPS};

/// Bytes of a weight file for a flocking robot with `hidden` features.
pub fn made_up(hidden: usize, seed: u64) -> Vec<u8> {
    let mut layers = [LayerDimensions::default(); MAX_LAYERS];
    layers[0] = LayerDimensions { taps: TAPS as u16, features: hidden as u16 };
    let header = Header {
        activation: Activation::Tanh,
        scale: Scale::Mean,
        features: FEATURES as u16,
        hidden: hidden as u16,
        outputs: OUTPUTS as u16,
        layers,
        task: TaskSettings { task: Flocking::<2>::ID, numbers: Flocking::DEFAULT.constants() },
        learning: Learning::paper(1.0),
        interval: 1,
    };
    // α_D, α_W, β as at the start of training; all others uniform within 1/√fan-in.
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut numbers = vec![1.0, 1.0, 0.0];
    let mut block = |count: usize, fan_in: usize| {
        let reach = 1.0 / (fan_in as f32).sqrt();
        numbers.extend((0..count).map(|_| random.random_range(-reach..reach)));
    };
    let inputs = TAPS * FEATURES;
    for _deep_and_wide in 0..2 {
        block((inputs + 1) * hidden, inputs);
    }
    block((hidden + 1) * OUTPUTS, hidden);
    let mut bytes = vec![0; weights::HEADER_BYTES + 4 * numbers.len() + 4];
    weights::write(&header, &numbers, &mut bytes).expect("admissible numbers in a file of their size");
    bytes
}
