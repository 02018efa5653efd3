//! Agree: average the wide parameters with the neighbours' (eq. `disgd`).
//!
//! Only parameters heard in this tick are mixed: mixing a held copy again and again pulls a node back to where its
//! neighbour once was.

use crate::{online::Mixing, tensor::Tensor};

/// A neighbour's parameters and its own count of neighbours.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Opinion<'a, W> {
    /// The parameters.
    pub wide: &'a W,
    /// How many neighbours the sender had when it spoke.
    pub degree: u8,
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
        Mixing::Uniform => {
            let mut sum = *own;
            for opinion in opinions {
                for (s, w) in sum.numbers_mut().iter_mut().zip(opinion.wide.numbers()) {
                    *s += w;
                }
            }
            let count = (count + 1) as f32;
            sum.numbers_mut().iter_mut().for_each(|s| *s /= count);
            sum
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
            let distance = opinion.wide.distance(own);
            if distance > clip {
                weight *= clip / distance;
            }
        }
        for ((m, w), own) in mixed.numbers_mut().iter_mut().zip(opinion.wide.numbers()).zip(own.numbers()) {
            *m += weight * (w - own);
        }
    }
    mixed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Vector;

    fn mixed(mixing: Mixing, clip: f32) -> Vector<1> {
        let others = [(Vector([4.0]), 1), (Vector([8.0]), 3)];
        let opinions = others.iter().map(|(wide, degree)| Opinion { wide, degree: *degree });
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
    fn nobody_heard_changes_nothing() {
        for mixing in [Mixing::Alone, Mixing::Uniform, Mixing::Metropolis] {
            let own = Vector([0.1, 0.7]);
            assert_eq!(mix(mixing, &own, 0, core::iter::empty(), 0.0), own);
        }
    }
}
