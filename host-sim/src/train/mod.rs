//! Training for any pair of task and world, by three methods.
//!
//! * [`imitation`]: an expert labels its own episodes or those of the network.
//! * [`bptt`]: backpropagation through time, from the score of whole episodes.
//! * [`evolution`]: an evolution strategy, which needs only the score.
//!
//! [`recipe`] contains the parameters, [`net`] forward and backward pass, [`block`] a version for
//! networks of one layer in vector registers ([`simd`]), [`adam`] the optimizer, [`run`] the loop,
//! and [`checkpoint`] its state. Sizes are known at run time, so all this is compiled once per
//! task.

pub mod adam;
pub mod block;
pub mod bptt;
pub mod checkpoint;
pub mod config;
pub mod dataset;
pub mod evolution;
pub mod gradient;
pub mod imitation;
pub mod initialization;
pub mod matrix;
pub mod methods;
pub mod net;
pub mod recipe;
pub mod run;
pub mod simd;
