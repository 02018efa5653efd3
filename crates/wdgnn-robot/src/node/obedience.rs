//! Whether a robot's motors do what they are told, by its own senses.
//!
//! What it told its motors and what its velocity has really done are averaged alike over a fifth of a second, in which noise of senses and
//! a command that is a tick late come to little. Where the two differ by more than that, and by nearly all that was asked for, nobody should
//! count on the robot: it says that it is nothing but a body, so that others keep clear of it and do not follow it.
//!
//! Whoever was at rest may be carried or thrown next, and so may everybody else of its swarm, which is to begin all the same: from there on, only
//! motors that have obeyed can disobey.

use crate::tasks::ActuatorResponse;
use crate::tasks::RobotTask;
use wdgnn_core::tensor::Array;

/// The share of a tick in the averages: 0.2 s at 100 ticks a second.
const SHARE: f32 = 0.05;
/// A robot that is at rest for so many ticks may be held, and moved by others next.
const RESTING_TICKS: u8 = 100;
/// Motors that disobey do so for as many ticks in a row. One word of the senses that is far off is not that: of what it adds to the averages, 0.6 is
/// left by then.
const DISOBEYED_TICKS: u8 = 10;
/// For so many ticks a robot is not counted on after its motors have last disobeyed: while it asks little of them, nothing is known.
const DOUBTED_TICKS: u8 = 200;

/// What a robot's motors were told, and what came of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Obedience<O> {
    told: O,
    done: O,
    /// They have obeyed since the robot was at rest, or it never was.
    obeyed: bool,
    /// For how many ticks it has been at rest.
    rests: u8,
    /// For how many ticks they have disobeyed.
    disobeyed: u8,
    /// For how many ticks it is not counted on yet.
    doubted: u8,
}

impl<O: Array> Obedience<O> {
    /// Of a robot that starts: if it is at rest now, nobody knows for how long it was.
    pub(super) const UNKNOWN: Self =
        Self { told: O::ZERO, done: O::ZERO, obeyed: true, rests: RESTING_TICKS, disobeyed: 0, doubted: 0 };
    const AT_REST: Self = Self { obeyed: false, ..Self::UNKNOWN };

    /// Holds what the robot has just sensed of itself against what it told its motors in the tick before, if both are known.
    pub(super) fn watch<T: RobotTask<Output = O>>(
        &mut self,
        task: &T,
        state: &T::State,
        tick: Option<(&O, &O)>,
    ) {
        let Self { told, done, obeyed, rests, disobeyed, doubted } = self;
        *doubted = doubted.saturating_sub(1);
        let Some((command, achieved)) = tick else { return };
        for (average, new) in [(&mut *told, command), (&mut *done, achieved)] {
            average.as_mut().iter_mut().zip(new.as_ref()).for_each(|(x, new)| *x += SHARE * (new - *x));
        }
        let motors = task.actuator_response(state, told, done);
        *rests = if motors == ActuatorResponse::AtRest { rests.saturating_add(1) } else { 0 };
        *disobeyed = if motors == ActuatorResponse::Deviates { disobeyed.saturating_add(1) } else { 0 };
        match motors {
            ActuatorResponse::Follows => (*obeyed, *doubted) = (true, 0),
            ActuatorResponse::Deviates if *obeyed && *disobeyed >= DISOBEYED_TICKS => {
                *doubted = DOUBTED_TICKS;
            }
            ActuatorResponse::AtRest if *rests > RESTING_TICKS => *self = Self::AT_REST,
            _ => {}
        }
    }

    /// Whether the robot's motors do not do what it tells them.
    pub(super) fn is_doubted(&self) -> bool {
        self.doubted > 0
    }
}
