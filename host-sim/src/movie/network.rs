//! The three architectures, as one core network with parts of it left at zero, and where training starts.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::{
    Network,
    activation::Activation,
    deep::{Layer, Top},
    taps::Scale,
    wide::{Folded, Metric},
};

/// K + 1 with the paper's K = 5.
pub const TAPS: usize = 6;
/// G, the paper's.
pub const HIDDEN: usize = 64;
/// How many numbers a network is: α_D, α_W, β; A, a; B, b; R, ρ.
pub const NUMBERS: usize = 3 + 2 * (TAPS * HIDDEN + HIDDEN) + HIDDEN + 1;

type Deep<'w> = Layer<'w, TAPS, 1, HIDDEN, Top>;
/// The paper's network for ratings: one feature in, one rating out.
pub type RatingNetwork<'w> = Network<'w, 1, TAPS, HIDDEN, 1, Deep<'w>>;
/// The same as nodes run it.
pub type RatingModel<'w> = Folded<'w, 1, TAPS, HIDDEN, 1, Deep<'w>>;
/// A network's numbers, in the order of the weight file.
pub type Numbers = [f32; NUMBERS];

/// What is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// Both parts.
    WideAndDeep,
    /// The deep part alone.
    Deep,
    /// The wide part alone: a bank of linear graph filters.
    Wide,
}

/// Where the parts lie in [`Numbers`].
pub mod places {
    use super::{HIDDEN, NUMBERS, TAPS};
    use std::ops::Range;

    const FILTER: usize = TAPS * HIDDEN;
    /// α_D.
    pub const ALPHA_DEEP: usize = 0;
    /// α_W.
    pub const ALPHA_WIDE: usize = 1;
    /// β.
    pub const BETA: usize = 2;
    /// A and a.
    pub const DEEP: Range<usize> = 3..3 + FILTER + HIDDEN;
    /// B and b.
    pub const WIDE: Range<usize> = DEEP.end..DEEP.end + FILTER + HIDDEN;
    /// R.
    pub const READOUT: Range<usize> = WIDE.end..WIDE.end + HIDDEN;
    /// ρ.
    pub const READOUT_BIAS: usize = NUMBERS - 1;
}

impl Architecture {
    /// Every weight and bias from U(±1/√fan-in); α_D = α_W = 1, β = 0. The parts that an architecture lacks are zero, and
    /// stay so: their gradient is zero there. All architectures draw the same numbers.
    #[must_use]
    pub fn start(self, random: &mut ChaCha8Rng) -> Numbers {
        let mut numbers = [0.0; NUMBERS];
        let mut draw = |place: &mut [f32], fan_in: usize| {
            let bound = 1.0 / (fan_in as f32).sqrt();
            place.fill_with(|| random.random_range(-bound..bound));
        };
        draw(&mut numbers[places::DEEP], TAPS);
        draw(&mut numbers[places::WIDE], TAPS);
        draw(&mut numbers[places::READOUT.start..], HIDDEN);
        numbers[places::ALPHA_DEEP] = 1.0;
        numbers[places::ALPHA_WIDE] = 1.0;
        match self {
            Self::WideAndDeep => {}
            Self::Deep => {
                numbers[places::ALPHA_WIDE] = 0.0;
                numbers[places::WIDE].fill(0.0);
            }
            Self::Wide => {
                numbers[places::ALPHA_DEEP] = 0.0;
                numbers[places::DEEP].fill(0.0);
            }
        }
        numbers
    }

    /// Whether α_D, α_W and β are trained. One part alone has nothing to combine.
    #[must_use]
    pub fn combines(self) -> bool {
        self == Self::WideAndDeep
    }
}

/// The core's network over these numbers, on a graph scaled by `scale`.
///
/// # Panics
/// Never: the type fixes how many numbers there are.
#[must_use]
pub fn over(numbers: &Numbers, scale: f32) -> RatingNetwork<'_> {
    RatingNetwork::over(numbers, Activation::Relu, Scale::Scaled(scale))
        .expect("a network takes exactly the numbers of its type")
}

/// The core's model over these numbers, on a graph scaled by `scale`.
#[must_use]
pub fn model(numbers: &Numbers, scale: f32) -> RatingModel<'_> {
    RatingModel::new(over(numbers, scale), Metric::Paper)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    fn start(architecture: Architecture) -> Numbers {
        architecture.start(&mut ChaCha8Rng::seed_from_u64(5))
    }

    #[test]
    fn places_are_those_of_the_weight_file() {
        assert_eq!(NUMBERS, RatingNetwork::NUMBERS);
        let numbers: Numbers = std::array::from_fn(|index| index as f32);
        let network = over(&numbers, 1.0);
        assert_eq!(network.alpha_wide, places::ALPHA_WIDE as f32);
        assert_eq!(network.deep.filter[0][0][0], places::DEEP.start as f32);
        assert_eq!(network.wide[0][0][0], places::WIDE.start as f32);
        assert_eq!(network.readout[0][0], places::READOUT.start as f32);
        assert_eq!(network.readout_bias[0], places::READOUT_BIAS as f32);
    }

    #[test]
    fn weights_start_within_their_bounds_and_are_shared_by_the_architectures() {
        let (both, deep, wide) =
            (start(Architecture::WideAndDeep), start(Architecture::Deep), start(Architecture::Wide));
        let largest = |place: &[f32]| place.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        for (place, bound) in [(places::DEEP, 6.0_f32), (places::WIDE, 6.0), (places::READOUT, 64.0)] {
            let found = largest(&both[place]) * bound.sqrt();
            assert!((0.9..=1.0).contains(&found), "{found}");
        }
        assert_eq!(both[places::DEEP], deep[places::DEEP]);
        assert_eq!(both[places::WIDE], wide[places::WIDE]);
        assert_eq!(both[places::READOUT], wide[places::READOUT]);
        assert!(wide[places::DEEP].iter().chain(&deep[places::WIDE]).all(|&x| x == 0.0));
    }
}
