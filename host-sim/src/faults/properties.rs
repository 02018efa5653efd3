//! What else must hold in a row, besides cost and distance.

use wdgnn_core::{refusal::Refusal, tick::MOST_FRAMES};

use super::row::Nearness;
use crate::tally::Tally;

/// Ticks within which a robot that is gone must be forgotten and one that was switched on must be back.
pub const SOON: u32 = 20;
/// Ticks within which an attack by one insider must be over: half a second.
const SOON_OVER: u32 = 50;
/// Exchanges within which a liar must be rejected.
const EXCHANGES_TO_REJECT: u32 = 5;
/// Share of honest words that noise may have refused.
const MOST_REFUSED: f64 = 0.02;
/// What a stranger's delay may cost where frames are not refused.
const MOST_DELAYED: f64 = 1.10;

/// What was measured in the flights of a row.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// What was counted.
    pub tally: &'a Tally,
    /// Cost against the flights without the fault.
    pub ratio: f64,
    /// How near robots came to each other.
    pub nearness: &'a Nearness,
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
    (of.same && of.tally.refused.total() > 0, words.into())
}

/// Late frames are used as what they are, or ignored.
pub(super) fn late_ignored(of: &Measured<'_>) -> (bool, String) {
    let old = of.tally.refused.of(Refusal::Replayed);
    (old > 0, format!("{old} old frames ignored"))
}

pub(super) fn some_refused(of: &Measured<'_>) -> (bool, String) {
    let refused = of.tally.refused.total();
    (refused > 0, format!("{refused} of {} frames refused", of.tally.heard))
}

pub(super) fn replays_refused(of: &Measured<'_>) -> (bool, String) {
    let refused = u64::from(of.tally.refused.total());
    (of.same && refused == of.tally.replayed, format!("{refused} of {} refused", of.tally.replayed))
}

pub(super) fn forgeries_refused(of: &Measured<'_>) -> (bool, String) {
    let Tally { forged, fooled, refused, .. } = of.tally;
    let accepted = forged - u64::from(refused.of(Refusal::Forged));
    (of.same && accepted == 0 && *fooled == 0, format!("{accepted} of {forged} accepted"))
}

/// Frames that a stranger holds back are refused, or do no harm.
pub(super) fn delay_refused(of: &Measured<'_>) -> (bool, String) {
    let share = f64::from(of.tally.refused.total()) / of.tally.heard.max(1) as f64;
    (
        of.ratio <= MOST_DELAYED || share >= 0.99,
        format!("{:.0} % refused, or cost ≤ {MOST_DELAYED}", 100.0 * share),
    )
}

pub(super) fn liars_rejected(of: &Measured<'_>) -> (bool, String) {
    let exchanges = of.tally.longest_deceived;
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

/// Honest noisy robots are believed, and keep their distance.
pub(super) fn believed(of: &Measured<'_>) -> (bool, String) {
    let refused = of.tally.truths.share();
    let words = format!("{:.2} % of honest words refused", 100.0 * refused);
    (refused <= MOST_REFUSED && of.nearness.close_pairs <= 1.0, words)
}

/// The same as far as it is to be told.
pub(super) fn share_believed(of: &Measured<'_>) -> (bool, String) {
    (true, format!("{:.2} % of honest words refused", 100.0 * of.tally.truths.share()))
}

pub(super) fn no_close_pair(of: &Measured<'_>) -> (bool, String) {
    let none = of.nearness.close_pairs == 0.0;
    (none, if none { "no close pair" } else { "A CLOSE PAIR" }.into())
}

pub(super) fn back_soon(of: &Measured<'_>) -> (bool, String) {
    let ticks = of.tally.longest_return;
    (ticks <= SOON, format!("back within {ticks} ticks"))
}

pub(super) fn forgotten_soon(of: &Measured<'_>) -> (bool, String) {
    let ticks = of.tally.longest_stale;
    (ticks <= SOON, format!("forgotten within {ticks} ticks"))
}

pub(super) fn within_guard(of: &Measured<'_>) -> (bool, String) {
    let untimely = of.tally.refused.of(Refusal::Untimely);
    (untimely == 0, format!("{untimely} frames out of the guard"))
}

pub(super) fn heard_again(of: &Measured<'_>) -> (bool, String) {
    let ticks = of.tally.longest_muted;
    (ticks <= SOON_OVER, format!("heard again within {ticks} ticks"))
}

pub(super) fn not_crowded_out(of: &Measured<'_>) -> (bool, String) {
    let ticks = of.tally.longest_crowded;
    (ticks <= SOON_OVER, format!("without a true neighbour for {ticks} ticks"))
}

/// Parameters within what rounding to the ball leaves, velocities within 0.2 m/s.
pub(super) fn agrees_again(of: &Measured<'_>) -> (bool, String) {
    let agrees = of.apart <= 0.05 && of.last <= 0.05;
    (agrees, format!("then parameters {:.4} apart, variation {:.4}", of.apart, of.last))
}

pub(super) fn comes_to_rest(of: &Measured<'_>) -> (bool, String) {
    let [hold, slow, stop] = of.tally.alone;
    let frozen = of.tally.learned_alone == 0;
    let learning = if frozen { "frozen" } else { "NOT FROZEN" };
    let phases = hold > 0 && slow > 0 && stop > 0;
    (frozen && phases, format!("held {hold}, slowed {slow}, stopped {stop} ticks, learning {learning}"))
}

pub(super) fn inside_the_ball(of: &Measured<'_>) -> (bool, String) {
    (of.tally.violations == 0, "inside the ball".into())
}

/// The last frame is only counted, as a flood.
pub(super) fn within_budget(of: &Measured<'_>) -> (bool, String) {
    let most = of.tally.most_heard.saturating_sub(1);
    (most <= MOST_FRAMES, format!("at most {most} looked at"))
}
