//! Agree: average the wide parameters with the neighbours' (eq. `disgd`).
//!
//! Only parameters heard in this tick are mixed: mixing a held copy again and again pulls a node back to where its
//! neighbour once was.

use heapless::Vec;

use crate::{codec::Span, kernels, math, online::Mixing, tensor::Tensor};

/// Neighbours that are added up at a time: as many as a robot has room for.
const AT_ONCE: usize = 16;

/// A neighbour's parameters and its own count of neighbours.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Opinion<'a, W> {
    /// The parameters.
    pub wide: &'a W,
    /// How many neighbours the sender had when it spoke.
    pub degree: u8,
    /// Which of the parameters were heard in this tick; the others do not count.
    pub fresh: Span,
}

/// The mixture of a node's own parameters and its neighbours' (ascending id).
///
/// `own_degree` is the count that the node told its neighbours, so that both ends of a link use the same two numbers.
/// With `clip > 0`, no neighbour's difference counts for more than that length.
#[inline]
pub fn mix<'a, W: Tensor + 'a>(
    mixing: Mixing,
    own: &W,
    own_degree: u8,
    opinions: impl Iterator<Item = Opinion<'a, W>> + Clone,
    clip: f32,
) -> W {
    let count = opinions.clone().count();
    match mixing {
        Mixing::Alone => *own,
        Mixing::Uniform if clip > 0.0 => weighted(own, opinions, clip, |_| 1.0 / (count + 1) as f32),
        Mixing::Uniform if opinions.clone().any(|opinion| opinion.fresh != Span::ALL) => {
            uniform_parts(own, opinions)
        }
        Mixing::Uniform => {
            let mut mixed = *own;
            let mut said: Vec<&[f32], AT_ONCE> = Vec::new();
            for opinion in opinions {
                if said.is_full() {
                    kernels::add_all(mixed.numbers_mut(), &said);
                    said.clear();
                }
                // There is room, or it was just made.
                let _ = said.push(opinion.wide.numbers());
            }
            kernels::add_all(mixed.numbers_mut(), &said);
            kernels::divide(mixed.numbers_mut(), (count + 1) as f32);
            mixed
        }
        Mixing::Metropolis => {
            // Where a node hears more neighbours than it told them of, its own count keeps the weights' sum below 1.
            let degree = count.max(own_degree.into());
            weighted(own, opinions, clip, |other| 1.0 / (1 + degree.max(other.into())) as f32)
        }
    }
}

/// `own + Σ_j weight_j · (wide_j − own)`, with each difference clipped.
fn weighted<'a, W: Tensor + 'a>(
    own: &W,
    opinions: impl Iterator<Item = Opinion<'a, W>>,
    clip: f32,
    weight: impl Fn(u8) -> f32,
) -> W {
    let mut mixed = *own;
    for opinion in opinions {
        let mut weight = weight(opinion.degree);
        if clip > 0.0 {
            let distance = distance(opinion.wide, own, opinion.fresh);
            if distance > clip {
                weight *= clip / distance;
            }
        }
        let (mixed, fresh) =
            (opinion.fresh.of_mut(mixed.numbers_mut()), opinion.fresh.of(opinion.wide.numbers()));
        for ((m, w), own) in mixed.iter_mut().zip(fresh).zip(opinion.fresh.of(own.numbers())) {
            *m += weight * (w - own);
        }
    }
    mixed
}

/// The mean over those who said a number, number by number.
fn uniform_parts<'a, W: Tensor + 'a>(own: &W, opinions: impl Iterator<Item = Opinion<'a, W>>) -> W {
    let mut sum = *own;
    let mut counts = W::ZERO;
    for opinion in opinions {
        let (sums, counts) =
            (opinion.fresh.of_mut(sum.numbers_mut()), opinion.fresh.of_mut(counts.numbers_mut()));
        for ((s, count), w) in sums.iter_mut().zip(counts).zip(opinion.fresh.of(opinion.wide.numbers())) {
            *s += w;
            *count += 1.0;
        }
    }
    for (s, count) in sum.numbers_mut().iter_mut().zip(counts.numbers()) {
        *s /= count + 1.0;
    }
    sum
}

/// The distance of two tensors in a run of their numbers.
pub(crate) fn distance<W: Tensor>(a: &W, b: &W, run: Span) -> f32 {
    math::sqrt(kernels::squared_distance(run.of(a.numbers()), run.of(b.numbers())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Vector;

    fn mixed(mixing: Mixing, clip: f32) -> Vector<1> {
        let others = [(Vector([4.0]), 1), (Vector([8.0]), 3)];
        let opinions =
            others.iter().map(|(wide, degree)| Opinion { wide, degree: *degree, fresh: Span::ALL });
        mix(mixing, &Vector([0.0]), 2, opinions, clip)
    }

    #[test]
    fn uniform_is_the_mean() {
        assert_eq!(mixed(Mixing::Uniform, 0.0), Vector([4.0]));
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
        // 2/3 each, whatever the neighbours say beyond it.
        assert!((mixed(Mixing::Uniform, 2.0).0[0] - 4.0 / 3.0).abs() < 1.0e-6);
    }

    #[test]
    fn numbers_that_were_not_said_are_not_mixed() {
        let own = Vector([0.0, 10.0, 20.0]);
        let others = [(Vector([3.0, 99.0, 99.0]), 0, 1), (Vector([6.0, 4.0, 99.0]), 0, 2)];
        let opinions = || {
            others.iter().map(|(wide, from, to)| Opinion {
                wide,
                degree: 2,
                fresh: Span { from: *from, to: *to },
            })
        };
        assert_eq!(mix(Mixing::Uniform, &own, 2, opinions(), 0.0), Vector([3.0, 7.0, 20.0]));
        assert_eq!(mix(Mixing::Metropolis, &own, 2, opinions(), 0.0), Vector([3.0, 8.0, 20.0]));
    }

    #[test]
    fn nobody_heard_changes_nothing() {
        for mixing in [Mixing::Alone, Mixing::Uniform, Mixing::Metropolis] {
            let own = Vector([0.1, 0.7]);
            assert_eq!(mix(mixing, &own, 0, core::iter::empty(), 0.0), own);
        }
    }
}
