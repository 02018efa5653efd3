//! Parts of messages: profiles with short frames send some numbers per frame.

use wdgnn_core::{
    filter::Chains,
    message::Beacon,
    task::State,
    tensor::{Tensor, kernels, span::Span},
};
use wdgnn_link::header::Parts;

/// Copies the numbers that a later frame of the same sender carries.
#[inline(never)] // One copy for new and known neighbors.
pub(crate) fn merge<S: State, C: Chains, W: Tensor>(
    known: &mut Beacon<S, C, W>,
    later: &Beacon<S, C, W>,
    parts: Parts,
) {
    (known.sequence, known.degree, known.state) = (later.sequence, later.degree, later.state);
    copy_taps(&mut known.chains, &later.chains, parts.taps);
    kernels::copy(parts.wide.of_mut(known.wide.numbers_mut()), parts.wide.of(later.wide.numbers()));
}

/// Copies a run of the transmitted taps, counted over all delay lines.
fn copy_taps<C: Chains>(to: &mut C, from: &C, run: Span) {
    to.for_each_sent(|first, line| {
        let run = run.beyond(first as u16);
        kernels::copy(run.of_mut(line), run.of(from.sent_from(first)));
    });
}

/// The largest magnitude in a run of the transmitted taps.
pub(crate) fn max_tap<C: Chains>(chains: &C, run: Span) -> f32 {
    chains.sent().fold(0.0, |largest, (first, line)| {
        let here = kernels::largest(run.beyond(first as u16).of(line));
        if here > largest { here } else { largest }
    })
}

#[cfg(test)]
mod tests {
    use wdgnn_core::filter::{Chain, NoChain, Stacked};

    use super::*;

    #[test]
    fn max_tap_is_found_in_any_delay_line() {
        let above = Stacked { chain: Chain([[3.0], [-8.0], [11.0]]), above: NoChain };
        let two = Stacked { chain: Chain([[1.0, -7.0], [9.0, 9.0]]), above };
        assert_eq!(max_tap(&two, Span::ALL), 8.0, "last taps are not transmitted");
        assert_eq!(max_tap(&two, Span { from: 0, to: 3 }), 7.0);
        assert_eq!(max_tap(&two, Span { from: 2, to: 3 }), 3.0);
        assert_eq!(max_tap(&two, Span::NONE), 0.0);
    }
}
