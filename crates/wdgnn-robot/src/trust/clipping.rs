//! Robust clipping: limits the messages of neighbors to the median of all of them.
//!
//! A consistent lie cannot be told from the truth by a single receiver. As long as fewer than half of
//! the neighbors lie, the median is within the range of the honest ones. Each number of a state and
//! each tap is clipped to a multiple of the median absolute deviation (MAD). All taps of a neighbor
//! that is far off on average are replaced by the median. In a swarm that agrees, the MAD is small, so
//! the influence of a liar decreases with the disagreement of the swarm.
//!
//! Where more than half of the neighbors lie, the median is of no use. Taps of features that are means of
//! differences between states are therefore limited by the spread of the states, too.

use core::ops::Range;

use heapless::Vec;
use wdgnn_core::{
    filter::DelayLines,
    math::{self, SIMD_LANES},
    task::State,
    tensor::Tensor,
};

use super::robust_mean::{MedianMad, Reports, Row, row};
use crate::{neighbors::NeighborTable, tasks::ClippedNumbers};

/// Number of neighbors from which on there is a majority: two can only contradict each other.
const MIN_NEIGHBORS: usize = 3;
/// Clips states at 4 MADs, the best of {3, 4, 5, 8}.
///
/// It costs 0.1 to 0.6 % without liars, and holds best where a tenth of the robots cannot stop. The
/// ends of an even distribution are 2 MADs from the median.
const STATE_MADS: f32 = 4.0;
/// Clips taps at 5 MADs.
const TAP_MADS: f32 = 5.0;
/// Smallest MAD of taps, for rounding and noise.
const MIN_TAP_MAD: f32 = 0.0125;
/// Largest tap of a feature that is a mean of differences between states, in MADs of the states.
///
/// It is the best of {1, 2, 3, 4, 8}. Where most neighbors of a robot lie, their median is a lie, too; but
/// they can lie less about their states, which must match their positions, than about their taps.
const TAP_STATE_MADS: f32 = 2.0;
/// Tap that is accepted in any case, and the limit with fewer than three neighbors.
const MIN_TAP_LIMIT: f32 = 0.05;
/// Mean distance of a neighbor's taps from the median, in MADs, beyond which they are replaced.
///
/// Honest neighbors stay below 2. A single tap counts up to [`MAX_TAP_DISTANCE`].
const OUTLIER_DISTANCE: f32 = 4.0;
const MAX_TAP_DISTANCE: f32 = 20.0;

impl<S: State, L: DelayLines, W: Tensor, const N: usize, E> NeighborTable<S, L, W, N, E> {
    /// Clips the messages of trusted neighbors.
    ///
    /// `stride` is the number of features. `own_taps` are the robot's own transmitted taps; `None` leaves
    /// the taps of neighbors unchanged.
    #[inline(never)] // returns its stack before the next step
    pub(crate) fn clip(&mut self, numbers: &ClippedNumbers, stride: usize, own_taps: Option<&L>) {
        let ClippedNumbers { state, min_spread, features } = numbers;
        let has_majority = self.trusted().nth(MIN_NEIGHBORS - 1).is_some();
        let mut limit = MIN_TAP_LIMIT;
        for from in state.clone().step_by(SIMD_LANES).filter(|_| has_majority) {
            let spread = self.clip_states(from..state.end.min(from + SIMD_LANES), *min_spread);
            limit = limit.max(MIN_TAP_LIMIT + TAP_STATE_MADS * spread);
        }
        let Some(own) = own_taps else { return };
        if !features.is_empty() {
            self.limit_taps(features, stride, limit);
        }
        if has_majority {
            let mut distance = [0.0; N];
            self.for_each_line(own, |taps| taps.clip(TAP_MADS, MAX_TAP_DISTANCE, &mut distance));
            let limit = OUTLIER_DISTANCE * L::LEN as f32;
            if distance.iter().any(|distance| *distance > limit) {
                self.for_each_line(own, |taps| taps.replace_outliers(&distance, limit));
            }
        }
    }

    /// Limits some features in all taps of the first layer.
    fn limit_taps(&mut self, features: &Range<usize>, stride: usize, limit: f32) {
        for neighbor in self.iter_mut().filter(|neighbor| neighbor.is_trusted && neighbor.shares_model) {
            for tap in neighbor.message.taps.transmitted_from_mut(0).chunks_exact_mut(stride) {
                for x in tap.get_mut(features.clone()).unwrap_or_default() {
                    *x = math::clamp(*x, limit);
                }
            }
        }
    }

    /// Clips components of states to their medians. Returns the largest MAD.
    fn clip_states(&mut self, run: Range<usize>, min_mad: f32) -> f32 {
        let mut states: Vec<Row, N> = Vec::new();
        for neighbor in self.trusted() {
            // Both lists have the capacity N.
            let state = neighbor.message.state.to_array();
            let _ = states.push(row(state.as_ref().get(run.clone()).unwrap_or_default()));
        }
        let Some(median) = MedianMad::compute(&mut states, min_mad) else { return 0.0 };
        for neighbor in self.iter_mut().filter(|neighbor| neighbor.is_trusted) {
            let mut numbers = neighbor.message.state.to_array();
            median.clip(numbers.as_mut().get_mut(run.clone()).unwrap_or_default(), STATE_MADS);
            neighbor.message.state = S::from_array(numbers);
        }
        median.largest_mad(run.len())
    }

    /// Visits the taps of trusted neighbors with the robot's weight file, line by line.
    fn for_each_line(&mut self, own: &L, mut visit: impl FnMut(&mut Reports<'_, '_>)) {
        // With a full table, the robot's own taps are left out.
        let mut room = [[0.0; SIMD_LANES]; N];
        let mut from = 0;
        while from < L::LEN {
            let own = own.transmitted_from(from);
            let mut others: Vec<&mut [f32], N> = Vec::new();
            for neighbor in self.iter_mut().filter(|neighbor| neighbor.is_trusted && neighbor.shares_model) {
                // Both lists have the capacity N.
                let _ = others.push(neighbor.message.taps.transmitted_from_mut(from));
            }
            visit(&mut Reports { others: &mut others, own, room: &mut room, min_mad: MIN_TAP_MAD });
            if own.is_empty() {
                return;
            }
            from += own.len();
        }
    }
}
