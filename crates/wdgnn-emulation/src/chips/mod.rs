//! Swarm of emulated chips with the flashed image, companions on their serial lines, bodies in a
//! world and a shared radio channel.
//!
//! Robots are powered on within [`Settings::apart`] seconds and stand on the ground for [`GROUND`].
//! Then the world accelerates them: at [`RELEASE`] they have the initial states of a native episode
//! with the seed, and from then on they follow their commands.

pub mod companion;
pub mod operator;
#[cfg(unix)]
pub mod ports;
pub mod twin;

use std::{collections::VecDeque, sync::Arc};

use nrf52_emulator::{
    Chip, Part, Reset,
    air::{Air, Arrival, SECOND, Station},
    image,
    peripherals::radio::Reception,
    rtt::Rtt,
};
use rand::RngExt as _;
use wdgnn_core::{task::NodeId, tasks::flocking::Motion};
use wdgnn_protocol::companion::Status;

use self::{
    companion::{Body, Companion, RobotMessage},
    operator::{Operator, Rekey},
    twin::{NativeTwin, Twin},
};
use crate::{
    episode::closeness,
    error::{Error, Result},
    links::Links,
    seeds::{Purpose, generator},
    world::flock::{place, variation},
};

/// Time on the ground.
pub const GROUND: u64 = SECOND;
/// Duration of the initial acceleration: at most 6 m/s per axis, which passes the robots'
/// plausibility checks.
const THROW: u64 = SECOND * 7 / 10;
/// Time at which robots begin to follow their commands.
pub const RELEASE: u64 = GROUND + THROW;
/// Interval between two looks at the chips.
const STEP: u64 = SECOND / 1_000;
/// Number of recorded frames.
const OVERHEARD: usize = 200;
/// Control period.
const TICK: u64 = SECOND / 100;

/// Configuration of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    pub kind: Part,
    /// Bytes of the ELF image.
    pub image: Vec<u8>,
    /// Address of the provisioning page.
    pub settings_page: u32,
    /// Provisioning page of each robot.
    pub pages: Vec<Vec<u8>>,
    /// Image of a gateway on the channel, behind the robots.
    pub gateway: Option<Vec<u8>>,
    pub start: Vec<Motion>,
    /// Radio range in m.
    pub radius: f32,
    /// Length of the run from the release on, in seconds.
    pub seconds: f64,
    /// Time between the first and the last power-on in seconds.
    pub apart: f64,
    /// Largest frequency error of the crystals in parts per million.
    pub ppm: f64,
    /// Share of lost frames.
    pub loss: f64,
    /// Time after the release at which companions become silent, in seconds.
    pub companions_die: Option<f64>,
    /// Robots to power off, with times after the release in seconds.
    pub kills: Vec<(usize, f64)>,
    /// Robots to reset, with times after the release in seconds.
    pub reboots: Vec<(usize, f64)>,
    /// Change of the swarm key.
    pub rekey: Option<Rekey>,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// Frames of one robot since the release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    pub sent: u64,
    /// Sum over frames of powered receivers within range.
    pub reached: u64,
    /// Frames received intact.
    pub good: u64,
    /// Frames lost to collisions at a receiver.
    pub spoilt: u64,
    /// Frames missed by receivers that did not listen.
    pub missed: u64,
}

/// Result of one robot.
#[derive(Clone, Debug)]
pub struct RobotResult {
    /// Frames of the robot.
    pub frames: Frames,
    /// Ticks per second of true time.
    pub rate: f64,
    /// Share of processor time awake since the release.
    pub busy: f64,
    /// Restarts after the power-on, with reasons.
    pub restarts: Vec<Reset>,
    /// Last status message.
    pub status: Option<Status>,
    /// Ticks with the command of the native twin.
    pub equal: u64,
    /// First tick with another command.
    pub differs: Option<(u32, [f32; 2], [f32; 2])>,
    pub log: Vec<u8>,
    /// Largest stack use in bytes.
    pub stack: u32,
    /// Commands: time from the release in seconds, command, and whether the robot is stopping.
    pub commands: Vec<(f64, [f32; 2], bool)>,
    /// Rejected frames since the power-on.
    pub refused: u64,
    /// Start times of frames with at least one receiver, in seconds from the release.
    pub heard_at: Vec<f64>,
    /// Key epochs in use, each with its first tick.
    pub epochs: Vec<(u32, u8)>,
}

/// Result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Velocity variation at each tick from the release on.
    pub variation: Vec<f64>,
    /// Pairs closer than 0.1 m, summed over ticks.
    pub close: u64,
    pub robots: Vec<RobotResult>,
    /// Swarm tick at which the next key becomes active.
    pub key_changes: Option<u32>,
}

impl Outcome {
    /// Returns the sum of all robots' frames.
    pub fn frames(&self) -> Frames {
        self.robots.iter().fold(Frames::default(), |sum, robot| {
            let one = robot.frames;
            Frames {
                sent: sum.sent + one.sent,
                reached: sum.reached + one.reached,
                good: sum.good + one.good,
                spoilt: sum.spoilt + one.spoilt,
                missed: sum.missed + one.missed,
            }
        })
    }
}

/// Flash content of an image.
fn pieces(image: &[u8]) -> Result<Vec<(u32, Vec<u8>)>> {
    image::elf_segments(image)
        .map_err(|error| Error::usage(format!("the firmware image is unusable: {error}")))
}

/// Powers on the gateway, if there is one, with a random crystal error.
fn gateway(settings: &Settings, random: &mut impl rand::Rng) -> Result<Option<Station>> {
    let Some(image) = &settings.gateway else { return Ok(None) };
    let mut chip = Chip::new(settings.kind, random.random());
    chip.flash(&pieces(image)?);
    Ok(Some(Station::new(chip, 0, settings.ppm * random.random_range(-1.0..=1.0))))
}

/// Running swarm.
pub struct Flight<'w> {
    /// Radio channel with the chips.
    pub air: Air,
    bodies: Vec<Body>,
    /// Companions by robot.
    pub companions: Vec<Companion>,
    twins: Vec<Twin<'w>>,
    operator: Option<Operator>,
    settings: Settings,
    links: Links,
    rtt: Option<Rtt>,
    stack: Option<(u32, u32)>,
    /// Results so far.
    pub flown: Vec<RobotResult>,
    ticks: Vec<u64>,
    awake: Vec<u64>,
    variation: Vec<f64>,
    close: u64,
    pub overheard: VecDeque<Arc<[u8]>>,
}

impl std::fmt::Debug for Flight<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Flight").field("robots", &self.bodies.len()).finish_non_exhaustive()
    }
}

impl<'w> Flight<'w> {
    /// Creates powered-off robots with the image and their provisioning pages. `twin` creates the
    /// native robot with an address.
    pub fn new(settings: Settings, mut twin: impl FnMut(NodeId) -> Result<NativeTwin<'w>>) -> Result<Self> {
        let pieces = pieces(&settings.image)?;
        let mut random = generator(settings.seed, Purpose::Testing, 1_000_000);
        let robots = settings.start.len();
        let (mut air, mut companions, mut twins, mut bodies) = (Air::default(), vec![], vec![], vec![]);
        for robot in 0..robots {
            let mut chip = Chip::new(settings.kind, random.random());
            chip.flash(&pieces);
            chip.program(settings.settings_page, &settings.pages[robot]);
            let on = (settings.apart * SECOND as f64 * random.random::<f64>()) as u64;
            let ppm = settings.ppm * random.random_range(-1.0..=1.0);
            air.stations.push(Station::new(chip, on, ppm));
            companions.push(Companion::new(random.random_range(0..companion::POSE_EVERY)));
            twins.push(Twin::new(twin(robot as NodeId)?));
            let Motion { mut position, velocity } = settings.start[robot];
            for (position, velocity) in position.iter_mut().zip(velocity) {
                *position -= 0.5 * velocity * (THROW as f32 / SECOND as f32);
            }
            bodies.push(Body::new(Motion { position, velocity: [0.0; 2] }, 0));
        }
        air.stations.extend(gateway(&settings, &mut random)?);
        if settings.loss > 0.0 {
            let (mut random, loss) = (generator(settings.seed, Purpose::Testing, 1_000_001), settings.loss);
            air.drop_frame = Some(Box::new(move || random.random::<f64>() < loss));
        }
        let flown = vec![
            RobotResult {
                frames: Frames::default(),
                rate: 0.0,
                busy: 0.0,
                restarts: vec![],
                status: None,
                equal: 0,
                differs: None,
                log: vec![],
                stack: 0,
                commands: vec![],
                refused: 0,
                heard_at: vec![],
                epochs: vec![],
            };
            robots
        ];
        let places: Vec<[f32; 3]> = settings.start.iter().map(place).collect();
        let links = Links::within(&places, settings.radius);
        let rtt = image::elf_symbol(&settings.image, "_SEGGER_RTT").map(Rtt::new);
        let stack = image::elf_symbol(&settings.image, "_stack_end")
            .zip(image::elf_symbol(&settings.image, "_stack_start"));
        let (ticks, awake) = (vec![0; robots], vec![0; robots]);
        let (variation, close, overheard) = (vec![], 0, VecDeque::new());
        let operator = settings.rekey.as_ref().map(|rekey| Operator::new(rekey, robots));
        Ok(Self {
            air,
            bodies,
            companions,
            twins,
            operator,
            settings,
            links,
            rtt,
            stack,
            flown,
            ticks,
            awake,
            variation,
            close,
            overheard,
        })
    }

    /// Time since the release in seconds.
    fn flying(at: u64) -> f64 {
        (at as f64 - RELEASE as f64) / SECOND as f64
    }

    /// Runs one millisecond.
    pub fn step(&mut self) {
        let (now, until) = (self.air.now(), self.air.now() + STEP);
        if now == GROUND {
            let throw = THROW as f32 / SECOND as f32;
            for (body, start) in self.bodies.iter_mut().zip(&self.settings.start) {
                body.accelerate(now, start.velocity.map(|velocity| velocity / throw));
            }
        }
        if now == RELEASE {
            for (robot, start) in self.settings.start.iter().enumerate() {
                // Sets the exact initial states of the native episode.
                self.bodies[robot] = Body::new(*start, now);
                self.awake[robot] = self.air.stations[robot].chip.active_cycles;
                self.ticks[robot] = 0;
            }
        }
        if now >= RELEASE && (now - RELEASE).is_multiple_of(TICK) {
            self.look(now);
        }
        let flown = now.checked_sub(RELEASE).map(|passed| (passed / TICK) as u32);
        if let (Some(operator), Some(tick)) = (&mut self.operator, flown)
            && let Some(listener) = operator.listener()
            && let Some(frame) = operator.say(tick, self.flown[listener].status.map(|status| status.tick))
        {
            self.companions[listener].hand_over(frame);
        }
        for (robot, companion) in self.companions.iter_mut().enumerate() {
            companion.tell(&self.bodies[robot], &mut self.air.stations[robot], until);
        }
        self.air.run(until);
        self.carry_out();
        self.count();
    }

    /// Updates links and score.
    fn look(&mut self, now: u64) {
        let motions: Vec<Motion> = self.bodies.iter().map(|body| body.motion(now)).collect();
        let places: Vec<[f32; 3]> = motions.iter().map(place).collect();
        self.links = Links::within(&places, self.settings.radius);
        self.variation.push(variation(motions.iter().map(|motion| motion.velocity)));
        self.close += u64::from(closeness(&places, &self.links, |_| true).1[0]);
        let robots = motions.len();
        let mut reaches = vec![vec![false; robots]; robots];
        for (a, b) in self.links.pairs() {
            (reaches[a][b], reaches[b][a]) = (true, true);
        }
        self.air.in_range = reaches;
        let at = Self::flying(now);
        let due = |when: f64| (when - at).abs() < 0.5 * TICK as f64 / SECOND as f64;
        for (robot, _) in self.settings.kills.iter().filter(|(_, when)| due(*when)) {
            self.air.stations[*robot].power_off();
        }
        for (robot, _) in self.settings.reboots.iter().filter(|(_, when)| due(*when)) {
            self.air.stations[*robot].chip.pin_reset();
        }
        if self.settings.companions_die.is_some_and(due) {
            self.companions.iter_mut().for_each(|companion| companion.dies = now);
        }
    }

    fn carry_out(&mut self) {
        for robot in 0..self.bodies.len() {
            // Delivers the messages that arrived before the tick.
            let heard = self
                .air
                .arrivals
                .iter()
                .filter(|heard| heard.receiver == robot && heard.reception == Reception::Good);
            heard.for_each(|heard| self.twins[robot].received(&heard.content));
            for (at, said) in self.companions[robot].hear(&mut self.air.stations[robot]) {
                let (flown, twin) = (&mut self.flown[robot], &mut self.twins[robot]);
                match said {
                    RobotMessage::Command(command) => {
                        self.ticks[robot] += 1;
                        twin.commanded(command);
                        if at >= RELEASE {
                            self.bodies[robot].accelerate(at, command.acceleration);
                            flown.commands.push((Self::flying(at), command.acceleration, command.stop != 0));
                        }
                    }
                    RobotMessage::Status(status) => {
                        twin.finished(&status, &self.companions[robot]);
                        flown.refused += u64::from(status.rejected);
                        if flown.epochs.last().is_none_or(|(_, epoch)| *epoch != status.epoch) {
                            flown.epochs.push((status.tick, status.epoch));
                        }
                        flown.status = Some(status);
                    }
                }
            }
            if let Some(rtt) = &self.rtt {
                self.flown[robot].log.extend(rtt.read(&mut self.air.stations[robot].chip));
            }
        }
    }

    fn count(&mut self) {
        let sent = std::mem::take(&mut self.air.transmissions);
        for frame in sent.iter().filter(|frame| frame.start >= RELEASE) {
            if let Some(from) = frame.sender {
                if self.overheard.len() >= OVERHEARD {
                    self.overheard.pop_front();
                }
                self.overheard.push_back(Arc::clone(&frame.content));
                // Chips behind the robots, such as a gateway, have no body.
                let Some(RobotResult { frames, .. }) = self.flown.get_mut(from) else { continue };
                frames.sent += 1;
                frames.reached += frame.receivers as u64;
            }
        }
        for Arrival { start, reception, content, .. } in std::mem::take(&mut self.air.arrivals) {
            let from = content.get(7..9).map(|from| usize::from(u16::from_le_bytes([from[0], from[1]])));
            if start >= RELEASE
                && let Some(flown) = from.and_then(|from| self.flown.get_mut(from))
            {
                match reception {
                    Reception::Good => {
                        flown.frames.good += 1;
                        flown.heard_at.push(Self::flying(start));
                    }
                    Reception::Corrupted => flown.frames.spoilt += 1,
                    Reception::Missed => flown.frames.missed += 1,
                }
            }
        }
    }

    /// Returns the positions of the bodies.
    pub fn motions(&self) -> Vec<Motion> {
        self.bodies.iter().map(|body| body.motion(self.air.now())).collect()
    }

    /// Returns the end of the run in true time.
    pub fn end(&self) -> u64 {
        RELEASE + (self.settings.seconds * SECOND as f64) as u64
    }

    /// Runs to the end. Calls `progress` at each emulated millisecond.
    pub fn fly(mut self, mut progress: impl FnMut(u64) -> Result) -> Result<Outcome> {
        while self.air.now() < self.end() {
            self.step();
            progress(self.air.now() / STEP)?;
        }
        Ok(self.finish())
    }

    /// Returns the result.
    pub fn finish(mut self) -> Outcome {
        let end = self.air.now();
        let seconds = (end - RELEASE) as f64 / SECOND as f64;
        for (robot, flown) in self.flown.iter_mut().enumerate() {
            let station = &self.air.stations[robot];
            let flight = station.cycles_at(end) - station.cycles_at(RELEASE);
            flown.rate = self.ticks[robot] as f64 / seconds;
            flown.busy = (station.chip.active_cycles - self.awake[robot]) as f64 / flight as f64;
            flown.restarts.clone_from(&station.chip.resets);
            flown.equal = self.twins[robot].equal;
            flown.differs = self.twins[robot].differs;
            if let Some((from, to)) = self.stack {
                flown.stack = station.chip.stack_used(from, to);
            }
        }
        let key_changes = self.operator.and_then(|operator| operator.changes);
        Outcome { variation: self.variation, close: self.close, robots: self.flown, key_changes }
    }
}
