//! A network's shape as a type.
//!
//! Dimensions are fixed at compile time, and a weight file states them at run time. A program that
//! supports several shapes searches a list of these types for the one whose [`Shape::DIMENSIONS`]
//! equal the file's.

use core::fmt::Debug;

use crate::{
    filter::scale::Scale,
    model::{
        GradientMetric, Model,
        activation::Activation,
        deep::{EndOfStack, Layer},
        folded::Folded,
        network::Network,
    },
    task::Task,
    weights::{Header, LayerDimensions, MAX_LAYERS, Weights, WeightsError},
};

/// Dimensions of a network whose layers have equal taps and features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// Input features F.
    pub features: usize,
    /// Layers L.
    pub layers: usize,
    /// Taps of every layer and of the wide part, K + 1.
    pub taps: usize,
    /// Features of every layer, G.
    pub hidden: usize,
    /// Outputs O.
    pub outputs: usize,
}

impl Dimensions {
    /// Returns the dimensions in a weight file.
    ///
    /// If the layers differ, `taps` is that of the first layer.
    pub fn of(header: &Header) -> Self {
        let [first, ..] = &header.layers;
        Self {
            features: header.features.into(),
            layers: header.layers.iter().take_while(|layer| layer.taps > 0).count(),
            taps: first.taps.into(),
            hidden: header.hidden.into(),
            outputs: header.outputs.into(),
        }
    }

    /// Number of inputs of `layer`, counted from 0: its taps times their features.
    pub const fn inputs(&self, layer: usize) -> usize {
        self.taps * if layer == 0 { self.features } else { self.hidden }
    }

    /// Returns the list of layers for a weight file's header.
    pub fn layers(&self) -> [LayerDimensions; MAX_LAYERS] {
        let mut layers = [LayerDimensions::default(); MAX_LAYERS];
        for layer in layers.iter_mut().take(self.layers) {
            *layer = LayerDimensions { taps: self.taps as u16, features: self.hidden as u16 };
        }
        layers
    }
}

/// Shape of a network for the task `T`.
pub trait Shape<T: Task>: 'static {
    /// Folded network over weights that are borrowed for `'w`.
    type Model<'w>: Model<Features = T::Features, Output = T::Command> + Copy + Debug + Send + Sync;

    /// Dimensions of the network.
    const DIMENSIONS: Dimensions;

    /// Number of weights.
    const WEIGHT_COUNT: usize;

    /// Borrows the network from a flat list of weights in weight-file order.
    ///
    /// Returns `None` if the length differs from [`Shape::WEIGHT_COUNT`].
    fn from_numbers(
        numbers: &[f32], activation: Activation, scale: Scale, metric: GradientMetric,
    ) -> Option<Self::Model<'_>>;

    /// Borrows the network from an opened weight file.
    ///
    /// # Errors
    /// [`WeightsError::Mismatch`] with the first dimension in which the file and this shape differ.
    fn from_weights<'w>(weights: &Weights<'w>) -> Result<Self::Model<'w>, WeightsError>;
}

type One<'w, const F: usize, const TAPS: usize, const G: usize> = Layer<'w, TAPS, F, G, EndOfStack>;
type Two<'w, const F: usize, const TAPS: usize, const G: usize> = Layer<'w, TAPS, F, G, One<'w, G, TAPS, G>>;
type Three<'w, const F: usize, const TAPS: usize, const G: usize> =
    Layer<'w, TAPS, F, G, Two<'w, G, TAPS, G>>;

macro_rules! equal_layers {
    ($(#[$comment:meta])* $name:ident, $layers:literal, $stack:ident) => {
        $(#[$comment])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<const F: usize, const TAPS: usize, const G: usize, const O: usize>;

        impl<T, const F: usize, const TAPS: usize, const G: usize, const O: usize> Shape<T>
            for $name<F, TAPS, G, O>
        where
            T: Task<Features = [f32; F], Command = [f32; O]>,
        {
            type Model<'w> = Folded<'w, F, TAPS, G, O, $stack<'w, F, TAPS, G>>;

            const DIMENSIONS: Dimensions =
                Dimensions { features: F, layers: $layers, taps: TAPS, hidden: G, outputs: O };

            const WEIGHT_COUNT: usize = Network::<'_, F, TAPS, G, O, $stack<'_, F, TAPS, G>>::WEIGHT_COUNT;

            fn from_numbers(
                numbers: &[f32],
                activation: Activation,
                scale: Scale,
                metric: GradientMetric,
            ) -> Option<Self::Model<'_>> {
                Network::from_numbers(numbers, activation, scale).map(|network| Folded::new(network, metric))
            }

            #[inline(always)] // a copy of the network takes 300 bytes of stack
            #[allow(clippy::inline_always, reason = "stack of boards")]
            fn from_weights<'w>(weights: &Weights<'w>) -> Result<Self::Model<'w>, WeightsError> {
                let network = Network::from_weights(weights)?;
                Ok(Folded::new(network, weights.header.learning.metric))
            }
        }
    };
}

equal_layers! {
    /// One layer of `TAPS` taps from `F` to `G` features, and `O` outputs.
    OneLayer, 1, One
}

equal_layers! {
    /// Two layers of `TAPS` taps, with `G` features each, and `O` outputs.
    TwoLayers, 2, Two
}

equal_layers! {
    /// Three layers of `TAPS` taps, with `G` features each, and `O` outputs.
    ThreeLayers, 3, Three
}
