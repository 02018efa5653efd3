//! Deep part: a stack of graph filter layers, frozen in flight.
//!
//! Layer ℓ computes `X_ℓ = σ(Σ_k S^k X_{ℓ-1} A_ℓk + a_ℓ)`.
//!
//! A stack is a type. `Layer<4, 6, 32, EndOfStack>` is one layer of 4 taps from 6 to 32 features.
//! `Layer<4, 6, 32, Layer<3, 32, 16, EndOfStack>>` adds a layer of 3 taps from 32 to 16 features above it.
//! A stack borrows its weights from flash on a robot, or from the trainer's parameter vector.

use crate::{
    filter::{DelayLine, DelayLines, LayerTaps},
    model::activation::Activation,
    tensor::{Tensor, accumulate, take},
};

/// A stack of layers from `F` input features to `G` output features.
pub trait Deep<'w, const F: usize, const G: usize>: Copy {
    /// Delay lines that the stack keeps from tick to tick.
    type Taps: DelayLines;

    /// Number of layers.
    const LAYERS: usize;

    /// Number of weights.
    const WEIGHT_COUNT: usize;

    /// Takes the stack's weights off `numbers`; `None` if too few are left.
    fn read(numbers: &mut &'w [f32]) -> Option<Self>;

    /// Taps and output features of layer `index`, for checks against a weight file.
    fn dimensions(index: usize) -> Option<(usize, usize)>;

    /// Computes the stack's output for the robot's own `input`.
    ///
    /// Writes the input of each layer to tap 0 of its delay line.
    fn infer(&self, activation: Activation, input: &[f32; F], taps: &mut Self::Taps) -> [f32; G];
}

/// End of a stack: returns its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndOfStack;

/// One layer and the layers above it.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'w, const TAPS: usize, const F: usize, const H: usize, Above> {
    /// Filter weights A, indexed `[tap][input][output]`.
    pub filter: &'w [[[f32; H]; F]; TAPS],
    /// Bias a.
    pub bias: &'w [f32; H],
    /// The layers above.
    pub above: Above,
}

impl<'w, const G: usize> Deep<'w, G, G> for EndOfStack {
    type Taps = ();

    const LAYERS: usize = 0;
    const WEIGHT_COUNT: usize = 0;

    fn read(_: &mut &'w [f32]) -> Option<Self> {
        Some(Self)
    }

    fn dimensions(_: usize) -> Option<(usize, usize)> {
        None
    }

    #[inline]
    fn infer(&self, _: Activation, input: &[f32; G], (): &mut ()) -> [f32; G] {
        *input
    }
}

impl<'w, const TAPS: usize, const F: usize, const H: usize, const G: usize, Above> Deep<'w, F, G>
    for Layer<'w, TAPS, F, H, Above>
where
    Above: Deep<'w, H, G>,
{
    type Taps = LayerTaps<TAPS, F, Above::Taps>;

    const LAYERS: usize = 1 + Above::LAYERS;
    const WEIGHT_COUNT: usize = (TAPS * F + 1) * H + Above::WEIGHT_COUNT;

    fn read(numbers: &mut &'w [f32]) -> Option<Self> {
        const { assert!(TAPS > 0 && F > 0 && H > 0, "a layer has taps, inputs and outputs") };
        let filter = take(numbers, TAPS * F * H)?.as_chunks().0.as_chunks().0.first_chunk()?;
        let bias = take(numbers, H)?.first_chunk()?;
        Some(Self { filter, bias, above: Above::read(numbers)? })
    }

    fn dimensions(index: usize) -> Option<(usize, usize)> {
        match index.checked_sub(1) {
            None => Some((TAPS, H)),
            Some(above) => Above::dimensions(above),
        }
    }

    #[inline]
    fn infer(&self, activation: Activation, input: &[f32; F], taps: &mut Self::Taps) -> [f32; G] {
        let DelayLine(line) = &mut taps.line;
        if let Some(own) = line.first_mut() {
            *own = *input;
        }
        let mut output = accumulate(self.bias, taps.line.numbers(), self.filter.as_flattened());
        activation.apply(&mut output);
        self.above.infer(activation, &output, &mut taps.above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_layer_matches_a_hand_computed_example() {
        // One feature, two taps, two outputs: ReLU([z0, z1]·A + a).
        let layer = Layer::<'_, 2, 1, 2, _> {
            filter: &[[[1.0, -1.0]], [[0.5, 2.0]]],
            bias: &[0.25, -1.0],
            above: EndOfStack,
        };
        let mut taps = LayerTaps { line: DelayLine([[99.0], [4.0]]), above: () };
        let output: [f32; 2] = layer.infer(Activation::Relu, &[3.0], &mut taps);
        // 0.25 + 3·1 + 4·0.5 = 5.25; −1 − 3 + 8 = 4.
        assert_eq!(output, [5.25, 4.0]);
        assert_eq!(taps.line.0, [[3.0], [4.0]], "the node's own signal replaces tap 0");
    }

    #[test]
    fn second_layer_filters_the_output_of_the_first() {
        let second = Layer::<'_, 2, 2, 1, _> {
            filter: &[[[1.0], [1.0]], [[10.0], [100.0]]],
            bias: &[0.0],
            above: EndOfStack,
        };
        let first = Layer::<'_, 1, 1, 2, _> { filter: &[[[1.0, 2.0]]], bias: &[0.0, 0.0], above: second };
        let mut taps = LayerTaps {
            line: DelayLine([[0.0]]),
            above: LayerTaps { line: DelayLine([[0.0, 0.0], [0.5, 0.25]]), above: () },
        };
        // First layer: [3, 6]. Second: 3 + 6 + 10·0.5 + 100·0.25 = 39.
        let output: [f32; 1] = first.infer(Activation::Relu, &[3.0], &mut taps);
        assert_eq!(output, [39.0]);
        assert_eq!(taps.above.line.0[0], [3.0, 6.0], "the first layer's output");
    }

    #[test]
    fn dimensions_are_listed_layer_by_layer() {
        type Two<'w> = Layer<'w, 4, 6, 32, Layer<'w, 3, 32, 16, EndOfStack>>;
        assert_eq!(<Two<'_> as Deep<'_, 6, 16>>::dimensions(0), Some((4, 32)));
        assert_eq!(<Two<'_> as Deep<'_, 6, 16>>::dimensions(1), Some((3, 16)));
        assert_eq!(<Two<'_> as Deep<'_, 6, 16>>::dimensions(2), None);
        assert_eq!(<Two<'_> as Deep<'_, 6, 16>>::WEIGHT_COUNT, 4 * 6 * 32 + 32 + 3 * 32 * 16 + 16);
    }
}
