//! Whether motors do what they are told.
//!
//! A robot whose motors are stuck or dead flies somewhere, and whoever takes it for one of the flock follows. It cannot help that, but it
//! can say so: it is a body to keep apart from, and nothing else. What its commands ask for is held against what becomes of its velocity.

/// What is remembered, in ticks.
const MEMORY_TICKS: f32 = 20.0;
/// Below this share of what was asked for motors do not obey: weak ones do 0.4 of it, and 0.3 where they saturate at 3 m/s².
const DISOBEYS: f32 = 0.1;
/// What was asked for must be so much, in (m/s²)², for that to be told: more than half of what motors can do.
const ASKED: f32 = 30.0;
/// From this share on they obey again.
const OBEYS: f32 = 0.25;

/// What became of a robot's commands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Drive {
    /// The product of what was asked for with what happened, on average.
    along: f32,
    /// The square of what was asked for, on average.
    asked: f32,
    /// It does not do what it is told.
    odd: bool,
}

impl Drive {
    /// Takes note of what came of a command.
    pub(super) fn note(&mut self, (along, asked): (f32, f32)) {
        self.along += (along - self.along) / MEMORY_TICKS;
        self.asked += (asked - self.asked) / MEMORY_TICKS;
        let share = if self.odd { OBEYS } else { DISOBEYS };
        if self.asked > ASKED {
            self.odd = self.along < share * self.asked;
        }
    }

    /// Whether motors do not obey.
    pub(super) fn odd(&self) -> bool {
        self.odd
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Motors that do so much of a command of so much, for so many ticks.
    fn flown(drive: &mut Drive, share: f32, command: f32, ticks: u32) -> bool {
        let asked = command * command;
        (0..ticks).for_each(|_| drive.note((share * asked, asked)));
        drive.odd()
    }

    #[test]
    fn motors_that_do_nothing_or_the_wrong_thing_are_found_out_and_weak_ones_are_not() {
        for share in [0.0, -1.0, 0.05] {
            assert!(flown(&mut Drive::default(), share, 10.0, 20), "{share}");
        }
        for share in [0.3, 0.4, 1.0] {
            assert!(!flown(&mut Drive::default(), share, 10.0, 1000), "{share}");
        }
        assert!(!flown(&mut Drive::default(), 0.0, 3.0, 1000), "little was asked for");
    }

    #[test]
    fn motors_that_obey_again_are_believed_and_a_pause_changes_nothing() {
        let mut drive = Drive::default();
        assert!(flown(&mut drive, 0.0, 10.0, 30));
        assert!(flown(&mut drive, 0.0, 0.0, 100));
        assert!(!flown(&mut drive, 1.0, 10.0, 30));
    }

    #[test]
    fn what_is_no_number_finds_nobody_out() {
        let mut drive = Drive::default();
        drive.note((f32::NAN, f32::NAN));
        assert!(!drive.odd());
    }
}
