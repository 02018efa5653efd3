//! A share of the robots on an air, where several processes fly one swarm.

use std::ops::Range;

use wdgnn_core::passage::Passage;

use super::OnAir;
use crate::{
    error::Result,
    passing,
    scene::Flown,
    swarm::{
        Outcome,
        notice::Notices,
        share::{Near, Share},
    },
};

impl<T: Flown> Share<T> for OnAir<'_, T> {
    fn sees_everybody(&self) -> bool {
        self.medium.sees_everybody() || self.settled() < self.on.len()
    }

    fn settled(&self) -> usize {
        self.robots.settled()
    }

    fn take(&mut self, own: &[(u32, T::State)]) {
        // Nobody here knows everybody who has had word of whom.
        self.notices = Notices::default();
        let mut mine = vec![false; self.on.len()];
        for (robot, _) in own {
            mine[*robot as usize] = true;
        }
        for robot in (0..mine.len()).filter(|robot| !mine[*robot]) {
            self.robots.leave(robot);
        }
        self.mine = Some(mine);
    }

    fn speak(&mut self, near: &Near<'_, T::State>) -> Result {
        let mut spread = std::mem::take(&mut self.spread);
        let spoke = self.speak_in(&spread.speaking(near, self.on.len()));
        self.spread = spread;
        spoke
    }

    fn words(&mut self, robot: usize, passage: &mut Passage<'_>) {
        passing::frames(passage, &mut self.said[robot]);
        self.ears.clocks.pass_beginning(robot, passage);
    }

    fn listen(&mut self, near: &Near<'_, T::State>, commands: &mut Vec<T::Output>) -> Result {
        let mut spread = std::mem::take(&mut self.spread);
        let mut all = Vec::new();
        self.listen_in(&spread.listening(near, self.on.len()), &mut all);
        self.spread = spread;
        commands.clear();
        commands.extend(near.numbers.iter().filter_map(|robot| all.get(*robot as usize)));
        Ok(())
    }

    fn wide(&self, row: usize) -> Option<&[f32]> {
        let robot = *self.spread.rows.get(row)? as usize;
        Some(&self.outcomes.get(robot)?.as_ref()?.wide)
    }

    fn pass(&mut self, robot: usize, passage: &mut Passage<'_>) {
        self.robots.pass(robot, passage);
        let radio = &mut self.ears.radios[robot];
        radio.pass(passage);
        radio.inner().pass(passage);
        radio.inner().inner().pass(passage);
        self.senses.pass(robot, passage);
        self.motors.pass(robot, passage);
        passage
            .option(&mut self.outcomes[robot], Outcome::nothing(), |passage, outcome| outcome.pass(passage));
        self.medium.pass_liar(robot, passage);
        self.ears.clocks.pass_one(robot, passage);
    }

    fn give(&mut self, robot: usize, here: bool) {
        if !here {
            self.robots.leave(robot);
        }
        if let Some(mine) = &mut self.mine {
            mine[robot] = here;
        }
    }

    fn pass_common(&mut self, passage: &mut Passage<'_>) {
        self.ears.clocks.pass(passage);
        self.medium.pass(passage);
        for robot in 0..self.on.len() {
            passage.flag(&mut self.on[robot]);
            passage.flag(&mut self.present[robot]);
        }
        self.watch.pass(passage);
    }

    fn wide_numbers(&self) -> usize {
        self.medium.common.offline.len()
    }

    fn present(&self, robots: Range<usize>) -> u64 {
        self.present[robots].iter().map(|present| u64::from(*present)).sum()
    }
}
