//! Agree: average the wide parameters with the neighbors' (eq. `disgd`).
//!
//! Only parameters heard in this tick are mixed: mixing a held copy again and again pulls a node back to where its
//! neighbor once was.

use crate::{
    online::Mixing,
    tensor::{
        Tensor,
        kernels::{self, BLOCK},
        param_range::ParamRange,
    },
};

/// A neighbor's parameters and its own count of neighbors.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NeighborParams<'a> {
    /// The parameters.
    pub wide: &'a [f32],
    /// How many neighbors the sender had when it spoke.
    pub degree: u8,
    /// Which of the parameters were heard in this tick; the others do not count.
    pub fresh: ParamRange,
}

/// Mixes the neighbors' parameters (ascending id) into a node's own.
///
/// `own_degree` is the count that the node told its neighbors, so that both ends of a link use the same two numbers.
/// With `clip > 0`, no neighbor's difference counts for more than that length.
#[inline]
pub fn mix<W: Tensor>(mixing: Mixing, wide: &mut W, own_degree: u8, opinions: &[NeighborParams<'_>], clip: f32) {
    let count = opinions.len();
    match mixing {
        Mixing::Alone => {}
        Mixing::Uniform if clip > 0.0 => weighted(wide, opinions, clip, |_| 1.0 / (count + 1) as f32),
        Mixing::Uniform if opinions.iter().all(|opinion| opinion.fresh == ParamRange::ALL) => {
            mean(wide.numbers_mut(), opinions);
        }
        Mixing::Uniform => mean_of_parts(wide, opinions),
        Mixing::Metropolis => {
            // Where a node hears more neighbors than it told them of, its own count keeps the weights' sum below 1.
            let degree = count.max(own_degree.into());
            weighted(wide, opinions, clip, |other| 1.0 / (1 + degree.max(other.into())) as f32);
        }
    }
}

/// `own + Σ_j weight_j · (wide_j − own)`, with each difference clipped.
#[inline(never)]
fn weighted<W: Tensor>(wide: &mut W, opinions: &[NeighborParams<'_>], clip: f32, weight: impl Fn(u8) -> f32) {
    let own = *wide;
    for opinion in opinions {
        let mut weight = weight(opinion.degree);
        let (own, said) = (opinion.fresh.of(own.numbers()), opinion.fresh.of(opinion.wide));
        if clip > 0.0
            && let Some(distance) = kernels::distance_beyond(said, own, clip)
            && distance > clip
        {
            weight *= clip / distance;
        }
        kernels::add_difference(opinion.fresh.of_mut(wide.numbers_mut()), said, own, weight);
    }
}

/// The mean over all, where everybody said everything: where a robot spends its time. Not generic, for the reason that the
/// kernels are not.
#[inline(never)]
fn mean(wide: &mut [f32], opinions: &[NeighborParams<'_>]) {
    let count = (opinions.len() + 1) as f32;
    let (blocks, rest) = wide.as_chunks_mut::<BLOCK>();
    let from = blocks.len() * BLOCK;
    for (index, block) in blocks.iter_mut().enumerate() {
        let mut sums = *block;
        for said in opinions.iter().filter_map(|opinion| opinion.wide.as_chunks::<BLOCK>().0.get(index)) {
            for (sum, number) in sums.iter_mut().zip(said) {
                *sum += number;
            }
        }
        for sum in &mut sums {
            *sum /= count;
        }
        *block = sums;
    }
    for opinion in opinions {
        for (sum, number) in rest.iter_mut().zip(opinion.wide.get(from..).unwrap_or_default()) {
            *sum += number;
        }
    }
    for sum in rest {
        *sum /= count;
    }
}

/// The mean over those who said a number, number by number.
#[inline(never)]
fn mean_of_parts<W: Tensor>(wide: &mut W, opinions: &[NeighborParams<'_>]) {
    let mut counts = W::ZERO;
    for opinion in opinions {
        let (sums, counts) =
            (opinion.fresh.of_mut(wide.numbers_mut()), opinion.fresh.of_mut(counts.numbers_mut()));
        for ((sum, count), w) in sums.iter_mut().zip(counts).zip(opinion.fresh.of(opinion.wide)) {
            *sum += w;
            *count += 1.0;
        }
    }
    for (sum, count) in wide.numbers_mut().iter_mut().zip(counts.numbers()) {
        *sum /= count + 1.0;
    }
}

/// Whether two tensors are within a limit of each other in a run of their numbers.
pub fn within<W: Tensor>(a: &W, b: &W, run: ParamRange, limit: f32) -> bool {
    kernels::distance_beyond(run.of(a.numbers()), run.of(b.numbers()), limit)
        .is_none_or(|distance| distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Vector;

    fn mixed(mixing: Mixing, clip: f32) -> Vector<1> {
        let opinions =
            [(&[4.0], 1), (&[8.0], 3)].map(|(wide, degree)| NeighborParams { wide, degree, fresh: ParamRange::ALL });
        let mut wide = Vector([0.0]);
        mix(mixing, &mut wide, 2, &opinions, clip);
        wide
    }

    #[test]
    fn uniform_is_the_mean() {
        assert_eq!(mixed(Mixing::Uniform, 0.0), Vector([4.0]));
    }

    #[test]
    fn uniform_is_the_mean_at_every_length() {
        fn check<const N: usize>() {
            let own: [f32; N] = core::array::from_fn(|index| index as f32);
            let others = [own.map(|x| x + 1.0), own.map(|x| 2.0 * x), own.map(|x| 3.0 - x)];
            let opinions = others.each_ref().map(|wide| NeighborParams { wide, degree: 3, fresh: ParamRange::ALL });
            let mut wide = Vector(own);
            mix(Mixing::Uniform, &mut wide, 3, &opinions, 0.0);
            // x + (x + 1) + 2x + (3 − x) = 3x + 4.
            assert_eq!(wide, Vector(own.map(|x| (3.0 * x + 4.0) / 4.0)));
        }
        check::<1>();
        check::<15>();
        check::<16>();
        check::<48>();
        check::<50>();
    }

    #[test]
    fn metropolis_weighs_by_the_larger_degree() {
        // 4/(1 + 2) + 8/(1 + 3)
        assert_eq!(mixed(Mixing::Metropolis, 0.0), Vector([4.0 / 3.0 + 2.0]));
    }

    #[test]
    fn alone_listens_to_nobody() {
        assert_eq!(mixed(Mixing::Alone, 0.0), Vector([0.0]));
    }

    #[test]
    fn a_clipped_difference_has_the_clip_s_length() {
        // 2/3 each, whatever the neighbors say beyond it.
        assert!((mixed(Mixing::Uniform, 2.0).0[0] - 4.0 / 3.0).abs() < 1.0e-6);
    }

    #[test]
    fn numbers_that_were_not_said_are_not_mixed() {
        let said = [([3.0, 99.0, 99.0], 0, 1), ([6.0, 4.0, 99.0], 0, 2)];
        let opinions = said.each_ref().map(|(wide, from, to)| NeighborParams {
            wide,
            degree: 2,
            fresh: ParamRange { from: *from, to: *to },
        });
        for (mixing, expected) in
            [(Mixing::Uniform, [3.0, 7.0, 20.0]), (Mixing::Metropolis, [3.0, 8.0, 20.0])]
        {
            let mut wide = Vector([0.0, 10.0, 20.0]);
            mix(mixing, &mut wide, 2, &opinions, 0.0);
            assert_eq!(wide, Vector(expected));
        }
    }

    #[test]
    fn nobody_heard_changes_nothing() {
        for mixing in [Mixing::Alone, Mixing::Uniform, Mixing::Metropolis] {
            let mut wide = Vector([0.1, 0.7]);
            mix(mixing, &mut wide, 0, &[], 0.0);
            assert_eq!(wide, Vector([0.1, 0.7]));
        }
    }
}
