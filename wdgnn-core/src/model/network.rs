//! Frozen network: deep part, offline wide part, combination weights and readout.
//!
//! `u = Rᵀ(α_D · deep + α_W · (Bᵀz + b) + β) + ρ`.
//!
//! A network borrows its weights, so it is a few references into flash or into the trainer's
//! parameter vector.

use crate::{
    filter::{DelayLines as _, scale::Scale},
    model::{activation::Activation, deep::Deep},
    tensor::take,
};

/// A trained network of `F` input features, `G` hidden features and `O` outputs.
///
/// `TAPS = K + 1` is the number of taps and `D` is the deep part. The wide part reads the delay
/// line of the first layer, so the first layer has `TAPS` taps too.
#[derive(Clone, Copy, Debug)]
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

impl<'w, const F: usize, const TAPS: usize, const G: usize, const O: usize, D> Network<'w, F, TAPS, G, O, D>
where
    D: Deep<'w, F, G>,
{
    /// Number of weights: α_D, α_W, β, the deep part, B, b, R, ρ, in this order.
    pub const WEIGHT_COUNT: usize = 3 + D::WEIGHT_COUNT + TAPS * F * G + G + G * O + O;

    /// Borrows a network from a flat list of weights, in the order of the weight file.
    ///
    /// Returns `None` if the list does not have [`Network::WEIGHT_COUNT`] elements.
    pub fn from_numbers(mut numbers: &'w [f32], activation: Activation, scale: Scale) -> Option<Self> {
        const { assert!(D::Taps::FIRST_LEN == TAPS * F, "the wide part reads the taps of the first layer") };
        let rest = &mut numbers;
        let &[alpha_deep, alpha_wide, beta] = take(rest, 3)?.first_chunk()?;
        let network = Self {
            activation,
            scale,
            alpha_deep,
            alpha_wide,
            beta,
            deep: D::read(rest)?,
            wide: take(rest, TAPS * F * G)?.as_chunks().0.as_chunks().0.first_chunk()?,
            wide_bias: take(rest, G)?.first_chunk()?,
            readout: take(rest, G * O)?.as_chunks().0.first_chunk()?,
            readout_bias: take(rest, O)?.first_chunk()?,
        };
        rest.is_empty().then_some(network)
    }
}
