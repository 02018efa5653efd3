//! Log of contacts: which robots received frames of others in time to avoid them.
//!
//! A collision is unavoidable if neither robot had received a frame of the other in time or neither
//! could steer. This includes robots that start or join close to each other.

/// Ticks to move aside by 0.1 m, the distance of close pairs.
///
/// At full acceleration along both axes this takes √(2 · 0.1/14.1) = 0.12 s.
const AVOIDANCE_TICKS: u32 = 12;

/// Age in ticks after which a frame is useless.
///
/// After half a second a robot can be a meter from its predicted position.
const MAX_AGE_TICKS: u32 = 50;

/// Times of received frames for each pair of robots.
#[derive(Clone, Debug)]
pub struct ContactLog {
    robots: usize,
    /// Ticks of the last frame and of the first frame since a long pause, per pair.
    heard: Vec<Option<(u32, u32)>>,
}

impl ContactLog {
    /// Creates an empty log for `robots` robots.
    pub fn new(robots: usize) -> Self {
        Self { robots, heard: vec![None; robots * robots] }
    }

    /// Records a received frame, whether the receiver trusts it or not.
    pub fn record(&mut self, receiver: usize, sender: usize, tick: u32) {
        let Some(heard) = self.index(receiver, sender).and_then(|index| self.heard.get_mut(index)) else {
            return;
        };
        let first = heard.filter(|(last, _)| tick - last <= MAX_AGE_TICKS).map_or(tick, |(_, first)| first);
        *heard = Some((tick, first));
    }

    /// Returns whether a receiver has had frames of a sender in time, at this tick.
    ///
    /// Frames of tick 0 count as in time.
    pub fn in_time(&self, receiver: usize, sender: usize, tick: u32) -> bool {
        let heard = self.index(receiver, sender).and_then(|index| *self.heard.get(index)?);
        heard.is_some_and(|(last, first)| {
            tick - last <= MAX_AGE_TICKS && first <= tick.saturating_sub(AVOIDANCE_TICKS)
        })
    }

    fn index(&self, receiver: usize, sender: usize) -> Option<usize> {
        (receiver < self.robots && sender < self.robots).then_some(receiver * self.robots + sender)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_is_in_time_if_it_is_neither_too_recent_nor_too_old() {
        let mut contacts = ContactLog::new(3);
        contacts.record(0, 1, 100);
        assert!(!contacts.in_time(0, 1, 111) && contacts.in_time(0, 1, 112));
        assert!(!contacts.in_time(1, 0, 112), "contacts are directional");
        assert!(contacts.in_time(0, 1, 150) && !contacts.in_time(0, 1, 151));
        contacts.record(0, 1, 151);
        assert!(!contacts.in_time(0, 1, 152), "a long pause restarts the contact");
        contacts.record(0, 2, 100);
        contacts.record(0, 2, 140);
        assert!(contacts.in_time(0, 2, 141), "a short pause does not");
        contacts.record(9, 0, 100);
        assert!(!contacts.in_time(9, 0, 120), "nobody");
    }

    #[test]
    fn frames_of_the_first_tick_count_as_in_time() {
        let mut contacts = ContactLog::new(2);
        contacts.record(0, 1, 0);
        contacts.record(1, 0, 1);
        assert!(contacts.in_time(0, 1, 5) && !contacts.in_time(1, 0, 5));
    }
}
