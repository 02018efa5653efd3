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
//!     model::{GradientMetric, activation::Activation, shape::{OneLayer, Shape}},
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
//! let model = <Network as Shape<Flocking>>::from_numbers(weights, Activation::Tanh, Scale::Mean, GradientMetric::Paper).unwrap();
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
//! # run(&mut radio, &mut motion, 7, &vec![0.01; <Network as Shape<Flocking>>::WEIGHT_COUNT]).unwrap();
//! # assert_eq!(radio.sent.len(), 100);
//! ```
//!
//! [`weights::Weights`] opens a trained network from a file in flash.
//!
//! # The paper in this crate
//!
//! Equations have the labels of the paper's source. A test checks that each statement is in its file.
//!
//! | paper | function | statement |
//! |---|---|---|
//! | Algorithm 1, decentralized | [`Agent::decide`] and [`Agent::learn`](agent::Agent::learn), `agent.rs` | `consensus_step(rule.mixing,` then `model.descend(wide,` |
//! | `relevantFeature`: features x | [`Task::features`] of flocking, `tasks/flocking/task.rs` | `fourths = fourths.plus(inverse_4, &offset);` |
//! | `graphShift`, `delayedGraphFilter`: tap k from the neighbors' tap k − 1 | [`filter::aggregate`], `filter/mod.rs` | `lines.add_shifted(neighbor, weight);` |
//! | `graphConv`: wide part Σ_k z_k B_k + b | [`Unfolded`], `model/unfolded.rs` | `accumulate(network.wide_bias, taps.first_layer(), wide.rows())` |
//! | `GCNN`: one layer of the deep part, σ(Σ_k z_k A_k + a) | [`Layer`], `model/deep.rs` | `activation.apply(&mut output);` |
//! | `WDGNN`: α_D deep + α_W wide + β, then the readout R | [`Unfolded`], `model/unfolded.rs` | `*h = network.alpha_deep * *h + network.alpha_wide * w + network.beta;` |
//! | `WDGNN`, multiplied out, as robots compute it | [`Folded`], `model/folded.rs` | `*u += network.alpha_deep * deep + network.alpha_wide * wide;` |
//! | `disgd`, first term: mean over the neighbors and the robot | [`consensus_step`], `online/consensus.rs` | `Mixing::Uniform => mean_of_parts(wide, neighbors)` |
//! | `disgd`, second term: gradient step γ ∇J | [`Model::descend`], `tensor/kernels.rs` | `*w -= z * f;` |
//! | local loss J of flocking | [`Task::loss_gradient`] of flocking, `tasks/flocking/task.rs` | `let factor = 2.0 * self.period / n;` |
//!
//! To change the mixing rule, add a variant to [`online::Mixing`] and a line to the `match` in
//! [`consensus_step`].
//!
//! [`Agent::decide`]: agent::Agent::decide
//! [`Task::features`]: tasks::flocking::Flocking#method.features
//! [`Task::loss_gradient`]: tasks::flocking::Flocking#method.loss_gradient
//! [`Unfolded`]: model::unfolded::Unfolded#method.infer
//! [`Folded`]: model::folded::Folded#method.infer
//! [`Layer`]: model::deep::Layer#method.infer
//! [`Model::descend`]: model::Model::descend
//! [`consensus_step`]: online::consensus::consensus_step
//!
//! Two differences from the paper: tap k is delayed by k exchanges ([`filter`]), and ridge, ball
//! and clip may limit learning ([`online::Learning`]). [`online::Learning::paper`] is the paper's rule.
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

#[cfg(test)]
mod tests {
    extern crate std;

    use std::{format, fs, vec::Vec};

    #[test]
    fn statements_of_the_table_are_in_their_files() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        let page = fs::read_to_string(format!("{root}/lib.rs")).unwrap();
        let table = page.lines().skip_while(|line| !line.contains("| paper | function")).skip(2);
        let rows: Vec<&str> = table.take_while(|line| line.starts_with("//! |")).collect();
        assert!(rows.len() >= 9, "{rows:?}");
        for row in rows {
            let quoted: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
            let file =
                quoted.iter().find(|text| text.rsplit_once('.').is_some_and(|(_, end)| end == "rs")).unwrap();
            let text = fs::read_to_string(format!("{root}/{file}")).unwrap();
            let (_, statements) = row.rsplit_once(" | ").unwrap();
            for statement in statements.split('`').skip(1).step_by(2) {
                assert!(text.contains(statement), "{file}: {statement}");
            }
        }
    }
}
