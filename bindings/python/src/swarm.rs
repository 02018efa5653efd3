//! Python class of a swarm, with numpy arrays.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use numpy::{
    AllowTypeChange, IntoPyArray as _, PyArray1, PyArray2, PyArray3, PyArrayLike2, PyArrayMethods as _,
};
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyBytes, PyDict, PyList},
};
use wdgnn_link::security::key;
use wdgnn_sim::world::scenario::ROBOTS;

use crate::{
    arrays::{Arrays, check_rows, edge_array},
    error::raise,
    faults,
    guard::GuardSettings,
    model,
    running_swarm::RunningSwarm,
    swarm_config::{ConditionOverrides, NETWORK, SwarmConfig, profile, purpose, visit},
};

/// Interval between checks for Ctrl-C.
const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// A swarm of robots in a simulated world.
///
/// Every robot runs the code of the microcontrollers. A tick of 10 ms has two halves: robots decide (sense, exchange, infer,
/// learn), and then move. `step` runs one tick, `run` many of them. Both return `None` and release Python’s lock; the results
/// are in the attributes.
///
/// >>> from wdgnn import Swarm
/// >>> swarm = Swarm("flocking", robots=50, seed=1)
/// >>> swarm.run(200)
/// >>> swarm.states.shape, swarm.commands.shape, swarm.wide.shape
/// ((50, 4), (50, 2), (50, 48))
/// >>> swarm
/// <wdgnn.Swarm flocking: 50 robots on exact, learning, seed 1, tick 200, score 0.0000, digest 7987bc8615e616d6>
///
/// `task`: name of the task; `wdgnn.TASKS` lists them.
/// `robots`, `radius` (radio range in m), `speed` (maximum starting speed per axis in m/s) [those of the task].
/// `model`: a `Model`, the name of a shipped one, or a file [that of the task].
/// `body`: body between command and motion: `"point"`, `"quadrotor"` or `"differential"`, with settings such as
///   `"quadrotor,lag=1.2,delay=2"`; `docs/scenarios.md` lists them. It changes the defaults of `robots` and `speed`.
/// `controller`: `"network"`, or a baseline such as `"expert"`.
/// `profile`: link profile; `wdgnn.PROFILES` lists them.
/// `online`: whether the robots learn in flight.
/// `faults`: faults by the keys of `host-sim faults --list`, such as `{"drop_chance": 0.3, "kill": ["3@50"]}`.
///   `actuator_delay` in ticks and `actuator_lag` in seconds delay the effect of commands, under every controller.
/// `guard`: settings of the safety gate that replace those of the model: `separation` and `repulsion` in m, `horizon` in s,
///   `strength` in m²/s². `{"separation": 0, "repulsion": 0}` leaves only the limit of commands.
/// `key`: group key that seals the frames, 16 bytes or 32 hexadecimal digits.
/// `seed`, `start`, `purpose`: select the start. The starts of `"training"`, `"validation"` and `"testing"` are disjoint.
///
/// Invalid options raise `ValueError`, unreadable files `OSError`, unsuitable models `wdgnn.Error`.
#[pyclass(module = "wdgnn")]
#[allow(missing_debug_implementations, reason = "`__repr__` describes it")]
pub struct Swarm {
    task: String,
    config: SwarmConfig,
    running: Mutex<Box<dyn RunningSwarm>>,
    arrays: Arrays,
}

#[pymethods]
impl Swarm {
    #[new]
    #[pyo3(signature = (task="flocking", *, robots=None, radius=None, speed=None, model=None, controller=NETWORK, profile="exact",
        online=true, faults=None, body=None, guard=None, key=None, seed=1, start=0, purpose="testing"))]
    #[allow(clippy::too_many_arguments, reason = "each is an option with a name in Python")]
    fn new(
        py: Python<'_>, task: &str, robots: Option<i64>, radius: Option<f32>, speed: Option<f32>,
        model: Option<&Bound<'_, PyAny>>, controller: &str, profile: &str, online: bool,
        faults: Option<&Bound<'_, PyDict>>, body: Option<&str>, guard: Option<&Bound<'_, PyDict>>,
        key: Option<&[u8]>, seed: u64, start: u64, purpose: &str,
    ) -> PyResult<Self> {
        let bad_key = |no: key::KeyParseError| PyValueError::new_err(format!("key: that {no}"));
        let robots = robots.map(|robots| {
            usize::try_from(robots)
                .map_err(|_| PyValueError::new_err(format!("robots must be {ROBOTS}, got {robots}")))
        });
        let (faults, actuators) = faults::read(faults)?;
        let bad_body = |text, expected| PyValueError::new_err(format!("body must be {expected}, got {text}"));
        let body = body.map(|text| text.parse().map_err(|expected: String| bad_body(text, expected)));
        let config = SwarmConfig {
            condition: ConditionOverrides { robots: robots.transpose()?, radius, speed },
            model: model.map(model::any).transpose()?,
            controller: controller.to_owned(),
            profile: self::profile(profile)?,
            online,
            faults,
            actuators,
            body: body.transpose()?,
            guard: GuardSettings::read(guard)?,
            key: key.map(|text| key::parse_key(text).map_err(bad_key)).transpose()?,
            seed,
            start,
            purpose: self::purpose(purpose)?,
        };
        let running = visit(task, &config)?.map_err(raise)?;
        let arrays = Arrays::new(py, running.sizes());
        let mut swarm = Self { task: task.to_owned(), config, running: Mutex::new(running), arrays };
        swarm.update_arrays(py)?;
        Ok(swarm)
    }

    /// Starts a new episode. `seed` and `start` select another start; otherwise they keep their values.
    #[pyo3(signature = (seed=None, start=None))]
    fn reset(&mut self, py: Python<'_>, seed: Option<u64>, start: Option<u64>) -> PyResult<()> {
        self.config.seed = seed.unwrap_or(self.config.seed);
        self.config.start = start.unwrap_or(self.config.start);
        let running = visit(&self.task, &self.config)?.map_err(raise)?;
        self.running = Mutex::new(running);
        self.update_arrays(py)
    }

    /// Runs the first half of a tick: robots sense, exchange messages, infer and learn.
    ///
    /// Updates `commands`, `outputs`, `taps` and `wide`. The next `step` ends the tick. A tick has one decision: a second call
    /// before `step` raises `wdgnn.Error`, and states that changed after `decide` raise `ValueError`.
    ///
    /// >>> from wdgnn import Swarm
    /// >>> swarm = Swarm(robots=5)
    /// >>> swarm.decide()
    /// >>> swarm.decide()
    /// Traceback (most recent call last):
    /// wdgnn.Error: tick 0 is decided: end it with step(), or with step(states=...) for motion from outside
    fn decide(&mut self, py: Python<'_>) -> PyResult<()> {
        let running = running(&mut self.running);
        if running.is_decided() {
            let tick = running.tick();
            return Err(crate::error::Error::new_err(format!(
                "tick {tick} is decided: end it with step(), or with step(states=...) for motion from outside"
            )));
        }
        self.arrays.write_states(py, running)?;
        py.detach(|| running.decide()).map_err(raise)?;
        self.update_arrays(py)
    }

    /// Runs one tick, or its second half after `decide`. Returns `None`.
    ///
    /// `commands`: array with one row per robot that replaces the robots’ own commands, for flocking in m/s².
    /// `states`: array with one row per robot that replaces the motion, for robots in another simulator.
    /// `guard`: whether these commands pass the safety gate of the robots, see the method `guard`.
    ///
    /// >>> from wdgnn import Swarm
    /// >>> swarm = Swarm(robots=5)
    /// >>> swarm.decide()
    /// >>> outside = swarm.states.copy()
    /// >>> outside[:, 2:] += swarm.period * swarm.commands     # motion of another simulator
    /// >>> swarm.step(states=outside)
    /// >>> swarm.tick, bool((swarm.states == outside).all())
    /// (1, True)
    #[pyo3(signature = (commands=None, *, states=None, guard=false))]
    fn step(
        &mut self, py: Python<'_>, commands: Option<PyArrayLike2<'_, f32, AllowTypeChange>>,
        states: Option<PyArrayLike2<'_, f32, AllowTypeChange>>, guard: bool,
    ) -> PyResult<()> {
        let sizes = self.locked(RunningSwarm::sizes);
        let commands = commands.as_ref().map(|rows| check_rows("commands", rows, sizes.commands_shape()));
        let states = states.as_ref().map(|rows| check_rows("states", rows, sizes.states_shape()));
        let (commands, states) = (commands.transpose()?, states.transpose()?);
        if states.is_none() || !self.locked(RunningSwarm::is_decided) {
            self.write_states(py)?;
        }
        let running = running(&mut self.running);
        py.detach(|| {
            running.decide()?;
            let commands = commands.map(|commands| if guard { running.guard(&commands) } else { commands });
            running.end_tick(commands.as_deref(), states.as_deref());
            Ok(())
        })
        .map_err(raise)?;
        self.update_arrays(py)
    }

    /// Commands after the safety gate of the robots, which limits them and avoids collisions. Nothing else changes.
    ///
    /// After `decide`, each robot avoids the neighbors that it uses, and a robot without neighbors keeps the command of its
    /// failsafe. Before `decide`, and without a network, it avoids all robots in range. The option `guard` of the swarm sets
    /// the distances.
    ///
    /// >>> from wdgnn import Swarm
    /// >>> swarm = Swarm(robots=5)
    /// >>> import numpy as np
    /// >>> swarm.guard(np.full((5, 2), 50.0)).max()
    /// np.float32(10.0)
    fn guard<'py>(
        &mut self, py: Python<'py>, commands: PyArrayLike2<'_, f32, AllowTypeChange>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let shape = self.locked(RunningSwarm::sizes).commands_shape();
        let commands = check_rows("commands", &commands, shape)?;
        self.write_states(py)?;
        let guarded = running(&mut self.running).guard(&commands);
        guarded.into_pyarray(py).reshape(shape)
    }

    /// Runs `ticks` ticks without holding Python’s lock. Returns `None`: the results are in the attributes of the swarm.
    ///
    /// Ctrl-C raises `KeyboardInterrupt` after a whole tick. The swarm stays valid, and another `run` continues.
    fn run(&mut self, py: Python<'_>, ticks: u32) -> PyResult<()> {
        self.write_states(py)?;
        let mut left = ticks;
        let mut outcome = Ok(());
        while left > 0 && outcome.is_ok() {
            let running = running(&mut self.running);
            match py.detach(|| running.run(left, Instant::now() + SIGNAL_CHECK_INTERVAL)) {
                Ok(done) => {
                    left -= done;
                    outcome = py.check_signals();
                }
                Err(error) => outcome = Err(raise(error)),
            }
        }
        self.update_arrays(py)?;
        outcome
    }

    /// States, one row per robot. For flocking: positions in m, then velocities in m/s. Writable: changes apply at the next
    /// tick.
    #[getter]
    fn states(&self, py: Python<'_>) -> Py<PyArray2<f32>> {
        self.arrays.states.clone_ref(py)
    }

    /// Commands of the last tick, or after `decide` of the current one, one row per robot. For flocking in m/s².
    #[getter]
    fn commands(&self, py: Python<'_>) -> Py<PyArray2<f32>> {
        self.arrays.commands.clone_ref(py)
    }

    /// Outputs of the networks before the safety gate, one row per robot.
    #[getter]
    fn outputs(&self, py: Python<'_>) -> Py<PyArray2<f32>> {
        self.arrays.outputs.clone_ref(py)
    }

    /// Taps of the first layer, [robot][tap][feature]. Tap 0 holds the robot’s own features.
    #[getter]
    fn taps(&self, py: Python<'_>) -> Py<PyArray3<f32>> {
        self.arrays.taps.clone_ref(py)
    }

    /// Wide parameters, which robots learn in flight, one row per robot.
    #[getter]
    fn wide(&self, py: Python<'_>) -> Py<PyArray2<f32>> {
        self.arrays.wide.clone_ref(py)
    }

    /// Wide parameters of the weight file, before learning in flight.
    #[getter]
    fn offline_wide<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        self.locked(|running| running.offline_wide().into_pyarray(py))
    }

    /// Pairs of robots in radio range at the last decision. Two rows: senders and receivers, as in graph libraries.
    #[getter]
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let edges = self.locked(|running| {
            let links = running.links();
            let listeners = (0..).zip((0..links.robots()).map(|robot| links.of(robot)));
            listeners.flat_map(|(to, others)| others.iter().map(move |&from| (from.into(), to))).collect()
        });
        edge_array(py, edges)
    }

    /// Pairs of robots of which the receiver uses the sender for control and learning. Two rows: senders and receivers.
    #[getter]
    fn used_links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let listeners = (0..).zip(self.locked(RunningSwarm::used_neighbors));
        let edges = listeners.flat_map(|(to, others)| others.into_iter().map(move |from| (from.into(), to)));
        edge_array(py, edges.collect())
    }

    /// Commands of the expert for the current states, one row per robot. `None` for a task without an expert.
    fn expert<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f32>>>> {
        self.write_states(py)?;
        let commands = running(&mut self.running).expert().map_err(raise)?;
        let shape = self.arrays.commands.bind(py).dims();
        commands.map(|commands| commands.into_pyarray(py).reshape(shape)).transpose()
    }

    /// Number of completed ticks.
    #[getter]
    fn tick(&self) -> u32 {
        self.locked(RunningSwarm::tick)
    }

    /// Duration of a tick in seconds.
    #[getter]
    fn period(&self) -> f32 {
        self.locked(RunningSwarm::period)
    }

    /// Maximum command per axis. For flocking in m/s².
    #[getter]
    fn limits<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        self.locked(|running| running.limits().into_pyarray(py))
    }

    /// Current score; less is better. For flocking, the velocity variation in m²/s².
    #[getter]
    fn score(&self) -> f64 {
        self.locked(RunningSwarm::score)
    }

    /// Score at every tick of the episode.
    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.locked(|running| PyArray1::from_slice(py, running.scores()))
    }

    /// CRC-64/XZ over every command and every wide parameter of every robot at every tick, in hexadecimal.
    ///
    /// Equal digests mean identical runs. `host-sim run` prints the digest of its run.
    fn digest(&self) -> String {
        self.locked(RunningSwarm::digest)
    }

    /// Whether each robot is present: it has joined and was not killed.
    #[getter]
    fn alive(&self) -> Vec<bool> {
        self.locked(RunningSwarm::alive)
    }

    /// Frames of the last tick, one list per robot. Empty without faults and key: robots then exchange messages directly.
    #[getter]
    fn frames<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.locked(|running| {
            let robots = running.frames().into_iter();
            PyList::new(
                py,
                robots.map(|frames| {
                    frames.into_iter().map(|frame| PyBytes::new(py, frame)).collect::<Vec<_>>()
                }),
            )
        })
    }

    /// Number of rejected frames by reason. Empty without faults and key.
    #[getter]
    fn frame_errors(&self) -> BTreeMap<&'static str, u64> {
        self.locked(RunningSwarm::radio_counters).map_or_else(BTreeMap::new, |(_, _, errors)| errors)
    }

    /// Results of the episode as a dictionary, one row of a table.
    ///
    /// `total` and `final` are the sum of the scores and the last score, `min_distance` the shortest distance between two
    /// robots in m, `disagreement` the spread of the wide parameters. With faults or a key, `received` and `rejected` count
    /// frames, and `violations` counts commands and parameters outside their limits.
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(py);
        row.set_item("task", &self.task)?;
        row.set_item("controller", &self.config.controller)?;
        row.set_item("profile", self.config.profile.name())?;
        row.set_item("seed", self.config.seed)?;
        row.set_item("start", self.config.start)?;
        self.locked(|running| {
            row.set_item("robots", running.sizes().robots)?;
            row.set_item("online", running.learns())?;
            row.set_item("ticks", running.tick())?;
            row.set_item("total", running.scores().iter().sum::<f64>())?;
            row.set_item("final", running.scores().last().copied().unwrap_or(f64::NAN))?;
            row.set_item("min_distance", running.min_distance())?;
            row.set_item("disagreement", running.disagreement())?;
            row.set_item("digest", running.digest())?;
            if let Some((received, violations, errors)) = running.radio_counters() {
                row.set_item("received", received)?;
                row.set_item("rejected", errors.values().sum::<u64>())?;
                row.set_item("violations", violations)?;
            }
            Ok(row)
        })
    }

    /// Name of the task.
    #[getter]
    fn task(&self) -> &str {
        &self.task
    }

    /// Number of robots.
    #[getter]
    fn robots(&self) -> usize {
        self.locked(RunningSwarm::sizes).robots
    }

    /// Whether the robots learn in flight.
    #[getter]
    fn online(&self) -> bool {
        self.locked(RunningSwarm::learns)
    }

    /// Network of the robots. `None` for a baseline.
    ///
    /// >>> from wdgnn import Swarm
    /// >>> Swarm(robots=5, profile="dot154").model.header.get("interval")
    /// 5
    #[getter]
    fn model(&self) -> Option<model::Model> {
        self.locked(RunningSwarm::model).map(|file| model::Model { file })
    }

    /// Name of the link profile.
    #[getter]
    fn profile(&self) -> &'static str {
        self.config.profile.name()
    }

    /// Seed of the start.
    #[getter]
    fn seed(&self) -> u64 {
        self.config.seed
    }

    fn __len__(&self) -> usize {
        self.robots()
    }

    fn __repr__(&self) -> String {
        let SwarmConfig { controller, profile, faults, key, seed, .. } = &self.config;
        let control = match (controller.as_str(), self.online()) {
            (NETWORK, true) => "learning",
            (NETWORK, false) => "not learning",
            (other, _) => other,
        };
        let radio = match (faults, key) {
            (_, Some(_)) => " sealed",
            (Some(_), None) => " with faults",
            (None, None) => "",
        };
        let (task, robots, profile) = (&self.task, self.robots(), profile.name());
        let (tick, score, digest) = (self.tick(), self.score(), self.digest());
        format!(
            "<wdgnn.Swarm {task}: {robots} robots on {profile}{radio}, {control}, seed {seed}, tick {tick}, score {score:.4}, digest {digest}>"
        )
    }
}

impl Swarm {
    fn locked<R>(&self, read: impl FnOnce(&(dyn RunningSwarm + 'static)) -> R) -> R {
        // A poisoned lock is harmless: every state of a swarm is valid.
        read(self.running.lock().unwrap_or_else(PoisonError::into_inner).as_ref())
    }

    /// Copies the states, which Python may have changed, to the swarm.
    fn write_states(&mut self, py: Python<'_>) -> PyResult<()> {
        self.arrays.write_states(py, running(&mut self.running))
    }

    /// Copies the swarm's data to the arrays.
    fn update_arrays(&mut self, py: Python<'_>) -> PyResult<()> {
        self.arrays.update(py, running(&mut self.running))
    }
}

fn running(running: &mut Mutex<Box<dyn RunningSwarm>>) -> &mut dyn RunningSwarm {
    running.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut()
}
