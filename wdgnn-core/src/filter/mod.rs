//! Delayed graph shift: the taps `z_k(t) = s · Σ_j w_j · z_{k-1}^{(j)}(t-1)` of a graph filter.
//!
//! One [`DelayLine`] belongs to one filter. Its tap 0 is the robot's own signal. Tap k comes from
//! robots k hops away, one hop per exchange. A network with several layers has several lines
//! ([`DelayLines`]); one message carries all of them.
//!
//! # Delay
//!
//! Every hop takes one exchange: a message carries the taps of the sender's previous exchange. Over a
//! changing graph, tap k is therefore `S_t S_{t-1} … S_{t-k+1} X_{t-k}`, and tap 0 is `X_t`, the
//! robot's own signal. With a constant signal on a static graph, tap k equals the `S^k X` of eq.
//! `graphConv` after k exchanges.
//!
//! The paper prints `S_t S_{t-1} … S_{t-k} X_{t-k}` in eq. `delayedGraphFilter`, one S more. Its tap 0
//! would be `S_t X_t`, the sum of the neighbors' present signals. That contradicts eq. `graphConv`,
//! and it would need a second exchange within the tick. This crate therefore follows eq. `graphConv`.

use core::{fmt::Debug, iter};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::tensor::{Tensor, kernels, serde_array};

pub mod scale;

use scale::Scale;

/// Taps `[z_0 | z_1 | … | z_K]` of one filter at one robot, `TAPS = K + 1`.
///
/// A message carries `z_0 … z_{K-1}`: no neighbor needs the last tap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayLine<const TAPS: usize, const F: usize>(pub [[f32; F]; TAPS]);

impl<const TAPS: usize, const F: usize> DelayLine<TAPS, F> {
    /// Number of transmitted numbers.
    const TRANSMITTED: usize = (TAPS - 1) * F;

    fn transmitted(&self) -> &[f32] {
        self.numbers().get(..Self::TRANSMITTED).unwrap_or_default()
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

/// Delay lines of all layers of one robot, first layer first.
///
/// Serialization covers the transmitted numbers. Deserialization leaves the last taps zero.
pub trait DelayLines:
    Copy + Debug + PartialEq + Send + Sync + Serialize + for<'de> Deserialize<'de> + 'static
{
    /// Number of transmitted numbers of all lines.
    const LEN: usize;

    /// Number of taps of the first layer, times its features.
    const FIRST_LEN: usize;

    /// All taps zero.
    const ZERO: Self;

    /// Taps z of the first layer, which the wide part reads too.
    fn first_layer(&self) -> &[f32];

    /// Whether every number is admissible ([`crate::math::is_admissible`]).
    fn is_admissible(&self) -> bool;

    /// Transmitted numbers from `index`, counted over all lines, to the end of the line of `index`.
    ///
    /// The slice is empty beyond the last line.
    fn transmitted_from(&self, index: usize) -> &[f32];

    /// Mutable version of [`DelayLines::transmitted_from`].
    fn transmitted_from_mut(&mut self, index: usize) -> &mut [f32];

    /// Mutable version of [`DelayLines::transmitted`].
    fn transmitted_mut(&mut self) -> impl Iterator<Item = (usize, &mut [f32])>;

    /// Iterates over the transmitted numbers of each line, each with the index of its first number.
    fn transmitted(&self) -> impl Iterator<Item = (usize, &[f32])> {
        let mut from = 0;
        iter::from_fn(move || {
            let (first, line) = (from, self.transmitted_from(from));
            from += line.len();
            (!line.is_empty()).then_some((first, line))
        })
    }

    /// Adds a neighbor's taps, each shifted by one hop: `z_k += weight · z_{k-1}`.
    fn add_shifted(&mut self, neighbor: &Self, weight: f32);

    /// Scales the sums over `count` neighbors.
    fn apply_scale(&mut self, scale: Scale, count: usize);
}

/// Computes taps 1…K of all lines from the neighbors' taps of one exchange earlier.
///
/// Neighbors come in ascending address, each with the weight of its edge. Tap 0 is zero until
/// inference writes the robot's own signal. `own` are the robot's own transmitted taps;
/// [`Scale::Closed`] adds them first.
#[inline]
pub fn aggregate<'a, L: DelayLines + 'a>(
    own: &L, neighbors: impl Iterator<Item = (&'a L, f32)>, scale: Scale,
) -> L {
    let mut lines = L::ZERO;
    let mut count = 0;
    if scale.closed() {
        lines.add_shifted(own, 1.0);
        count = 1;
    }
    for (neighbor, weight) in neighbors {
        lines.add_shifted(neighbor, weight);
        count += 1;
    }
    lines.apply_scale(scale, count);
    lines
}

/// Taps of one layer and of the layers above it; `()` ends the stack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerTaps<const TAPS: usize, const F: usize, Above> {
    /// Line of this layer.
    pub line: DelayLine<TAPS, F>,
    /// Lines of the layers above.
    pub above: Above,
}

/// End of a stack of layers.
impl DelayLines for () {
    const LEN: usize = 0;
    const FIRST_LEN: usize = 0;
    const ZERO: Self = ();

    fn first_layer(&self) -> &[f32] {
        &[]
    }

    fn is_admissible(&self) -> bool {
        true
    }

    fn transmitted_from(&self, _: usize) -> &[f32] {
        &[]
    }

    fn transmitted_from_mut(&mut self, _: usize) -> &mut [f32] {
        &mut []
    }

    fn transmitted_mut(&mut self) -> impl Iterator<Item = (usize, &mut [f32])> {
        iter::empty()
    }

    fn add_shifted(&mut self, (): &Self, _: f32) {}

    fn apply_scale(&mut self, _: Scale, _: usize) {}
}

impl<const TAPS: usize, const F: usize, Above: DelayLines> DelayLines for LayerTaps<TAPS, F, Above> {
    const LEN: usize = DelayLine::<TAPS, F>::TRANSMITTED + Above::LEN;
    const FIRST_LEN: usize = TAPS * F;
    const ZERO: Self = Self { line: DelayLine::ZERO, above: Above::ZERO };

    #[inline]
    fn first_layer(&self) -> &[f32] {
        self.line.numbers()
    }

    fn is_admissible(&self) -> bool {
        self.line.is_admissible() && self.above.is_admissible()
    }

    fn transmitted_from(&self, index: usize) -> &[f32] {
        match index.checked_sub(DelayLine::<TAPS, F>::TRANSMITTED) {
            Some(beyond) => self.above.transmitted_from(beyond),
            None => self.line.transmitted().get(index..).unwrap_or_default(),
        }
    }

    fn transmitted_from_mut(&mut self, index: usize) -> &mut [f32] {
        match index.checked_sub(DelayLine::<TAPS, F>::TRANSMITTED) {
            Some(beyond) => self.above.transmitted_from_mut(beyond),
            None => {
                self.line.numbers_mut().get_mut(index..DelayLine::<TAPS, F>::TRANSMITTED).unwrap_or_default()
            }
        }
    }

    #[inline]
    fn transmitted_mut(&mut self) -> impl Iterator<Item = (usize, &mut [f32])> {
        let line = self.line.numbers_mut().get_mut(..DelayLine::<TAPS, F>::TRANSMITTED).unwrap_or_default();
        let above = self.above.transmitted_mut();
        iter::once((0, line))
            .chain(above.map(|(from, line)| (DelayLine::<TAPS, F>::TRANSMITTED + from, line)))
    }

    #[inline]
    fn add_shifted(&mut self, neighbor: &Self, weight: f32) {
        // A shift by one tap is a shift by F numbers.
        let taps = self.line.numbers_mut().get_mut(F..).unwrap_or_default();
        kernels::add_scaled(taps, neighbor.line.numbers(), weight);
        self.above.add_shifted(&neighbor.above, weight);
    }

    #[inline]
    fn apply_scale(&mut self, scale: Scale, count: usize) {
        scale.apply(self.line.numbers_mut().get_mut(F..).unwrap_or_default(), count);
        self.above.apply_scale(scale, count);
    }
}

impl<const TAPS: usize, const F: usize, Above: DelayLines> Serialize for LayerTaps<TAPS, F, Above> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_array::serialize_list(serializer, Self::LEN, self.transmitted().flat_map(|(_, line)| line))
    }
}

impl<'de, const TAPS: usize, const F: usize, Above: DelayLines> Deserialize<'de>
    for LayerTaps<TAPS, F, Above>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut lines = Self::ZERO;
        let numbers = lines.transmitted_mut().flat_map(|(_, line)| line);
        serde_array::deserialize_list(deserializer, Self::LEN, numbers)?;
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Taps = LayerTaps<3, 2, ()>;

    fn taps(line: [[f32; 2]; 3]) -> Taps {
        Taps { line: DelayLine(line), above: () }
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
    }

    #[test]
    fn sum_over_no_neighbors_is_zero_under_every_scale() {
        for scale in [Scale::Sum, Scale::Mean, Scale::Scaled(3.0), Scale::Closed] {
            assert_eq!(aggregate(&Taps::ZERO, iter::empty(), scale), Taps::ZERO);
        }
    }

    #[test]
    fn transmitted_numbers_are_accessible_line_by_line() {
        let above = LayerTaps { line: DelayLine([[3.0], [-8.0], [11.0]]), above: () };
        let mut two = LayerTaps { line: DelayLine([[1.0, -7.0], [9.0, 9.0]]), above };
        let expected: [&[f32]; 5] = [&[1.0, -7.0], &[-7.0], &[3.0, -8.0], &[-8.0], &[]];
        for (from, expected) in expected.into_iter().enumerate() {
            assert_eq!(two.transmitted_from(from), expected, "from {from}");
            assert_eq!(two.transmitted_from_mut(from), expected, "from {from}");
        }
        two.transmitted_from_mut(1)[0] = -14.0;
        two.transmitted_from_mut(3)[0] = 5.0;
        let above = LayerTaps { line: DelayLine([[3.0], [5.0], [11.0]]), above: () };
        assert_eq!(two, LayerTaps { line: DelayLine([[1.0, -14.0], [9.0, 9.0]]), above });
    }
}
