//! Whom most contradict: what a neighbor says is brought to what most say, before it counts.
//!
//! A lie that is consistent in itself cannot be told from the truth by whoever hears nobody else. But fewer than half lie, so what
//! is far from the middle of what all say is brought nearer, number by number, and of who is far from it in most of its taps nothing is
//! left but the middle. In a swarm that agrees, little is far: a liar's part falls with what is left to disagree about.

use crate::tasks::RobotTask;
use core::ops::Range;

use heapless::Vec;

use super::Node;
use crate::trust::robust_mean::{Middle, Row, Said, row};
use wdgnn_core::{filter::DelayLines, math::LANES, model::Model, task::State};
use wdgnn_link::encoding::Codec;

/// As few neighbors as this have no middle: two can only contradict each other.
const FEWEST: usize = 3;
/// A number of a state counts up to so many spreads from the middle: the ends of an even distribution are two from it. Of 3, 4, 5 and 8,
/// 4 cost 0.1 to 0.6 % without liars and held best where a tenth of robots cannot stop.
const STATE_SPREADS: f32 = 4.0;
/// A tap, likewise.
const TAP_SPREADS: f32 = 5.0;
/// The least spread of taps: what is below it is rounding and noise.
const LEAST_TAP_SPREAD: f32 = 0.1;
/// Whose taps are so many spreads from the middle on average says nothing true: honest ones stay below 2, and a single one of them counts
/// as no more than [`MOST_ODD`].
const TOO_ODD: f32 = 4.0;
/// See [`TOO_ODD`].
const MOST_ODD: f32 = 20.0;

impl<M, T, const N: usize, P> Node<M, T, N, P>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    P: Codec,
{
    /// Brings what neighbors say to what most of them say.
    #[inline(never)] // its stack is given back before the next verb
    pub(super) fn temper(&mut self) {
        if self.trusted().nth(FEWEST - 1).is_none() {
            return;
        }
        if let Some((numbers, least)) = self.task.clipped_components() {
            for from in numbers.clone().step_by(LANES) {
                self.temper_state(from..numbers.end.min(from + LANES), least);
            }
        }
        if self.has_turn() {
            self.temper_taps();
        }
    }

    fn temper_state(&mut self, run: Range<usize>, least: f32) {
        let mut said: Vec<Row, N> = Vec::new();
        for n in self.trusted() {
            // There is room for all.
            let _ = said.push(row(n.beacon.state.numbers().as_ref().get(run.clone()).unwrap_or_default()));
        }
        let Some(middle) = Middle::of(&mut said, least) else { return };
        for n in self.neighbors.iter_mut().filter(|n| n.counts) {
            let mut numbers = n.beacon.state.numbers();
            middle.bound(numbers.as_mut().get_mut(run.clone()).unwrap_or_default(), STATE_SPREADS);
            n.beacon.state = T::State::from_numbers(numbers);
        }
    }

    fn temper_taps(&mut self) {
        let mut oddness = [0.0; N];
        self.each_chain(|said| said.bound(TAP_SPREADS, MOST_ODD, &mut oddness));
        let most = TOO_ODD * M::Taps::LEN as f32;
        if oddness.iter().any(|odd| *odd > most) {
            self.each_chain(|said| said.replace(&oddness, most));
        }
    }

    /// DelayLine by chain, the taps that neighbors who count and fly the same model have sent, and the robot's own.
    fn each_chain(&mut self, mut temper: impl FnMut(&mut Said<'_, '_>)) {
        let own = self.memory.told.as_ref().unwrap_or(&self.memory.chains);
        // Where the table is full, its owner's own is left out.
        let mut room = [[0.0; LANES]; N];
        let mut from = 0;
        while from < M::Taps::LEN {
            let own = own.transmitted_from(from);
            let mut others: Vec<&mut [f32], N> = Vec::new();
            for n in self.neighbors.iter_mut().filter(|n| n.counts && !n.other_model) {
                // There is room for all.
                let _ = others.push(n.beacon.chains.transmitted_from_mut(from));
            }
            temper(&mut Said { others: &mut others, own, room: &mut room, least: LEAST_TAP_SPREAD });
            if own.is_empty() {
                return;
            }
            from += own.len();
        }
    }
}
