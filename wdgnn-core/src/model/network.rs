//! The whole frozen network: deep part, offline wide part, combination weights, readout.
//!
//! `u = Rᵀ(α_D · deep + α_W · (Bᵀz + b) + β) + ρ`. It only borrows its numbers, so it is a handful of references into flash
//! or into the trainer's vector.

use crate::{
    filter::{DelayLine, DelayLines, Stacked, scale::Scale},
    model::{activation::Activation, deep::Deep},
    tensor::reader::Reader,
};

/// A trained network of `F` input features, `TAPS = K + 1` taps, `G` hidden features, `O` outputs and the deep part `D`.
///
/// The wide part shares the first layer's chain, so the first layer has `TAPS` taps too.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Network<'w, const F: usize, const TAPS: usize, const G: usize, const O: usize, D> {
    /// The deep part's nonlinearity.
    pub activation: Activation,
    /// How sums over neighbors are scaled, in training and in flight alike.
    pub scale: Scale,
    /// α_D.
    pub alpha_deep: f32,
    /// α_W.
    pub alpha_wide: f32,
    /// β.
    pub beta: f32,
    /// The deep part.
    pub deep: D,
    /// The wide part as trained offline, B†, `[tap][input][output]`.
    pub wide: &'w [[[f32; G]; F]; TAPS],
    /// The wide part's bias b.
    pub wide_bias: &'w [f32; G],
    /// The readout R.
    pub readout: &'w [[f32; O]; G],
    /// The readout's bias ρ.
    pub readout_bias: &'w [f32; O],
}

/// The chain that a network's wide part shares with the first layer.
pub trait FirstLine<const TAPS: usize, const F: usize> {
    /// That chain.
    fn first(&self) -> &DelayLine<TAPS, F>;

    /// That chain, to fill in: a trainer's samples.
    fn first_mut(&mut self) -> &mut DelayLine<TAPS, F>;
}

impl<const TAPS: usize, const F: usize, Above: DelayLines> FirstLine<TAPS, F> for Stacked<TAPS, F, Above> {
    #[inline]
    fn first(&self) -> &DelayLine<TAPS, F> {
        &self.line
    }

    #[inline]
    fn first_mut(&mut self) -> &mut DelayLine<TAPS, F> {
        &mut self.line
    }
}

impl<'w, const F: usize, const TAPS: usize, const G: usize, const O: usize, D> Network<'w, F, TAPS, G, O, D>
where
    D: Deep<'w, F, G>,
{
    /// How many numbers the network's weights are: α_D, α_W, β, the deep part, B, b, R, ρ, in this order.
    pub const NUMBERS: usize = 3 + D::NUMBERS + TAPS * F * G + G + G * O + O;

    /// The network over a flat list of its numbers, in the order of the weight file: the trainer's view.
    #[must_use]
    pub fn over(numbers: &'w [f32], activation: Activation, scale: Scale) -> Option<Self> {
        let mut reader = Reader::new(numbers);
        let &[alpha_deep, alpha_wide, beta] = reader.vector::<3>()?;
        let network = Self {
            activation,
            scale,
            alpha_deep,
            alpha_wide,
            beta,
            deep: D::read(&mut reader)?,
            wide: reader.filter()?,
            wide_bias: reader.vector()?,
            readout: reader.matrix()?,
            readout_bias: reader.vector()?,
        };
        reader.is_empty().then_some(network)
    }
}
