//! Robots of two kinds in one air: those in this process, and some that are not. Each frame is as it was sent.

use wdgnn_core::passage::Passage;

use super::{Outcome, Robots, Thoughts, Waking};
use crate::{
    error::Result,
    scene::{Flown, Frame, Inside},
};

/// Robots of two kinds, numbered as one swarm.
#[allow(missing_debug_implementations, reason = "robots are told apart by what they do")]
pub struct Together<'a, T: Flown> {
    /// Those before the first of the others, and the others.
    kinds: [Box<dyn Robots<T> + 'a>; 2],
    /// The first of the others.
    first: usize,
}

impl<'a, T: Flown> Together<'a, T> {
    /// From robot number `first` on, the `others` in place of these. Both are numbered as in the whole swarm.
    #[must_use]
    pub fn new(
        mut these: Box<dyn Robots<T> + 'a>,
        others: Box<dyn Robots<T> + 'a>,
        first: usize,
        count: usize,
    ) -> Self {
        (first..count).for_each(|robot| these.leave(robot));
        Self { kinds: [these, others], first }
    }

    fn kind(&mut self, robot: usize) -> &mut dyn Robots<T> {
        self.kinds[usize::from(robot >= self.first)].as_mut()
    }

    /// Asks both kinds, each about its own, and puts the answers in order.
    fn both<A: Clone, B>(
        &mut self,
        about: &[Option<A>],
        ask: impl Fn(&mut (dyn Robots<T> + 'a), &[Option<A>]) -> Vec<B>,
    ) -> Vec<B> {
        let first = self.first.min(about.len());
        let (these, others) = about.split_at(first);
        let these: Vec<Option<A>> = these.iter().cloned().chain(others.iter().map(|_| None)).collect();
        let others: Vec<Option<A>> = (0..first).map(|_| None).chain(others.iter().cloned()).collect();
        let [one, other] = &mut self.kinds;
        // Those that take longer begin first.
        let others = ask(other.as_mut(), &others);
        let these = ask(one.as_mut(), &these);
        these.into_iter().take(first).chain(others.into_iter().skip(first)).collect()
    }
}

impl<T: Flown> Robots<T> for Together<'_, T> {
    fn speak(&mut self, waking: &[Option<Waking<T::State>>]) -> Vec<Vec<Frame>> {
        self.both(waking, Robots::speak)
    }

    fn hear(&mut self, heard: &[Option<Vec<Frame>>]) -> Vec<Option<Outcome>> {
        self.both(heard, Robots::hear)
    }

    fn kill(&mut self, robot: usize) {
        self.kind(robot).kill(robot);
    }

    fn reboot(&mut self, robot: usize) -> Result {
        self.kind(robot).reboot(robot)
    }

    fn brown_out(&mut self, robot: usize) -> Result {
        self.kind(robot).brown_out(robot)
    }

    fn pass(&mut self, robot: usize, passage: &mut Passage<'_>) {
        self.kind(robot).pass(robot, passage);
    }

    fn leave(&mut self, robot: usize) {
        self.kind(robot).leave(robot);
    }

    fn lost(&mut self) -> Vec<String> {
        self.kinds.iter_mut().flat_map(|kind| kind.lost()).collect()
    }

    fn logs(&mut self) -> Vec<Vec<String>> {
        self.kinds[1].logs()
    }

    fn thoughts(&self, robot: usize) -> Option<Thoughts> {
        self.kinds[usize::from(robot >= self.first)].thoughts(robot)
    }

    fn inside(&self, robot: usize) -> Option<Inside<'_, T>> {
        self.kinds[usize::from(robot >= self.first)].inside(robot)
    }
}
