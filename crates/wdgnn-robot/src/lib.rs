//! The robot around [`wdgnn_core`]: neighbor table, trust, safety, persistence and the control loop.
//!
//! # A robot from a weight file
//!
//! ```
//! use wdgnn_core::{Flocking, Motion, Weights, WeightsError, weights::Aligned};
//! use wdgnn_link::encoding::exact::Exact;
//! use wdgnn_robot::{
//!     control_loop,
//!     onboard::{BUFFER_BYTES, robot},
//!     ports::{Actuator, NoStore, Ports, Radio, Received, Sensed, Sensor},
//! };
//!
//! // A robot at rest that hears no other robot.
//! struct Board;
//! impl Radio for Board {
//!     type Error = ();
//!     fn send(&mut self, _frame: &[u8]) -> Result<(), ()> { Ok(()) }
//!     fn receive(&mut self, _buffer: &mut [u8]) -> Result<Option<Received>, ()> { Ok(None) }
//! }
//! impl Sensor<Motion> for Board {
//!     type Error = ();
//!     fn sense(&mut self) -> Result<Sensed<Motion>, ()> { Ok(Sensed::now(Motion::REST)) }
//! }
//! impl Actuator<[f32; 2]> for Board {
//!     type Error = ();
//!     fn act(&mut self, _command: &[f32; 2]) -> Result<(), ()> { Ok(()) }
//!     fn stop(&mut self) -> Result<(), ()> { Ok(()) }
//! }
//!
//! static FILE: Aligned<[u8; 6788]> =
//!     Aligned(*include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/flocking-wd-gnn.wdgnn")));
//!
//! let weights = Weights::open(&FILE.0)?;
//! let mut robot = robot::<Flocking, _>(7, &weights, Exact)?;
//! let (mut radio, mut sensor, mut actuator, mut store) = (Board, Board, Board, NoStore);
//! let mut ports =
//!     Ports { radio: &mut radio, sensor: &mut sensor, actuator: &mut actuator, store: &mut store };
//! for tick in 0..10 {
//!     let report = control_loop::run(&mut robot, tick, &mut ports, &mut [0; BUFFER_BYTES]);
//!     assert_eq!((report.neighbors, report.command), (0, [0.0, 0.0]));
//! }
//! # Ok::<(), WeightsError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod config;
pub mod control_loop;
pub mod neighbors;
pub mod node;
pub mod onboard;
pub mod persist;
pub mod ports;
pub mod safety;
pub mod tasks;
mod trust;

pub use config::Behavior;
pub use control_loop::Report;
pub use node::Node;
