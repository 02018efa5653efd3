//! A node by itself: everything that lasts from tick to tick, without what all nodes of a swarm have in common and without the table.
//!
//! It senses, speaks, thinks and learns; whom it hears it is told. A [`Node`](crate::node::Node) reads that out of its table. Where silent
//! neighbors are not held and everybody is believed, nothing of what neighbors said lasts, only who they were, and a table is not needed:
//! a simulator keeps a robot as a [`Memory`], an eighth of a node, and hands it what others have said ([`super::overhearing`]).

use super::{kind::Kind, obedience::Obedience};
use crate::safety::gate::Isolation;
use crate::tasks::RobotTask;
use wdgnn_core::{
    adaptation::LocalAdaptation, filter::DelayLines as _, model::Model, task::NodeId, tensor::Tensor as _,
};

/// What a robot knows of the swarm's time from before it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Past {
    /// The swarm was surely in this tick already: whatever was said before is a recording.
    pub since: u32,
    /// The robot has said nothing from this tick on.
    pub until: u32,
}

/// What a robot's own senses are held against.
#[derive(Debug)]
pub(super) struct OwnTrack<T: RobotTask> {
    /// Its track, at the tick in which it was sensed last.
    pub(super) state: T::State,
    pub(super) evidence: T::Stats,
    /// What was sensed last, carried on by its age.
    pub(super) sensed: T::State,
    /// When.
    pub(super) at: u32,
    /// In how many ticks its senses were held against its track, up to 255.
    pub(super) known: u8,
    /// Its senses say the same over and over.
    pub(super) stuck: bool,
}

impl<T: RobotTask> OwnTrack<T> {
    /// Nothing was sensed yet.
    pub(super) fn new(state: T::State) -> Self {
        Self { state, evidence: T::Stats::default(), sensed: state, at: 0, known: 0, stuck: false }
    }
}

/// What a node with model `M` and task `T` keeps from tick to tick, besides its neighbors.
#[derive(Debug)]
pub struct Memory<M: Model, T: RobotTask> {
    pub(super) tick: u32,
    /// Ticks since the one before: more than one where some were skipped.
    pub(super) passed: u32,
    /// The residue of the ticks in which it speaks.
    pub(super) turn: u32,
    pub(super) boot: u32,
    pub(super) sequence: u32,
    pub(super) degree: u8,
    pub(super) alone: u32,
    /// The age of the state in ticks; without end while none was ever sensed.
    pub(super) age: u32,
    /// The first tick.
    pub(super) began: Option<u32>,
    /// Ticks that it has lived through since it was started.
    pub(super) lived: u32,
    /// What it knows of the swarm's time from before it was started.
    pub(super) past: Past,
    pub(super) state: T::State,
    /// What its senses are held against.
    pub(super) own: OwnTrack<T>,
    /// What its motors do.
    pub(super) command: Option<M::Output>,
    /// What they did up to now.
    pub(super) done: Option<M::Output>,
    /// Whether they do what they are told.
    pub(super) obedience: Obedience<M::Output>,
    /// What is left of its battery, in percent, where that is known.
    pub(super) battery: Option<u8>,
    pub(super) chains: M::Taps,
    /// The taps as they stood at the last exchange, which the next beacon tells: kept where those of this tick differ.
    pub(super) told: Option<M::Taps>,
    pub(super) wide: M::Wide,
    pub(super) factor: M::Factor,
    pub(super) output: M::Output,
    /// What the robot has learned about itself.
    pub(super) personal: LocalAdaptation<M::Output>,
    /// Its state one tick before, for what came of its commands.
    pub(super) before: T::State,
    /// And the one before that.
    pub(super) older: T::State,
}

impl<M: Model, T: RobotTask> Memory<M, T> {
    /// The robot's own state.
    pub fn state(&self) -> &T::State {
        &self.state
    }

    /// The taps z of all layers.
    pub fn chains(&self) -> &M::Taps {
        &self.chains
    }

    /// The wide parameters.
    pub fn wide(&self) -> &M::Wide {
        &self.wide
    }

    /// The network's raw output at its last tick.
    pub fn output(&self) -> &M::Output {
        &self.output
    }
}

impl<M: Model, T: RobotTask> Memory<M, T>
where
    T: RobotTask<Features = M::Features, Command = M::Output>,
{
    /// Of a robot that starts from the offline parameters, with this address, in this state.
    #[must_use]
    pub fn new(kind: Kind<'_, M, T>, id: NodeId, state: T::State) -> Self {
        Self::starting(id, kind.task, *kind.model.offline(), state)
    }

    /// The same from these parameters.
    #[inline]
    pub(super) fn starting(id: NodeId, task: &T, wide: M::Wide, state: T::State) -> Self {
        Self {
            tick: 0,
            passed: 1,
            turn: id.into(),
            boot: 0,
            sequence: 0,
            degree: 0,
            alone: 0,
            age: u32::MAX,
            began: None,
            lived: 0,
            past: Past::default(),
            state,
            own: OwnTrack::new(state),
            command: None,
            done: None,
            obedience: Obedience::UNKNOWN,
            battery: None,
            chains: M::Taps::ZERO,
            told: None,
            wide,
            factor: M::Factor::ZERO,
            output: task.fallback(&state, Isolation::Hold),
            personal: LocalAdaptation::NOTHING,
            before: state,
            older: state,
        }
    }
}

impl<M: Model, T: RobotTask> Clone for Memory<M, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Model, T: RobotTask> Copy for Memory<M, T> {}

impl<T: RobotTask> Clone for OwnTrack<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: RobotTask> Copy for OwnTrack<T> {}
