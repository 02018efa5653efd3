//! Python class of a weight file. The core checks every file that is loaded or created.

use std::{path::PathBuf, sync::Arc};

use numpy::{AllowTypeChange, PyArray1, PyArrayLike1};
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyBytes, PyDict},
};
use wdgnn_core::{
    filter::scale::Scale,
    model::{GradientMetric, activation::Activation, shape::Dimensions},
    online::{Learning, Mixing},
    task::Task as _,
    weights::{Header, LayerDimensions, MAX_LAYERS, TaskSettings},
};
use wdgnn_sim::{files, model::ModelFile, models, world::Environment};

use crate::{
    error::raise,
    swarm_config::{TASKS, WorldVisitor, visit},
};

/// A trained network: the content of a `.wdgnn` file.
///
/// >>> from wdgnn import Model
/// >>> model = Model.named("flocking-wd-gnn")
/// >>> model
/// <wdgnn.Model models/flocking-wd-gnn.wdgnn: flocking, 1 layer of 4 taps, 6 features to 32, 2 outputs, 1669 numbers>
/// >>> Model(model.header, model.numbers) == model
/// True
#[pyclass(module = "wdgnn", frozen, eq)]
#[derive(Clone, Debug)]
pub struct Model {
    pub file: Arc<ModelFile>,
}

impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        self.file.as_bytes() == other.file.as_bytes()
    }
}

impl From<ModelFile> for Model {
    fn from(file: ModelFile) -> Self {
        Self { file: Arc::new(file) }
    }
}

#[pymethods]
impl Model {
    /// Network with a header, as returned by `Model.header`, and parameters in the order of the file.
    ///
    /// The order is α_D, α_W, β; filter [tap][input][output] and bias of every layer; filter and bias of the wide part;
    /// readout and its bias.
    #[new]
    fn new(header: &Bound<'_, PyDict>, numbers: PyArrayLike1<'_, f32, AllowTypeChange>) -> PyResult<Self> {
        let header = read_header(header)?;
        ModelFile::new("created in Python".as_ref(), &header, numbers.as_slice()?)
            .map(Self::from)
            .map_err(raise)
    }

    /// Loads a file. Raises `OSError` or `wdgnn.Error`.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        ModelFile::load(&path).map(Self::from).map_err(raise)
    }

    /// Network that is shipped with the package. `Model.names()` lists them.
    #[staticmethod]
    fn named(name: &str) -> PyResult<Self> {
        models::named(name).map(Self::from).map_err(raise)
    }

    /// Names of the networks that are shipped with the package.
    #[staticmethod]
    fn names() -> Vec<&'static str> {
        models::names().collect()
    }

    /// Network from the bytes of a file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        ModelFile::from_bytes("bytes".as_ref(), bytes).map(Self::from).map_err(raise)
    }

    /// Writes the file atomically.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        files::write(&path, self.file.as_bytes()).map_err(raise)
    }

    /// Copy of this network with other parameters.
    fn with_numbers(&self, numbers: PyArrayLike1<'_, f32, AllowTypeChange>) -> PyResult<Self> {
        let header = self.file.weights().header;
        ModelFile::new(self.file.path(), &header, numbers.as_slice()?).map(Self::from).map_err(raise)
    }

    /// Copy of all parameters, in the order of the file.
    #[getter]
    fn numbers<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, self.file.weights().numbers)
    }

    /// Header of the file as a dictionary: shape, activation, task settings and learning rule.
    #[getter]
    fn header<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        write_header(py, &self.file.weights().header)
    }

    /// Name of the task.
    #[getter]
    fn task(&self) -> String {
        let number = self.file.weights().header.task.task;
        task_name(number).map_or_else(|| format!("task {number}"), Into::into)
    }

    /// Checksum of the file. Robots reject frames of senders with another checksum.
    #[getter]
    fn checksum(&self) -> u32 {
        self.file.weights().checksum
    }

    /// Path of the file, or a description of the origin.
    #[getter]
    fn path(&self) -> String {
        self.file.path().display().to_string()
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.file.as_bytes())
    }

    fn __hash__(&self) -> u64 {
        self.checksum().into()
    }

    fn __repr__(&self) -> String {
        let weights = self.file.weights();
        let Dimensions { features, layers, taps, hidden, outputs } = Dimensions::of(&weights.header);
        let layers = if layers == 1 { "1 layer".into() } else { format!("{layers} layers") };
        format!(
            "<wdgnn.Model {}: {}, {layers} of {taps} taps, {features} features to {hidden}, {outputs} outputs, {} numbers>",
            self.path(),
            self.task(),
            weights.numbers.len()
        )
    }

    /// Pickles a model as its bytes.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.__bytes__(py),)))
    }
}

/// Model from a `Model` object, the name of a shipped network, or a path.
pub fn any(given: &Bound<'_, PyAny>) -> PyResult<Arc<ModelFile>> {
    if let Ok(model) = given.cast::<Model>() {
        return Ok(model.get().file.clone());
    }
    let path: PathBuf = given.extract()?;
    let name = path.to_str().filter(|name| models::names().any(|other| other == *name));
    let file = match name {
        Some(name) => models::named(name),
        None => ModelFile::load(&path),
    };
    file.map(Arc::new).map_err(raise)
}

/// Reads the number of a task.
struct Number;

impl WorldVisitor for Number {
    type Output = u16;

    fn visit<W: Environment>(self) -> u16 {
        W::Task::ID
    }
}

fn task_name(number: u16) -> Option<&'static str> {
    TASKS.iter().copied().find(|name| visit(name, Number).is_ok_and(|found| found == number))
}

const ACTIVATIONS: [(&str, Activation); 3] =
    [("tanh", Activation::Tanh), ("tanh-libm", Activation::TanhLibm), ("relu", Activation::Relu)];
const METRICS: [(&str, GradientMetric); 2] =
    [("paper", GradientMetric::Paper), ("euclidean", GradientMetric::Euclidean)];
const MIXINGS: [(&str, Mixing); 3] =
    [("alone", Mixing::Alone), ("uniform", Mixing::Uniform), ("metropolis", Mixing::Metropolis)];
const SCALES: [(&str, Scale); 3] = [("sum", Scale::Sum), ("mean", Scale::Mean), ("closed", Scale::Closed)];

fn name<T: PartialEq>(names: &[(&'static str, T)], value: &T) -> &'static str {
    names.iter().find(|(_, other)| other == value).map_or("unknown", |(name, _)| name)
}

fn named<T: Copy>(names: &[(&str, T)], field: &str, name: &str) -> PyResult<T> {
    names.iter().find(|(other, _)| *other == name).map(|(_, value)| *value).ok_or_else(|| {
        let valid: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        PyValueError::new_err(format!("unknown {field} {name}, use one of {}", valid.join(", ")))
    })
}

fn write_header<'py>(py: Python<'py>, header: &Header) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("activation", name(&ACTIVATIONS, &header.activation))?;
    match header.scale {
        Scale::Scaled(factor) => dict.set_item("scale", factor)?,
        other => dict.set_item("scale", name(&SCALES, &other))?,
    }
    dict.set_item("features", header.features)?;
    dict.set_item("hidden", header.hidden)?;
    dict.set_item("outputs", header.outputs)?;
    let used = header.layers.iter().filter(|layer| layer.taps > 0);
    dict.set_item("layers", used.map(|layer| (layer.taps, layer.features)).collect::<Vec<_>>())?;
    dict.set_item("task", header.task.task)?;
    dict.set_item("settings", header.task.numbers.to_vec())?;
    dict.set_item("interval", header.interval)?;
    dict.set_item("lag", header.lag)?;
    let rule = &header.learning;
    let learning = PyDict::new(py);
    learning.set_item("step", rule.step)?;
    learning.set_item("cooling", rule.cooling)?;
    learning.set_item("ridge", rule.ridge)?;
    learning.set_item("ball", rule.ball)?;
    learning.set_item("clip", rule.clip)?;
    learning.set_item("metric", name(&METRICS, &rule.metric))?;
    learning.set_item("mixing", name(&MIXINGS, &rule.mixing))?;
    learning.set_item("through_clamp", rule.through_clamp)?;
    learning.set_item("bias_step", rule.bias_step)?;
    learning.set_item("bias_clip", rule.bias_clip)?;
    learning.set_item("adapts_gain", rule.adapts_gain)?;
    dict.set_item("learning", learning)?;
    Ok(dict)
}

fn read_header(dict: &Bound<'_, PyDict>) -> PyResult<Header> {
    let missing = |field: &str| PyValueError::new_err(format!("the header has no {field}"));
    let field = |field: &str| dict.get_item(field)?.ok_or_else(|| missing(field));
    let learning = field("learning")?.cast_into::<PyDict>()?;
    let rule = |field: &str| learning.get_item(field)?.ok_or_else(|| missing(field));
    let number = |field: &str| rule(field)?.extract::<f32>();
    let word = |value: Bound<'_, PyAny>| value.extract::<String>();
    let scale = field("scale")?;
    let scale = match scale.extract::<f32>() {
        Ok(factor) => Scale::Scaled(factor),
        Err(_) => named(&SCALES, "scale", &word(scale)?)?,
    };
    let mut layers = [LayerDimensions::default(); MAX_LAYERS];
    let found: Vec<(u16, u16)> = field("layers")?.extract()?;
    if found.len() > layers.len() {
        return Err(PyValueError::new_err(format!(
            "a network has at most {MAX_LAYERS} layers, got {}",
            found.len()
        )));
    }
    for (layer, (taps, features)) in layers.iter_mut().zip(found) {
        *layer = LayerDimensions { taps, features };
    }
    Ok(Header {
        activation: named(&ACTIVATIONS, "activation", &word(field("activation")?)?)?,
        scale,
        features: field("features")?.extract()?,
        hidden: field("hidden")?.extract()?,
        outputs: field("outputs")?.extract()?,
        layers,
        task: TaskSettings { task: field("task")?.extract()?, numbers: field("settings")?.extract()? },
        learning: Learning {
            step: number("step")?,
            cooling: number("cooling")?,
            ridge: number("ridge")?,
            ball: number("ball")?,
            clip: number("clip")?,
            metric: named(&METRICS, "metric", &word(rule("metric")?)?)?,
            mixing: named(&MIXINGS, "mixing", &word(rule("mixing")?)?)?,
            through_clamp: rule("through_clamp")?.extract()?,
            bias_step: number("bias_step")?,
            bias_clip: number("bias_clip")?,
            adapts_gain: rule("adapts_gain")?.extract()?,
        },
        interval: field("interval")?.extract()?,
        lag: field("lag")?.extract()?,
    })
}
