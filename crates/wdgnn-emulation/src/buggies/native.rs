//! Native robots under a camera without images, for figures over many starts.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_drive::{
    angle::{add, scale, sub, unit_or},
    buggy::{Buggy, Settings},
    guidance::Arena,
};
use wdgnn_sim::seeds::{Purpose, generator};

use super::{
    camera::{Camera, Exposures},
    floor::{Body, Chassis},
    score::{Figures, Moment, distance},
};

/// Time of a tick in seconds.
const TICK: f64 = 0.01;
/// Ticks between two messages of a robot.
const EXCHANGE: u32 = 10;

/// Conditions of a run.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    pub robots: usize,
    pub seconds: f64,
    pub camera: Camera,
    /// Largest difference of a wheel from the mean.
    pub unequal: f64,
    /// Share of lost messages.
    pub loss: f64,
    pub learning: bool,
    /// Second in which robot 0 stops forever.
    pub dies: Option<f64>,
    /// Second in which the camera fails.
    pub blind: Option<f64>,
    pub seed: u64,
}

impl Default for Conditions {
    fn default() -> Self {
        Self {
            robots: 10,
            seconds: 60.0,
            camera: Camera::default(),
            unequal: 0.05,
            loss: 0.05,
            learning: true,
            dies: None,
            blind: None,
            seed: 1,
        }
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

/// Runs the hand-written law.
pub fn run(conditions: &Conditions) -> (Figures, Vec<Moment>) {
    let arena = Settings::MAQUEEN.arena;
    let mut random = generator(conditions.seed, Purpose::Testing, 0);
    let mut bodies = scattered(conditions, &arena, &mut random);
    let mut robots: Vec<Buggy> = (0..conditions.robots)
        .map(|robot| {
            let mut buggy = Buggy::new(Settings { robot: robot as u8, ..Settings::MAQUEEN });
            buggy.filter_mut().set_learning(conditions.learning);
            buggy
        })
        .collect();
    let mut exposures = Exposures::default();
    let mut reported = vec![[0.0_f32; 2]; conditions.robots];
    let mut duties = vec![[0.0_f32; 2]; conditions.robots];
    let mut moments = vec![];
    for tick in 0..(conditions.seconds / TICK) as u32 {
        let now = f64::from(tick) * TICK;
        let blind = conditions.blind.is_some_and(|at| now >= at);
        if let Some((_, seen)) = conditions.camera.look(now, &bodies, &mut exposures, &mut random)
            && !blind
        {
            for buggy in &mut robots {
                buggy.begin_image();
                for (robot, position, heading) in &seen {
                    let heading = (heading / core::f64::consts::TAU * 65_536.0).round() as i64 as i16;
                    let position = position.map(|at| ((1_000.0 * at).round() / 1_000.0) as f32);
                    buggy.see(*robot, position, heading, conditions.camera.stated_latency as f32);
                }
            }
        }
        for (robot, buggy) in robots.iter().enumerate() {
            if tick % EXCHANGE == robot as u32 % EXCHANGE && random.random::<f64>() >= conditions.loss {
                reported[robot] = buggy.state().map_or([0.0; 2], |(_, velocity)| velocity);
            }
        }
        for (robot, buggy) in robots.iter_mut().enumerate() {
            let dead = robot == 0 && conditions.dies.is_some_and(|at| now >= at);
            duties[robot] = match buggy.state() {
                _ if dead => {
                    reported[0] = [0.0; 2];
                    [0.0; 2]
                }
                Some((_, own)) => {
                    let sum = reported
                        .iter()
                        .enumerate()
                        .filter(|(other, velocity)| *other != robot && **velocity != [0.0; 2])
                        .fold(scale(0.2, unit_or(own, [0.0; 2])), |sum, (_, other)| {
                            add(sum, unit_or(*other, [0.0; 2]))
                        });
                    let goal = scale(0.15, unit_or(sum, [0.0; 2]));
                    buggy.drive(scale(4.0, sub(goal, own)))
                }
                None => buggy.stand(),
            };
        }
        for (body, duties) in bodies.iter_mut().zip(&duties) {
            body.step(duties.map(f64::from), TICK, &arena, &mut random);
        }
        let alive: Vec<&Body> =
            bodies.iter().skip(usize::from(conditions.dies.is_some_and(|at| now >= at))).collect();
        let mut moment = Moment::of(now, &alive, &arena);
        let all: Vec<&Body> = bodies.iter().collect();
        moment.nearest = Moment::of(now, &all, &arena).nearest;
        moments.push(moment);
    }
    (Figures::of(&moments), moments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buggies::score::CONTACT;

    fn runs(conditions: Conditions) -> Vec<Figures> {
        [1, 2, 3].map(|seed| run(&Conditions { seed, seconds: 30.0, ..conditions }).0).to_vec()
    }

    #[test]
    fn scattered_robots_flock_without_contacts() {
        for figures in runs(Conditions::default()) {
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
        let without = runs(Conditions { learning: false, ..unequal });
        for (with, without) in runs(unequal).iter().zip(without) {
            assert!(with.deviation < without.deviation / 3.0, "{with:?} {without:?}");
        }
        let camera = Camera { latency: 0.15, ..Camera::default() };
        for figures in runs(Conditions { camera, ..Conditions::default() }) {
            assert!(figures.deviation < 1.6 && figures.nearest > 0.115, "{figures:?}");
        }
    }

    #[test]
    fn a_dead_robot_is_avoided_and_a_dead_camera_stops_all() {
        for figures in runs(Conditions { dies: Some(10.0), ..Conditions::default() }) {
            assert!(figures.nearest > CONTACT, "{figures:?}");
        }
        let (_, moments) = run(&Conditions { blind: Some(10.0), seconds: 12.0, ..Conditions::default() });
        let stands = moments.iter().position(|moment| moment.seconds > 10.0 && moment.speed < 0.005);
        let after = stands.map(|tick| moments[tick].seconds - 10.0);
        assert!(after.is_some_and(|after| after < 0.5), "{after:?}");
    }
}
