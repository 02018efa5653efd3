//! Who had word of whom in time to get out of the way.
//!
//! A collision that nobody could have avoided says nothing about those who collide. Two robots of which neither has had a frame of the
//! other, or neither can steer, are such; so are those that are put beside each other.

/// Ticks that it takes to go aside by the 0.1 m within which robots are close, at full acceleration along both axes: √(2 · 0.1/14.1)
/// = 0.12 s.
const NOTICE_TICKS: u32 = 12;

/// A word that is older than this is none: half a second later a robot can be a metre from where it was going.
const OLD_TICKS: u32 = 50;

/// When frames of each robot have come in at each other.
#[derive(Clone, Debug)]
pub struct ContactLog {
    robots: usize,
    /// For listener and speaker, the tick of the last frame and that of the first of those without a long pause in between.
    heard: Vec<Option<(u32, u32)>>,
}

impl ContactLog {
    /// Of so many robots, which know nothing of each other.
    pub fn new(robots: usize) -> Self {
        Self { robots, heard: vec![None; robots * robots] }
    }

    /// A frame of a speaker comes in. Whether it is taken for true is the listener's own affair.
    pub fn note(&mut self, listener: usize, speaker: usize, tick: u32) {
        let Some(heard) = self.place(listener, speaker).and_then(|place| self.heard.get_mut(place)) else {
            return;
        };
        let first = heard.filter(|(last, _)| tick - last <= OLD_TICKS).map_or(tick, |(_, first)| first);
        *heard = Some((tick, first));
    }

    /// Whether a listener has had word of a speaker in time, at this tick. At the start everybody is told at once, or not in time.
    pub fn in_time(&self, listener: usize, speaker: usize, tick: u32) -> bool {
        let heard = self.place(listener, speaker).and_then(|place| *self.heard.get(place)?);
        heard.is_some_and(|(last, first)| {
            tick - last <= OLD_TICKS && first <= tick.saturating_sub(NOTICE_TICKS)
        })
    }

    fn place(&self, listener: usize, speaker: usize) -> Option<usize> {
        (listener < self.robots && speaker < self.robots).then_some(listener * self.robots + speaker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_is_in_time_when_it_came_before_it_was_too_late_and_not_too_long_ago() {
        let mut notices = ContactLog::new(3);
        notices.note(0, 1, 100);
        assert!(!notices.in_time(0, 1, 111) && notices.in_time(0, 1, 112));
        assert!(!notices.in_time(1, 0, 112), "the other one knows nothing");
        assert!(notices.in_time(0, 1, 150) && !notices.in_time(0, 1, 151));
        notices.note(0, 1, 151);
        assert!(!notices.in_time(0, 1, 152), "after a long pause it is news again");
        notices.note(0, 2, 100);
        notices.note(0, 2, 140);
        assert!(notices.in_time(0, 2, 141), "after a short one it is not");
        notices.note(9, 0, 100);
        assert!(!notices.in_time(9, 0, 120), "nobody");
    }

    #[test]
    fn at_the_start_who_was_told_at_once_was_told_in_time() {
        let mut notices = ContactLog::new(2);
        notices.note(0, 1, 0);
        notices.note(1, 0, 1);
        assert!(notices.in_time(0, 1, 5) && !notices.in_time(1, 0, 5));
    }
}
