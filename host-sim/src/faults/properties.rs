//! What else must hold in a row, besides cost and distance.

use wdgnn_link::error::Refusal;
use wdgnn_robot::control_loop::MOST_FRAMES;

use super::row::Nearness;
use crate::counters::Counters;

/// Ticks within which a robot that is gone must be forgotten and one that was switched on must be back.
pub const SOON: u32 = 20;
/// Ticks within which an attack by one insider must be over: half a second.
const SOON_OVER: u32 = 50;
/// Exchanges within which a liar must be rejected.
const EXCHANGES_TO_REJECT: u32 = 5;
/// Share of honest words that noise may have refused.
const MOST_REFUSED: f64 = 0.02;

/// What was measured in the flights of a row.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// What was counted.
    pub counters: &'a Counters,
    /// Cost against the flights without the fault.
    pub ratio: f64,
    /// How near robots came to each other.
    pub nearness: &'a Nearness,
    /// Close pairs per flight without the fault.
    pub close_without: f64,
    /// Whether robots did the same as without the fault, to the last bit.
    pub same: bool,
    /// Disagreement of parameters at the end.
    pub apart: f64,
    /// The score at the end.
    pub last: f64,
}

/// Whether what else must hold does, and what was measured of it.
pub type Property = fn(&Measured<'_>) -> (bool, String);

/// Nothing else.
pub(super) fn nothing(_: &Measured<'_>) -> (bool, String) {
    (true, "–".into())
}

pub(super) fn same_bits(of: &Measured<'_>) -> (bool, String) {
    let words = if of.same { "the same to the last bit" } else { "NOT THE SAME" };
    (of.same && of.counters.refused.total() > 0, words.into())
}

/// Late frames are used as what they are, or ignored.
pub(super) fn late_ignored(of: &Measured<'_>) -> (bool, String) {
    let refused = |reason| of.counters.refused.of(reason);
    let old = refused(Refusal::Replayed) + refused(Refusal::Untimely);
    (old > 0, format!("{old} old frames ignored"))
}

pub(super) fn some_refused(of: &Measured<'_>) -> (bool, String) {
    let refused = of.counters.refused.total();
    (refused > 0, format!("{refused} of {} frames refused", of.counters.heard))
}

pub(super) fn replays_refused(of: &Measured<'_>) -> (bool, String) {
    let refused = u64::from(of.counters.refused.total());
    (of.same && refused == of.counters.replayed, format!("{refused} of {} refused", of.counters.replayed))
}

pub(super) fn forgeries_refused(of: &Measured<'_>) -> (bool, String) {
    let Counters { forged, fooled, refused, .. } = of.counters;
    let accepted = forged - u64::from(refused.of(Refusal::Forged));
    (of.same && accepted == 0 && *fooled == 0, format!("{accepted} of {forged} accepted"))
}

/// Frames that a stranger holds back are refused, and do no more than frames that never come.
pub(super) fn delay_refused(of: &Measured<'_>) -> (bool, String) {
    let all = of.same && u64::from(of.counters.refused.total()) == of.counters.heard;
    let words = if all { "all refused: as a jammer's, to the last bit" } else { "NOT ALL REFUSED" };
    (all, words.into())
}

pub(super) fn liars_rejected(of: &Measured<'_>) -> (bool, String) {
    let exchanges = of.counters.longest_deceived;
    let words = match exchanges {
        0 => "never believed".into(),
        1 => "believed in one exchange at most".into(),
        _ => format!("believed in {exchanges} exchanges at most"),
    };
    (exchanges <= EXCHANGES_TO_REJECT, words)
}

/// Whatever liars say, nobody comes nearer than 5 cm.
pub(super) fn never_within_5_cm(of: &Measured<'_>) -> (bool, String) {
    let near = of.nearness.nearest >= 0.05;
    (near, if near { "never within 5 cm" } else { "WITHIN 5 cm" }.into())
}

/// Honest noisy robots are believed.
pub(super) fn believed(of: &Measured<'_>) -> (bool, String) {
    let refused = of.counters.truths.share();
    let words = format!("{:.2} % of honest words refused", 100.0 * refused);
    (refused <= MOST_REFUSED, words)
}

/// The same as far as it is to be told.
pub(super) fn share_believed(of: &Measured<'_>) -> (bool, String) {
    (true, format!("{:.2} % of honest words refused", 100.0 * of.counters.truths.share()))
}

/// No close pair that there is not without the fault.
pub(super) fn no_close_pair(of: &Measured<'_>) -> (bool, String) {
    let none = of.nearness.close_pairs <= of.close_without;
    (none, if none { "no close pair by it" } else { "A CLOSE PAIR BY IT" }.into())
}

/// Everybody who stays has the new key soon, and nobody who was left out is heard.
pub(super) fn rekeyed(of: &Measured<'_>) -> (bool, String) {
    let Counters { longest_rekey, fooled, .. } = of.counters;
    let words = match longest_rekey {
        0 => "everybody in time".into(),
        ticks => format!("the last {ticks} ticks late"),
    };
    (*longest_rekey <= SOON_OVER && *fooled == 0, words)
}

pub(super) fn back_soon(of: &Measured<'_>) -> (bool, String) {
    let ticks = of.counters.longest_return;
    (ticks <= SOON, format!("back within {ticks} ticks"))
}

pub(super) fn forgotten_soon(of: &Measured<'_>) -> (bool, String) {
    let ticks = of.counters.longest_stale;
    (ticks <= SOON, format!("forgotten within {ticks} ticks"))
}

pub(super) fn within_guard(of: &Measured<'_>) -> (bool, String) {
    let untimely = of.counters.refused.of(Refusal::Untimely);
    (untimely == 0, format!("{untimely} frames out of the guard"))
}

pub(super) fn heard_again(of: &Measured<'_>) -> (bool, String) {
    let ticks = of.counters.longest_muted;
    (ticks <= SOON_OVER, format!("heard again within {ticks} ticks"))
}

pub(super) fn not_crowded_out(of: &Measured<'_>) -> (bool, String) {
    let ticks = of.counters.longest_crowded;
    (ticks <= SOON_OVER, format!("without a true neighbour for {ticks} ticks"))
}

/// Parameters within what rounding to the ball leaves, velocities within 0.2 m/s.
pub(super) fn agrees_again(of: &Measured<'_>) -> (bool, String) {
    let agrees = of.apart <= 0.05 && of.last <= 0.05;
    (agrees, format!("then parameters {:.4} apart, variation {:.4}", of.apart, of.last))
}

pub(super) fn comes_to_rest(of: &Measured<'_>) -> (bool, String) {
    let [hold, slow, stop] = of.counters.alone;
    let frozen = of.counters.learned_alone == 0;
    let learning = if frozen { "frozen" } else { "NOT FROZEN" };
    let phases = hold > 0 && slow > 0 && stop > 0;
    (frozen && phases, format!("held {hold}, slowed {slow}, stopped {stop} ticks, learning {learning}"))
}

pub(super) fn inside_the_ball(of: &Measured<'_>) -> (bool, String) {
    (of.counters.violations == 0, "inside the ball".into())
}

/// The last frame is only counted, as a flood.
pub(super) fn within_budget(of: &Measured<'_>) -> (bool, String) {
    let most = of.counters.most_heard.saturating_sub(1);
    (most <= MOST_FRAMES, format!("at most {most} looked at"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::MessageCounts;

    /// What a property says of flights that were like this.
    fn holds(property: Property, change: impl Fn(&mut Counters, &mut Nearness, &mut Measured<'_>)) -> bool {
        let (mut counters, mut nearness) = (
            Counters::default(),
            Nearness { close_pairs: 0.0, expert: 0.0, unavoidable: 0.0, most_close_pairs: 1.0, nearest: 0.3 },
        );
        let (none, near) = (counters.clone(), nearness);
        let mut of = Measured {
            counters: &none,
            ratio: 1.0,
            nearness: &near,
            close_without: 0.0,
            same: true,
            apart: 0.0,
            last: 0.0,
        };
        change(&mut counters, &mut nearness, &mut of);
        property(&Measured { counters: &counters, nearness: &nearness, ..of }).0
    }

    /// Checks that something holds up to a number of the tally and no further.
    fn holds_up_to(property: Property, most: u32, place: fn(&mut Counters) -> &mut u32) {
        assert!(holds(property, |counters, _, _| *place(counters) = most));
        assert!(!holds(property, |counters, _, _| *place(counters) = most + 1));
    }

    #[test]
    fn whoever_is_late_to_come_back_to_be_forgotten_or_to_be_heard_is_an_alarm() {
        holds_up_to(back_soon, 20, |counters| &mut counters.longest_return);
        holds_up_to(forgotten_soon, 20, |counters| &mut counters.longest_stale);
        holds_up_to(heard_again, 50, |counters| &mut counters.longest_muted);
        holds_up_to(not_crowded_out, 50, |counters| &mut counters.longest_crowded);
        holds_up_to(liars_rejected, 5, |counters| &mut counters.longest_deceived);
        // The last of them is counted and not looked at.
        holds_up_to(within_budget, MOST_FRAMES + 1, |counters| &mut counters.most_heard);
    }

    #[test]
    fn a_frame_that_should_have_been_refused_is_an_alarm() {
        let refuse = |counters: &mut Counters, reason| counters.refused.count_many(reason, 9);
        assert!(holds(replays_refused, |counters, _, _| {
            refuse(counters, Refusal::Untimely);
            counters.replayed = 9;
        }));
        assert!(!holds(replays_refused, |counters, _, _| counters.replayed = 9));
        assert!(!holds(replays_refused, |_, _, of| of.same = false));
        let forged = |counters: &mut Counters| {
            refuse(counters, Refusal::Forged);
            counters.forged = 9;
        };
        assert!(holds(forgeries_refused, |counters, _, _| forged(counters)));
        assert!(!holds(forgeries_refused, |counters, _, _| counters.forged = 9));
        assert!(!holds(forgeries_refused, |counters, _, _| {
            forged(counters);
            counters.fooled = 1;
        }));
        assert!(!holds(forgeries_refused, |_, _, of| of.same = false));
        assert!(!holds(within_guard, |counters, _, _| refuse(counters, Refusal::Untimely)));
        assert!(holds(within_guard, |_, _, _| {}));
    }

    #[test]
    fn what_should_have_been_seen_to_happen_and_was_not_is_an_alarm() {
        assert!(!holds(some_refused, |_, _, _| {}) && !holds(late_ignored, |_, _, _| {}));
        assert!(!holds(same_bits, |_, _, _| {}), "nothing was doubled");
        let replayed = |counters: &mut Counters| counters.refused.count(Refusal::Replayed);
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
    fn held_back_frames_are_refused_all_of_them_and_do_as_little_as_those_that_never_come() {
        let refuse = |counters: &mut Counters, refused| {
            counters.heard = 100;
            counters.refused.count_many(Refusal::Untimely, refused);
        };
        assert!(holds(delay_refused, |counters, _, _| refuse(counters, 100)));
        assert!(!holds(delay_refused, |counters, _, _| refuse(counters, 99)));
        assert!(!holds(delay_refused, |counters, _, of| {
            refuse(counters, 100);
            of.same = false;
        }));
    }

    #[test]
    fn noise_that_is_disowned_and_robots_that_come_near_are_alarms() {
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
