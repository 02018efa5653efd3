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
//! Equations have the labels of the paper's source. Each statement links to its line, and a test
//! checks the line.
//!
//! | paper | line |
//! |---|---|
//! | Algorithm 1, decentralized, and `disgd` | [`let command = task.saturate(&self.output);`](../src/wdgnn_core/agent.rs.html#132), [`consensus_step(rule.mixing, wide,`](../src/wdgnn_core/agent.rs.html#151), [`model.descend(wide, &self.taps,`](../src/wdgnn_core/agent.rs.html#156) |
//! | `relevantFeature`: features x of flocking | [`fourths = fourths.add_scaled(inverse_4, &offset);`](../src/wdgnn_core/tasks/flocking/task.rs.html#63) |
//! | `graphShift`, `delayedGraphFilter`: tap k from the neighbors' tap k − 1 | [`lines.add_shifted(neighbor, weight);`](../src/wdgnn_core/filter/mod.rs.html#123) |
//! | `graphConv`: wide part Σ_k z_k B_k + b | [`accumulate(network.wide_bias, taps.first_layer(), wide.rows())`](../src/wdgnn_core/model/unfolded.rs.html#47) |
//! | `GCNN`: one layer of the deep part, σ(Σ_k z_k A_k + a) | [`activation.apply(&mut output);`](../src/wdgnn_core/model/deep.rs.html#104) |
//! | `WDGNN`: α_D deep + α_W wide + β, then the readout R | [`*h = network.alpha_deep * *h + network.alpha_wide * w + network.beta;`](../src/wdgnn_core/model/unfolded.rs.html#49) |
//! | `WDGNN` multiplied out, as robots compute it | [`*u += network.alpha_deep * deep + network.alpha_wide * wide;`](../src/wdgnn_core/model/folded.rs.html#77) |
//! | `disgd`, first term: mean over the neighbors and the robot | [`mean(wide.numbers_mut(), neighbors)`](../src/wdgnn_core/online/consensus.rs.html#39) |
//! | `disgd`, second term: gradient step | [`*first -= z * a;`](../src/wdgnn_core/tensor/kernels.rs.html#173) |
//! | gradient of the local loss J of flocking | [`let factor = 2.0 * self.period / n;`](../src/wdgnn_core/tasks/flocking/task.rs.html#83) |
//!
//! To change the mixing rule, append a variant to [`online::Mixing`] and its `ALL`, and add a line to
//! the `match` in [`consensus_step`].
//!
//! [`consensus_step`]: online::consensus::consensus_step
//!
//! A *tick* is one control period. An *exchange* is a tick in which robots send messages; taps advance
//! by one hop per exchange.
//!
//! Differences from the paper:
//!
//! * Tap k is delayed by k exchanges ([`filter`]).
//! * Distances in the features of flocking have a floor, layers and readout have biases, and sums over
//!   neighbors can be scaled ([`filter::scale`]).
//! * The gradient is zero where a command is saturated. Parameters that are zero offline stay zero, and
//!   parameters that are not admissible are reset.
//! * Ridge, ball, clip, cooling and local adaptation are optional; [`online::Learning::paper`] has none.
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
    fn links_of_the_table_lead_to_their_lines() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        let page = fs::read_to_string(format!("{root}/lib.rs")).unwrap();
        let links =
            page.lines().filter(|line| line.starts_with("//! | ")).flat_map(|row| row.split("[`").skip(1));
        let mut count = 0;
        for link in links {
            let (statement, target) = link.split_once("`](../src/wdgnn_core/").unwrap();
            let (file, line) = target.split_once(".html#").unwrap();
            let line: usize = line.split(')').next().unwrap().parse().unwrap();
            let text = fs::read_to_string(format!("{root}/{file}")).unwrap();
            let found: Vec<usize> = (1..)
                .zip(text.lines())
                .filter(|(_, text)| text.contains(statement))
                .map(|(line, _)| line)
                .collect();
            assert!(found.contains(&line), "{statement} is in {found:?} of {file}, not in line {line}");
            count += 1;
        }
        assert_eq!(count, 12);
    }
}
