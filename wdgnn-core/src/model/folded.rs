//! Folded network: the wide part multiplied with the frozen readout.
//!
//! Two forms of a network give the same commands:
//!
//! * [`Unfolded`](super::unfolded::Unfolded) keeps `B` (TAPS·F × G) as in the paper. It is the
//!   reference.
//! * [`Folded`] keeps `C = BR` (TAPS·F × O). Robots use it, because it needs G/O times less radio
//!   bandwidth, memory and arithmetic.
//!
//! The readout R is frozen in flight, so the wide part acts only through C. The paper's update
//! `B ← mean(B) − γ α_W z (R g)ᵀ` times R is an update of C alone: `C ← mean(C) − γ α_W z (M g)ᵀ`
//! with `M = RᵀR`.

use crate::{
    filter::{DelayLines as _, scale::Scale},
    model::{deep::Deep, network::Network},
    tensor::{Filter, Tensor as _, accumulate},
};

use super::{GradientMetric, Model};

/// A network that keeps `C = BR` instead of `B`.
#[derive(Clone, Copy, Debug)]
pub struct Folded<'w, const F: usize, const TAPS: usize, const G: usize, const O: usize, D> {
    network: Network<'w, F, TAPS, G, O, D>,
    /// α_W · M.
    metric: [[f32; O]; O],
    /// C† = B†R.
    offline: Filter<TAPS, F, O>,
    /// Output without taps: `Rᵀ(α_W b + β) + ρ`.
    constant: [f32; O],
}

impl<'w, const F: usize, const TAPS: usize, const G: usize, const O: usize, D> Folded<'w, F, TAPS, G, O, D> {
    /// Folds `network`, with the given metric for updates.
    #[inline]
    pub fn new(network: Network<'w, F, TAPS, G, O, D>, metric: GradientMetric) -> Self {
        let (metric, constant) = (scaled_metric(&network, metric), constant(&network));
        let mut folded = Self { network, metric, offline: Filter::ZERO, constant };
        fold_wide(&folded.network, &mut folded.offline);
        folded
    }

    /// Returns the network that was folded.
    pub fn network(&self) -> &Network<'w, F, TAPS, G, O, D> {
        &self.network
    }
}

impl<'w, const F: usize, const TAPS: usize, const G: usize, const O: usize, D> Model
    for Folded<'w, F, TAPS, G, O, D>
where
    D: Deep<'w, F, G>,
{
    type Features = [f32; F];
    type Output = [f32; O];
    type Taps = D::Taps;
    type Wide = Filter<TAPS, F, O>;
    type Factor = [f32; O];

    fn scale(&self) -> Scale {
        self.network.scale
    }

    fn offline(&self) -> &Self::Wide {
        &self.offline
    }

    #[inline]
    fn infer(&self, wide: &Self::Wide, features: &[f32; F], taps: &mut D::Taps) -> [f32; O] {
        let network = &self.network;
        let deep = network.deep.infer(network.activation, features, taps);
        let deep_output = accumulate(&[0.0; O], &deep, network.readout);
        let wide_output = accumulate(&[0.0; O], taps.first_layer(), wide.rows());
        let mut output = self.constant;
        for ((u, deep), wide) in output.iter_mut().zip(&deep_output).zip(&wide_output) {
            *u += network.alpha_deep * deep + network.alpha_wide * wide;
        }
        output
    }

    #[inline]
    fn gradient(&self, output_gradient: &[f32; O]) -> [f32; O] {
        let mut factor = [0.0; O];
        for (g, row) in output_gradient.iter().zip(&self.metric) {
            for (f, m) in factor.iter_mut().zip(row) {
                *f += g * m;
            }
        }
        factor
    }

    #[inline]
    fn descend(&self, wide: &mut Self::Wide, taps: &D::Taps, factor: &[f32; O], step: f32) {
        wide.descend(taps.first_layer(), factor, step);
    }
}

/// Computes C† = B†R in place.
#[inline(never)] // returns its stack before the robot is built
fn fold_wide<const F: usize, const TAPS: usize, const G: usize, const O: usize, D>(
    network: &Network<'_, F, TAPS, G, O, D>, folded: &mut Filter<TAPS, F, O>,
) {
    for (folded, unfolded) in folded.rows_mut().iter_mut().zip(network.wide.as_flattened()) {
        *folded = accumulate(&[0.0; O], unfolded, network.readout);
    }
}

/// Computes α_W · M.
#[inline(never)] // returns its stack before the robot is built
fn scaled_metric<const F: usize, const TAPS: usize, const G: usize, const O: usize, D>(
    network: &Network<'_, F, TAPS, G, O, D>, metric: GradientMetric,
) -> [[f32; O]; O] {
    let mut scaled = [[0.0; O]; O];
    for row in network.readout {
        for (sums, a) in scaled.iter_mut().zip(row) {
            for (sum, b) in sums.iter_mut().zip(row) {
                *sum += a * b;
            }
        }
    }
    if metric == GradientMetric::Euclidean {
        scaled = core::array::from_fn(|i| core::array::from_fn(|j| if i == j { 1.0 } else { 0.0 }));
    }
    scaled.as_flattened_mut().iter_mut().for_each(|m| *m *= network.alpha_wide);
    scaled
}

/// Computes `Rᵀ(α_W b + β) + ρ`.
#[inline(never)] // returns its stack before the robot is built
fn constant<const F: usize, const TAPS: usize, const G: usize, const O: usize, D>(
    network: &Network<'_, F, TAPS, G, O, D>,
) -> [f32; O] {
    let mut hidden = *network.wide_bias;
    for b in &mut hidden {
        *b = network.alpha_wide * *b + network.beta;
    }
    accumulate(network.readout_bias, &hidden, network.readout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        filter::{DelayLine, LayerTaps},
        model::{
            activation::Activation,
            deep::{EndOfStack, Layer},
            unfolded::Unfolded,
        },
    };

    type Small<'w> = Network<'w, 1, 2, 2, 2, Layer<'w, 2, 1, 2, EndOfStack>>;

    // α_D, α_W, β; A (2 taps × 1 × 2), a; B, b; R (2 × 2), ρ.
    const NUMBERS: [f32; 21] = [
        2.0, 0.5, 1.0, //
        1.0, 0.0, 0.0, 1.0, 0.0, 0.0, //
        1.0, 2.0, 3.0, 4.0, 0.5, -0.5, //
        1.0, -1.0, 2.0, 0.0, //
        10.0, 20.0,
    ];

    fn network() -> Small<'static> {
        static WEIGHTS: [f32; 21] = NUMBERS;
        Small::from_numbers(&WEIGHTS, Activation::Relu, Scale::Sum).unwrap()
    }

    fn taps(second: f32) -> LayerTaps<2, 1, ()> {
        LayerTaps { line: DelayLine([[0.0], [second]]), above: () }
    }

    #[test]
    fn both_forms_match_a_hand_computed_example() {
        // z = [3, −1] and deep = ReLU([3, −1]) = [3, 0].
        // wide = Bᵀz + b = [3 − 3 + 0.5, 6 − 4 − 0.5] = [0.5, 1.5].
        // h = 2·deep + 0.5·wide + 1 = [7.25, 1.75].
        // u = Rᵀh + ρ = [7.25 + 3.5 + 10, −7.25 + 20] = [20.75, 12.75].
        let unfolded = Unfolded::new(network());
        assert_eq!(unfolded.infer(unfolded.offline(), &[3.0], &mut taps(-1.0)), [20.75, 12.75]);
        let folded = Folded::new(network(), GradientMetric::Paper);
        assert_eq!(folded.infer(folded.offline(), &[3.0], &mut taps(-1.0)), [20.75, 12.75]);
    }

    #[test]
    fn folding_multiplies_b_by_r() {
        // B = [[1, 2], [3, 4]], R = [[1, −1], [2, 0]]: BR = [[5, −1], [11, −3]].
        let folded = Folded::new(network(), GradientMetric::Paper);
        assert_eq!(folded.offline(), &Filter([[[5.0, -1.0]], [[11.0, -3.0]]]));
        // M = RᵀR = [[5, −1], [−1, 1]], multiplied by α_W = 0.5.
        assert_eq!(folded.metric, [[2.5, -0.5], [-0.5, 0.5]]);
        assert_eq!(Folded::new(network(), GradientMetric::Euclidean).metric, [[0.5, 0.0], [0.0, 0.5]]);
    }

    #[test]
    fn wide_gradient_agrees_with_finite_differences() {
        // The output is linear in B, so the difference quotient is exact up to rounding: 1e-4 for
        // numbers near 20 and h = 2⁻⁶.
        let model = Unfolded::new(network());
        let output_gradient = [0.3, -0.7];
        let weighted_output = |wide: &Filter<2, 1, 2>| {
            let output = model.infer(wide, &[3.0], &mut taps(-1.0));
            output[0] * output_gradient[0] + output[1] * output_gradient[1]
        };
        let mut filled = taps(-1.0);
        model.infer(model.offline(), &[3.0], &mut filled);
        let factor = model.gradient(&output_gradient);
        let mut analytic = Filter::ZERO;
        model.descend(&mut analytic, &filled, &factor, -1.0);
        let h = 0.015_625;
        for index in 0..4 {
            let (mut up, mut down) = (*model.offline(), *model.offline());
            up.numbers_mut()[index] += h;
            down.numbers_mut()[index] -= h;
            let difference = (weighted_output(&up) - weighted_output(&down)) / (2.0 * h);
            assert!((difference - analytic.numbers()[index]).abs() < 1.0e-4, "weight {index}");
        }
    }

    #[test]
    fn folded_step_equals_unfolded_step_times_r() {
        let output_gradient = [0.25, -0.5];
        let unfolded = Unfolded::new(network());
        let folded = Folded::new(network(), GradientMetric::Paper);
        let mut filled = taps(-1.0);
        unfolded.infer(unfolded.offline(), &[3.0], &mut filled);
        let (mut b, mut c) = (*unfolded.offline(), *folded.offline());
        unfolded.descend(&mut b, &filled, &unfolded.gradient(&output_gradient), 2.0);
        folded.descend(&mut c, &filled, &folded.gradient(&output_gradient), 2.0);
        let mut b_times_r = Filter::<2, 1, 2>::ZERO;
        for (row, b) in b_times_r.rows_mut().iter_mut().zip(b.rows()) {
            *row = accumulate(&[0.0; 2], b, network().readout);
        }
        assert_eq!(b_times_r, c);
    }
}
