//! Swarm of robots in this process and robots elsewhere, on one medium.

use super::{Robots, TickInput, TickOutcome, TrustSnapshot};
use crate::{
    error::Result,
    scene::{Frame, RobotInternals, SimTask},
};

/// Robots of two kinds, numbered as one swarm.
#[allow(missing_debug_implementations, reason = "contains trait objects and functions")]
pub struct HybridSwarm<'a, T: SimTask> {
    /// Robots before number `first`, and the others.
    kinds: [Box<dyn Robots<T> + 'a>; 2],
    /// First robot of the second kind.
    first: usize,
}

impl<'a, T: SimTask> HybridSwarm<'a, T> {
    /// Replaces the robots from number `first` on by `others`.
    ///
    /// Both are numbered as in the whole swarm.
    pub fn new(
        mut these: Box<dyn Robots<T> + 'a>,
        others: Box<dyn Robots<T> + 'a>,
        first: usize,
        count: usize,
    ) -> Self {
        (first..count).for_each(|robot| these.kill(robot));
        Self { kinds: [these, others], first }
    }

    fn kind(&mut self, robot: usize) -> &mut dyn Robots<T> {
        self.kinds[usize::from(robot >= self.first)].as_mut()
    }

    /// Calls both kinds, each for its own robots, and joins the results in order.
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
        // The second kind takes longer and starts first.
        let others = ask(other.as_mut(), &others);
        let these = ask(one.as_mut(), &these);
        these.into_iter().take(first).chain(others.into_iter().skip(first)).collect()
    }
}

impl<T: SimTask> Robots<T> for HybridSwarm<'_, T> {
    fn begin_tick(&mut self, inputs: &[Option<TickInput<T::State>>]) -> Vec<Vec<Frame>> {
        self.both(inputs, Robots::begin_tick)
    }

    fn end_tick(&mut self, heard: &[Option<Vec<Frame>>]) -> Vec<Option<TickOutcome>> {
        self.both(heard, Robots::end_tick)
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

    fn lost(&mut self) -> Vec<String> {
        self.kinds.iter_mut().flat_map(|kind| kind.lost()).collect()
    }

    fn logs(&mut self) -> Vec<Vec<String>> {
        self.kinds[1].logs()
    }

    fn trust_snapshot(&self, robot: usize) -> Option<TrustSnapshot> {
        self.kinds[usize::from(robot >= self.first)].trust_snapshot(robot)
    }

    fn internals(&self, robot: usize) -> Option<RobotInternals<'_, T>> {
        self.kinds[usize::from(robot >= self.first)].internals(robot)
    }
}

#[cfg(test)]
mod tests {
    use wdgnn_core::{task::State as _, tasks::flocking::Flocking};
    use wdgnn_robot::onboard;

    use super::*;
    use crate::{
        medium::{options::Faults, robot_config::SwarmConfig},
        models,
        profiles::Profile,
        recipe::{Architecture, RecipeName},
        swarm::native::Native,
    };

    const ROBOTS: usize = 6;

    /// Results of ten ticks with all-to-all links.
    ///
    /// In the fifth tick the last robot restarts and the first is removed.
    fn flown(mut robots: Box<dyn Robots<Flocking> + '_>) -> Vec<Vec<Option<TickOutcome>>> {
        let state = |robot: usize, tick: u32| {
            let mut numbers = [0.3 * robot as f32, 0.01 * tick as f32, 1.0, 0.1 * robot as f32];
            numbers[0] += 0.01 * tick as f32;
            wdgnn_core::tasks::flocking::Motion::from_array(numbers)
        };
        let mut all = Vec::new();
        for tick in 0..10 {
            if tick == 5 {
                robots.reboot(ROBOTS - 1).unwrap();
                robots.kill(0);
            }
            let inputs: Vec<_> =
                (0..ROBOTS).map(|robot| Some(TickInput::new(tick, state(robot, tick)))).collect();
            let said = robots.begin_tick(&inputs);
            let others = |robot: usize| {
                let others = said.iter().enumerate().filter(move |(other, _)| *other != robot);
                others.flat_map(|(_, frames)| frames.clone()).collect()
            };
            let heard: Vec<Option<Vec<Frame>>> = (0..ROBOTS).map(|robot| Some(others(robot))).collect();
            all.push(robots.end_tick(&heard));
        }
        all
    }

    #[test]
    fn a_hybrid_swarm_equals_a_native_swarm() {
        let file = models::shipped(RecipeName::Ours, Architecture::WdGnn).unwrap();
        let robot = onboard::config_from_weights::<Flocking>(&file.weights()).unwrap();
        let config = SwarmConfig { robot, checksum: 0 };
        let native = || -> Box<dyn Robots<Flocking> + '_> {
            let configs = vec![config; ROBOTS];
            Box::new(Native::new(configs, Profile::Exact, None, &Faults::default()))
        };
        let one = flown(native());
        assert!(
            one[9][0].is_none() && one[9][1].as_ref().is_some_and(|outcome| outcome.counts.received == 4)
        );
        for first in [1, 4, 6] {
            assert_eq!(
                flown(Box::new(HybridSwarm::new(native(), native(), first, ROBOTS))),
                one,
                "from {first} on"
            );
        }
    }
}
