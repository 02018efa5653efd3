//! Consensus: averages the wide parameters with those of the neighbors (eq. `disgd`).
//!
//! Only parameters received in the current tick are mixed. A parameter that is kept and mixed
//! repeatedly would pull the robot back to an old value of its neighbor.

use crate::{
    online::Mixing,
    tensor::{
        Tensor,
        kernels::{self, BLOCK},
        param_range::ParamRange,
    },
};

/// Wide parameters of one neighbor.
#[derive(Clone, Copy, Debug)]
pub struct NeighborParams<'a> {
    /// The parameters.
    pub wide: &'a [f32],
    /// Number of neighbors of the sender when it sent them.
    pub degree: u8,
    /// Range that was received in this tick. The other parameters are ignored.
    pub fresh: ParamRange,
}

/// Mixes the parameters of the neighbors, in ascending address, into the robot's own.
///
/// `own_degree` is the number of neighbors in the robot's last message, so that both ends of a link
/// use the same two degrees. A positive `clip` limits the length of each neighbor's difference.
#[inline]
pub fn consensus_step<W: Tensor>(
    mixing: Mixing, wide: &mut W, own_degree: u8, neighbors: &[NeighborParams<'_>], clip: f32,
) {
    let count = neighbors.len();
    match mixing {
        Mixing::Alone => {}
        Mixing::Uniform if clip > 0.0 => weighted(wide, neighbors, clip, &|_| 1.0 / (count + 1) as f32),
        Mixing::Uniform if neighbors.iter().all(|neighbor| neighbor.fresh == ParamRange::ALL) => {
            mean(wide.numbers_mut(), neighbors);
        }
        Mixing::Uniform => mean_of_parts(wide, neighbors),
        Mixing::Metropolis => {
            // The robot may hear more neighbors than it reported; the larger count keeps the sum of
            // the weights below 1.
            let degree = count.max(own_degree.into());
            weighted(wide, neighbors, clip, &|other| 1.0 / (1 + degree.max(other.into())) as f32);
        }
    }
}

/// Computes `own + Σ_j weight_j · (wide_j − own)` with each difference clipped.
#[inline(never)]
fn weighted<W: Tensor>(
    wide: &mut W,
    neighbors: &[NeighborParams<'_>],
    clip: f32,
    weight: &dyn Fn(u8) -> f32, // one copy in flash for both rules
) {
    let own = *wide;
    for neighbor in neighbors {
        let mut weight = weight(neighbor.degree);
        let (own, received) = (neighbor.fresh.of(own.numbers()), neighbor.fresh.of(neighbor.wide));
        if clip > 0.0
            && let Some(distance) = kernels::distance_unless_below(received, own, clip)
            && distance > clip
        {
            weight *= clip / distance;
        }
        kernels::add_difference(neighbor.fresh.of_mut(wide.numbers_mut()), received, own, weight);
    }
}

/// Computes the mean over the robot and all neighbors if all of them sent every parameter.
///
/// Most of the consensus step runs here. The function is not generic, so it is compiled in this
/// crate for speed, even in firmware that is compiled for size.
#[inline(never)]
fn mean(wide: &mut [f32], neighbors: &[NeighborParams<'_>]) {
    let count = (neighbors.len() + 1) as f32;
    let (blocks, rest) = wide.as_chunks_mut::<BLOCK>();
    let from = blocks.len() * BLOCK;
    for (index, block) in blocks.iter_mut().enumerate() {
        let mut sums = *block;
        for received in
            neighbors.iter().filter_map(|neighbor| neighbor.wide.as_chunks::<BLOCK>().0.get(index))
        {
            for (sum, number) in sums.iter_mut().zip(received) {
                *sum += number;
            }
        }
        for sum in &mut sums {
            *sum /= count;
        }
        *block = sums;
    }
    for neighbor in neighbors {
        for (sum, number) in rest.iter_mut().zip(neighbor.wide.get(from..).unwrap_or_default()) {
            *sum += number;
        }
    }
    for sum in rest {
        *sum /= count;
    }
}

/// Averages each parameter over the robot and the neighbors that sent it in this tick.
#[inline(never)]
fn mean_of_parts<W: Tensor>(wide: &mut W, neighbors: &[NeighborParams<'_>]) {
    let mut counts = W::ZERO;
    for neighbor in neighbors {
        let (sums, counts) =
            (neighbor.fresh.of_mut(wide.numbers_mut()), neighbor.fresh.of_mut(counts.numbers_mut()));
        for ((sum, count), w) in sums.iter_mut().zip(counts).zip(neighbor.fresh.of(neighbor.wide)) {
            *sum += w;
            *count += 1.0;
        }
    }
    for (sum, count) in wide.numbers_mut().iter_mut().zip(counts.numbers()) {
        *sum /= count + 1.0;
    }
}

/// Whether two tensors differ by at most `limit` in a range of their numbers.
pub fn is_within_distance<W: Tensor>(a: &W, b: &W, range: ParamRange, limit: f32) -> bool {
    kernels::distance_unless_below(range.of(a.numbers()), range.of(b.numbers()), limit)
        .is_none_or(|distance| distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Filter;

    fn mixed(mixing: Mixing, clip: f32) -> Filter<1, 1, 1> {
        let neighbors = [(&[4.0], 1), (&[8.0], 3)].map(|(wide, degree)| NeighborParams {
            wide,
            degree,
            fresh: ParamRange::ALL,
        });
        let mut wide = Filter([[[0.0]]]);
        consensus_step(mixing, &mut wide, 2, &neighbors, clip);
        wide
    }

    #[test]
    fn uniform_is_the_mean() {
        assert_eq!(mixed(Mixing::Uniform, 0.0), Filter([[[4.0]]]));
    }

    #[test]
    fn uniform_is_the_mean_at_every_length() {
        fn check<const N: usize>() {
            let own: [f32; N] = core::array::from_fn(|index| index as f32);
            let others = [own.map(|x| x + 1.0), own.map(|x| 2.0 * x), own.map(|x| 3.0 - x)];
            let neighbors =
                others.each_ref().map(|wide| NeighborParams { wide, degree: 3, fresh: ParamRange::ALL });
            let mut wide = Filter([[own]]);
            consensus_step(Mixing::Uniform, &mut wide, 3, &neighbors, 0.0);
            // x + (x + 1) + 2x + (3 − x) = 3x + 4.
            assert_eq!(wide, Filter([[own.map(|x| (3.0 * x + 4.0) / 4.0)]]));
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
        assert_eq!(mixed(Mixing::Metropolis, 0.0), Filter([[[4.0 / 3.0 + 2.0]]]));
    }

    #[test]
    fn alone_ignores_all_neighbors() {
        assert_eq!(mixed(Mixing::Alone, 0.0), Filter([[[0.0]]]));
    }

    #[test]
    fn clipped_difference_has_the_length_of_the_clip() {
        // Each difference counts for 2/3.
        assert!((mixed(Mixing::Uniform, 2.0).0[0][0][0] - 4.0 / 3.0).abs() < 1.0e-6);
    }

    #[test]
    fn parameters_that_were_not_sent_are_not_mixed() {
        let sent = [([3.0, 99.0, 99.0], 0, 1), ([6.0, 4.0, 99.0], 0, 2)];
        let neighbors = sent.each_ref().map(|(wide, from, to)| NeighborParams {
            wide,
            degree: 2,
            fresh: ParamRange { from: *from, to: *to },
        });
        for (mixing, expected) in
            [(Mixing::Uniform, [3.0, 7.0, 20.0]), (Mixing::Metropolis, [3.0, 8.0, 20.0])]
        {
            let mut wide = Filter([[[0.0, 10.0, 20.0]]]);
            consensus_step(mixing, &mut wide, 2, &neighbors, 0.0);
            assert_eq!(wide, Filter([[expected]]));
        }
    }

    #[test]
    fn no_neighbors_change_nothing() {
        for mixing in [Mixing::Alone, Mixing::Uniform, Mixing::Metropolis] {
            let mut wide = Filter([[[0.1, 0.7]]]);
            consensus_step(mixing, &mut wide, 0, &[], 0.0);
            assert_eq!(wide, Filter([[[0.1, 0.7]]]));
        }
    }
}
