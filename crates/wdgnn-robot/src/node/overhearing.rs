//! A robot that is handed what others have said, where that lies: for simulators of many robots.
//!
//! A [`Node`](super::Node) copies beacons into its table, because frames come one after the other into one buffer, and keeps them for later
//! ticks. A simulator has all of them side by side, and where nothing of them lasts ([`Behavior::forgets`](crate::config::Behavior::forgets)) a
//! table is not needed: those who are heard in a tick are those who count in it.

use crate::tasks::RobotTask;
use core::iter::Empty;

use heapless::Vec;

use super::{ConsensusReport, MessageOf, Kind, Thinks, memory::Memory};
use crate::safety::gate::Verdict;
use wdgnn_core::{
    model::Model,
    online::consensus::NeighborParams,
    tensor::{Tensor as _, param_range::ParamRange},
};

/// A robot of a kind that forgets, and what up to `N` others have said in this tick.
#[derive(Debug)]
pub struct Overhearing<'a, M: Model, T: RobotTask, const N: usize> {
    kind: Kind<'a, M, T>,
    memory: &'a mut Memory<M, T>,
    heard: &'a [&'a MessageOf<M, T>],
}

impl<'a, M, T, const N: usize> Overhearing<'a, M, T, N>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
{
    /// A robot that has sensed in this tick and hears these, in ascending order, all of which are believed ([`Kind::believes`]).
    #[must_use]
    #[inline]
    pub fn new(kind: Kind<'a, M, T>, memory: &'a mut Memory<M, T>, heard: &'a [&'a MessageOf<M, T>]) -> Self {
        Self { kind, memory, heard: heard.get(..N).unwrap_or(heard) }
    }

    fn states(&self) -> impl Iterator<Item = &T::State> + Clone {
        self.heard.iter().map(|beacon| &beacon.state)
    }
}

impl<M, T, const N: usize> Thinks for Overhearing<'_, M, T, N>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
{
    type Features = M::Features;
    type Command = M::Output;

    fn tick(&self) -> u32 {
        self.memory.tick
    }

    fn around(&self) -> usize {
        self.heard.len()
    }

    fn settle(&mut self) -> usize {
        self.memory.settle(self.heard.is_empty());
        0
    }

    fn observe(&self) -> M::Features {
        self.kind.task.observe(&self.memory.state, self.states())
    }

    fn aggregate(&mut self) {
        let heard = self.heard.iter().map(|beacon| (&beacon.chains, self.kind.task.weight(beacon.sender)));
        self.memory.aggregate(self.kind, heard);
    }

    fn infer(&mut self, features: &M::Features) -> M::Output {
        self.memory.infer(self.kind, features)
    }

    fn guard(&self) -> (M::Output, Verdict) {
        let (bodies, strangers) = (None::<Empty<T::State>>, None::<Empty<T::State>>);
        self.memory.guard(self.kind, self.states(), bodies, strangers)
    }

    fn acted(&mut self, command: Option<M::Output>) {
        self.memory.acted(command);
    }

    fn learn(&mut self) -> M::Output {
        self.memory.learn(self.kind, self.heard.iter().map(|beacon| &beacon.state))
    }

    fn agree(&mut self) -> ConsensusReport {
        let mut opinions: Vec<NeighborParams<'_>, N> = Vec::new();
        for beacon in self.heard {
            let MessageOf::<M, T> { wide, degree, .. } = beacon;
            // There is room for all.
            let _ = opinions.push(NeighborParams { wide: wide.numbers(), degree: *degree, fresh: ParamRange::ALL });
        }
        self.memory.agree(self.kind, &opinions, self.heard.len() as u8)
    }
}
