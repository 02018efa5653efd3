//! Adjoint of the velocity variation through velocities and actuators.
//!
//! Links, positions, repulsion and collision guard count as constants.

use wdgnn_core::{
    task::Task,
    tasks::flocking::{Flocking, Motion},
};
use wdgnn_robot::{onboard::OnboardTask, tasks::CollisionAvoidance as _};

use super::{
    body::{Bodies, BodyGrad, Input, quadrotor},
    dynamics::SwarmDynamics,
    motion::mean_velocity,
};
use crate::world::{Adjoint, World};

/// Initial gain in 1/s: robots brake to the delayed means in their taps.
///
/// Training about doubles it, and the deep part adds as much again. A gain of 30 lowers the total
/// by 0.0005 of the expert's, but the swarm then oscillates under actuator lag or a dropped
/// payload.
const GAIN: f32 = -14.0;

/// Adjoint of a flocking episode.
#[derive(Debug)]
pub struct FlockAdjoint<const D: usize> {
    dynamics: Option<SwarmDynamics<D>>,
    /// Flight by tick: bodies before the tick, and each robot's motion and input.
    flight: Vec<(Bodies, Vec<(Motion<D>, Input<D>)>)>,
    /// Gradients with respect to each actuator's and each body's state.
    acting: Vec<[f32; D]>,
    bodies: Vec<quadrotor::State>,
    /// Gradient with respect to each robot's modeled acceleration.
    responses: Vec<[f32; D]>,
}

impl<const D: usize> FlockAdjoint<D> {
    /// Creates the adjoint for these dynamics.
    pub fn new(dynamics: Option<SwarmDynamics<D>>) -> Self {
        let (flight, acting, bodies, responses) = Default::default();
        Self { dynamics, flight, acting, bodies, responses }
    }
}

impl<W: World<Task = Flocking<D>>, const D: usize> Adjoint<W> for FlockAdjoint<D>
where
    Flocking<D>: OnboardTask + Task<State = Motion<D>, Command = [f32; D]>,
{
    fn score(&mut self, _: u32, motions: &[Motion<D>], weight: f32, grad: &mut [f32]) {
        let mean = mean_velocity(motions).map(|mean| mean as f32);
        let n = motions.len() as f32;
        for (motion, grad) in motions.iter().zip(grad.chunks_exact_mut(2 * D)) {
            for ((grad, v), mean) in grad[D..].iter_mut().zip(motion.velocity).zip(mean) {
                *grad += weight * 2.0 * (v - mean) / n;
            }
        }
    }

    fn replay(&mut self, task: &Flocking<D>, tick: u32, motions: &[Motion<D>], commands: &[[f32; D]]) {
        let Some(dynamics) = &mut self.dynamics else { return };
        let bodies = dynamics.bodies.clone();
        dynamics.step(tick, &mut motions.to_vec(), commands, task.period);
        let input = |robot| dynamics.input(robot, task.period);
        self.flight.push((bodies, motions.iter().copied().zip((0..).map(input)).collect()));
    }

    fn step(&mut self, task: &Flocking<D>, tick: u32, grad: &mut [f32], commands: &mut [Vec<f32>]) {
        let robots = grad.len() / (2 * D);
        self.acting.resize(robots, [0.0; D]);
        self.bodies.resize(robots, quadrotor::State::default());
        let dynamics = self.dynamics.as_ref().zip(self.flight.get(tick as usize));
        for (robot, grad) in grad.chunks_exact_mut(2 * D).enumerate() {
            let acting = &mut self.acting[robot];
            let Some(after) = grad.last_chunk_mut::<D>() else { continue };
            let Some((dynamics, (bodies, robots))) = dynamics else {
                let commands = commands[tick as usize][robot * D..].iter_mut();
                commands.zip(after).for_each(|(grad, after)| *grad += task.period * *after);
                continue;
            };
            if dynamics.leads[robot] {
                continue;
            }
            let (motion, input) = &robots[robot];
            let mut body = BodyGrad { state: self.bodies[robot], ..BodyGrad::of(*after) };
            bodies.step_back(robot, motion, input, &mut body);
            (*after, self.bodies[robot]) = (body.velocity, body.state);
            let quickness = dynamics.quickness(task.period);
            for (acting, command) in acting.iter_mut().zip(body.command) {
                *acting = command + (1.0 - quickness) * *acting;
            }
            if let Some(commanded) = (tick as usize).checked_sub(dynamics.delay()) {
                let effect = dynamics.effect_back(tick, robot, acting);
                let commands = commands[commanded][robot * D..].iter_mut();
                commands.zip(effect).for_each(|(grad, effect)| *grad += quickness * effect);
            }
        }
    }

    fn lead(&mut self, task: &Flocking<D>, lag: f32, tick: u32, grad: &[f32], commands: &mut [Vec<f32>]) {
        if lag <= 0.0 {
            return;
        }
        let share = task.period / (lag + task.period);
        self.responses.resize(grad.len() / (2 * D), [0.0; D]);
        let mut before = tick.checked_sub(1).map(|before| &mut commands[before as usize]);
        for (robot, (grad, response)) in grad.chunks_exact(2 * D).zip(&mut self.responses).enumerate() {
            for (axis, velocity) in grad[D..].iter().enumerate() {
                response[axis] += lag * velocity;
                if let Some(commands) = &mut before {
                    commands[robot * D + axis] += share * response[axis];
                }
                response[axis] *= 1.0 - share;
            }
        }
    }

    fn observe(
        &self, task: &Flocking<D>, _: &Motion<D>, others: &[Motion<D>], grad: &[f32],
        add: &mut dyn FnMut(Option<usize>, usize, f32),
    ) {
        let share = if task.normalized { 1.0 / (others.len() + 1) as f32 } else { 1.0 };
        for (axis, grad) in grad[..D].iter().enumerate() {
            let grad = share * grad;
            add(None, D + axis, grad * others.len() as f32);
            (0..others.len()).for_each(|other| add(Some(other), D + axis, -grad));
        }
    }

    fn passes_gradient(
        &self, task: &Flocking<D>, own: &Motion<D>, others: &[Motion<D>], output: &[f32; D],
        command: &[f32; D],
    ) -> Vec<bool> {
        let steered = task.repulsion(own, others.iter(), output);
        let free = |(steered, command): (&f32, &f32)| {
            !others.is_empty() && steered.abs() < task.limit && command.abs() < task.limit
        };
        steered.iter().zip(command).map(free).collect()
    }

    /// Returns the features of positions.
    ///
    /// No gradient passes through positions. Robots that learned weights for them gathered where
    /// repulsion and network balance. Repulsion and guard keep robots apart.
    fn blocked_features(&self) -> std::ops::Range<usize> {
        D..3 * D
    }

    fn initial_gains(&self) -> Vec<(usize, usize, f32)> {
        (0..D).map(|axis| (axis, axis, GAIN)).collect()
    }
}
