//! The shapes of networks that this build flies and trains.
//!
//! `wdgnn-core` fixes dimensions at compile time; a weight file names them at run time. Here the two meet: every shape in the
//! table of [`visit`] is compiled in. To fly another one, add a line there.

use wdgnn_core::{
    deep::{Layer, Top},
    network::FirstChain,
    weights::{Header, LayerDimensions, MOST_LAYERS},
};

use crate::{
    error::{Error, Result},
    train::backward::Backward,
};

/// Input features of the flocking task.
pub const FEATURES: usize = 6;
/// Outputs of the flocking task.
pub const OUTPUTS: usize = 2;

/// A network's dimensions: all layers alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// Layers L.
    pub layers: usize,
    /// Taps K + 1.
    pub taps: usize,
    /// Features per layer, G.
    pub hidden: usize,
}

impl Dimensions {
    /// The paper's: one layer, four taps, 32 features.
    pub const PAPER: Self = Self { layers: 1, taps: 4, hidden: 32 };

    /// Those of a weight file.
    #[must_use]
    pub fn of(header: &Header) -> Self {
        let layers = header.layers.iter().take_while(|layer| layer.taps > 0).count();
        Self { layers, taps: header.layers[0].taps.into(), hidden: header.hidden.into() }
    }

    /// As a weight file writes them.
    #[must_use]
    pub fn layers(&self) -> [LayerDimensions; MOST_LAYERS] {
        let mut layers = [LayerDimensions::default(); MOST_LAYERS];
        for layer in layers.iter_mut().take(self.layers) {
            *layer = LayerDimensions { taps: self.taps as u16, features: self.hidden as u16 };
        }
        layers
    }
}

/// A deep part's type, whatever its weights are borrowed from.
pub trait Shape<const TAPS: usize, const G: usize>: Send + Sync + 'static {
    /// The stack of layers.
    type Deep<'w>: Backward<'w, FEATURES, G, Chains: FirstChain<TAPS, FEATURES> + Send + Sync> + Send + Sync;
    /// How many layers.
    const LAYERS: usize;
}

/// One layer.
#[derive(Debug)]
pub struct One;
/// Two layers.
#[derive(Debug)]
pub struct Two;
/// Three layers.
#[derive(Debug)]
pub struct Three;

type Second<'w, const TAPS: usize, const G: usize> = Layer<'w, TAPS, G, G, Top>;
type Third<'w, const TAPS: usize, const G: usize> = Layer<'w, TAPS, G, G, Second<'w, TAPS, G>>;

impl<const TAPS: usize, const G: usize> Shape<TAPS, G> for One {
    type Deep<'w> = Layer<'w, TAPS, FEATURES, G, Top>;
    const LAYERS: usize = 1;
}

impl<const TAPS: usize, const G: usize> Shape<TAPS, G> for Two {
    type Deep<'w> = Layer<'w, TAPS, FEATURES, G, Second<'w, TAPS, G>>;
    const LAYERS: usize = 2;
}

impl<const TAPS: usize, const G: usize> Shape<TAPS, G> for Three {
    type Deep<'w> = Layer<'w, TAPS, FEATURES, G, Third<'w, TAPS, G>>;
    const LAYERS: usize = 3;
}

/// Something to do with a network whose shape is known only now.
pub trait Visitor {
    /// What comes out.
    type Output;

    /// Does it, for the shape that was asked for.
    fn visit<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(self) -> Self::Output;
}

macro_rules! shapes {
    (
        $(#[$comment:meta])* $visit:ident: $where:literal,
        $(($layers:literal, $shape:ident, $taps:literal, $hidden:literal)),+ $(,)?
    ) => {
        $(#[$comment])*
        ///
        /// # Errors
        /// [`Error::Usage`] naming the shapes there are.
        pub fn $visit<V: Visitor>(dimensions: Dimensions, visitor: V) -> Result<V::Output> {
            match (dimensions.layers, dimensions.taps, dimensions.hidden) {
                $(($layers, $taps, $hidden) => Ok(visitor.visit::<$shape, $taps, $hidden>()),)+
                (layers, taps, hidden) => Err(Error::usage(format!(
                    "no network of {layers} layers, {taps} taps and {hidden} features {}; there are \
                     (layers, taps, features): {}; more are a line each in host-sim/src/shapes.rs",
                    $where,
                    [$(stringify!(($layers, $taps, $hidden))),+].join(" ")
                ))),
            }
        }
    };
}

shapes! {
    /// Calls `visitor` with the shape of these dimensions.
    visit: "in this build",
    (1, One, 1, 32),
    (1, One, 2, 32),
    (1, One, 3, 32),
    (1, One, 4, 16),
    (1, One, 4, 32),
    (1, One, 4, 64),
    (1, One, 5, 32),
    (2, Two, 2, 16),
    (2, Two, 3, 16),
    (2, Two, 4, 16),
    (2, Two, 4, 32),
    (3, Three, 2, 16),
    (3, Three, 4, 16),
}

shapes! {
    /// Calls `visitor` with the shape of these dimensions, if its beacons fit the frames of every small radio: one layer, and no
    /// more than four taps.
    visit_compact: "fits the frames of small radios",
    (1, One, 3, 32),
    (1, One, 4, 16),
    (1, One, 4, 32),
}
