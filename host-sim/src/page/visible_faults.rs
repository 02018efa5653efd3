//! Visible faults of a recorded episode: liars, absent robots and failed links.

use serde::Serialize;

use crate::{episode::TickView, world::Environment};

/// Ticks between two records of failed links, and the time each is shown.
const EVERY: u32 = 5;

/// Visible faults of an episode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VisibleFaults {
    /// Robots that lie or run another model.
    pub liars: Vec<usize>,
    /// Absent robots, each with the first tick of its absence and the first tick after it.
    pub away: Vec<(usize, u32, u32)>,
    /// Links on which a sent frame was not received, as sender times robots plus receiver, by tick.
    pub unheard: Vec<(u32, Vec<usize>)>,
}

impl VisibleFaults {
    /// Records a tick of the first robots.
    pub fn see<W: Environment>(&mut self, moment: &TickView<'_, W>, robots: usize) {
        let tick = moment.scene.tick;
        if tick == 0 {
            self.liars = (0..robots).filter(|robot| !moment.swarm.counts(*robot)).collect();
        }
        for robot in (0..robots).filter(|robot| !moment.swarm.is_present(*robot)) {
            match self.away.iter_mut().find(|(other, _, to)| (*other, *to) == (robot, tick)) {
                Some((.., to)) => *to = tick + 1,
                None => self.away.push((robot, tick, tick + 1)),
            }
        }
        let due = self.unheard.last().is_none_or(|(last, _)| tick >= last + EVERY);
        // No frames are sent between exchanges.
        if due && moment.swarm.frames().iter().any(|said| !said.is_empty()) {
            let pairs = moment.swarm.missed_links(moment.scene.links).into_iter();
            let pairs = pairs.map(|pair| pair.map(|robot| robot as usize));
            let shown = pairs.filter(|pair| pair.iter().all(|robot| *robot < robots));
            self.unheard.push((tick, shown.map(|[from, to]| from * robots + to).collect()));
        }
    }

    /// Returns whether there is any fault to show.
    pub fn any(&self) -> bool {
        !(self.liars.is_empty() && self.away.is_empty())
            || self.unheard.iter().any(|(_, pairs)| !pairs.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        controllers::{Controller, EvalConfig, ONLINE},
        medium::options::Faults,
        page::replay::record,
        recipe::RecipeName,
        world::Scenario,
    };

    fn flown(settings: &str) -> VisibleFaults {
        let condition = Scenario { robots: 8, ticks: 30, ..Scenario::PAPER };
        let mut eval = EvalConfig::shipped(RecipeName::Through).unwrap();
        let faults = Faults { seed: 7, ..Faults::parse(settings).unwrap() };
        eval.set_faults(Some(faults), 8).unwrap();
        let online = [Controller::named(ONLINE).unwrap()];
        let (mut replay, _) = record(&eval, &online, &condition, 7, &|| {}).unwrap();
        replay.flights.swap_remove(0).troubles
    }

    #[test]
    fn faults_are_recorded() {
        let calm = flown("velocity-noise=0.01");
        assert!(!calm.any(), "{calm:?}");
        assert_eq!(flown("liars=STATE:0.25").liars.len(), 2);
        assert_eq!(flown("kill=3@10").away, [(3, 10, 30)]);
        let late = flown("join=0.25@20").away;
        assert!(late.len() == 2 && late.iter().all(|(_, from, to)| (*from, *to) == (0, 20)), "{late:?}");
        let lossy = flown("drop-chance=0.5").unheard;
        assert_eq!(lossy.iter().map(|(tick, _)| *tick).collect::<Vec<_>>(), [0, 5, 10, 15, 20, 25]);
        let pairs: usize = lossy.iter().map(|(_, pairs)| pairs.len()).sum();
        // Eight robots, nearly all within range of each other, six exchanges, half of the frames
        // lost.
        assert!((60..300).contains(&pairs), "{pairs}");
        let deaf = flown("radio-outage=2@0-30").unheard;
        assert!(
            deaf.iter().all(|(_, pairs)| pairs.iter().all(|pair| pair % 8 == 2 || pair / 8 == 2)),
            "{deaf:?}"
        );
    }
}
