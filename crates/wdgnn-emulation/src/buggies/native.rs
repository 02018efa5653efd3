//! Native robots under a camera without images, for figures over many starts.

use std::{collections::VecDeque, convert::Infallible};

use firmware::io::car::{Car, SCALE};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::{task::NodeId, tasks::flocking::Motion, weights::Weights};
use wdgnn_drive::{
    angle::{add, scale, sub, unit_or},
    buggy::Settings,
    guidance::Arena,
};
use wdgnn_link::security::key::Key;
use wdgnn_protocol::tracker::decode_image;
use wdgnn_robot::{
    control_loop,
    onboard::BUFFER_LEN,
    ports::{Actuator, NoStore, Ports, Radio, ReceivedFrame},
};
use wdgnn_sim::{
    medium::rx_queue::copy_frame,
    seeds::{Purpose, generator},
};

use super::{
    eye::Eye,
    floor::{Body, Chassis},
    score::{Figures, Moment, distance},
    twin::{IdealMotors, native},
};
use crate::{chips::twin::NativeTwin, error::Result};

/// Time of a tick in seconds.
const TICK: f64 = 0.01;
/// Ticks between two messages of a robot.
const EXCHANGE: u32 = 10;
/// Time from the end of a message to the tick that uses it, at least, in seconds.
const SENDING: f64 = 0.008;
/// Speed of the law in m/s, and the rate at which it aligns, per second.
const CRUISE: f32 = 0.15;
const LAW_GAIN: f32 = 4.0;

/// Conditions of a run.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    pub robots: usize,
    pub seconds: f64,
    /// Largest difference of a wheel from the mean.
    pub unequal: f64,
    /// Share of lost messages.
    pub loss: f64,
    pub learning: bool,
    /// Second in which robot 0 stops forever.
    pub dies: Option<f64>,
    pub seed: u64,
}

impl Default for Conditions {
    fn default() -> Self {
        Self { robots: 10, seconds: 60.0, unequal: 0.05, loss: 0.05, learning: true, dies: None, seed: 1 }
    }
}

/// Scattered robots with random headings and wheels.
pub fn scattered(conditions: &Conditions, arena: &Arena, random: &mut ChaCha8Rng) -> Vec<Body> {
    let mut bodies: Vec<Body> = Vec::new();
    while bodies.len() < conditions.robots {
        let mut within = |axis: usize| {
            random.random_range(f64::from(arena.low[axis]) + 0.2..f64::from(arena.high[axis]) - 0.2)
        };
        let position = [within(0), within(1)];
        let mut gain = || 1.0 + conditions.unequal * random.random_range(-1.0..=1.0);
        let chassis = Chassis { gains: [gain(), gain()], ..Chassis::default() };
        let body = Body::new(chassis, position, random.random_range(0.0..core::f64::consts::TAU));
        if bodies.iter().all(|other| distance(other, &body) > 0.25) {
            bodies.push(body);
        }
    }
    bodies
}

/// Controller of the robots.
#[derive(Debug)]
pub enum Controller<'a, 'w> {
    /// The mean direction of all messages.
    Law,
    /// The network of a weight file.
    Network(&'a Weights<'w>),
}

/// Key of the robots' frames.
const KEY: Key = [7; 16];

/// Robot of this process.
struct Robot<'w> {
    car: Car<IdealMotors>,
    network: Option<NativeTwin<'w>>,
    inbox: VecDeque<Vec<u8>>,
    /// Last reported velocity, for the law.
    reported: [f32; 2],
}

impl<'w> Robot<'w> {
    fn new(id: usize, controller: &Controller<'_, 'w>) -> Result<Self> {
        let network = match controller {
            Controller::Law => None,
            Controller::Network(weights) => Some(native(id as NodeId, weights, &KEY)?),
        };
        let car = Car::new(Settings { robot: id as u8, ..Settings::MAQUEEN }, IdealMotors);
        Ok(Self { car, network, inbox: VecDeque::new(), reported: [0.0; 2] })
    }

    /// Runs a tick. Returns the sent frames.
    fn tick(&mut self, tick: u32, mean: [f32; 2]) -> Vec<Vec<u8>> {
        let Some(network) = &mut self.network else {
            let own = self.car.buggy().state().map_or([0.0; 2], |(_, velocity)| velocity);
            let sum = add(mean, scale(0.2, unit_or(own, [0.0; 2])));
            let goal = scale(CRUISE, unit_or(sum, [0.0; 2]));
            let command = scale(SCALE * LAW_GAIN, sub(goal, own));
            let _ = Actuator::<[f32; 2]>::act(&mut self.car, &command);
            return vec![];
        };
        let mut ports = NativePorts {
            radio: NativeRadio { inbox: &mut self.inbox, sent: vec![] },
            car: &mut self.car,
            store: NoStore,
        };
        control_loop::run_tick(network, tick, &mut ports, &mut [0; BUFFER_LEN]);
        ports.radio.sent
    }
}

struct NativeRadio<'a> {
    inbox: &'a mut VecDeque<Vec<u8>>,
    sent: Vec<Vec<u8>>,
}

impl Radio for NativeRadio<'_> {
    type Error = Infallible;

    fn send(&mut self, frame: &[u8]) -> core::result::Result<(), Infallible> {
        self.sent.push(frame.to_vec());
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> core::result::Result<Option<ReceivedFrame>, Infallible> {
        Ok(self.inbox.pop_front().map(|frame| copy_frame(&frame, buffer)))
    }
}

struct NativePorts<'a> {
    radio: NativeRadio<'a>,
    car: &'a mut Car<IdealMotors>,
    store: NoStore,
}

impl<'a> Ports<Motion, [f32; 2]> for NativePorts<'a> {
    type Radio = NativeRadio<'a>;
    type Sensor = Car<IdealMotors>;
    type Actuator = Car<IdealMotors>;
    type Store = NoStore;

    fn radio(&mut self) -> &mut NativeRadio<'a> {
        &mut self.radio
    }

    fn sensor(&mut self) -> &mut Car<IdealMotors> {
        self.car
    }

    fn actuator(&mut self) -> &mut Car<IdealMotors> {
        self.car
    }

    fn store(&mut self) -> &mut NoStore {
        &mut self.store
    }
}

/// Runs a swarm. `progress` is called at each tick and may end the run.
///
/// # Errors
/// The weight file has another task, or the tracker ended.
pub fn run(
    conditions: &Conditions, controller: &Controller<'_, '_>, eye: &mut dyn Eye,
    mut progress: impl FnMut() -> Result,
) -> Result<(Figures, Vec<Moment>)> {
    let arena = Settings::MAQUEEN.arena;
    let mut random = generator(conditions.seed, Purpose::Testing, 0);
    let mut bodies = scattered(conditions, &arena, &mut random);
    let mut robots = (0..conditions.robots)
        .map(|id| {
            let mut robot = Robot::new(id, controller)?;
            robot.car.set_learning(conditions.learning);
            robot.car.set_may_drive(true);
            Ok(robot)
        })
        .collect::<Result<Vec<_>>>()?;
    let (mut messages, mut moments) = (VecDeque::new(), vec![]);
    for tick in 0..(conditions.seconds / TICK) as u32 {
        let now = f64::from(tick) * TICK;
        let dead = conditions.dies.is_some_and(|at| now >= at);
        progress()?;
        messages.extend(eye.look(now, &bodies)?);
        while let Some((at, mut message)) = messages.pop_front_if(|(at, _)| *at + SENDING <= now) {
            message.pop();
            let Some((_, frame)) = decode_image(&mut message) else { continue };
            let age = 1.0e-4 * f64::from(frame.header.age.get()) + now - at;
            for robot in &mut robots {
                robot.car.see(&frame, age as f32);
            }
        }
        for (id, robot) in robots.iter_mut().enumerate() {
            if tick % EXCHANGE == id as u32 % EXCHANGE && random.random::<f64>() >= conditions.loss {
                robot.reported = robot.car.buggy().state().map_or([0.0; 2], |(_, velocity)| velocity);
            }
        }
        let reported: Vec<[f32; 2]> = robots.iter().map(|robot| unit_or(robot.reported, [0.0; 2])).collect();
        let total = reported.iter().skip(usize::from(dead)).fold([0.0; 2], |sum, one| add(sum, *one));
        for id in usize::from(dead)..robots.len() {
            let sent = robots[id].tick(tick, sub(total, reported[id]));
            for frame in sent {
                for (_, other) in robots.iter_mut().enumerate().filter(|(other, _)| *other != id) {
                    if random.random::<f64>() >= conditions.loss {
                        other.inbox.push_back(frame.clone());
                    }
                }
            }
        }
        for (id, (body, robot)) in bodies.iter_mut().zip(&robots).enumerate() {
            let duties = if dead && id == 0 { [0.0; 2] } else { robot.car.duties() };
            body.step(duties.map(f64::from), TICK, &arena, &mut random);
        }
        let alive: Vec<&Body> = bodies.iter().skip(usize::from(dead)).collect();
        let all: Vec<&Body> = bodies.iter().collect();
        let nearest = Moment::of(now, &all, &arena).nearest;
        moments.push(Moment { nearest, ..Moment::of(now, &alive, &arena) });
    }
    Ok((Figures::of(&moments), moments))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buggies::{camera::Camera, eye::IdealEye, score::CONTACT};

    fn run_law(conditions: &Conditions, camera: Camera, fails: f64) -> (Figures, Vec<Moment>) {
        let mut eye = IdealEye::new(camera, 0.0, conditions.seed);
        eye.fails = fails;
        run(conditions, &Controller::Law, &mut eye, || Ok(())).unwrap()
    }

    fn runs(conditions: Conditions, camera: Camera) -> Vec<Figures> {
        let run = |seed| run_law(&Conditions { seed, seconds: 30.0, ..conditions }, camera, f64::INFINITY).0;
        [1, 2, 3].map(run).to_vec()
    }

    #[test]
    fn scattered_robots_flock_without_contacts() {
        for figures in runs(Conditions::default(), Camera::default()) {
            assert!(figures.flock_after.is_some_and(|after| after < 9.0), "{figures:?}");
            assert!(
                figures.deviation < 1.6 && figures.speed > 0.13 && figures.connected > 0.98,
                "{figures:?}"
            );
            assert!(figures.nearest > 0.115 && figures.at_walls == 0.0, "{figures:?}");
        }
    }

    #[test]
    fn unequal_wheels_and_an_unknown_latency_are_learned() {
        let unequal = Conditions { unequal: 0.2, ..Conditions::default() };
        let without = runs(Conditions { learning: false, ..unequal }, Camera::default());
        for (with, without) in runs(unequal, Camera::default()).iter().zip(without) {
            assert!(with.deviation < without.deviation / 3.0, "{with:?} {without:?}");
        }
        for figures in runs(Conditions::default(), Camera { latency: 0.15, ..Camera::default() }) {
            assert!(figures.deviation < 1.6 && figures.nearest > 0.115, "{figures:?}");
        }
    }

    #[test]
    fn a_dead_robot_is_avoided_and_a_dead_camera_stops_all() {
        for figures in runs(Conditions { dies: Some(10.0), ..Conditions::default() }, Camera::default()) {
            assert!(figures.nearest > CONTACT, "{figures:?}");
        }
        let conditions = Conditions { seconds: 12.0, ..Conditions::default() };
        let (_, moments) = run_law(&conditions, Camera::default(), 10.0);
        let stands = moments.iter().position(|moment| moment.seconds > 10.0 && moment.speed < 0.005);
        let after = stands.map(|tick| moments[tick].seconds - 10.0);
        assert!(after.is_some_and(|after| after < 0.5), "{after:?}");
    }
}
