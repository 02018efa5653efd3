//! The robot around [`wdgnn_core`]: neighbor table, trust, safety, persistence, control loop.
//!
//! ```text
//! radio → Link → NeighborTable → Trust → Agent → safety gate → actuator → learning
//! ```
//!
//! # A robot from a weight file
//!
//! ```
//! use wdgnn_core::{tasks::flocking::{Flocking, Motion}, weights::{Aligned, Weights, WeightsError}};
//! use wdgnn_link::{encoding::exact::Exact, link::Link};
//! use wdgnn_robot::{
//!     control_loop,
//!     onboard::{BUFFER_LEN, robot_from_weights},
//!     ports::{Actuator, NoStore, PortSet, Radio, ReceivedFrame, Measurement, Sensor},
//! };
//!
//! // A robot at rest that receives nothing.
//! struct Board;
//! impl Radio for Board {
//!     type Error = ();
//!     fn send(&mut self, _frame: &[u8]) -> Result<(), ()> { Ok(()) }
//!     fn receive(&mut self, _buffer: &mut [u8]) -> Result<Option<ReceivedFrame>, ()> { Ok(None) }
//! }
//! impl Sensor<Motion> for Board {
//!     type Error = ();
//!     fn sense(&mut self) -> Result<Measurement<Motion>, ()> { Ok(Measurement::now(Motion::REST)) }
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
//! let mut robot = robot_from_weights::<Flocking, _>(7, &weights, Link::<Exact>::open(weights.checksum))?;
//! let (mut radio, mut sensor, mut actuator, mut store) = (Board, Board, Board, NoStore);
//! let mut ports =
//!     PortSet { radio: &mut radio, sensor: &mut sensor, actuator: &mut actuator, store: &mut store };
//! for tick in 0..10 {
//!     let report = control_loop::run_tick(&mut robot, tick, &mut ports, &mut [0; BUFFER_LEN]);
//!     assert_eq!((report.neighbors, report.command), (0, [0.0, 0.0]));
//! }
//! # Ok::<(), WeightsError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod config;
pub mod control_loop;
pub mod controller;
mod estimation;
pub mod neighbors;
pub mod onboard;
pub mod persist;
pub mod ports;
pub mod robot;
pub mod safety;
pub mod tasks;
mod trust;
