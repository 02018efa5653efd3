//! Recording of one swarm under several controllers, small enough for a page.

use std::sync::atomic::AtomicBool;

use serde::Serialize;
use wdgnn_core::task::State;
use wdgnn_robot::tasks::MotionModel as _;

use super::visible_faults::VisibleFaults;
use crate::{
    chart::five_digits,
    controllers::{Controller, EvalConfig},
    episode::{Episode, EpisodeMetrics, Observer, TickView},
    error::Result,
    evaluate::Ticks,
    jobs::Schedule,
    profiles::Profile,
    seeds::{Purpose, generator},
    world::{Environment, Scenario, SceneDisc},
};

/// Largest number of robots that are drawn individually. Ids start at the center of the initial
/// rings, so these are the swarm's core.
pub const ROBOTS: usize = 1000;

/// Recorded robots times frames per controller: 120 robots at each tick, more robots at fewer
/// ticks. A sample takes about 7 bytes, so seven recordings take about 1.2 MB.
const SAMPLES: usize = 24_000;

/// Recorded swarm.
#[derive(Clone, Debug, Serialize)]
pub struct Replay {
    /// Length of a tick in seconds.
    pub period: f32,
    /// Radio range in m.
    pub radius: f32,
    pub robots: usize,
    /// Recorded ticks, ascending from 0.
    pub ticks: Vec<u32>,
    /// Initial positions in mm, x and y in turn.
    pub start: Vec<i32>,
    /// Scenery at each recorded tick.
    pub scenery: Vec<Vec<SceneDisc>>,
    pub profile: &'static str,
    /// Ticks per exchange.
    pub exchange: u32,
    pub flights: Vec<Recording>,
}

/// Recording of one controller.
#[derive(Clone, Debug, Serialize)]
pub struct Recording {
    /// Name in JSON, which selects the color.
    pub name: &'static str,
    pub title: String,
    /// Score at each tick.
    pub score: Vec<f64>,
    /// Whether states contain velocities.
    pub moving: bool,
    /// Velocities in mm/s, or positions in mm for states without velocities: x and y in turn by
    /// robot, as differences to the previous frame. Commands are constant over a tick, so positions
    /// follow by the trapezoidal rule.
    pub changes: Vec<i32>,
    /// Visible faults.
    #[serde(flatten)]
    pub troubles: VisibleFaults,
}

/// Returns the recorded ticks for a number of robots.
fn ticks(flight: u32, robots: usize) -> Vec<u32> {
    let frames = (SAMPLES / robots.max(1)).max(2) as u32;
    let stride = flight.div_ceil(frames).max(1) as usize;
    let mut ticks: Vec<u32> = (0..flight).step_by(stride).collect();
    ticks.extend(flight.checked_sub(1).filter(|last| ticks.last() != Some(last)));
    ticks
}

fn thousandths(value: f32) -> i32 {
    (value * 1000.0).round() as i32
}

/// Observer that records some ticks of an episode.
#[derive(Debug)]
pub struct Recorder {
    ticks: Vec<u32>,
    robots: usize,
    start: Vec<i32>,
    before: Vec<i32>,
    changes: Vec<i32>,
    scenery: Vec<Vec<SceneDisc>>,
    troubles: VisibleFaults,
}

impl Recorder {
    /// Creates a recorder for a condition.
    pub fn new(condition: &Scenario) -> Self {
        let robots = condition.robots.min(ROBOTS);
        Self {
            ticks: ticks(condition.ticks, robots),
            robots,
            start: Vec::new(),
            before: vec![0; 2 * robots],
            changes: Vec::new(),
            scenery: Vec::new(),
            troubles: VisibleFaults::default(),
        }
    }

    fn recording<W: Environment>(
        &self, name: &'static str, title: &str, flight: &EpisodeMetrics,
    ) -> Recording {
        Recording {
            name,
            title: title.into(),
            score: flight.score.iter().map(|&value| five_digits(value)).collect(),
            moving: !W::layout().velocity.is_empty(),
            changes: self.changes.clone(),
            troubles: self.troubles.clone(),
        }
    }

    /// Returns a replay with this recording alone.
    pub fn replay<W: Environment>(
        self, task: &W::Task, radius: f32, profile: Profile, (name, title): (&'static str, &str),
        flight: &EpisodeMetrics,
    ) -> Replay {
        let flights = vec![self.recording::<W>(name, title, flight)];
        let Self { ticks, robots, start, scenery, .. } = self;
        let (profile, exchange) = (profile.name(), profile.exchange_ticks());
        Replay { period: task.period(), radius, robots, ticks, start, scenery, profile, exchange, flights }
    }
}

impl<W: Environment> Observer<W> for Recorder {
    fn observe(&mut self, moment: &TickView<'_, W>) -> Result {
        let scene = &moment.scene;
        self.troubles.see(moment, self.robots);
        if self.ticks.binary_search(&scene.tick).is_err() {
            return Ok(());
        }
        let places = || scene.places.iter().take(self.robots).flat_map(|[x, y, _]| [*x, *y]);
        if self.start.is_empty() {
            self.start = places().map(thousandths).collect();
        }
        let velocity = W::layout().velocity;
        let now: Vec<f32> = if velocity.is_empty() {
            places().collect()
        } else {
            let numbers = scene.states.iter().take(self.robots).map(State::to_array);
            numbers.flat_map(|numbers| numbers.as_ref()[velocity.clone()][..2].to_vec()).collect()
        };
        for (before, now) in self.before.iter_mut().zip(now) {
            let now = thousandths(now);
            self.changes.push(now - *before);
            *before = now;
        }
        self.scenery.push(moment.world.scene_discs(scene.tick));
        Ok(())
    }
}

/// Runs the first held-out swarm of `seed` under the controllers. Returns replay and episodes.
/// Calls `ticked` after each tick.
pub fn record<W: Environment>(
    eval: &EvalConfig<W>, controllers: &[Controller<W>], condition: &Scenario, seed: u64,
    ticked: &(dyn Fn() + Sync),
) -> Result<(Replay, Vec<EpisodeMetrics>)> {
    let task = eval.task()?;
    let start = Episode::draw(&eval.world, condition, &mut generator(seed, Purpose::Testing, 0))?;
    let fly = |number: usize| {
        let controller = &controllers[number];
        let mut recorder = Recorder::new(condition);
        let mut swarm = eval.swarm(controller, &start, 0)?;
        let stop = AtomicBool::new(false);
        let flight = start.fly(&task, swarm.as_mut(), &mut [&mut recorder, &mut Ticks(ticked)], &stop)?;
        Ok((recorder.recording::<W>(controller.name, &controller.title, &flight), (recorder, flight)))
    };
    // A large swarm uses all threads and much memory, so controllers run one after the other.
    let schedule = if eval.is_large { Schedule::Sequential } else { Schedule::Parallel };
    let flown = schedule.map(controllers.len(), fly)?;
    let (recordings, rest): (Vec<Recording>, Vec<_>) = flown.into_iter().unzip();
    let (mut recorders, flights): (Vec<Recorder>, Vec<EpisodeMetrics>) = rest.into_iter().unzip();
    let recorder = recorders.pop().unwrap_or_else(|| Recorder::new(condition));
    let Recorder { ticks, robots, start, scenery, .. } = recorder;
    let (profile, exchange) = (eval.profile.name(), eval.profile.exchange_ticks());
    let (period, radius) = (task.period(), condition.radius);
    let replay =
        Replay { period, radius, robots, ticks, start, scenery, profile, exchange, flights: recordings };
    Ok((replay, flights))
}

#[cfg(test)]
mod tests {
    use wdgnn_core::{task::Task, tasks::flocking::Motion};

    use super::*;
    use crate::{
        links::Links,
        program::rendezvous::{task::Place, world::Plane},
        scene::{Scene, Swarm},
        world::{StateOf, flock::Flock},
    };

    #[test]
    fn first_and_last_tick_are_recorded_with_any_number_of_robots() {
        assert_eq!(ticks(200, 50), (0..200).collect::<Vec<_>>());
        for robots in [1, 121, 500, 1000] {
            let ticks = ticks(200, robots);
            assert_eq!((ticks.first(), ticks.last()), (Some(&0), Some(&199)), "{robots}: {ticks:?}");
            assert!(ticks.len() <= SAMPLES / robots + 1);
        }
    }

    /// Swarm without commands, for tests.
    struct NoCommands;

    impl<T: Task> Swarm<T> for NoCommands {
        fn fly(&mut self, _: &Scene<'_, T::State>, _: &mut Vec<T::Command>) -> Result {
            Ok(())
        }
    }

    fn record<W: Environment>(recorder: &mut Recorder, tick: u32, states: &[StateOf<W>]) {
        let places: Vec<[f32; 3]> = states.iter().map(W::position).collect();
        let scene = Scene { tick, states, places: &places, links: &Links::within(&places, 1.0) };
        let moment = TickView { world: &W::default(), scene, commands: &[], swarm: &NoCommands };
        recorder.observe(&moment).unwrap();
    }

    fn recorder() -> Recorder {
        let (start, changes, scenery) = (Vec::new(), Vec::new(), Vec::new());
        let troubles = VisibleFaults::default();
        Recorder { ticks: vec![0, 2], robots: 1, start, before: vec![0; 2], changes, scenery, troubles }
    }

    #[test]
    fn velocities_are_recorded_as_changes() {
        let mut recorder = recorder();
        for (tick, velocity) in [(0, [1.0, -2.0]), (1, [9.0, 9.0]), (2, [1.2504, -2.5])] {
            // The second robot is not drawn individually.
            let motions = [
                Motion { position: [0.5, -0.5], velocity },
                Motion { position: [7.0; 2], velocity: [7.0; 2] },
            ];
            record::<Flock>(&mut recorder, tick, &motions);
        }
        assert_eq!(recorder.start, [500, -500]);
        assert_eq!(recorder.changes, [1000, -2000, 250, -500]);
    }

    #[test]
    fn positions_are_recorded_for_states_without_velocities() {
        let mut recorder = recorder();
        for (tick, position) in [(0, [1.0, 2.0]), (1, [9.0, 9.0]), (2, [1.2504, 1.5])] {
            record::<Plane>(&mut recorder, tick, &[Place(position)]);
        }
        assert_eq!(recorder.start, [1000, 2000]);
        assert_eq!(recorder.changes, [1000, 2000, 250, -500]);
        assert_eq!(recorder.scenery.len(), 2, "as often as robots");
    }
}
