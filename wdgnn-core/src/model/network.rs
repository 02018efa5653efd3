//! Frozen network: deep part, offline wide part, combination weights and readout.
//!
//! `u = Rᵀ(α_D · deep + α_W · (Bᵀz + b) + β) + ρ`.
//!
//! A network borrows its weights, so it is a few references into flash or into the trainer's
//! parameter vector.

use crate::{
    filter::{DelayLine, DelayLines, Stacked, scale::Scale},
    model::{activation::Activation, deep::Deep},
    tensor::reader::Reader,
};

/// A trained network of `F` input features, `G` hidden features and `O` outputs.
///
/// `TAPS = K + 1` is the number of taps and `D` is the deep part. The wide part reads the delay
/// line of the first layer, so the first layer has `TAPS` taps too.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Network<'w, const F: usize, const TAPS: usize, const G: usize, const O: usize, D> {
    /// The deep part's nonlinearity.
    pub activation: Activation,
    /// Scale of sums over neighbors, in training and in flight.
    pub scale: Scale,
    /// α_D.
    pub alpha_deep: f32,
    /// α_W.
    pub alpha_wide: f32,
    /// β.
    pub beta: f32,
    /// The deep part.
    pub deep: D,
    /// Wide part as trained offline, B†, indexed `[tap][input][output]`.
    pub wide: &'w [[[f32; G]; F]; TAPS],
    /// Bias b of the wide part.
    pub wide_bias: &'w [f32; G],
    /// The readout R.
    pub readout: &'w [[f32; O]; G],
    /// Bias ρ of the readout.
    pub readout_bias: &'w [f32; O],
}

/// Access to the delay line that the wide part shares with the first layer.
pub trait FirstLine<const TAPS: usize, const F: usize> {
    /// Returns the first layer's delay line.
    fn first(&self) -> &DelayLine<TAPS, F>;

    /// Returns the first layer's delay line, mutable.
    ///
    /// A trainer fills it with recorded samples.
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
    /// Number of weights: α_D, α_W, β, the deep part, B, b, R, ρ, in this order.
    pub const NUMBERS: usize = 3 + D::NUMBERS + TAPS * F * G + G + G * O + O;

    /// Borrows a network from a flat list of weights, in the order of the weight file.
    ///
    /// Returns `None` if the list does not have [`Network::NUMBERS`] elements.
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
