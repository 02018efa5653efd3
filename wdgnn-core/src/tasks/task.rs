//! What the network is for: features, loss and the meaning of a command, behind one trait.
//!
//! [`crate::flocking::Flocking`] is the first implementation. To bring another task, implement [`Task`]; the node does not change.

use core::{fmt::Debug, ops::Range};

use crate::math;

pub use crate::net::tensor::Numbers;

/// A node's address in the swarm.
pub type NodeId = u16;

/// What a node tells its neighbours about itself, such as position and velocity: a fixed number of `f32` on the wire.
pub trait State: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// `[f32; N]`.
    type Numbers: Numbers;

    /// The numbers that travel.
    fn numbers(&self) -> Self::Numbers;

    /// The state that they tell.
    fn from_numbers(numbers: Self::Numbers) -> Self;

    /// Whether every number may enter the arithmetic ([`crate::math::admissible`]).
    fn admissible(&self) -> bool {
        self.numbers().as_ref().iter().all(|x| math::admissible(*x))
    }

    /// The state whose numbers are zero: where a robot is taken to be before it has sensed anything.
    #[must_use]
    fn zero() -> Self {
        Self::from_numbers(Numbers::ZERO)
    }
}

/// What a robot's motors have made of what they were told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Obeyed {
    /// Too little was asked for, or something in between was done.
    Unknown,
    /// About that.
    Yes,
    /// Something else.
    No,
    /// Nobody knows: the robot is at rest.
    AtRest,
}

/// How long a node has been alone, in the terms of the safety gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Isolation {
    /// Just now: keep doing what it did.
    Hold,
    /// For a while: slow down.
    Slow,
    /// For long: come to rest.
    Stop,
}

/// A task: what a node observes, what it is told off for, what its output means.
///
/// Neighbours' states always come in ascending id, so that sums have one order.
///
/// A task of your own, sensors that agree on a temperature:
///
/// ```
/// use wdgnn_core::{Task, math, task::State};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Celsius(f32);
///
/// impl State for Celsius {
///     type Numbers = [f32; 1];
///
///     fn numbers(&self) -> [f32; 1] {
///         [self.0]
///     }
///
///     fn from_numbers([degrees]: [f32; 1]) -> Self {
///         Self(degrees)
///     }
/// }
///
/// struct Thermostat;
///
/// impl Task for Thermostat {
///     const NUMBER: u16 = 1000;
///     type State = Celsius;
///     type Features = [f32; 1];
///     type Output = [f32; 1];
///     type Evidence = ();
///
///     fn from_settings(_: &[f32; 8]) -> Self {
///         Self
///     }
///
///     fn period(&self) -> f32 {
///         1.0
///     }
///
///     fn observe<'a>(&self, own: &Celsius, others: impl Iterator<Item = &'a Celsius>) -> [f32; 1] {
///         [others.fold(0.0, |sum, other| sum + own.0 - other.0)]
///     }
///
///     /// Of half the squared distance to every neighbour, after heating by `output`.
///     fn gradient<'a>(
///         &self,
///         own: &Celsius,
///         others: impl Iterator<Item = &'a Celsius>,
///         output: &[f32; 1],
///         _through_clamp: bool,
///     ) -> [f32; 1] {
///         [others.fold(0.0, |sum, other| sum + own.0 + output[0] - other.0)]
///     }
///
///     fn command(&self, output: &[f32; 1]) -> [f32; 1] {
///         [math::clamp(output[0], 5.0)]
///     }
/// }
///
/// let others = [Celsius(18.0), Celsius(20.0)];
/// assert_eq!(Thermostat.observe(&Celsius(21.0), others.iter()), [4.0]);
/// assert_eq!(Thermostat.gradient(&Celsius(21.0), others.iter(), &[-2.0], false), [0.0], "19 degrees suit both");
/// ```
pub trait Task {
    /// The task's number in weight files, so that a network is never flown on another task. Those below 1000 are this crate's.
    const NUMBER: u16;

    /// What a beacon says about its sender.
    type State: State;
    /// The network's input, `[f32; F]`.
    type Features: Numbers;
    /// The network's output, `[f32; O]`.
    type Output: Numbers;
    /// What [`Task::follow`] keeps of a neighbour besides its track: what speaks against it, and how noisy its words are. It
    /// outlives a track that is begun anew. `()` for a task that follows nobody.
    type Evidence: Copy + Debug + Default + PartialEq + Send + Sync + 'static;

    /// The task with the constants of a weight file.
    fn from_settings(settings: &[f32; 8]) -> Self;

    /// The constants as a weight file keeps them, because training and flight must agree on them; none, unless the task has some.
    fn settings(&self) -> [f32; 8] {
        [0.0; 8]
    }

    /// The control period in seconds: the time from one tick to the next.
    fn period(&self) -> f32;

    /// x(t): the input signal from the node's own state and its neighbours'.
    fn observe<'a>(
        &self,
        own: &Self::State,
        neighbours: impl Iterator<Item = &'a Self::State>,
    ) -> Self::Features;

    /// ∂J_i/∂u_i at the network's raw `output`; what it is where the command is clamped is `through_clamp`'s choice.
    fn gradient<'a>(
        &self,
        own: &Self::State,
        neighbours: impl Iterator<Item = &'a Self::State>,
        output: &Self::Output,
        through_clamp: bool,
    ) -> Self::Output;

    /// The local loss J_i, if the node were to do `command` now. Nobody needs it in flight; what a task says here, tests can hold its
    /// gradient against. The default does not know.
    fn loss<'a>(
        &self,
        _own: &Self::State,
        _neighbours: impl Iterator<Item = &'a Self::State> + Clone,
        _command: &Self::Output,
    ) -> f32 {
        f32::NAN
    }

    /// The command that the network's raw output stands for: limited to what the robot can do.
    fn command(&self, output: &Self::Output) -> Self::Output;

    /// The weight of the edge from a neighbour; 1 unless the task knows better.
    fn weight(&self, _neighbour: NodeId) -> f32 {
        1.0
    }

    /// A neighbour's state one tick after it was last heard, if nothing is known but that; as it was, unless the task
    /// knows better.
    fn extrapolate(&self, state: &Self::State) -> Self::State {
        *state
    }

    /// The same so many ticks later.
    fn carry_on(&self, state: &Self::State, ticks: u32) -> Self::State {
        let mut carried = *state;
        for _ in 0..ticks {
            carried = self.extrapolate(&carried);
        }
        carried
    }

    /// Holds what a neighbour says against its track, the state that follows from everything that it said before, carried on to
    /// the tick before; what it said last, it said `silent` ticks before, and this is the `known`-th tick in which its words are held
    /// against its track. `own` is what the robot knows of its own senses: others' are no better. Returns its track from here on and
    /// whether it is believed. The default believes everything.
    fn follow(
        &self,
        _track: &Self::State,
        said: &Self::State,
        _silent: u32,
        _known: u8,
        _evidence: &mut Self::Evidence,
        _own: &Self::Evidence,
    ) -> (Self::State, bool) {
        (*said, true)
    }

    /// Holds what a robot senses of itself against its own track in the same way. Returns what it takes its state to be, and whether its
    /// senses can be right. The default believes them.
    fn steady(
        &self,
        _track: &Self::State,
        sensed: &Self::State,
        _silent: u32,
        _known: u8,
        _evidence: &mut Self::Evidence,
    ) -> (Self::State, bool) {
        (*sensed, true)
    }

    /// The state that a robot takes to be its own after so much `evidence` of how its senses miss its track; the track's, unless the task knows
    /// better.
    fn settled(&self, track: &Self::State, _evidence: &Self::Evidence) -> Self::State {
        *track
    }

    /// The state that a robot takes to be its own whose senses contradict themselves; what it senses, unless the task knows better.
    fn reconcile(&self, sensed: &Self::State, _evidence: &Self::Evidence) -> Self::State {
        *sensed
    }

    /// The robot's own state so many ticks later, if it does `command` all the time; as anybody's, unless the task knows better.
    fn moved(&self, state: &Self::State, _command: &Self::Output, ticks: u32) -> Self::State {
        self.carry_on(state, ticks)
    }

    /// Which of a state's numbers robots agree on, and how much they always differ in them: those of a neighbour that is far from what
    /// most say count up to a bound. None, unless the task knows better.
    fn tempered(&self) -> Option<(Range<usize>, f32)> {
        None
    }

    /// What the task adds to the network's raw output with the neighbours in view, before [`Task::command`] limits it; nothing,
    /// unless the task knows better.
    fn steer<'a>(
        &self,
        _own: &Self::State,
        _neighbours: impl Iterator<Item = &'a Self::State>,
        output: &Self::Output,
    ) -> Self::Output {
        *output
    }

    /// The output that the node's state has really followed from the tick `before` on, whatever it was told. `None`, the default, where
    /// that cannot be said.
    fn achieved(&self, _before: &Self::State, _own: &Self::State) -> Option<Self::Output> {
        None
    }

    /// Whether a robot's motors obey: what they were `told` and what was `done`, both averaged over a fifth of a second. The
    /// default does not know.
    fn obeyed(&self, _own: &Self::State, _told: &Self::Output, _done: &Self::Output) -> Obeyed {
        Obeyed::Unknown
    }

    /// What came of the commands so far: the products of where the loss says the node should not go with how its state has changed
    /// in the last tick and in the one before it, and the largest that their sum could be. Below zero while it does what it should. The
    /// default has nothing to say.
    fn outcome<'a>(
        &self,
        _older: &Self::State,
        _before: &Self::State,
        _own: &Self::State,
        _neighbours: impl Iterator<Item = &'a Self::State>,
    ) -> [f32; 3] {
        [0.0; 3]
    }

    /// A last look at a command with the neighbours in view, such as keeping apart. Must stay within the limits of
    /// [`Task::command`].
    fn keep_safe<'a>(
        &self,
        _own: &Self::State,
        _neighbours: impl Iterator<Item = &'a Self::State>,
        command: Self::Output,
    ) -> Self::Output {
        command
    }

    /// The same with everybody that is near, believed or not, for a robot that takes nobody to give way. The default keeps from nobody.
    fn keep_apart(
        &self,
        _own: &Self::State,
        _bodies: impl Iterator<Item = Self::State>,
        command: Self::Output,
    ) -> Self::Output {
        command
    }

    /// Whether two come nearer to each other. The default does not know, and takes it that they do.
    fn approaches(&self, _own: &Self::State, _other: &Self::State) -> bool {
        true
    }

    /// Where somebody is whose words about itself are not believed: there, for all that is known, and on a way that its places bear out.
    fn body(&self, _own: &Self::State, said: &Self::State, _evidence: &Self::Evidence) -> Self::State {
        *said
    }

    /// What to do without neighbours, or with an output that is no number: nothing, unless the task knows better.
    fn fallback(&self, _own: &Self::State, _isolation: Isolation) -> Self::Output {
        Numbers::ZERO
    }
}
