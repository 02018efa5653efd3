//! Baselines with a searched gain and, for those that predict, a searched horizon.
//!
//! A Smith predictor is averaging with a model of the body: the model follows the robot's own
//! commands with a first-order lag, the horizon. Robots use and send the velocity that they will
//! have when their body has followed these commands, `v + horizon · a`.

use wdgnn_core::{
    task::Task as _,
    tasks::flocking::{Flocking, Motion},
};
use wdgnn_robot::{onboard::OnboardTask, tasks::CollisionAvoidance};

use super::{
    baselines::{DelayedAveraging, guard},
    expert::{Expert, Preference, VELOCITY_GAIN},
    olfati_saber::OlfatiSaber,
};
use crate::{
    error::Result,
    scene::{Scene, Swarm},
    world::{SecondParameter, TunedBaseline, Tuning, TuningContext, World},
};

/// Law with a gain, on predicted velocities.
#[derive(Debug)]
struct TunedLaw<L, const D: usize> {
    law: L,
    /// Factor of the law's output.
    factor: f32,
    horizon: f32,
    /// Whether repulsion and collision guard apply.
    guarded: bool,
    task: Flocking<D>,
    /// Modeled acceleration of each robot.
    model: Vec<[f32; D]>,
    predicted: Vec<Motion<D>>,
}

impl<L: Preference<D>, const D: usize> Swarm<Flocking<D>> for TunedLaw<L, D>
where
    Flocking<D>: CollisionAvoidance<State = Motion<D>, Command = [f32; D]> + Send,
{
    fn fly(&mut self, scene: &Scene<'_, Motion<D>>, commands: &mut Vec<[f32; D]>) -> Result {
        self.model.resize(scene.states.len(), [0.0; D]);
        scene.states.clone_into(&mut self.predicted);
        for (motion, model) in self.predicted.iter_mut().zip(&self.model) {
            motion.velocity.iter_mut().zip(model).for_each(|(v, a)| *v += self.horizon * a);
        }
        self.law.preferred_commands(&Scene { states: &self.predicted, ..*scene }, commands);
        commands.as_flattened_mut().iter_mut().for_each(|u| *u *= self.factor);
        if self.guarded {
            guard(&self.task, scene, commands);
        } else {
            for command in commands.iter_mut() {
                *command = self.task.saturate(command);
            }
        }
        if self.horizon > 0.0 {
            let share = 1.0 - libm::expf(-self.task.period / self.horizon);
            let changes = self.model.as_flattened_mut().iter_mut().zip(commands.as_flattened());
            changes.for_each(|(a, u)| *a += share * (u - *a));
        }
        Ok(())
    }
}

/// Creates a law with a searched gain.
fn tuned<L: Preference<D> + 'static, const D: usize>(
    law: L, factor: f32, horizon: f32, context: &TuningContext<Flocking<D>>,
) -> Box<dyn Swarm<Flocking<D>>>
where
    Flocking<D>: CollisionAvoidance<State = Motion<D>, Command = [f32; D]>,
{
    let guarded = context.guarded;
    let (model, predicted) = (Vec::new(), Vec::new());
    Box::new(TunedLaw { law, factor, horizon, guarded, task: context.task, model, predicted })
}

fn averaging<const D: usize>(
    hops: u32, context: &TuningContext<Flocking<D>>, tuning: Tuning,
) -> Box<dyn Swarm<Flocking<D>>>
where
    Flocking<D>: CollisionAvoidance<State = Motion<D>, Command = [f32; D]>,
{
    let period = context.task.period;
    let mut law = DelayedAveraging::new(Some(hops), period);
    law.interval = context.interval;
    tuned(law, tuning.gain * period, tuning.second, context)
}

/// Returns the tuned baselines of flocking, in table order.
pub fn tuned_baselines<W: World<Task = Flocking<D>>, const D: usize>() -> Vec<TunedBaseline<W>>
where
    Flocking<D>: OnboardTask + CollisionAvoidance<State = Motion<D>, Command = [f32; D]>,
{
    let law = |name, title, second, make| TunedBaseline { name, title, guarded: true, second, make };
    let unguarded = |law| TunedBaseline { guarded: false, ..law };
    let horizon = Some(SecondParameter::Horizon);
    vec![
        law("tuned-averaging-1-hop", "averaging over 1 hop", None, |context, tuning| {
            averaging(1, context, tuning)
        }),
        law("tuned-averaging-3-hops", "averaging over 3 hops", None, |context, tuning| {
            averaging(3, context, tuning)
        }),
        law("smith-1-hop", "Smith predictor, 1 hop", horizon, |context, tuning| {
            averaging(1, context, tuning)
        }),
        law("smith-3-hops", "Smith predictor, 3 hops", horizon, |context, tuning| {
            averaging(3, context, tuning)
        }),
        law("olfati-saber", "Olfati-Saber", Some(SecondParameter::Lattice), |context, tuning| {
            let law = OlfatiSaber::new(context.scenario.radius, context.interval, tuning);
            tuned(law, 1.0, 0.0, context)
        }),
        // The guard replaces the expert's potential, as in all rows.
        law("tuned-expert", "expert (sees all robots)", horizon, |context, tuning| {
            let expert = Expert { limit: f32::MAX, potential: false };
            tuned(expert, tuning.gain / VELOCITY_GAIN as f32, tuning.second, context)
        }),
        unguarded(law(
            "unguarded-averaging-1-hop",
            "averaging over 1 hop, unguarded",
            None,
            |context, tuning| averaging(1, context, tuning),
        )),
        unguarded(law(
            "unguarded-smith-3-hops",
            "Smith predictor, 3 hops, unguarded",
            horizon,
            |context, tuning| averaging(3, context, tuning),
        )),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        episode::Episode,
        seeds::{Purpose, generator},
        world::{Scenario, flock::Flock},
    };

    /// Robots, speed, gain and mean total of averaging over 1 hop in ten flights of 4 s: RotorPy's
    /// Crazyflies and DotBot's plant (`wdgnn.worlds`).
    const RECORDED: [(&str, usize, f32, f32, f64); 10] = [
        ("quadrotor", 10, 1.0, 12.0, 10.1926),
        ("quadrotor", 10, 2.0, 12.0, 45.794),
        ("quadrotor", 10, 3.0, 12.0, 118.8308),
        ("quadrotor", 25, 1.0, 12.0, 10.9577),
        ("quadrotor", 25, 2.0, 12.0, 48.5827),
        ("quadrotor", 25, 3.0, 12.0, 122.9525),
        ("differential", 10, 0.1, 60.0, 0.0224),
        ("differential", 10, 0.1, 200.0, 0.0176),
        ("differential", 10, 0.25, 60.0, 0.1454),
        ("differential", 25, 0.25, 200.0, 0.1338),
    ];

    #[test]
    fn bodies_predict_totals_of_other_simulators() {
        for (body, robots, speed, gain, recorded) in RECORDED {
            let mut world = Flock::<2>::default();
            world.set_body(body.parse().unwrap()).unwrap();
            let scenario = Scenario { robots, speed, ..world.scenario() };
            let task = Flock::<2>::default_task();
            let context = TuningContext { scenario, task, interval: 1, guarded: false };
            let total = |seed| {
                let mut random = generator(seed, Purpose::Testing, 0);
                let start = Episode::draw(&world, &scenario, &mut random).unwrap();
                let mut swarm = averaging(1, &context, Tuning { gain, second: 0.0 });
                start.run_unobserved(&task, swarm.as_mut()).unwrap().total()
            };
            let total = (1..=10).map(total).sum::<f64>() / 10.0;
            assert!((total / recorded - 1.0).abs() < 0.05, "{body} {robots} {speed}: {total} {recorded}");
        }
    }
}
