//! Network with the wide part in the paper's form, as a reference.

use crate::{
    filter::{DelayLines as _, scale::Scale},
    model::{Model, deep::Deep, network::Network},
    tensor::{Filter, accumulate},
};

/// A network whose wide part is the paper's `B`.
#[derive(Clone, Copy, Debug)]
pub struct Unfolded<'w, const F: usize, const TAPS: usize, const G: usize, const O: usize, D> {
    network: Network<'w, F, TAPS, G, O, D>,
    offline: Filter<TAPS, F, G>,
}

impl<'w, const F: usize, const TAPS: usize, const G: usize, const O: usize, D>
    Unfolded<'w, F, TAPS, G, O, D>
{
    /// Wraps a network without changing its weights.
    pub fn new(network: Network<'w, F, TAPS, G, O, D>) -> Self {
        Self { offline: Filter(*network.wide), network }
    }
}

impl<'w, const F: usize, const TAPS: usize, const G: usize, const O: usize, D> Model
    for Unfolded<'w, F, TAPS, G, O, D>
where
    D: Deep<'w, F, G>,
{
    type Features = [f32; F];
    type Output = [f32; O];
    type Taps = D::Taps;
    type Wide = Filter<TAPS, F, G>;
    type Factor = [f32; G];

    fn scale(&self) -> Scale {
        self.network.scale
    }

    fn offline(&self) -> &Self::Wide {
        &self.offline
    }

    fn infer(&self, wide: &Self::Wide, features: &[f32; F], taps: &mut D::Taps) -> [f32; O] {
        let network = &self.network;
        let mut hidden = network.deep.infer(network.activation, features, taps);
        let linear = accumulate(network.wide_bias, taps.first_layer(), wide.rows());
        for (h, w) in hidden.iter_mut().zip(linear) {
            *h = network.alpha_deep * *h + network.alpha_wide * w + network.beta;
        }
        accumulate(network.readout_bias, &hidden, network.readout)
    }

    fn gradient(&self, output_gradient: &[f32; O]) -> [f32; G] {
        let mut factor = [0.0; G];
        for (f, row) in factor.iter_mut().zip(self.network.readout) {
            for (r, g) in row.iter().zip(output_gradient) {
                *f += r * g;
            }
            *f *= self.network.alpha_wide;
        }
        factor
    }

    fn descend(&self, wide: &mut Self::Wide, taps: &D::Taps, factor: &[f32; G], step: f32) {
        wide.descend(taps.first_layer(), factor, step);
    }
}
