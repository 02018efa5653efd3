//! Aggregate: the delayed taps of a graph filter, `z_k(t) = s · Σ_j w_j · z_{k-1}^{(j)}(t-1)`.
//!
//! One [`DelayLine`] belongs to one filter. Its tap 0 is the node's own signal; tap k is what has come from nodes k hops away,
//! one hop per exchange. A node with several layers has several chains ([`DelayLines`]), all carried by one beacon and
//! aggregated in one go.
//!
//! With a constant signal on a static graph, tap k is exact after k exchanges.

use core::{fmt::Debug, iter};

use crate::tensor::{Tensor, kernels};

pub mod scale;

use scale::Scale;

/// The taps `[z_0 | z_1 | … | z_K]` of one filter at one node, `TAPS = K + 1`.
///
/// On the wire it is `z_0 … z_{K-1}` only: nobody ever needs a neighbor's last tap.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DelayLine<const TAPS: usize, const F: usize>(pub [[f32; F]; TAPS]);

impl<const TAPS: usize, const F: usize> DelayLine<TAPS, F> {
    /// How many numbers travel.
    const SENT: usize = (TAPS - 1) * F;

    fn travelling(&self) -> &[f32] {
        self.numbers().get(..Self::SENT).unwrap_or_default()
    }
}

impl<const TAPS: usize, const F: usize> Tensor for DelayLine<TAPS, F> {
    const LEN: usize = TAPS * F;
    const ZERO: Self = Self([[0.0; F]; TAPS]);

    #[inline]
    fn numbers(&self) -> &[f32] {
        self.0.as_flattened()
    }

    #[inline]
    fn numbers_mut(&mut self) -> &mut [f32] {
        self.0.as_flattened_mut()
    }
}

/// All the chains of one node, first layer first.
pub trait DelayLines: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// How many numbers travel.
    const LEN: usize;

    /// Nothing heard yet.
    const ZERO: Self;

    /// Whether every number may enter the arithmetic.
    fn admissible(&self) -> bool;

    /// The numbers that travel from this one on, counted over all chains, to the end of its chain. None beyond the last.
    fn transmitted_from(&self, index: usize) -> &[f32];

    /// The same, to change.
    fn transmitted_from_mut(&mut self, index: usize) -> &mut [f32];

    /// The transmitted numbers of each chain, first chain first, with the index of the first of them over all chains.
    fn sent(&self) -> impl Iterator<Item = (usize, &[f32])> {
        let mut from = 0;
        iter::from_fn(move || {
            let (first, chain) = (from, self.transmitted_from(from));
            from += chain.len();
            (!chain.is_empty()).then_some((first, chain))
        })
    }

    /// Calls `visit` with the transmitted numbers of each chain, to change, as [`DelayLines::sent`] lists them.
    #[inline]
    fn for_each_transmitted(&mut self, mut visit: impl FnMut(usize, &mut [f32])) {
        let mut from = 0;
        while from < Self::LEN {
            let chain = self.transmitted_from_mut(from);
            visit(from, chain);
            from += chain.len().max(1);
        }
    }

    /// Adds a neighbor's taps, each one hop further: `z_k += weight · z_{k-1}`.
    fn add_shifted(&mut self, neighbor: &Self, weight: f32);

    /// Ends the aggregation over `count` neighbors.
    fn apply_scale(&mut self, scale: Scale, count: usize);
}

/// The aggregation step: taps 1…K of every chain from the neighbors' taps, in the order given (ascending id). Tap 0 is
/// left at zero for inference to fill in. `own` are the node's own taps as its neighbors hear them, for [`Scale::Closed`] and
/// [`Scale::Echo`]: they come first.
#[inline]
pub fn aggregate<'a, C: DelayLines + 'a>(
    own: &C,
    neighbors: impl Iterator<Item = (&'a C, f32)>,
    scale: Scale,
) -> C {
    let mut chains = C::ZERO;
    let mut count = 0;
    if scale.closed() {
        chains.add_shifted(own, 1.0);
        count = 1;
    }
    for (neighbor, weight) in neighbors {
        chains.add_shifted(neighbor, weight);
        count += 1;
    }
    chains.apply_scale(scale, count);
    chains
}

/// A chain and the chains of the layers above it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Stacked<const TAPS: usize, const F: usize, Above> {
    /// This layer's chain.
    pub chain: DelayLine<TAPS, F>,
    /// The chains of the layers above.
    pub above: Above,
}

/// No further layer, no further chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NoDelayLine;

impl DelayLines for NoDelayLine {
    const LEN: usize = 0;
    const ZERO: Self = Self;

    fn admissible(&self) -> bool {
        true
    }

    fn transmitted_from(&self, _: usize) -> &[f32] {
        &[]
    }

    fn transmitted_from_mut(&mut self, _: usize) -> &mut [f32] {
        &mut []
    }

    fn add_shifted(&mut self, _: &Self, _: f32) {}

    fn apply_scale(&mut self, _: Scale, _: usize) {}
}

impl<const TAPS: usize, const F: usize, Above: DelayLines> DelayLines for Stacked<TAPS, F, Above> {
    const LEN: usize = DelayLine::<TAPS, F>::SENT + Above::LEN;
    const ZERO: Self = Self { chain: DelayLine::ZERO, above: Above::ZERO };

    fn admissible(&self) -> bool {
        self.chain.admissible() && self.above.admissible()
    }

    fn transmitted_from(&self, index: usize) -> &[f32] {
        match index.checked_sub(DelayLine::<TAPS, F>::SENT) {
            Some(beyond) => self.above.transmitted_from(beyond),
            None => self.chain.travelling().get(index..).unwrap_or_default(),
        }
    }

    fn transmitted_from_mut(&mut self, index: usize) -> &mut [f32] {
        match index.checked_sub(DelayLine::<TAPS, F>::SENT) {
            Some(beyond) => self.above.transmitted_from_mut(beyond),
            None => self.chain.numbers_mut().get_mut(index..DelayLine::<TAPS, F>::SENT).unwrap_or_default(),
        }
    }

    #[inline]
    fn add_shifted(&mut self, neighbor: &Self, weight: f32) {
        // A shift by one tap is a shift by F numbers.
        let taps = self.chain.numbers_mut().get_mut(F..).unwrap_or_default();
        kernels::add_scaled(taps, neighbor.chain.numbers(), weight);
        self.above.add_shifted(&neighbor.above, weight);
    }

    #[inline]
    fn apply_scale(&mut self, scale: Scale, count: usize) {
        scale.apply(self.chain.numbers_mut().get_mut(F..).unwrap_or_default(), count);
        // Tap 0 is the node's own signal: a chain of two taps has nothing that could come back.
        if let (Scale::Echo(share), [_, .., before, last]) = (scale, &mut self.chain.0[..]) {
            kernels::add_scaled(before, last, share);
        }
        self.above.apply_scale(scale, count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Taps = Stacked<3, 2, NoDelayLine>;

    fn taps(chain: [[f32; 2]; 3]) -> Taps {
        Taps { chain: DelayLine(chain), above: NoDelayLine }
    }

    #[test]
    fn aggregation_by_hand() {
        let a = taps([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
        let b = taps([[10.0, 20.0], [30.0, 40.0], [50.0, 60.0]]);
        let neighbors = || [(&a, 1.0), (&b, 0.5)].into_iter();
        let own = taps([[3.0, 6.0], [9.0, -12.0], [99.0, 99.0]]);
        let aggregated = |scale| aggregate(&own, neighbors(), scale);
        assert_eq!(aggregated(Scale::Sum), taps([[0.0, 0.0], [6.0, 12.0], [18.0, 24.0]]));
        assert_eq!(aggregated(Scale::Mean), taps([[0.0, 0.0], [3.0, 6.0], [9.0, 12.0]]));
        assert_eq!(aggregated(Scale::Scaled(2.0)), taps([[0.0, 0.0], [12.0, 24.0], [36.0, 48.0]]));
        assert_eq!(aggregated(Scale::Closed), taps([[0.0, 0.0], [3.0, 6.0], [9.0, 4.0]]));
        assert_eq!(aggregated(Scale::Echo(0.5)), taps([[0.0, 0.0], [7.5, 8.0], [9.0, 4.0]]));
    }

    #[test]
    fn a_chain_of_two_taps_has_no_echo() {
        let two = Stacked { chain: DelayLine([[1.0], [2.0]]), above: NoDelayLine };
        let [echo, closed] =
            [Scale::Echo(0.5), Scale::Closed].map(|scale| aggregate(&two, iter::empty(), scale));
        assert_eq!(echo, closed);
    }

    #[test]
    fn an_echo_tells_of_more_hops_than_there_are_taps() {
        // Five nodes in a row; the first one's signal is 1, and all hold still.
        let mut row = [Taps::ZERO; 5];
        for _ in 0..12 {
            row[0].chain.0[0] = [1.0; 2];
            let before = row;
            row = core::array::from_fn(|node| {
                let sides = [node.checked_sub(1), Some(node + 1)].into_iter().flatten();
                let heard = sides.filter_map(|other| before.get(other)).map(|taps| (taps, 1.0));
                aggregate(&before[node], heard, Scale::Echo(0.8))
            });
        }
        assert!(row[4].chain.0[2][0] > 0.01, "four hops, two taps: {row:?}");
        let bound = 1.0 / (1.0 - 0.8);
        assert!(row.iter().flat_map(|taps| taps.chain.numbers()).all(|z| (0.0..=bound).contains(z)));
    }

    #[test]
    fn nobody_around_gives_zeros_under_every_scale() {
        for scale in [Scale::Sum, Scale::Mean, Scale::Scaled(3.0), Scale::Closed, Scale::Echo(0.9)] {
            assert_eq!(aggregate(&Taps::ZERO, iter::empty(), scale), Taps::ZERO);
        }
    }

    #[test]
    fn numbers_that_travel_are_read_and_changed_chain_by_chain() {
        let above = Stacked { chain: DelayLine([[3.0], [-8.0], [11.0]]), above: NoDelayLine };
        let mut two = Stacked { chain: DelayLine([[1.0, -7.0], [9.0, 9.0]]), above };
        let expected: [&[f32]; 5] = [&[1.0, -7.0], &[-7.0], &[3.0, -8.0], &[-8.0], &[]];
        for (from, expected) in expected.into_iter().enumerate() {
            assert_eq!(two.transmitted_from(from), expected, "from {from}");
            assert_eq!(two.transmitted_from_mut(from), expected, "from {from}");
        }
        two.transmitted_from_mut(1)[0] = -14.0;
        two.transmitted_from_mut(3)[0] = 5.0;
        let above = Stacked { chain: DelayLine([[3.0], [5.0], [11.0]]), above: NoDelayLine };
        assert_eq!(two, Stacked { chain: DelayLine([[1.0, -14.0], [9.0, 9.0]]), above });
    }
}
