//! Wide and Deep Graph Neural Network of one robot: the algorithm of the paper and nothing else.
//!
//! This crate computes the command of one robot and the consensus update of its wide part from the
//! messages of its neighbors. It does no I/O and reads no clock. It has no heap, no `unsafe` and no
//! reachable panic, and it computes identical bits on every machine.
//!
//! # A robot
//!
//! ```
//! use wdgnn_core::{
//!     agent::{Agent, Config},
//!     message::Message,
//!     model::{Metric, activation::Activation, shape::{OneLayer, Shape}},
//!     neighbors::{Inbox, MAX_NEIGHBORS},
//!     online::Learning,
//!     task::{NodeId, State, Task},
//!     tasks::flocking::{Flocking, Motion},
//!     filter::scale::Scale,
//! };
//! # use std::collections::VecDeque;
//! # #[derive(Default)]
//! # struct Radio { sent: Vec<Vec<u8>>, heard: VecDeque<Vec<u8>> }
//! # impl Radio {
//! #     fn send(&mut self, frame: &[u8]) { self.sent.push(frame.to_vec()); }
//! #     fn receive(&mut self) -> Option<Vec<u8>> { self.heard.pop_front() }
//! # }
//! # fn motors_apply(motion: &mut Motion<2>, [x, y]: [f32; 2]) { motion.velocity[0] += 0.01 * x; motion.velocity[1] += 0.01 * y; }
//! type Network = OneLayer<6, 4, 32, 2>; // 6 features, K = 3, 32 hidden features, 2 outputs
//!
//! # fn run(radio: &mut Radio, motion: &mut Motion<2>, id: NodeId, weights: &[f32]) -> Result<(), Box<dyn std::error::Error>> {
//! let model = <Network as Shape<Flocking>>::over(weights, Activation::Tanh, Scale::Mean, Metric::Paper).unwrap();
//! let config = Config::new(model, Flocking::DEFAULT, Learning::paper(1.0));
//! let mut agent = Agent::new(&config, Motion::REST);
//! let mut inbox = Inbox::<_, _, MAX_NEIGHBORS>::new();
//! let mut buffer = [0; 512];
//! for tick in 0..100 {
//!     agent.sense(tick, *motion);
//!     radio.send(postcard::to_slice(&agent.message(id), &mut buffer)?);
//! #   radio.heard.push_back(postcard::to_slice(&Message { sender: 9, ..agent.message(id) }, &mut buffer)?.to_vec());
//!     while let Some(frame) = radio.receive() {
//!         inbox.update(postcard::from_bytes(&frame)?)?;
//!     }
//!     let command = agent.decide(&config, &inbox.view()); // features, delayed graph shift, WD-GNN
//!     motors_apply(motion, command);
//!     agent.learn(&config, &inbox.view()); // Algorithm 1: mix, then descend
//!     inbox.clear();
//! }
//! # Ok(())
//! # }
//! # let (mut radio, mut motion) = (Radio::default(), Motion { position: [0.0; 2], velocity: [1.0, 0.0] });
//! # run(&mut radio, &mut motion, 7, &vec![0.01; <Network as Shape<Flocking>>::NUMBERS]).unwrap();
//! # assert_eq!(radio.sent.len(), 100);
//! ```
//!
//! [`weights::Weights`] opens a trained network from a file in flash.
//!
//! # The paper in this crate
//!
//! | paper | code |
//! |---|---|
//! | eq. `relevantFeature`: features x | [`task::Task::features`], `tasks/flocking/loss.rs` |
//! | eq. `graphConv`: taps z, delayed by one exchange per hop | taps: [`filter::aggregate`]; sum over taps: [`model::unfolded`] |
//! | eq. `GCNN`: deep part σ(Aᵀz + a) | [`model::deep`] |
//! | eq. `WDGNN`: combination and readout | [`model::unfolded`] as in the paper; robots run the equivalent [`model::folded`] |
//! | local loss J and its gradient | [`task::Task::loss_gradient`] |
//! | eq. `disgd`: mixing | [`online::consensus::consensus_step`] |
//! | Algorithm 1, decentralized | [`agent::Agent::decide`], [`agent::Agent::learn`] |
//!
//! # Other crates
//!
//! `wdgnn-link` puts messages on radios: compact frames, authentication, time slots. `wdgnn-robot`
//! adds neighbor checks, collision avoidance, failsafe and persistence.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs, clippy::missing_errors_doc)]

pub mod adaptation;
pub mod agent;
pub mod filter;
pub mod math;
pub mod message;
pub mod model;
pub mod neighbors;
pub mod online;
pub mod task;
pub mod tasks;
pub mod tensor;
pub mod weights;
