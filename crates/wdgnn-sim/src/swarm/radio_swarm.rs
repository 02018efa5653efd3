//! Robots on a radio medium with faults, native or emulated.
//!
//! This process delivers frames to the robots and falsifies the frames of liars.

use wdgnn_link::security::key::Key;
use wdgnn_robot::safety::gate::IsolationPhase;

use super::{Robots, TickInput, TickOutcome, TrustSnapshot, contact_log::ContactLog, monitor::SwarmMonitor};
use crate::{
    counters::Counters,
    error::Result,
    links::Links,
    medium::{
        adversary::Adversary,
        clocks::ClockReading,
        delivery::{self, Medium, Receivers, RobotRadio},
        events::robots_at,
        motors::Motors,
        options::Faults,
        robot_config::SharedConfig,
        rx_queue::FrameSource as _,
        sensors::Senses,
    },
    scene::{Frame, ParamView, RobotInternals, Scene, SimTask, StateLayout, Swarm},
};

/// Group key of simulated swarms. Real swarms read theirs from a file.
pub const KEY: Key = *b"simulated swarm.";

/// Robots on a radio medium.
#[allow(missing_debug_implementations, reason = "contains trait objects and functions")]
pub struct RadioSwarm<'a, T: SimTask> {
    robots: Box<dyn Robots<T> + 'a>,
    medium: Medium<'a, T>,
    receivers: Receivers,
    senses: Senses<T::State>,
    motors: Motors,
    mixed: Option<OtherModelRobots<T>>,
    learns: bool,
    /// Frames that each robot sent in the last tick.
    said: Vec<Vec<Frame>>,
    /// Frames that each robot received in the last tick; `None` for robots without a tick.
    heard: Vec<Option<Vec<Frame>>>,
    /// Result of each robot's last tick.
    outcomes: Vec<Option<TickOutcome>>,
    /// Whether each robot is present and switched on.
    on: Vec<bool>,
    /// Whether a tick has begun for each robot.
    has_tick: Vec<bool>,
    /// Whether each robot joins during the episode.
    late: Vec<bool>,
    /// Frames that robots received of each other.
    contacts: ContactLog,
    /// Last tick.
    tick: u32,
    monitor: SwarmMonitor,
}

/// Robots with another model on the same medium.
#[derive(Clone, Debug)]
pub struct OtherModelRobots<T> {
    /// Configuration of these robots.
    pub common: SharedConfig<T>,
    /// Whether each robot has the other model.
    pub drawn: Vec<bool>,
}

/// Configuration of a radio medium.
#[derive(Clone, Copy, Debug)]
pub struct RadioConfig<'a> {
    /// Ranges of position and velocity in a state.
    pub layout: &'a StateLayout,
    /// Faults of the episode.
    pub faults: &'a Faults,
    /// Swarm number; each swarm draws its own faults.
    pub swarm: u64,
    /// Group key.
    pub key: Key,
}

impl<'a, T: SimTask> RadioSwarm<'a, T> {
    /// Connects `count` robots to a medium.
    ///
    /// `adversary` makes the frames of attackers and liars. `learns` states whether the robots'
    /// parameters can differ.
    pub fn new(
        robots: Box<dyn Robots<T> + 'a>, common: SharedConfig<T>, mixed: Option<OtherModelRobots<T>>,
        adversary: Box<dyn Adversary + 'a>, air: &RadioConfig<'_>, learns: bool, count: usize,
    ) -> Self {
        let late = delivery::late_robots(air.faults, air.swarm, count);
        let (medium, receivers) = Medium::new(common, adversary, air.layout, air.faults, air.swarm, count);
        Self {
            robots,
            medium,
            receivers,
            senses: Senses::new(air.faults, air.layout.clone(), air.swarm, count),
            motors: Motors::new(air.faults, air.swarm, count),
            mixed,
            learns,
            said: Vec::new(),
            heard: Vec::new(),
            outcomes: vec![None; count],
            on: late.iter().map(|late| !late).collect(),
            late,
            has_tick: Vec::new(),
            contacts: ContactLog::new(count),
            tick: 0,
            monitor: SwarmMonitor::default(),
        }
    }

    /// Applies the events that are due before this tick.
    fn apply_events(&mut self, scene: &Scene<'_, T::State>) -> Result {
        let (Faults { kill, reboot, brown_out, join, spoof, .. }, tick) = (&self.medium.faults, scene.tick);
        for robot in robots_at(kill, tick) {
            self.robots.kill(robot);
            self.on[robot] = false;
            self.outcomes[robot] = None;
            self.monitor.killed.insert(robot, tick);
        }
        for robot in robots_at(reboot, tick).filter(|robot| self.on[*robot]) {
            self.robots.reboot(robot)?;
            self.monitor.returning.push((robot, tick));
        }
        for robot in robots_at(brown_out, tick).filter(|robot| self.on[*robot]) {
            self.robots.brown_out(robot)?;
            self.monitor.returning.push((robot, tick));
        }
        if join.is_some_and(|join| join.tick == tick) {
            for robot in (0..self.on.len()).filter(|robot| self.late[*robot]) {
                if !self.monitor.killed.contains_key(&robot) {
                    self.on[robot] = true;
                    self.monitor.returning.push((robot, tick));
                }
            }
        }
        if *spoof == Some(tick) {
            self.monitor.start_spoofing(scene, &self.medium);
        }
        Ok(())
    }

    /// Records received frames in the contact log, whether robots accept them or not.
    fn record_contacts(&mut self, tick: u32, heard: &[Option<Vec<Frame>>]) {
        self.tick = tick;
        for (listener, frames) in heard.iter().enumerate() {
            for speaker in frames.iter().flatten().filter_map(|frame| self.medium.sender(frame)) {
                self.contacts.record(listener, speaker, tick);
            }
        }
    }

    /// Returns the configuration of robots with another model, if this is one.
    fn other(&self, robot: usize) -> Option<&SharedConfig<T>> {
        self.mixed.as_ref().filter(|mixed| mixed.drawn[robot]).map(|mixed| &mixed.common)
    }

    /// Returns each present robot's clock reading and sensed state.
    fn wake(&mut self, scene: &Scene<'_, T::State>) -> Result<Vec<Option<TickInput<T::State>>>> {
        let Self { robots, senses, receivers, on, has_tick, .. } = self;
        has_tick.clear();
        let wake = |(robot, state): (usize, &T::State)| {
            let reading = receivers.clocks.read(scene.tick, robot).filter(|_| on[robot]);
            has_tick.push(reading.is_some());
            let sensed = senses.sense_one(scene.tick, robot, *state);
            if reading.is_some_and(|reading| reading.went_back) {
                // Sequence numbers would repeat, so the robot restarts with a new boot count.
                robots.reboot(robot)?;
            }
            Ok(reading.map(|ClockReading { tick, .. }| TickInput { tick, sensed }))
        };
        scene.states.iter().enumerate().map(wake).collect()
    }

    /// Synchronizes clocks by the received frames.
    fn synchronize_clocks(&mut self, world: u32, heard: &[Option<Vec<Frame>>]) {
        let (clocks, adversary) = (&mut self.receivers.clocks, &mut self.medium.adversary);
        if !clocks.are_synchronized() {
            return;
        }
        for (robot, frames) in heard.iter().enumerate() {
            frames
                .iter()
                .flatten()
                .for_each(|frame| clocks.synchronize(robot, world, frame, adversary.as_mut()));
        }
    }

    /// Runs the first half of a tick: robots sense and send.
    fn speak(&mut self, scene: &Scene<'_, T::State>) -> Result {
        self.apply_events(scene)?;
        let inputs = self.wake(scene)?;
        self.said = self.robots.begin_tick(&inputs);
        for (robot, (inputs, frames)) in inputs.iter().zip(&mut self.said).enumerate() {
            if let Some(TickInput { tick, .. }) = inputs {
                self.medium.falsify(robot, *tick, frames)?;
            }
        }
        Ok(())
    }

    /// Runs the second half of a tick: robots receive, act and learn.
    fn listen(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Command>) {
        let (radios, on) = (&mut self.receivers.radios, &self.on);
        let forged = self.medium.deliver(scene, &self.said, |robot, frame| {
            if on[robot] {
                radios[robot].inner().inner().put(frame.clone());
            }
        });
        self.monitor.counters.forged += forged as u64;
        // Robots without a tick keep their frames until their next tick.
        let mut heard = std::mem::take(&mut self.heard);
        heard.resize_with(self.has_tick.len(), || None);
        for ((has_tick, radio), heard) in self.has_tick.iter().zip(&mut self.receivers.radios).zip(&mut heard)
        {
            let room = heard.take().unwrap_or_default();
            *heard = has_tick.then(|| listen(radio, room));
        }
        self.synchronize_clocks(scene.tick, &heard);
        self.record_contacts(scene.tick, &heard);
        let outcomes = self.robots.end_tick(&heard);
        let trust_snapshot: Vec<Option<TrustSnapshot>> =
            (0..outcomes.len()).map(|robot| self.robots.trust_snapshot(robot)).collect();
        for (robot, now) in outcomes.into_iter().enumerate().filter(|(robot, _)| heard[*robot].is_some()) {
            if let Some(now) = &now {
                let (before, trust_snapshot) =
                    (self.outcomes[robot].as_ref(), trust_snapshot[robot].as_ref());
                let mixed = self.mixed.as_ref().filter(|mixed| mixed.drawn[robot]);
                let common = mixed.map_or(&self.medium.common, |mixed| &mixed.common);
                self.monitor.count(common, trust_snapshot, before, now);
            }
            self.outcomes[robot] = now;
        }
        commands.clear();
        for robot in 0..self.outcomes.len() {
            commands.push(self.command(robot, scene));
        }
        self.monitor.inspect(scene, &self.medium, &trust_snapshot);
        self.heard = heard;
    }

    /// Returns a robot's motor output for its last command.
    ///
    /// A robot that has lost its own state is braked by its drive.
    fn command(&mut self, robot: usize, scene: &Scene<'_, T::State>) -> T::Command {
        let Some(outcome) = self.outcomes[robot].as_ref().filter(|_| self.on[robot]) else {
            return T::zero_command();
        };
        let mut command = match outcome.counts.stopped {
            0 => outcome.output::<T>(),
            _ => self.medium.common.task().fallback_command(&scene.states[robot], IsolationPhase::Stop),
        };
        self.motors.act(scene.tick, robot, command.as_mut());
        command
    }
}

impl<T: SimTask> Swarm<T> for RadioSwarm<'_, T> {
    fn fly(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Command>) -> Result {
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
        // Parameters of different models cannot agree.
        !self.medium.liars[robot] && self.other(robot).is_none()
    }

    fn is_present(&self, robot: usize) -> bool {
        self.on[robot]
    }

    fn avoidable(&self, one: usize, other: usize) -> bool {
        [(one, other), (other, one)].into_iter().any(|(robot, other)| {
            self.motors.can_steer(self.tick, robot)
                && self.medium.reports_true_position(other)
                && self.contacts.in_time(robot, other, self.tick)
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
        let replayed = self.receivers.radios.iter().map(RobotRadio::played_frames).sum();
        Some(Counters { replayed, ..self.monitor.counters.clone() })
    }

    fn lost(&mut self) -> Vec<String> {
        self.robots.lost()
    }

    fn logs(&mut self) -> Vec<Vec<String>> {
        self.robots.logs()
    }
}

/// Reads all frames of one receive window into a reused buffer.
fn listen(radio: &mut RobotRadio, mut room: Vec<Frame>) -> Vec<Frame> {
    room.clear();
    room.extend(std::iter::from_fn(|| radio.next()));
    room
}
