//! A network's shape as a type, whatever its weights are borrowed from.
//!
//! Dimensions are fixed at compile time; a weight file names them at run time. Whoever flies files of several shapes goes through
//! a list of these types until [`Shape::DIMENSIONS`] are the file's.

use core::fmt::Debug;

use crate::{
    filter::scale::Scale,
    model::{
        Metric, Model,
        activation::Activation,
        deep::{Layer, Top},
        folded::Folded,
        network::Network,
    },
    task::Task,
    weights::{Header, LayerDimensions, MAX_LAYERS, Weights, WeightsError},
};

/// The dimensions of a network whose layers are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
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
    /// Those that a weight file names: of its first layer, if they are not alike.
    #[must_use]
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

    /// How many numbers a layer's taps are, from 0 on.
    #[must_use]
    pub const fn inputs(&self, layer: usize) -> usize {
        self.taps * if layer == 0 { self.features } else { self.hidden }
    }

    /// The layers as a weight file lists them.
    #[must_use]
    pub fn layers(&self) -> [LayerDimensions; MAX_LAYERS] {
        let mut layers = [LayerDimensions::default(); MAX_LAYERS];
        for layer in layers.iter_mut().take(self.layers) {
            *layer = LayerDimensions { taps: self.taps as u16, features: self.hidden as u16 };
        }
        layers
    }
}

/// The shape of a network for the task `T`.
pub trait Shape<T: Task>: 'static {
    /// The network as it is flown, over weights that are borrowed for `'w`.
    type Model<'w>: Model<Features = T::Features, Output = T::Command> + Copy + Debug + Send + Sync;

    /// Its dimensions.
    const DIMENSIONS: Dimensions;

    /// How many numbers its weights are.
    const NUMBERS: usize;

    /// The network over a flat list of its numbers, in the order of the weight file.
    fn over(numbers: &[f32], activation: Activation, scale: Scale, metric: Metric)
    -> Option<Self::Model<'_>>;

    /// The network in an opened weight file.
    ///
    /// # Errors
    /// [`WeightsError::Mismatch`] naming the first dimension in which the file and this shape differ.
    fn from_weights<'w>(weights: &Weights<'w>) -> Result<Self::Model<'w>, WeightsError>;
}

type One<'w, const F: usize, const TAPS: usize, const G: usize> = Layer<'w, TAPS, F, G, Top>;
type Two<'w, const F: usize, const TAPS: usize, const G: usize> = Layer<'w, TAPS, F, G, One<'w, G, TAPS, G>>;
type Three<'w, const F: usize, const TAPS: usize, const G: usize> =
    Layer<'w, TAPS, F, G, Two<'w, G, TAPS, G>>;

macro_rules! alike {
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

            const NUMBERS: usize = Network::<'_, F, TAPS, G, O, $stack<'_, F, TAPS, G>>::NUMBERS;

            fn over(
                numbers: &[f32],
                activation: Activation,
                scale: Scale,
                metric: Metric,
            ) -> Option<Self::Model<'_>> {
                Network::over(numbers, activation, scale).map(|network| Folded::new(network, metric))
            }

            fn from_weights<'w>(weights: &Weights<'w>) -> Result<Self::Model<'w>, WeightsError> {
                let network = Network::from_weights(weights)?;
                Ok(Folded::new(network, weights.header.learning.metric))
            }
        }
    };
}

alike! {
    /// One layer of `TAPS` taps, from `F` to `G` features, and `O` outputs.
    OneLayer, 1, One
}

alike! {
    /// The same with two layers alike.
    TwoLayers, 2, Two
}

alike! {
    /// The same with three layers alike.
    ThreeLayers, 3, Three
}
