//! Robots of several kinds on one medium, such as emulated ones among robots in this process.

use super::{Robots, TickInput, TickOutcome, TrustSnapshot};
use crate::{
    error::Result,
    scene::{Frame, RobotInternals, SimTask},
};

/// Kinds of robots with common numbers. Each robot is present in at most one kind.
impl<T: SimTask> Robots<T> for Vec<Box<dyn Robots<T> + '_>> {
    fn begin_tick(&mut self, inputs: &[Option<TickInput<T::State>>]) -> Vec<Vec<Frame>> {
        merge(self, |kind| kind.begin_tick(inputs), |frames| !frames.is_empty())
    }

    fn end_tick(&mut self, heard: &[Option<Vec<Frame>>]) -> Vec<Option<TickOutcome>> {
        merge(self, |kind| kind.end_tick(heard), Option::is_some)
    }

    fn kill(&mut self, robot: usize) {
        for kind in self {
            kind.kill(robot);
        }
    }

    fn reboot(&mut self, robot: usize) -> Result {
        self.iter_mut().try_for_each(|kind| kind.reboot(robot))
    }

    fn brown_out(&mut self, robot: usize) -> Result {
        self.iter_mut().try_for_each(|kind| kind.brown_out(robot))
    }

    fn lost(&mut self) -> Vec<String> {
        self.iter_mut().flat_map(|kind| kind.lost()).collect()
    }

    fn logs(&mut self) -> Vec<Vec<String>> {
        self.iter_mut().map(|kind| kind.logs()).find(|logs| !logs.is_empty()).unwrap_or_default()
    }

    fn trust_snapshot(&self, robot: usize) -> Option<TrustSnapshot> {
        self.iter().find_map(|kind| kind.trust_snapshot(robot))
    }

    fn internals(&self, robot: usize) -> Option<RobotInternals<'_, T>> {
        self.iter().find_map(|kind| kind.internals(robot))
    }
}

/// Asks all kinds and returns each robot's result from the kind in which it is present.
fn merge<K, R>(
    kinds: &mut [K],
    ask: impl FnMut(&mut K) -> Vec<R>,
    is_present: impl Fn(&R) -> bool,
) -> Vec<R> {
    let results = kinds.iter_mut().map(ask).reduce(|mut merged, others| {
        let pairs = merged.iter_mut().zip(others).filter(|(_, other)| is_present(other));
        pairs.for_each(|(one, other)| *one = other);
        merged
    });
    results.unwrap_or_default()
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
        let absent = |robots: std::ops::Range<usize>| {
            let mut kind = native();
            robots.for_each(|robot| kind.kill(robot));
            kind
        };
        let one = flown(native());
        assert!(
            one[9][0].is_none() && one[9][1].as_ref().is_some_and(|outcome| outcome.counts.received == 4)
        );
        for first in [1, 4, 6] {
            assert_eq!(
                flown(Box::new(vec![absent(0..first), absent(first..ROBOTS)])),
                one,
                "from {first} on"
            );
        }
    }
}
