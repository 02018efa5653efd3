//! How sums over neighbors are scaled.

/// How a node scales the sum over its neighbors: local knowledge only, so that every robot can compute it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Scale {
    /// The plain (weighted) sum: `S` is the adjacency matrix, as the paper writes it.
    Sum,
    /// Divided by the number of neighbors: taps stay as large as the signal whatever the degree.
    Mean,
    /// Multiplied by a constant, such as one over the largest eigenvalue of a graph known beforehand.
    Scaled(f32),
    /// The mean over the neighbors and the node itself, whose own tap goes in too: `z_k = (z_{k-1} + Σ_j z_{k-1}^{(j)}) / (n + 1)`.
    /// Repeated, it is how a swarm agrees on a mean, and a tap stays defined where nobody is near.
    Closed,
    /// [`Scale::Closed`], and a share of the last tap comes back into the one before it: `z_{K-1} = (closed mean of z_{K-2}) + m · z_K`. What
    /// came from far away stays, and fades by m with every exchange, so that a filter of K taps knows of more than K hops. Nothing more
    /// is told, and m below 1 keeps every tap bounded.
    Echo(f32),
}

impl Scale {
    /// Whether a node's own taps go in, too.
    #[must_use]
    #[inline]
    pub fn closed(self) -> bool {
        matches!(self, Self::Closed | Self::Echo(_))
    }

    /// The share of the last tap that comes back into the one before.
    #[must_use]
    #[inline]
    pub fn echo(self) -> f32 {
        if let Self::Echo(share) = self { share } else { 0.0 }
    }

    /// Applies the scale to a sum over `count` neighbors. A sum over nobody stays zero.
    #[inline]
    pub(super) fn apply(self, sums: &mut [f32], count: usize) {
        match self {
            Self::Sum => {}
            // With `Closed` and `Echo`, the count includes the node itself.
            Self::Mean | Self::Closed | Self::Echo(_) => {
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
