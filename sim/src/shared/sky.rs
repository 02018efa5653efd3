//! A share of a swarm in flight. It has room for the robots that are flown here and for those near them; for everybody only where what
//! happens depends on everybody.

use wdgnn_core::{passage::Passage, task::State as _};

use super::{
    checksum::ChecksumShare,
    crowd::Crowd,
    cut::{Cut, Sample},
};
use crate::{
    error::Result,
    links::Links,
    scene::Scene,
    swarm::{networks::AnyShare, share::Near},
    world::{Condition, OutputOf, StateOf, World},
};

/// A share of a swarm in flight.
#[allow(missing_debug_implementations, reason = "swarms are told apart by what they do")]
pub struct Sky<'s, W: World> {
    /// The world.
    pub world: W,
    /// The robots that are flown here.
    pub swarm: AnyShare<'s, W::Task>,
    /// Whether everybody is told everything.
    pub whole: bool,
    /// How many robots there are, wherever they are flown.
    pub robots: usize,
    /// The tick.
    pub tick: u32,
    /// Who flies whom.
    pub cut: Cut,
    /// The share of the digest.
    pub checksum: ChecksumShare,
    /// Who is known: between ticks, who is flown here.
    pub crowd: Crowd<StateOf<W>>,
    /// Where those are.
    pub places: Vec<[f32; 3]>,
    /// What they are about to do.
    pub commands: Vec<OutputOf<W>>,
    links: Links,
    /// Robots that are flown here, as they were in the last tick.
    pub last: Vec<(u32, StateOf<W>)>,
}

impl<'s, W: World> Sky<'s, W> {
    /// Nobody is known yet, of so many robots.
    pub fn empty(world: W, swarm: AnyShare<'s, W::Task>, cut: Cut, robots: usize, first: bool) -> Self {
        Self {
            whole: !world.is_local() || swarm.sees_everybody(),
            world,
            swarm,
            robots,
            tick: 0,
            cut,
            checksum: ChecksumShare::new(first),
            crowd: Crowd::of(&[], |_| false, |_| false),
            places: Vec::new(),
            commands: Vec::new(),
            links: Links::default(),
            last: Vec::new(),
        }
    }

    /// The same with these robots at their start.
    #[must_use]
    pub fn with(mut self, crowd: Crowd<StateOf<W>>) -> Self {
        self.swarm.take(&crowd.own_states());
        self.crowd = crowd;
        self
    }

    /// Passes everything that the tick about to begin depends on.
    pub fn pass(&mut self, passage: &mut Passage<'_>) {
        passage.word(&mut self.tick);
        passage.numbers(&mut self.cut.bounds);
        let (mut sum, mut ahead) = self.checksum.state();
        passage.long(&mut sum);
        passage.long(&mut ahead);
        self.checksum.resume((sum, ahead));
        self.swarm.pass_common(passage);
        let known = passage.count(self.crowd.len(), self.robots);
        self.crowd.numbers.resize(known, 0);
        self.crowd.mine.resize(known, false);
        self.crowd.states.resize(known, StateOf::<W>::zero());
        for row in 0..known {
            passage.word(&mut self.crowd.numbers[row]);
            passage.flag(&mut self.crowd.mine[row]);
            self.crowd.states[row].pass(passage);
            let robot = self.crowd.numbers[row] as usize;
            if robot >= self.robots {
                passage.refuse();
            }
            if !passage.good() {
                return;
            }
            if self.crowd.mine[row] {
                self.swarm.give(robot, true);
                self.swarm.pass(robot, passage);
            }
        }
    }

    /// Everybody here senses and speaks.
    ///
    /// # Errors
    /// What ends the flight.
    pub fn speak(&mut self) -> Result {
        let Self { world, swarm, tick, crowd, places, links, .. } = self;
        places.clear();
        places.extend(crowd.states.iter().map(W::place));
        world.sense(*tick, &crowd.states, &mut crowd.sensed);
        let scene = Scene { tick: *tick, states: &crowd.sensed, places, links };
        swarm.speak(&Near { scene, numbers: &crowd.numbers, mine: &crowd.mine })
    }

    /// Where own robots are.
    #[must_use]
    pub fn sample(&self) -> Sample {
        self.cut.sample(self.crowd.own().map(|row| self.places[row]))
    }

    /// Who is told of the robot in a row.
    #[must_use]
    pub fn told(&self, row: usize, radius: f32) -> std::ops::RangeInclusive<usize> {
        if self.whole { 0..=self.cut.bounds.len() } else { self.cut.near(&self.places[row], radius) }
    }

    /// Everybody here hears, acts and learns.
    ///
    /// # Errors
    /// What ends the flight.
    pub fn listen(&mut self, condition: &Condition) -> Result {
        let Self { world, swarm, tick, crowd, places, links, commands, checksum, .. } = self;
        places.clear();
        places.extend(crowd.states.iter().map(W::place));
        world.links(*tick, places, condition, links);
        let scene = Scene { tick: *tick, states: &crowd.sensed, places, links };
        swarm.listen(&Near { scene, numbers: &crowd.numbers, mine: &crowd.mine }, commands)?;
        let mut next = 0;
        for row in crowd.own() {
            let robot = crowd.numbers[row] as usize;
            checksum.pass_over(swarm.present(next..robot));
            next = robot + 1;
            match (swarm.present(robot..next), swarm.wide(row)) {
                (0, _) => {}
                (_, Some(wide)) => checksum.add(commands[row].as_ref(), wide),
                (_, None) => checksum.pass_over(1),
            }
        }
        checksum.pass_over(swarm.present(next..self.robots));
        Ok(())
    }

    /// Everybody here moves; or everybody, where everybody is known.
    pub fn go(&mut self, task: &W::Task, is_last: bool) {
        if is_last {
            self.last = self.crowd.own_states();
        }
        if !self.whole {
            self.crowd.keep_mine(&mut self.commands);
        }
        self.world.step(task, self.tick, &mut self.crowd.states, &self.commands);
        self.tick += 1;
    }
}
