//! One robot's tick of the Wide and Deep Graph Neural Network: no heap, no panic, no `unsafe`, no I/O, and the same bits on
//! every machine.
//!
//! A swarm flies one trained network. Each robot computes its own part of it from what its neighbours broadcast, and keeps
//! training the *wide* part (a bank of graph filters) in flight while the *deep* part (a graph neural network) stays as it was
//! trained:
//!
//! ```text
//! z_0(t) = x(t)                              own features
//! z_k(t) = s · Σ_j z_{k-1}^{(j)}(t-1)        k = 1…K: neighbours' taps as they stood one tick earlier
//! u      = Rᵀ(α_D σ(Aᵀz + a) + α_W (Bᵀz + b) + β) + ρ
//! ```
//!
//! # The story of a tick
//!
//! | step | module | in → out |
//! |---|---|---|
//! | sense | [`ports`] | own state |
//! | speak | [`message`] | state(t), taps z(t−1), wide parameters → one broadcast frame |
//! | hear | [`message`], [`neighbours`] | frames → checked beacons → a table of fixed size, by ascending id |
//! | observe | [`task`], [`flocking`] | own and neighbours' states → features x(t) |
//! | aggregate | [`taps`] | neighbours' z(t−1) → z(t) |
//! | infer | [`deep`], [`wide`], [`network`] | z(t) → the network's output |
//! | guard, act | [`safety`], [`ports`] | output → a finite, bounded command, also alone → motors |
//! | learn | [`task`], [`online`] | the local loss → the gradient of the wide part |
//! | keep | [`personal`] | what a robot learns about itself and tells nobody |
//! | agree | `consensus` | own and neighbours' wide parameters, gradient → the next ones |
//!
//! [`node`] has these steps as verbs and holds what lasts from tick to tick; [`mod@tick`] runs them against a robot's ports and
//! reports everything it counted: [`refusal`] names each reason to refuse a frame. [`weights`] reads a trained model, and
//! [`restart`] brings back what was learned before a reset. Acting comes before learning, so learning never delays the
//! motors, and no error of a port ends a tick.
//!
//! Every dimension is a number in a type, so a wrong one does not compile, and nothing is ever allocated: F features, TAPS = K + 1
//! taps, G hidden features, O outputs, any stack of [`Layer`]s, room for N neighbours.
//!
//! # Two robots agree on a velocity
//!
//! ```
//! use wdgnn_core::{
//!     Activation, Behaviour, Flocking, Folded, Layer, Learning, Metric, Motion, Network, Node, Scale, Top,
//!     codec::Exact, node::Settings, ports::Sensed,
//! };
//!
//! // 6 features, 2 taps, 2 hidden features, 2 outputs; one layer.
//! type Net<'w> = Network<'w, 6, 2, 2, 2, Layer<'w, 2, 6, 2, Top>>;
//!
//! // Weights by hand: u = −Σ_j (v_i − v_j), the wide part alone.
//! let mut numbers = [0.0; Net::NUMBERS];
//! numbers[1] = 1.0; // α_W
//! let (wide, readout) = (3 + 26, 3 + 26 + 26);
//! (numbers[wide], numbers[wide + 3]) = (-1.0, -1.0); // B: feature 0 to hidden 0, feature 1 to hidden 1
//! (numbers[readout], numbers[readout + 3]) = (1.0, 1.0); // R: the identity
//! let network = Net::over(&numbers, Activation::Tanh, Scale::Mean).unwrap();
//!
//! let model = Folded::new(network, Metric::Paper);
//! let behaviour = Behaviour::new(Learning::paper(0.1));
//! let motion = |x, speed| Motion { position: [x, 0.0], velocity: [speed, 0.0] };
//! let mut motions = [motion(0.0, 1.0), motion(4.0, -1.0)];
//! let mut robots = [0, 1].map(|id: u16| {
//!     let (task, state) = (Flocking::DEFAULT, motions[usize::from(id)]);
//!     Node::<_, _, 8>::new(Settings { id, model, task, checksum: 0, behaviour, state, codec: Exact })
//! });
//!
//! for tick in 0..200 {
//!     // Everybody senses and speaks, ...
//!     let mut frames = [[0; 256]; 2];
//!     let mut lengths = [0; 2];
//!     for (id, robot) in robots.iter_mut().enumerate() {
//!         robot.sense(tick, Some(Sensed::now(motions[id])));
//!         lengths[id] = robot.speak(&mut frames[id]).unwrap();
//!     }
//!     // ... then everybody hears, and does the rest of the list.
//!     for (id, robot) in robots.iter_mut().enumerate() {
//!         let other = 1 - id;
//!         robot.hear(&mut frames[other][..lengths[other]]).unwrap();
//!         robot.settle();
//!         let features = robot.observe();
//!         robot.aggregate();
//!         robot.infer(&features);
//!         let (command, _verdict) = robot.guard();
//!         robot.learn();
//!         robot.agree();
//!         motions[id].velocity[0] += 0.01 * command[0];
//!         motions[id].position[0] += 0.01 * motions[id].velocity[0];
//!     }
//! }
//! let difference = (motions[0].velocity[0] - motions[1].velocity[0]).abs();
//! assert!(difference < 0.1, "from 2 m/s to {difference} m/s in two seconds");
//! ```
//!
//! # A robot from a weight file
//!
//! What firmware does: open the bytes in flash, let every mismatch be named, and run ticks against its ports.
//!
//! ```
//! use wdgnn_core::{
//!     Behaviour, Flocking, Folded, Layer, Motion, Network, Node, Task, Top, Weights, WeightsError,
//!     codec::Exact, node::Settings,
//!     ports::{Actuator, NoStore, Ports, Radio, Received, Sensed, Sensor}, tick,
//! };
//! # use wdgnn_core::{Activation, Learning, Scale, weights::{self, Aligned, Header, LayerDimensions, TaskSettings}};
//!
//! type Net<'w> = Network<'w, 6, 2, 2, 2, Layer<'w, 2, 6, 2, Top>>;
//!
//! struct Silence;
//! impl Radio for Silence {
//!     type Error = ();
//!     fn send(&mut self, _frame: &[u8]) -> Result<(), ()> { Ok(()) }
//!     fn receive(&mut self, _buffer: &mut [u8]) -> Result<Option<Received>, ()> { Ok(None) }
//! }
//! struct AtRest;
//! impl Sensor<Motion> for AtRest {
//!     type Error = ();
//!     fn sense(&mut self) -> Result<Sensed<Motion>, ()> {
//!         Ok(Sensed::now(Motion::REST))
//!     }
//! }
//! struct Motors;
//! impl Actuator<[f32; 2]> for Motors {
//!     type Error = ();
//!     fn act(&mut self, _command: &[f32; 2]) -> Result<(), ()> { Ok(()) }
//!     fn stop(&mut self) -> Result<(), ()> { Ok(()) }
//! }
//!
//! fn robot(file: &[u8]) -> Result<(), WeightsError> {
//!     let weights = Weights::open(file)?;
//!     let network = Net::from_weights(&weights)?;
//!     let task: Flocking = Task::from_settings(weights.expect_task(Flocking::<2>::NUMBER)?);
//!     let learning = weights.header.learning;
//!     let model = Folded::new(network, learning.metric);
//!     let (checksum, behaviour, state) = (weights.checksum, Behaviour::new(learning), Motion::REST);
//!     let settings = Settings { id: 7, model, task, checksum, behaviour, state, codec: Exact };
//!     let mut node = Node::<_, _, 8>::new(settings);
//!     let (mut radio, mut sensor, mut actuator, mut store) = (Silence, AtRest, Motors, NoStore);
//!     let mut ports =
//!         Ports { radio: &mut radio, sensor: &mut sensor, actuator: &mut actuator, store: &mut store };
//!     for now in 0..10 {
//!         let report = tick::run(&mut node, now, &mut ports, &mut [0; 256]);
//!         assert_eq!((report.neighbours, report.command), (0, [0.0, 0.0]));
//!     }
//!     Ok(())
//! }
//! # let mut layers = [LayerDimensions::default(); weights::MOST_LAYERS];
//! # layers[0] = LayerDimensions { taps: 2, features: 2 };
//! # let header = Header {
//! #     activation: Activation::Tanh, scale: Scale::Mean, features: 6, hidden: 2,
//! #     outputs: 2, layers, task: TaskSettings { task: Flocking::<2>::NUMBER, numbers: Flocking::DEFAULT.settings() },
//! #     learning: Learning::paper(1.0), interval: 1,
//! # };
//! # let mut file = Aligned([0; 1024]);
//! # let length = weights::write(&header, &[0.0; Net::NUMBERS], &mut file.0).unwrap();
//! # let mut file = &mut file.0[..length];
//! assert_eq!(robot(file), Ok(()));
//! file[200] ^= 1;
//! assert_eq!(robot(file), Err(WeightsError::Checksum));
//! ```
//!
//! # Features
//!
//! `defmt` derives `defmt::Format` on public types. No feature changes a number.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs, clippy::missing_errors_doc, clippy::must_use_candidate)]

pub mod behaviour;
pub mod failsafe;
mod file;
mod learn;
pub mod math;
mod middle;
pub mod neighbours;
mod net;
pub mod node;
pub mod ports;
pub mod rhythm;
pub mod robot;
pub mod safety;
pub mod shape;
mod tasks;
pub mod tick;
mod wire;

pub use file::{restart, weights};
pub use learn::{online, personal};
pub use net::{activation, deep, network, taps, tensor, wide};
pub use tasks::{coverage, flocking, task};
pub use wire::{ccm, cipher, codec, compact, esb32, message, names, p2p57, refusal, rekey, seal};

pub use activation::Activation;
pub use behaviour::Behaviour;
pub use deep::{Layer, Top};
pub use flocking::{Flocking, Motion};
pub use message::Beacon;
pub use network::Network;
pub use node::Node;
pub use online::{Learning, Mixing};
pub use refusal::{Refusal, Refusals};
pub use taps::Scale;
pub use task::{NodeId, Task};
pub use tick::Report;
pub use weights::{Weights, WeightsError};
pub use wide::{Folded, Metric, Model, Unfolded};
