//! Scale of sums over neighbors.

/// Scale of a robot's sum over its neighbors.
///
/// Each scale uses local knowledge only, so every robot can compute it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Scale {
    /// Plain weighted sum: `S` is the adjacency matrix, as in the paper.
    Sum,
    /// Mean over the neighbors.
    ///
    /// The size of the taps does not depend on the degree.
    Mean,
    /// Sum times a constant, such as 1 / the largest eigenvalue of a known graph.
    Scaled(f32),
    /// Mean over the neighbors and the robot itself.
    ///
    /// `z_k = (z_{k-1} + Σ_j z_{k-1}^{(j)}) / (n + 1)`. Repeated, this is a consensus iteration
    /// toward the mean of the swarm. Taps stay defined without neighbors.
    Closed,
}

impl Scale {
    /// Returns whether the sum includes the robot's own taps.
    #[inline]
    pub fn closed(self) -> bool {
        matches!(self, Self::Closed)
    }

    /// Applies the scale to a sum over `count` neighbors; 0 neighbors give zero.
    #[inline]
    pub(super) fn apply(self, sums: &mut [f32], count: usize) {
        match self {
            Self::Sum => {}
            // With `Closed`, `count` includes the robot itself.
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
