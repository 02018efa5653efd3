//! How a node behaves, apart from its network and its task: what it learns, how often it exchanges, and whom it believes.

use crate::safety::{failsafe::Failsafe, gate::Patience};
use wdgnn_core::online::Learning;

/// For about how many ticks silent neighbors are held where exchanges are rare: 0.15 s at 100 ticks a second.
const HELD_TICKS: u32 = 15;
/// The same on an air that loses frames.
const ROBUST_HOLD: u32 = 19;
/// See [`Behavior::robust`]; both held against a fifth of liars in every flight.
const ROBUST_CLIP: f32 = 0.02;
const ROBUST_BALL: f32 = 0.3;
/// The largest tap that an honest flocking robot can have: in flights under the paper's condition none reached 50.
pub const LARGEST_TAP: f32 = 100.0;
/// For how many ticks a robot flies on by a state that it sensed last: 0.25 s. At its largest acceleration of 10 m/s², it can by then
/// be 0.3 m from where it believes to be, twice what robots keep apart.
pub const BLIND_TICKS: u32 = 25;

/// The same of a robot on an air that cannot be trusted: a second, of which it slows down for all but the first quarter. It knows its own
/// commands, and others know where it is for as long as it says so.
pub const ROBUST_BLIND_TICKS: u32 = 100;

/// How a node behaves, apart from its network and its task.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Behavior {
    /// Online learning.
    pub learning: Learning,
    /// Without neighbors.
    pub patience: Patience,
    /// For how many ticks a silent neighbor is held.
    pub hold: u32,
    /// The age in ticks that the robot's own state may reach. Beyond it the robot is blind: it says nothing, learns nothing, and its
    /// actuator brings it to rest.
    pub blind: u32,
    /// Control ticks from one exchange to the next: a node speaks, and its taps advance, in every so many-th tick, see
    /// [`Node::has_turn`](crate::node::Node::has_turn).
    pub interval: u32,
    /// How many frames in a row a neighbor must be plausible for before it counts; 0 believes everybody, as the paper does.
    /// After its start, a node takes newcomers at their word for as long as it holds somebody silent, and then as long as nobody
    /// has proven itself: at first, everybody is new.
    pub probation: u8,
    /// The largest tap that an honest neighbor can have; 0 believes any.
    pub largest_tap: f32,
    /// Whether it counts on liars and on senses that fail: it holds what it senses against its own track, brings what neighbors say to
    /// what most of them say, and keeps apart also from those that it does not believe.
    pub wary: bool,
    /// When it slows down or stops, whatever its network says.
    pub failsafe: Failsafe,
}

impl Behavior {
    /// The learning rule of a weight file, an exchange in every tick, nobody held and everybody believed: a frame that is not
    /// heard is a missing edge.
    #[must_use]
    pub const fn new(learning: Learning) -> Self {
        Self {
            learning,
            patience: Patience::DEFAULT,
            hold: 0,
            blind: BLIND_TICKS,
            interval: 1,
            probation: 0,
            largest_tap: 0.0,
            wary: false,
            failsafe: Failsafe::DEFAULT,
        }
    }

    /// The same with an exchange in every so many-th tick. Between exchanges nobody is heard, so silent neighbors are held: over
    /// as many lost exchanges as fit into 15 ticks, and at least until the next one.
    ///
    /// ```
    /// # use wdgnn_core::Learning;
    /// # use wdgnn_robot::Behavior;
    /// let behavior = Behavior::new(Learning::OFF);
    /// assert_eq!(behavior.every(5).hold, 14);
    /// assert_eq!(behavior.every(2).hold, 13);
    /// assert_eq!(behavior.every(1).hold, 0);
    /// ```
    #[must_use]
    pub const fn every(self, interval: u32) -> Self {
        if interval <= 1 {
            return Self { interval: 1, hold: 0, ..self };
        }
        let held = if interval > HELD_TICKS { 1 } else { HELD_TICKS / interval };
        Self { interval, hold: held.saturating_mul(interval).saturating_sub(1), ..self }
    }

    /// The same on an air that cannot be trusted:
    ///
    /// * `hold`: at least 19 ticks, so that losses cost little and whoever is gone is forgotten within 20;
    /// * `probation`: who contradicted itself, or is new to a robot that knows somebody, counts from its next frame on, if that
    ///   bears it out;
    /// * `largest_tap`: [`LARGEST_TAP`];
    /// * `wary`: its own senses and what single neighbors say are doubted, too;
    /// * `failsafe`: without sensing it slows down after [`BLIND_TICKS`], and is blind after [`ROBUST_BLIND_TICKS`];
    /// * `clip`: no neighbor moves a robot's parameters by more than 2 % of the offline norm per tick between exchanges;
    /// * `ball`: parameters stay within 30 % of the offline ones, or nearer where the learning rule says so.
    ///
    /// A rule that does not learn has nothing to guard and stays as it is.
    #[must_use]
    pub fn robust(self) -> Self {
        let mut learning = self.learning;
        if learning.step > 0.0 {
            let ball = if learning.ball > 0.0 { learning.ball } else { ROBUST_BALL };
            learning.ball = ball.min(ROBUST_BALL);
            learning.clip = ROBUST_CLIP * self.interval as f32;
        }
        Self {
            learning,
            hold: self.hold.max(ROBUST_HOLD),
            blind: self.blind.max(ROBUST_BLIND_TICKS),
            probation: 1,
            largest_tap: LARGEST_TAP,
            wary: true,
            failsafe: Failsafe { unsure: BLIND_TICKS, ..self.failsafe },
            ..self
        }
    }

    /// Whether nothing of what neighbors said lasts from tick to tick: there is an exchange in every one, nobody is held, and everybody
    /// is believed.
    #[must_use]
    pub const fn forgets(&self) -> bool {
        self.interval <= 1 && self.hold == 0 && self.probation == 0 && !self.wary
    }

    /// The same with plain averaging and everybody believed, as in the paper: nothing is clipped, and parameters go anywhere.
    #[must_use]
    pub const fn plain(self) -> Self {
        let learning = Learning { clip: 0.0, ball: 0.0, ..self.learning };
        Self { learning, probation: 0, largest_tap: 0.0, wary: false, ..self }
    }
}
