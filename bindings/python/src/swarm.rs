//! A swarm as Python sees it: options in, numpy arrays out.

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
use wdgnn_sim::world::condition::ROBOTS;

use crate::{
    arrays::{Arrays, checked, two_rows},
    error::raise,
    faults,
    fleet::Fleet,
    model,
    order::{Circumstances, NETWORK, Order, profile, purpose, visit},
};

/// How long a flight goes on before it looks whether somebody pressed Ctrl-C.
const LOOK_UP: Duration = Duration::from_millis(50);

/// A swarm of core robots in flight.
///
/// Every robot is the code that is flashed to microcontrollers. A tick has two halves: robots *think* (sense, speak, hear, infer,
/// learn), and then everybody moves. `step` does both, `run` many of them, without holding Python's lock.
///
/// >>> from wdgnn import Swarm
/// >>> swarm = Swarm("flocking", robots=50, seed=1)
/// >>> swarm.run(200)
/// >>> swarm.states.shape, swarm.commands.shape, swarm.wide.shape
/// ((50, 4), (50, 2), (50, 48))
/// >>> swarm
/// <wdgnn.Swarm flocking: 50 robots on exact, learning, seed 1, tick 200, score 0.0021, digest b0419b0c6a829468>
///
/// `task`: what robots do; `wdgnn.TASKS` lists them.
/// `robots`, `radius` (radio range in metres), `speed` (largest starting speed per axis in m/s): the task’s own unless given.
/// `model`: a `Model`, the name of one that comes with the package, or a file; the task’s own unless given.
/// `controller`: `"network"`, or somebody without one, such as `"expert"`.
/// `profile`: how robots talk; `wdgnn.PROFILES` lists the link profiles.
/// `online`: whether robots learn in flight.
/// `faults`: what goes wrong, by the words of `host-sim swarm`, such as `{"drop_chance": 0.3, "kill": ["3@50"]}`.
/// `key`: the swarm’s key, 16 bytes or 32 hexadecimal digits: frames are sealed.
/// `seed`, `start`, `purpose`: which start; those for `"training"`, `"validation"` and `"testing"` are never the same.
#[pyclass(module = "wdgnn")]
#[allow(missing_debug_implementations, reason = "Python has a repr")]
pub struct Swarm {
    task: String,
    order: Order,
    fleet: Mutex<Box<dyn Fleet>>,
    arrays: Arrays,
}

#[pymethods]
impl Swarm {
    #[new]
    #[pyo3(signature = (task="flocking", *, robots=None, radius=None, speed=None, model=None, controller=NETWORK, profile="exact",
        online=true, faults=None, key=None, seed=1, start=0, purpose="testing"))]
    #[allow(clippy::too_many_arguments, reason = "each is an option with a name in Python")]
    fn new(
        py: Python<'_>,
        task: &str,
        robots: Option<i64>,
        radius: Option<f32>,
        speed: Option<f32>,
        model: Option<&Bound<'_, PyAny>>,
        controller: &str,
        profile: &str,
        online: bool,
        faults: Option<&Bound<'_, PyDict>>,
        key: Option<&[u8]>,
        seed: u64,
        start: u64,
        purpose: &str,
    ) -> PyResult<Self> {
        let bad_key = |no: key::NoKey| PyValueError::new_err(format!("that {}", no.sentence()));
        let robots = robots.map(|robots| {
            usize::try_from(robots)
                .map_err(|_| PyValueError::new_err(format!("robots must be {ROBOTS}, got {robots}")))
        });
        let order = Order {
            circumstances: Circumstances { robots: robots.transpose()?, radius, speed },
            model: model.map(model::any).transpose()?,
            controller: controller.to_owned(),
            profile: self::profile(profile)?,
            online,
            faults: faults::read(faults)?,
            key: key.map(|text| key::parse_key(text).map_err(bad_key)).transpose()?,
            seed,
            start,
            purpose: self::purpose(purpose)?,
        };
        let fleet = visit(task, &order)?.map_err(raise)?;
        let arrays = Arrays::new(py, fleet.sizes());
        let mut swarm = Self { task: task.to_owned(), order, fleet: Mutex::new(fleet), arrays };
        swarm.look(py)?;
        Ok(swarm)
    }

    /// Begins anew, from another start if there is a seed or a start.
    #[pyo3(signature = (seed=None, start=None))]
    fn reset(&mut self, py: Python<'_>, seed: Option<u64>, start: Option<u64>) -> PyResult<()> {
        self.order.seed = seed.unwrap_or(self.order.seed);
        self.order.start = start.unwrap_or(self.order.start);
        let fleet = visit(&self.task, &self.order)?.map_err(raise)?;
        self.fleet = Mutex::new(fleet);
        self.look(py)
    }

    /// The first half of a tick: robots sense, speak, hear, infer and learn. What they would do is in `commands`, what they know in
    /// `taps`. The next `step` goes on from here.
    fn think(&mut self, py: Python<'_>) -> PyResult<()> {
        self.place(py)?;
        let fleet = fleet(&mut self.fleet);
        py.detach(|| fleet.think()).map_err(raise)?;
        self.look(py)
    }

    /// A tick, by the robots’ own commands or by these: an array of one row per robot. `guard` limits, steers and keeps them apart as
    /// it does a network’s output.
    #[pyo3(signature = (commands=None, *, guard=false))]
    fn step(
        &mut self,
        py: Python<'_>,
        commands: Option<PyArrayLike2<'_, f32, AllowTypeChange>>,
        guard: bool,
    ) -> PyResult<()> {
        let commands =
            commands.as_ref().map(|commands| checked(commands, self.locked(Fleet::sizes))).transpose()?;
        self.place(py)?;
        let fleet = fleet(&mut self.fleet);
        py.detach(|| {
            fleet.think()?;
            fleet.go(commands, guard);
            Ok(())
        })
        .map_err(raise)?;
        self.look(py)
    }

    /// Flies so many ticks. Ctrl-C ends it after a whole tick, and the swarm can fly on.
    fn run(&mut self, py: Python<'_>, ticks: u32) -> PyResult<()> {
        self.place(py)?;
        let mut left = ticks;
        let mut outcome = Ok(());
        while left > 0 && outcome.is_ok() {
            let fleet = fleet(&mut self.fleet);
            match py.detach(|| fleet.run(left, Instant::now() + LOOK_UP)) {
                Ok(done) => {
                    left -= done;
                    outcome = py.check_signals();
                }
                Err(error) => outcome = Err(raise(error)),
            }
        }
        self.look(py)?;
        outcome
    }

    /// How everybody is, one row per robot. Where a value is changed, the robot is there at the next tick.
    #[getter]
    fn states(&self, py: Python<'_>) -> Py<PyArray2<f32>> {
        self.arrays.states.clone_ref(py)
    }

    /// What robots did last, or are about to do after `think`, one row per robot.
    #[getter]
    fn commands(&self, py: Python<'_>) -> Py<PyArray2<f32>> {
        self.arrays.commands.clone_ref(py)
    }

    /// What their networks said, before it was limited, steered and kept apart.
    #[getter]
    fn outputs(&self, py: Python<'_>) -> Py<PyArray2<f32>> {
        self.arrays.outputs.clone_ref(py)
    }

    /// The taps of the first layer, [robot][tap][feature]; tap 0 is what a robot observed itself.
    #[getter]
    fn taps(&self, py: Python<'_>) -> Py<PyArray3<f32>> {
        self.arrays.taps.clone_ref(py)
    }

    /// The wide parameters, which robots learn in flight, one row per robot.
    #[getter]
    fn wide(&self, py: Python<'_>) -> Py<PyArray2<f32>> {
        self.arrays.wide.clone_ref(py)
    }

    /// The wide parameters as they were trained.
    #[getter]
    fn offline<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        self.locked(|fleet| fleet.offline().into_pyarray(py))
    }

    /// Who was in whose range when robots last thought: two rows, speakers and listeners, as graph libraries have them.
    #[getter]
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let edges = self.locked(|fleet| {
            let links = fleet.links();
            let listeners = (0..).zip((0..links.robots()).map(|robot| links.of(robot)));
            listeners.flat_map(|(to, others)| others.iter().map(move |&from| (from.into(), to))).collect()
        });
        two_rows(py, edges)
    }

    /// Whom robots counted, likewise: those whom they believe and have room for, and who were heard not long ago.
    #[getter]
    fn counted<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let listeners = (0..).zip(self.locked(Fleet::counted));
        let edges = listeners.flat_map(|(to, others)| others.into_iter().map(move |from| (from.into(), to)));
        two_rows(py, edges.collect())
    }

    /// The expert’s command for everybody as they are, one row per robot; `None` where there is no expert.
    fn expert<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f32>>>> {
        self.place(py)?;
        let commands = fleet(&mut self.fleet).expert().map_err(raise)?;
        let shape = self.arrays.commands.bind(py).dims();
        commands.map(|commands| commands.into_pyarray(py).reshape(shape)).transpose()
    }

    /// The tick’s number.
    #[getter]
    fn tick(&self) -> u32 {
        self.locked(Fleet::tick)
    }

    /// The time from one tick to the next in seconds.
    #[getter]
    fn period(&self) -> f32 {
        self.locked(Fleet::period)
    }

    /// The largest command per axis.
    #[getter]
    fn limits<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        self.locked(|fleet| fleet.limits().into_pyarray(py))
    }

    /// How bad things are now; less is better. For flocking, the velocity variation in m²/s².
    #[getter]
    fn score(&self) -> f64 {
        self.locked(Fleet::score)
    }

    /// The score at every tick that robots have thought in.
    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.locked(|fleet| PyArray1::from_slice(py, fleet.scores()))
    }

    /// CRC-64/XZ over every command and every wide parameter of every robot so far. `host-sim swarm` prints the same for the same flight.
    fn digest(&self) -> String {
        self.locked(Fleet::digest)
    }

    /// Which robots are still there.
    #[getter]
    fn alive(&self) -> Vec<bool> {
        self.locked(Fleet::alive)
    }

    /// The frames of the last tick, a list per robot; empty where robots hand each other their beacons, without faults and key.
    #[getter]
    fn frames<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.locked(|fleet| {
            let robots = fleet.frames().into_iter();
            PyList::new(
                py,
                robots.map(|frames| {
                    frames.into_iter().map(|frame| PyBytes::new(py, frame)).collect::<Vec<_>>()
                }),
            )
        })
    }

    /// How many frames were refused so far, by reason; none where robots hand each other their beacons.
    #[getter]
    fn refusals(&self) -> BTreeMap<&'static str, u64> {
        self.locked(Fleet::counts).map_or_else(BTreeMap::new, |(_, _, refused)| refused)
    }

    /// What came of the flight so far: a dictionary, one row of a table.
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(py);
        row.set_item("task", &self.task)?;
        row.set_item("controller", &self.order.controller)?;
        row.set_item("profile", self.order.profile.name())?;
        row.set_item("seed", self.order.seed)?;
        row.set_item("start", self.order.start)?;
        self.locked(|fleet| {
            row.set_item("robots", fleet.sizes().robots)?;
            row.set_item("online", fleet.learns())?;
            row.set_item("ticks", fleet.tick())?;
            row.set_item("total", fleet.scores().iter().sum::<f64>())?;
            row.set_item("final", fleet.scores().last().copied().unwrap_or(f64::NAN))?;
            row.set_item("min_distance", fleet.min_distance())?;
            row.set_item("disagreement", fleet.disagreement())?;
            row.set_item("digest", fleet.digest())?;
            if let Some((heard, violations, refused)) = fleet.counts() {
                row.set_item("heard", heard)?;
                row.set_item("refused", refused.values().sum::<u64>())?;
                row.set_item("violations", violations)?;
            }
            Ok(row)
        })
    }

    /// What robots do.
    #[getter]
    fn task(&self) -> &str {
        &self.task
    }

    /// How many robots there are.
    #[getter]
    fn robots(&self) -> usize {
        self.locked(Fleet::sizes).robots
    }

    /// Whether robots learn in flight.
    #[getter]
    fn online(&self) -> bool {
        self.locked(Fleet::learns)
    }

    /// How robots talk.
    #[getter]
    fn profile(&self) -> &'static str {
        self.order.profile.name()
    }

    /// The seed of the start.
    #[getter]
    fn seed(&self) -> u64 {
        self.order.seed
    }

    fn __len__(&self) -> usize {
        self.robots()
    }

    fn __repr__(&self) -> String {
        let Order { controller, profile, faults, key, seed, .. } = &self.order;
        let who = match (controller.as_str(), self.online()) {
            (NETWORK, true) => "learning",
            (NETWORK, false) => "not learning",
            (other, _) => other,
        };
        let air = match (faults, key) {
            (_, Some(_)) => " sealed",
            (Some(_), None) => " with faults",
            (None, None) => "",
        };
        let (task, robots, profile) = (&self.task, self.robots(), profile.name());
        let (tick, score, digest) = (self.tick(), self.score(), self.digest());
        format!(
            "<wdgnn.Swarm {task}: {robots} robots on {profile}{air}, {who}, seed {seed}, tick {tick}, score {score:.4}, digest {digest}>"
        )
    }
}

impl Swarm {
    fn locked<R>(&self, see: impl FnOnce(&(dyn Fleet + 'static)) -> R) -> R {
        // Nobody panics while it is held; if somebody did, numbers are still numbers.
        see(self.fleet.lock().unwrap_or_else(PoisonError::into_inner).as_ref())
    }

    /// Takes up where Python has put robots.
    fn place(&mut self, py: Python<'_>) -> PyResult<()> {
        self.arrays.place(py, fleet(&mut self.fleet))
    }

    /// Fills in what Python sees.
    fn look(&mut self, py: Python<'_>) -> PyResult<()> {
        self.arrays.look(py, fleet(&mut self.fleet))
    }
}

fn fleet(fleet: &mut Mutex<Box<dyn Fleet>>) -> &mut dyn Fleet {
    fleet.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut()
}
