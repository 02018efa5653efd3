//! Robots on an air, with everything that goes wrong: whatever they run on, they hear it through the same radios with faults.
//!
//! This program listens for them and hands over what it heard; where somebody lies, it speaks for the liar.

use wdgnn_link::security::key::Key;
use wdgnn_robot::safety::gate::Isolation;

use super::{Robots, TickInput, TickOutcome, TrustSnapshot, contact_log::ContactLog, monitor::SwarmMonitor};
use crate::{
    counters::Counters,
    error::Result,
    links::Links,
    medium::{
        adversary::Adversary,
        clocks::ClockReading,
        delivery::{self, Medium, Receivers, RobotRadio},
        motors::Motors,
        options::Faults,
        robot_config::SharedConfig,
        rx_queue::FrameSource as _,
        sensors::Senses,
    },
    scene::{Frame, ParamView, RobotInternals, Scene, SimTask, StateLayout, Swarm},
};

/// A simulated swarm's key. Real swarms have their own, from a file.
pub const KEY: Key = *b"simulated swarm.";

/// Robots on an air.
#[allow(missing_debug_implementations, reason = "robots are told apart by what they do")]
pub struct RadioSwarm<'a, T: SimTask> {
    robots: Box<dyn Robots<T> + 'a>,
    medium: Medium<'a, T>,
    ears: Receivers,
    senses: Senses<T::State>,
    motors: Motors,
    mixed: Option<OtherModelRobots<T>>,
    learns: bool,
    /// What they said in the last tick.
    said: Vec<Vec<Frame>>,
    /// What everybody heard in the last tick; nothing of who did not listen.
    heard: Vec<Option<Vec<Frame>>>,
    /// What they did in their last tick.
    outcomes: Vec<Option<TickOutcome>>,
    /// Who is in the sky and switched on.
    on: Vec<bool>,
    /// Robots for which a tick has begun.
    woken: Vec<bool>,
    /// Who is switched on in flight.
    late: Vec<bool>,
    /// Who has had word of whom.
    notices: ContactLog,
    /// The last tick.
    tick: u32,
    watch: SwarmMonitor,
}

/// Robots of another model on the same air.
#[derive(Clone, Debug)]
pub struct OtherModelRobots<T> {
    /// What they have in common.
    pub common: SharedConfig<T>,
    /// Who they are.
    pub drawn: Vec<bool>,
}

/// What an air is made of, besides robots.
#[derive(Clone, Copy, Debug)]
pub struct RadioConfig<'a> {
    /// What the numbers of a state are.
    pub layout: &'a StateLayout,
    /// What goes wrong.
    pub faults: &'a Faults,
    /// Which swarm it is: every one has faults of its own.
    pub swarm: u64,
    /// The swarm's key.
    pub key: Key,
}

impl<'a, T: SimTask> RadioSwarm<'a, T> {
    /// Puts `count` robots on an air. `voice` is that of those who are not robots of the swarm, or lie; `learns` tells whether robots'
    /// parameters can differ.
    pub fn new(
        robots: Box<dyn Robots<T> + 'a>,
        common: SharedConfig<T>,
        mixed: Option<OtherModelRobots<T>>,
        adversary: Box<dyn Adversary + 'a>,
        air: &RadioConfig<'_>,
        learns: bool,
        count: usize,
    ) -> Self {
        let Faults { senses, drives, seed, .. } = *air.faults;
        let late = delivery::late(air.faults, air.swarm, count);
        let (medium, ears) = Medium::new(common, adversary, air.layout, air.faults, air.swarm, count);
        Self {
            robots,
            medium,
            ears,
            senses: Senses::new(&senses, seed, air.layout.clone(), air.swarm, count),
            motors: Motors::new(&drives, senses.heading, seed, air.swarm, count),
            mixed,
            learns,
            said: Vec::new(),
            heard: Vec::new(),
            outcomes: vec![None; count],
            on: late.iter().map(|late| !late).collect(),
            late,
            woken: Vec::new(),
            notices: ContactLog::new(count),
            tick: 0,
            watch: SwarmMonitor::default(),
        }
    }

    /// Does to single robots what is to be done before this tick.
    fn intervene(&mut self, scene: &Scene<'_, T::State>) -> Result {
        let (Faults { events, join, spoof, .. }, tick) = (&self.medium.faults, scene.tick);
        for robot in events.kills_at(tick) {
            self.robots.kill(robot);
            self.on[robot] = false;
            self.outcomes[robot] = None;
            self.watch.killed.insert(robot, tick);
        }
        for robot in events.reboots_at(tick).filter(|robot| self.on[*robot]) {
            self.robots.reboot(robot)?;
            self.watch.returning.push((robot, tick));
        }
        for robot in events.brown_outs_at(tick).filter(|robot| self.on[*robot]) {
            self.robots.brown_out(robot)?;
            self.watch.returning.push((robot, tick));
        }
        if join.is_some_and(|join| join.tick == tick) {
            for robot in (0..self.on.len()).filter(|robot| self.late[*robot]) {
                if !self.watch.killed.contains_key(&robot) {
                    self.on[robot] = true;
                    self.watch.returning.push((robot, tick));
                }
            }
        }
        if *spoof == Some(tick) {
            self.watch.mute(scene, &self.medium);
        }
        Ok(())
    }

    /// Takes note of who had word of whom, whatever becomes of it.
    fn notice(&mut self, tick: u32, heard: &[Option<Vec<Frame>>]) {
        self.tick = tick;
        for (listener, frames) in heard.iter().enumerate() {
            for speaker in frames.iter().flatten().filter_map(|frame| self.medium.speaker(frame)) {
                self.notices.note(listener, speaker, tick);
            }
        }
    }

    /// Robots of another model, if this is one.
    fn other(&self, robot: usize) -> Option<&SharedConfig<T>> {
        self.mixed.as_ref().filter(|mixed| mixed.drawn[robot]).map(|mixed| &mixed.common)
    }

    /// What every robot that is on knows as its tick begins: its clock's time, and what it senses.
    fn wake(&mut self, scene: &Scene<'_, T::State>) -> Result<Vec<Option<TickInput<T::State>>>> {
        let Self { robots, senses, ears, on, woken, .. } = self;
        woken.clear();
        let wake = |(robot, state): (usize, &T::State)| {
            let shown = ears.clocks.show(scene.tick, robot).filter(|_| on[robot]);
            woken.push(shown.is_some());
            let sensed = senses.sense_one(scene.tick, robot, *state);
            if shown.is_some_and(|shown| shown.back) {
                // Its frames' numbers come again, under another boot count.
                robots.reboot(robot)?;
            }
            Ok(shown.map(|ClockReading { tick, .. }| TickInput { tick, sensed }))
        };
        scene.states.iter().enumerate().map(wake).collect()
    }

    /// Lets those who hear something of the swarm set their clocks by it.
    fn keep_time(&mut self, world: u32, heard: &[Option<Vec<Frame>>]) {
        let (clocks, adversary) = (&mut self.ears.clocks, &mut self.medium.adversary);
        if !clocks.are_set() {
            return;
        }
        for (robot, frames) in heard.iter().enumerate() {
            frames.iter().flatten().for_each(|frame| clocks.hear(robot, world, frame, adversary.as_mut()));
        }
    }

    /// Runs the first half of a tick: robots sense and send.
    fn speak(&mut self, scene: &Scene<'_, T::State>) -> Result {
        self.intervene(scene)?;
        let inputs = self.wake(scene)?;
        self.said = self.robots.speak(&inputs);
        for (robot, (inputs, frames)) in inputs.iter().zip(&mut self.said).enumerate() {
            if let Some(TickInput { tick, .. }) = inputs {
                self.medium.lie(robot, *tick, frames)?;
            }
        }
        Ok(())
    }

    /// Runs the second half of a tick: robots receive, act and learn.
    fn listen(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Output>) {
        let (radios, on) = (&mut self.ears.radios, &self.on);
        let forged = self.medium.carry(scene, &self.said, |robot, frame| {
            if on[robot] {
                radios[robot].inner().inner().put(frame.clone());
            }
        });
        self.watch.counters.forged += forged as u64;
        // Who does not listen in this tick does so in its next.
        let mut heard = std::mem::take(&mut self.heard);
        heard.resize_with(self.woken.len(), || None);
        for ((woken, radio), heard) in self.woken.iter().zip(&mut self.ears.radios).zip(&mut heard) {
            let room = heard.take().unwrap_or_default();
            *heard = woken.then(|| listen(radio, room));
        }
        self.keep_time(scene.tick, &heard);
        self.notice(scene.tick, &heard);
        let outcomes = self.robots.hear(&heard);
        let trust_snapshot: Vec<Option<TrustSnapshot>> =
            (0..outcomes.len()).map(|robot| self.robots.trust_snapshot(robot)).collect();
        for (robot, now) in outcomes.into_iter().enumerate().filter(|(robot, _)| heard[*robot].is_some()) {
            if let Some(now) = &now {
                let (before, trust_snapshot) =
                    (self.outcomes[robot].as_ref(), trust_snapshot[robot].as_ref());
                let mixed = self.mixed.as_ref().filter(|mixed| mixed.drawn[robot]);
                let common = mixed.map_or(&self.medium.common, |mixed| &mixed.common);
                self.watch.count(common, trust_snapshot, before, now);
            }
            self.outcomes[robot] = now;
        }
        commands.clear();
        for robot in 0..self.outcomes.len() {
            commands.push(self.command(robot, scene));
        }
        self.watch.inspect(scene, &self.medium, &trust_snapshot);
        self.heard = heard;
    }

    /// What a robot's motors do: what it told them last. One that does not know where it is has its drive brake.
    fn command(&mut self, robot: usize, scene: &Scene<'_, T::State>) -> T::Output {
        let Some(outcome) = self.outcomes[robot].as_ref().filter(|_| self.on[robot]) else {
            return T::nothing();
        };
        let mut command = match outcome.counts.stopped {
            0 => outcome.output::<T>(),
            _ => self.medium.common.task.fallback(&scene.states[robot], Isolation::Stop),
        };
        self.motors.act(scene.tick, robot, command.as_mut());
        command
    }
}

impl<T: SimTask> Swarm<T> for RadioSwarm<'_, T> {
    fn fly(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Output>) -> Result {
        self.speak(scene)?;
        self.listen(scene, commands);
        Ok(())
    }

    fn robot(&self, robot: usize) -> Option<ParamView<'_>> {
        let outcome = self.outcomes.get(robot)?.as_ref()?;
        let offline = &self.other(robot).unwrap_or(&self.medium.common).offline;
        Some(ParamView { wide: &outcome.wide, offline })
    }

    fn internals(&self, robot: usize) -> Option<RobotInternals<'_, T>> {
        self.outcomes.get(robot)?.as_ref()?;
        self.robots.internals(robot)
    }

    fn learns(&self) -> bool {
        self.learns
    }

    fn counts(&self, robot: usize) -> bool {
        // Parameters of two models have nothing to agree about.
        !self.medium.liars[robot] && self.other(robot).is_none()
    }

    fn is_present(&self, robot: usize) -> bool {
        self.on[robot]
    }

    fn avoidable(&self, one: usize, other: usize) -> bool {
        [(one, other), (other, one)].into_iter().any(|(robot, other)| {
            self.motors.steers(self.tick, robot)
                && self.medium.truthful(other)
                && self.notices.in_time(robot, other, self.tick)
        })
    }

    fn frames(&self) -> &[Vec<Frame>] {
        &self.said
    }

    fn missed_links(&self, links: &Links) -> Vec<[u32; 2]> {
        let heard = self.heard.iter().enumerate().filter(|(robot, _)| self.on[*robot]);
        let heard = heard.filter_map(|(robot, heard)| Some((robot, heard.as_ref()?)));
        let missed = heard.flat_map(|(robot, heard)| {
            let speaks = |other: &u32| self.said.get(*other as usize).is_some_and(|said| !said.is_empty());
            let silent = move |other: &u32| {
                !self.said[*other as usize].iter().any(|frame| heard.iter().any(|one| one == frame))
            };
            let others = links.of(robot).iter().copied().filter(speaks).filter(silent);
            others.map(move |other| [other, robot as u32])
        });
        missed.collect()
    }

    fn counters(&self) -> Option<Counters> {
        let replayed = self.ears.radios.iter().map(RobotRadio::played_frames).sum();
        Some(Counters { replayed, ..self.watch.counters.clone() })
    }

    fn lost(&mut self) -> Vec<String> {
        self.robots.lost()
    }

    fn logs(&mut self) -> Vec<Vec<String>> {
        self.robots.logs()
    }
}

/// Everything that is heard in one listening window, in this room.
fn listen(radio: &mut RobotRadio, mut room: Vec<Frame>) -> Vec<Frame> {
    room.clear();
    room.extend(std::iter::from_fn(|| radio.next()));
    room
}
