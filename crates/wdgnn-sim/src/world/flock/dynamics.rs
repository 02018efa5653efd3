//! Robots that differ from the training model in sensing, actuation and links.
//!
//! [`ModelMismatch`] holds the size of each deviation. [`SwarmDynamics`] draws each robot's
//! parameters from a seed and keeps their state between ticks.

use std::collections::VecDeque;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::tasks::flocking::Motion;

use super::{
    body::{Bodies, Body, Input},
    motion::step,
};
use crate::links::Links;

/// Deviations from the training model; all zero for none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelMismatch {
    /// Mean loss of actuator gain: 0.6 leaves 0.4.
    pub weakness: f32,
    /// Largest deviation of a robot's actuator gain from the mean gain.
    pub spread: f32,
    /// Standard deviation of a constant acceleration of each robot, in m/s².
    pub bias: f32,
    /// Time constant of the actuators in seconds.
    pub lag: f32,
    /// Ticks between a command and its effect.
    pub delay: u32,
    /// Share of its speed that a robot loses per second.
    pub drag: f32,
    /// Standard deviation of gusts in m/s².
    ///
    /// Each gust lasts 0.1 s. One part is common to all robots, and one of half the size is
    /// specific to each.
    pub gusts: f32,
    /// Standard deviation of noise on sensed velocities in m/s, drawn in every tick.
    pub noise: f32,
    /// Standard deviation of each robot's constant velocity sensor error in m/s.
    pub sensor_bias: f32,
    /// Share of robots whose velocity sensor freezes at 0.5 s.
    pub frozen: f32,
    /// Standard deviation of the rotation of a robot's commands, in radians.
    pub turned: f32,
    /// Share of robots that ignore commands and keep their velocity.
    pub leaders: f32,
    /// Relative loss of radio range from 0.5 s on.
    pub shortened: f32,
    /// Relative increase of actuator gain from 0.5 s on, when a payload is dropped.
    pub dropped: f32,
    /// Share of beacons that are lost.
    pub loss: f32,
    /// Speed in m/s at which two halves of the swarm approach each other at the start.
    pub meeting: f32,
}

impl ModelMismatch {
    /// Changes initial states: two halves that approach each other, if configured.
    pub fn begin<const D: usize>(&self, motions: &mut [Motion<D>]) {
        if self.meeting > 0.0 {
            for motion in motions {
                let side = if motion.position[0] < 0.0 { 1.0 } else { -1.0 };
                motion.position[0] -= side;
                motion.velocity[0] += side * self.meeting;
            }
        }
    }
}

/// Tick of changes during the episode, at half a second.
const MIDWAY: u32 = 50;
/// Length of a gust in ticks.
const GUST_TICKS: u32 = 10;

/// Dynamics of one swarm's robots.
#[derive(Clone, Debug)]
pub struct SwarmDynamics<const D: usize = 2> {
    mismatch: ModelMismatch,
    gain: Vec<f32>,
    bias: Vec<[f32; D]>,
    sensor_bias: Vec<[f32; D]>,
    turn: Vec<[f32; 2]>,
    frozen: Vec<bool>,
    /// Robots that ignore commands.
    pub leads: Vec<bool>,
    stuck: Vec<[f32; D]>,
    gust: Vec<[f32; D]>,
    /// Commands that have not yet taken effect.
    waiting: VecDeque<Vec<[f32; D]>>,
    acting: Vec<[f32; D]>,
    /// Bodies of the robots.
    pub bodies: Bodies,
    random: ChaCha8Rng,
}

/// Draws a normal variate as a sum of twelve uniform ones, identical on every machine.
fn normal(random: &mut ChaCha8Rng) -> f32 {
    (0..12).map(|_| random.random_range(0.0_f32..1.0)).sum::<f32>() - 6.0
}

fn normals<const D: usize>(random: &mut ChaCha8Rng, deviation: f32) -> [f32; D] {
    std::array::from_fn(|_| deviation * normal(random))
}

impl<const D: usize> SwarmDynamics<D> {
    /// Draws each robot's parameters.
    pub fn new(mismatch: ModelMismatch, body: &Body, motions: &[Motion<D>], mut random: ChaCha8Rng) -> Self {
        let mismatch = ModelMismatch {
            delay: mismatch.delay + body.delay,
            noise: mismatch.noise.max(body.noise),
            ..mismatch
        };
        let robots = motions.len();
        let each = 0..robots;
        let q = &mismatch;
        let r = &mut random;
        let gain =
            each.clone().map(|_| 1.0 - q.weakness + q.spread * r.random_range(-1.0_f32..1.0)).collect();
        let bias = each.clone().map(|_| normals(r, q.bias)).collect();
        let sensor_bias = each.clone().map(|_| normals(r, q.sensor_bias)).collect();
        let turn = each
            .clone()
            .map(|_| {
                let angle = q.turned * normal(r);
                [libm::cosf(angle), libm::sinf(angle)]
            })
            .collect();
        let frozen = each.clone().map(|_| r.random_range(0.0_f32..1.0) < q.frozen).collect();
        let leads = each.map(|_| r.random_range(0.0_f32..1.0) < q.leaders).collect();
        let bodies = Bodies::new(body, motions, r);
        Self {
            mismatch,
            gain,
            bias,
            sensor_bias,
            turn,
            frozen,
            leads,
            stuck: vec![[0.0; D]; robots],
            gust: vec![[0.0; D]; robots],
            waiting: VecDeque::new(),
            acting: vec![[0.0; D]; robots],
            bodies,
            random,
        }
    }

    /// Computes sensed states from true ones.
    pub fn sensed(&mut self, tick: u32, motions: &[Motion<D>], sensed: &mut Vec<Motion<D>>) {
        motions.clone_into(sensed);
        if self.mismatch == ModelMismatch::default() {
            return;
        }
        for (robot, motion) in sensed.iter_mut().enumerate() {
            for (v, error) in motion.velocity.iter_mut().zip(self.sensor_bias[robot]) {
                *v += error;
            }
            if self.mismatch.noise > 0.0 {
                let noise = normals::<D>(&mut self.random, self.mismatch.noise);
                motion.velocity.iter_mut().zip(noise).for_each(|(v, noise)| *v += noise);
            }
            if tick == MIDWAY {
                self.stuck[robot] = motion.velocity;
            }
            if tick >= MIDWAY && self.frozen[robot] {
                motion.velocity = self.stuck[robot];
            }
        }
    }

    /// Finds links with the current radio range, and drops lost beacons.
    pub fn links(&mut self, tick: u32, places: &[[f32; 3]], radius: f32, links: &mut Links) {
        let shortened = if tick >= MIDWAY { self.mismatch.shortened } else { 0.0 };
        links.find(places, radius * (1.0 - shortened));
        if self.mismatch.loss > 0.0 {
            let (random, loss) = (&mut self.random, self.mismatch.loss);
            *links = links.filtered(|_, _| random.random_range(0.0_f32..1.0) >= loss);
        }
    }

    /// Returns the share of a command's change that an actuator follows in a tick.
    pub fn quickness(&self, period: f32) -> f32 {
        if self.mismatch.lag > period { period / self.mismatch.lag } else { 1.0 }
    }

    /// Returns the ticks between a command and its effect.
    pub fn delay(&self) -> usize {
        self.mismatch.delay as usize
    }

    /// Returns the acceleration of a command at a tick: rotated in the x–y plane and scaled.
    pub fn effect(&self, tick: u32, robot: usize, command: &[f32; D]) -> [f32; D] {
        self.turned(tick, robot, command, 1.0)
    }

    /// Returns the gradient of a command from the gradient of its effect: the transpose.
    pub fn effect_back(&self, tick: u32, robot: usize, grad: &[f32; D]) -> [f32; D] {
        self.turned(tick, robot, grad, -1.0)
    }

    fn turned(&self, tick: u32, robot: usize, vector: &[f32; D], side: f32) -> [f32; D] {
        if self.leads[robot] {
            return [0.0; D];
        }
        let dropped = if tick >= MIDWAY { 1.0 + self.mismatch.dropped } else { 1.0 };
        let scale = self.gain[robot] * dropped;
        let [cosine, sine] = self.turn[robot].map(|x| x * self.gain[robot] * dropped);
        let mut turned = vector.map(|x| scale * x);
        if let ([x, y, ..], [to_x, to_y, ..]) = (&vector[..], &mut turned[..]) {
            *to_x = cosine * x - side * sine * y;
            *to_y = side * sine * x + cosine * y;
        }
        turned
    }

    /// Moves all robots for one tick.
    pub fn step(&mut self, tick: u32, motions: &mut [Motion<D>], commands: &[[f32; D]], period: f32) {
        self.waiting.push_back(commands.to_vec());
        let due = if self.waiting.len() > self.delay() { self.waiting.pop_front() } else { None };
        let quickness = self.quickness(period);
        if self.mismatch.gusts > 0.0 && tick.is_multiple_of(GUST_TICKS) {
            let common = normals::<D>(&mut self.random, self.mismatch.gusts);
            for gust in &mut self.gust {
                let own = normals::<D>(&mut self.random, 0.5 * self.mismatch.gusts);
                *gust = std::array::from_fn(|axis| common[axis] + own[axis]);
            }
        }
        for (robot, motion) in motions.iter_mut().enumerate() {
            if self.leads[robot] {
                step(std::slice::from_mut(motion), &[[0.0; D]], period);
                continue;
            }
            let command = due.as_ref().map_or([0.0; D], |due| due[robot]);
            let effect = self.effect(tick, robot, &command);
            let wanted = effect.iter().zip(&self.bias[robot]).map(|(effect, bias)| effect + bias);
            for (acting, wanted) in self.acting[robot].iter_mut().zip(wanted) {
                *acting = if quickness < 1.0 { *acting + quickness * (wanted - *acting) } else { wanted };
            }
            self.bodies.step(robot, motion, &self.input(robot, period));
        }
    }

    /// Returns the input of a robot's body in the last tick.
    pub fn input(&self, robot: usize, period: f32) -> Input<D> {
        let (command, gust) = (self.acting[robot], self.gust[robot]);
        Input { command, gust, drag: self.mismatch.drag, period, skew: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{body::BodyConfig, motion::place},
        *,
    };
    use crate::seeds::{Purpose, generator};

    fn pair() -> [Motion; 2] {
        [0.0, 1.0].map(|x| Motion { position: [x, 0.0], velocity: [x, 2.0] })
    }

    fn dynamics(mismatch: ModelMismatch) -> SwarmDynamics {
        let mut random = generator(1, Purpose::SwarmDynamics, 0);
        let body = BodyConfig::default().draw(&mut random);
        SwarmDynamics::new(mismatch, &body, &pair(), random)
    }

    /// Accelerations of a pair in a tick.
    fn accelerations(dynamics: &mut SwarmDynamics, tick: u32, command: [f32; 2]) -> [[f32; 2]; 2] {
        let mut motions = pair();
        dynamics.step(tick, &mut motions, &[command; 2], 0.5);
        std::array::from_fn(|robot| {
            std::array::from_fn(|axis| 2.0 * (motions[robot].velocity[axis] - pair()[robot].velocity[axis]))
        })
    }

    #[test]
    fn without_mismatch_commands_are_accelerations() {
        let mut dynamics = dynamics(ModelMismatch::default());
        let mut sensed = Vec::new();
        dynamics.sensed(0, &pair(), &mut sensed);
        assert_eq!(sensed, pair());
        assert_eq!(accelerations(&mut dynamics, 0, [1.0, -2.0]), [[1.0, -2.0]; 2]);
        let mut links = Links::default();
        dynamics.links(0, &pair().map(|motion| place(&motion)), 2.0, &mut links);
        assert_eq!(links.count(), 2);
    }

    #[test]
    fn delay_and_lag_by_hand() {
        let mut dynamics = dynamics(ModelMismatch { delay: 2, lag: 1.0, ..ModelMismatch::default() });
        let x = |dynamics: &mut SwarmDynamics, tick| accelerations(dynamics, tick, [8.0, 0.0])[0][0];
        assert_eq!([0, 1, 2, 3].map(|tick| x(&mut dynamics, tick)), [0.0, 0.0, 4.0, 6.0]);
    }

    #[test]
    fn weakness_and_drag_by_hand() {
        let mut dynamics = dynamics(ModelMismatch { weakness: 0.5, drag: 1.0, ..ModelMismatch::default() });
        assert_eq!(accelerations(&mut dynamics, 0, [8.0, 8.0]), [[4.0, 2.0], [3.0, 2.0]]);
    }
}
