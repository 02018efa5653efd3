//! Properties of rows besides cost and distance.

use wdgnn_link::error::FrameError;
use wdgnn_robot::control_loop::MAX_FRAMES_PER_TICK;

use super::row::Nearness;
use crate::counters::Counters;

/// Largest time in ticks until a removed robot is evicted and a started one is heard.
pub const SOON: u32 = 20;
/// Largest duration in ticks of an attack by one insider: half a second.
const SOON_OVER: u32 = 50;
/// Largest number of exchanges until a liar is rejected.
const EXCHANGES_TO_REJECT: u32 = 5;
/// Largest share of honest messages that may be rejected because of noise.
const MOST_REFUSED: f64 = 0.02;

/// Measurements of the episodes of a row.
#[derive(Clone, Copy, Debug)]
pub struct Measurements<'a> {
    pub counters: &'a Counters,
    /// Cost relative to the episodes without the fault.
    pub ratio: f64,
    /// Distances between robots.
    pub nearness: &'a Nearness,
    /// Close pairs per episode without the fault.
    pub close_without: f64,
    /// Whether all states equal those without the fault, bit for bit.
    pub same: bool,
    /// Disagreement of parameters at the end.
    pub apart: f64,
    pub last: f64,
}

/// Returns whether the property holds, and the measured value as text.
pub type Property = fn(&Measurements<'_>) -> (bool, String);

/// No property.
pub(super) fn nothing(_: &Measurements<'_>) -> (bool, String) {
    (true, "–".into())
}

pub(super) fn same_bits(of: &Measurements<'_>) -> (bool, String) {
    let words = if of.same { "the same to the last bit" } else { "NOT THE SAME" };
    (of.same && of.counters.refused.total() > 0, words.into())
}

/// Late frames are used with their time stamp or ignored.
pub(super) fn late_ignored(of: &Measurements<'_>) -> (bool, String) {
    let refused = |reason| of.counters.refused.of(reason);
    let old = refused(FrameError::Replayed) + refused(FrameError::OutOfWindow);
    (old > 0, format!("{old} old frames ignored"))
}

pub(super) fn some_refused(of: &Measurements<'_>) -> (bool, String) {
    let refused = of.counters.refused.total();
    (refused > 0, format!("{refused} of {} frames refused", of.counters.heard))
}

pub(super) fn replays_refused(of: &Measurements<'_>) -> (bool, String) {
    let refused = u64::from(of.counters.refused.total());
    (of.same && refused == of.counters.replayed, format!("{refused} of {} refused", of.counters.replayed))
}

pub(super) fn forgeries_refused(of: &Measurements<'_>) -> (bool, String) {
    let Counters { forged, fooled, refused, .. } = of.counters;
    let accepted = forged - u64::from(refused.of(FrameError::Forged));
    (of.same && accepted == 0 && *fooled == 0, format!("{accepted} of {forged} accepted"))
}

/// Frames delayed by an attacker are rejected and have the effect of lost frames.
pub(super) fn delay_refused(of: &Measurements<'_>) -> (bool, String) {
    let all = of.same && u64::from(of.counters.refused.total()) == of.counters.heard;
    let words = if all { "all refused: as a jammer's, to the last bit" } else { "NOT ALL REFUSED" };
    (all, words.into())
}

pub(super) fn liars_rejected(of: &Measurements<'_>) -> (bool, String) {
    let exchanges = of.counters.longest_deceived;
    let words = match exchanges {
        0 => "never believed".into(),
        1 => "believed in one exchange at most".into(),
        _ => format!("believed in {exchanges} exchanges at most"),
    };
    (exchanges <= EXCHANGES_TO_REJECT, words)
}

/// No pair comes closer than 5 cm, regardless of the lies.
pub(super) fn never_within_5_cm(of: &Measurements<'_>) -> (bool, String) {
    let near = of.nearness.nearest >= 0.05;
    (near, if near { "never within 5 cm" } else { "WITHIN 5 cm" }.into())
}

/// Honest noisy robots are accepted.
pub(super) fn believed(of: &Measurements<'_>) -> (bool, String) {
    let refused = of.counters.truths.share();
    let words = format!("{:.2} % of honest words refused", 100.0 * refused);
    (refused <= MOST_REFUSED, words)
}

/// Reports the share of accepted honest messages without a limit.
pub(super) fn share_believed(of: &Measurements<'_>) -> (bool, String) {
    (true, format!("{:.2} % of honest words refused", 100.0 * of.counters.truths.share()))
}

/// The fault causes no additional close pair.
pub(super) fn no_close_pair(of: &Measurements<'_>) -> (bool, String) {
    let none = of.nearness.close_pairs <= of.close_without;
    (none, if none { "no close pair by it" } else { "A CLOSE PAIR BY IT" }.into())
}

/// All remaining robots get the new key soon, and frames of excluded ones are rejected.
pub(super) fn rekeyed(of: &Measurements<'_>) -> (bool, String) {
    let Counters { longest_rekey, fooled, .. } = of.counters;
    let words = match longest_rekey {
        0 => "everybody in time".into(),
        ticks => format!("the last {ticks} ticks late"),
    };
    (*longest_rekey <= SOON_OVER && *fooled == 0, words)
}

pub(super) fn back_soon(of: &Measurements<'_>) -> (bool, String) {
    let ticks = of.counters.longest_return;
    (ticks <= SOON, format!("back within {ticks} ticks"))
}

pub(super) fn forgotten_soon(of: &Measurements<'_>) -> (bool, String) {
    let ticks = of.counters.longest_stale;
    (ticks <= SOON, format!("forgotten within {ticks} ticks"))
}

pub(super) fn within_guard(of: &Measurements<'_>) -> (bool, String) {
    let untimely = of.counters.refused.of(FrameError::OutOfWindow);
    (untimely == 0, format!("{untimely} frames out of the guard"))
}

pub(super) fn heard_again(of: &Measurements<'_>) -> (bool, String) {
    let ticks = of.counters.longest_muted;
    (ticks <= SOON_OVER, format!("heard again within {ticks} ticks"))
}

pub(super) fn not_crowded_out(of: &Measurements<'_>) -> (bool, String) {
    let ticks = of.counters.longest_crowded;
    (ticks <= SOON_OVER, format!("without a true neighbor for {ticks} ticks"))
}

/// Parameters agree up to rounding at the ball, velocities within 0.2 m/s.
pub(super) fn agrees_again(of: &Measurements<'_>) -> (bool, String) {
    let agrees = of.apart <= 0.05 && of.last <= 0.05;
    (agrees, format!("then parameters {:.4} apart, variation {:.4}", of.apart, of.last))
}

pub(super) fn comes_to_rest(of: &Measurements<'_>) -> (bool, String) {
    let [hold, slow, stop] = of.counters.alone;
    let frozen = of.counters.learned_alone == 0;
    let learning = if frozen { "frozen" } else { "NOT FROZEN" };
    let phases = hold > 0 && slow > 0 && stop > 0;
    (frozen && phases, format!("held {hold}, slowed {slow}, stopped {stop} ticks, learning {learning}"))
}

pub(super) fn inside_the_ball(of: &Measurements<'_>) -> (bool, String) {
    (of.counters.violations == 0, "inside the ball".into())
}

/// The last frame is counted as a flood but not read.
pub(super) fn within_budget(of: &Measurements<'_>) -> (bool, String) {
    let most = of.counters.most_heard.saturating_sub(1);
    (most <= MAX_FRAMES_PER_TICK, format!("at most {most} looked at"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::MessageCounts;

    /// Evaluates a property on modified default measurements.
    fn holds(
        property: Property, change: impl Fn(&mut Counters, &mut Nearness, &mut Measurements<'_>),
    ) -> bool {
        let (mut counters, mut nearness) = (
            Counters::default(),
            Nearness { close_pairs: 0.0, expert: 0.0, unavoidable: 0.0, most_close_pairs: 1.0, nearest: 0.3 },
        );
        let (none, near) = (counters.clone(), nearness);
        let mut of = Measurements {
            counters: &none,
            ratio: 1.0,
            nearness: &near,
            close_without: 0.0,
            same: true,
            apart: 0.0,
            last: 0.0,
        };
        change(&mut counters, &mut nearness, &mut of);
        property(&Measurements { counters: &counters, nearness: &nearness, ..of }).0
    }

    /// Checks that a property holds up to a limit of a counter and not beyond it.
    fn holds_up_to(property: Property, most: u32, place: fn(&mut Counters) -> &mut u32) {
        assert!(holds(property, |counters, _, _| *place(counters) = most));
        assert!(!holds(property, |counters, _, _| *place(counters) = most + 1));
    }

    #[test]
    fn late_events_fail_the_property() {
        holds_up_to(back_soon, 20, |counters| &mut counters.longest_return);
        holds_up_to(forgotten_soon, 20, |counters| &mut counters.longest_stale);
        holds_up_to(heard_again, 50, |counters| &mut counters.longest_muted);
        holds_up_to(not_crowded_out, 50, |counters| &mut counters.longest_crowded);
        holds_up_to(liars_rejected, 5, |counters| &mut counters.longest_deceived);
        // The last frame is counted but not read.
        holds_up_to(within_budget, MAX_FRAMES_PER_TICK + 1, |counters| &mut counters.most_heard);
    }

    #[test]
    fn accepted_invalid_frames_fail_the_property() {
        let refuse = |counters: &mut Counters, reason| counters.refused.count_many(reason, 9);
        assert!(holds(replays_refused, |counters, _, _| {
            refuse(counters, FrameError::OutOfWindow);
            counters.replayed = 9;
        }));
        assert!(!holds(replays_refused, |counters, _, _| counters.replayed = 9));
        assert!(!holds(replays_refused, |_, _, of| of.same = false));
        let forged = |counters: &mut Counters| {
            refuse(counters, FrameError::Forged);
            counters.forged = 9;
        };
        assert!(holds(forgeries_refused, |counters, _, _| forged(counters)));
        assert!(!holds(forgeries_refused, |counters, _, _| counters.forged = 9));
        assert!(!holds(forgeries_refused, |counters, _, _| {
            forged(counters);
            counters.fooled = 1;
        }));
        assert!(!holds(forgeries_refused, |_, _, of| of.same = false));
        assert!(!holds(within_guard, |counters, _, _| refuse(counters, FrameError::OutOfWindow)));
        assert!(holds(within_guard, |_, _, _| {}));
    }

    #[test]
    fn missing_effects_fail_the_property() {
        assert!(!holds(some_refused, |_, _, _| {}) && !holds(late_ignored, |_, _, _| {}));
        assert!(!holds(same_bits, |_, _, _| {}), "nothing was doubled");
        let replayed = |counters: &mut Counters| counters.refused.count(FrameError::Replayed);
        assert!(
            holds(same_bits, |counters, _, _| replayed(counters))
                && holds(late_ignored, |counters, _, _| replayed(counters))
        );
        assert!(!holds(same_bits, |counters, _, of| {
            replayed(counters);
            of.same = false;
        }));
        assert!(holds(comes_to_rest, |counters, _, _| counters.alone = [1, 1, 1]));
        for alone in [[0, 1, 1], [1, 0, 1], [1, 1, 0]] {
            assert!(!holds(comes_to_rest, |counters, _, _| counters.alone = alone));
        }
        assert!(
            !holds(comes_to_rest, |counters, _, _| (counters.alone, counters.learned_alone) = ([1; 3], 1))
        );
    }

    #[test]
    fn delayed_frames_must_have_the_effect_of_lost_frames() {
        let refuse = |counters: &mut Counters, refused| {
            counters.heard = 100;
            counters.refused.count_many(FrameError::OutOfWindow, refused);
        };
        assert!(holds(delay_refused, |counters, _, _| refuse(counters, 100)));
        assert!(!holds(delay_refused, |counters, _, _| refuse(counters, 99)));
        assert!(!holds(delay_refused, |counters, _, of| {
            refuse(counters, 100);
            of.same = false;
        }));
    }

    #[test]
    fn rejected_noise_and_close_robots_fail_the_property() {
        let words = |told, refused| MessageCounts { told, refused };
        assert!(holds(believed, |counters, _, _| counters.truths = words(100, 2)));
        assert!(!holds(believed, |counters, _, _| counters.truths = words(100, 3)));
        assert!(
            holds(no_close_pair, |_, _, _| {}) && !holds(no_close_pair, |_, near, _| near.close_pairs = 0.1)
        );
        assert!(!holds(never_within_5_cm, |_, near, _| near.nearest = 0.049));
        assert!(holds(agrees_again, |_, _, _| {}));
        assert!(
            !holds(agrees_again, |_, _, of| of.apart = 0.06)
                && !holds(agrees_again, |_, _, of| of.last = 0.06)
        );
        assert!(!holds(inside_the_ball, |counters, _, _| counters.violations = 1));
    }
}
