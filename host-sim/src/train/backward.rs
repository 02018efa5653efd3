//! The gradient of the deep part, written by hand next to the core's forward pass.
//!
//! One step back through one node's stack at one tick. The chains' gradients link it to the other nodes and to the tick before:
//! tap k of a chain is the neighbours' tap k−1 of one exchange earlier ([`Adjoint::add_back`]).

use wdgnn_core::{
    activation::Activation,
    deep::{Deep, Layer, Top},
    taps::{Chains, NoChain, Stacked},
    tensor::Tensor as _,
};

/// Chains as gradients: what is owed to every tap.
pub trait Adjoint: Chains {
    /// Passes the gradient of a listener's taps back to whom it heard: `tap_k += weight · listener's tap_{k+1}`.
    fn add_back(&mut self, listener: &Self, weight: f32);
}

impl Adjoint for NoChain {
    fn add_back(&mut self, _: &Self, _: f32) {}
}

impl<const TAPS: usize, const F: usize, Above: Adjoint> Adjoint for Stacked<TAPS, F, Above> {
    fn add_back(&mut self, listener: &Self, weight: f32) {
        let owed = listener.chain.numbers().iter().skip(F);
        for (sum, gradient) in self.chain.numbers_mut().iter_mut().zip(owed) {
            *sum += weight * gradient;
        }
        self.above.add_back(&listener.above, weight);
    }
}

/// A stack that can be trained.
pub trait Backward<'w, const F: usize, const G: usize>: Deep<'w, F, G, Chains: Adjoint> {
    /// The stack's own input at this tick, read off what the forward pass left behind.
    fn input<'a>(chains: &'a Self::Chains, output: &'a [f32; G]) -> &'a [f32; F];

    /// Adds the gradient of the stack's weights to `gradients` (in the order of the weight file) and returns the gradient
    /// of its own input.
    ///
    /// `chains` and `output` are the forward pass's, `d_output` is the gradient of its output, and `adjoint` brings what later
    /// ticks owe to this tick's taps and takes away what this tick owes to earlier ones. The first layer's taps are data:
    /// with `FIRST` their gradients are left out.
    fn backward<const FIRST: bool>(
        &self,
        activation: Activation,
        chains: &Self::Chains,
        output: &[f32; G],
        d_output: &[f32; G],
        adjoint: &mut Self::Chains,
        gradients: &mut [f32],
    ) -> [f32; F];
}

impl<const G: usize> Backward<'_, G, G> for Top {
    fn input<'a>(_: &'a NoChain, output: &'a [f32; G]) -> &'a [f32; G] {
        output
    }

    fn backward<const FIRST: bool>(
        &self,
        _: Activation,
        _: &NoChain,
        _: &[f32; G],
        d_output: &[f32; G],
        _: &mut NoChain,
        _: &mut [f32],
    ) -> [f32; G] {
        *d_output
    }
}

impl<'w, const TAPS: usize, const F: usize, const H: usize, const G: usize, Above> Backward<'w, F, G>
    for Layer<'w, TAPS, F, H, Above>
where
    Above: Backward<'w, H, G>,
{
    fn input<'a>(chains: &'a Self::Chains, _: &'a [f32; G]) -> &'a [f32; F] {
        &chains.chain.0[0]
    }

    #[inline]
    fn backward<const FIRST: bool>(
        &self,
        activation: Activation,
        chains: &Self::Chains,
        output: &[f32; G],
        d_output: &[f32; G],
        adjoint: &mut Self::Chains,
        gradients: &mut [f32],
    ) -> [f32; F] {
        let (own, above) = gradients.split_at_mut((TAPS * F + 1) * H);
        let mut d = self.above.backward::<false>(
            activation,
            &chains.above,
            output,
            d_output,
            &mut adjoint.above,
            above,
        );
        let value = Above::input(&chains.above, output);
        for (d, value) in d.iter_mut().zip(value) {
            *d *= activation.slope(*value);
        }
        let (filter, bias) = own.split_at_mut(TAPS * F * H);
        for (row, z) in filter.as_chunks_mut::<H>().0.iter_mut().zip(chains.chain.numbers()) {
            for (sum, d) in row.iter_mut().zip(d) {
                *sum += z * d;
            }
        }
        for (sum, d) in bias.iter_mut().zip(d) {
            *sum += d;
        }
        if !FIRST {
            for (owed, row) in adjoint.chain.numbers_mut().iter_mut().zip(self.filter.as_flattened()) {
                *owed += row.iter().zip(d).map(|(weight, d)| weight * d).sum::<f32>();
            }
        }
        adjoint.chain.0[0]
    }
}
