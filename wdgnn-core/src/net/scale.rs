//! How sums over neighbours are scaled.

/// How a node scales the sum over its neighbours: local knowledge only, so that every robot can compute it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Scale {
    /// The plain (weighted) sum: `S` is the adjacency matrix, as the paper writes it.
    Sum,
    /// Divided by the number of neighbours: taps stay as large as the signal whatever the degree.
    Mean,
    /// Multiplied by a constant, such as one over the largest eigenvalue of a graph known beforehand.
    Scaled(f32),
    /// The mean over the neighbours and the node itself, whose own tap goes in too: `z_k = (z_{k-1} + Σ_j z_{k-1}^{(j)}) / (n + 1)`.
    /// Repeated, it is how a swarm agrees on a mean, and a tap stays defined where nobody is near.
    Closed,
}

impl Scale {
    /// Applies the scale to a sum over `count` neighbours. A sum over nobody stays zero.
    #[inline]
    pub(super) fn apply(self, sums: &mut [f32], count: usize) {
        match self {
            Self::Sum => {}
            // With `Closed`, the count includes the node itself.
            Self::Mean | Self::Closed => {
                let count = count.max(1) as f32;
                for x in sums {
                    *x /= count;
                }
            }
            Self::Scaled(factor) => {
                for x in sums {
                    *x *= factor;
                }
            }
        }
    }
}
