//! Training for any pair of task and world, by three methods.
//!
//! * [`imitation`]: an expert labels its own episodes or those of the network.
//! * [`bptt`]: backpropagation through time, from the score of whole episodes.
//! * [`evolution`]: an evolution strategy, which needs only the score.
//!
//! [`recipe`] contains the parameters, [`net`] the weights, [`block`] forward and backward pass in
//! vector registers ([`simd`]), [`adam`] the optimizer, and [`run`] the loop. Sizes are known at run
//! time, so all this is compiled once per task. Networks with several layers are trained by evolution,
//! which needs no gradient, or in Python (`wdgnn.torch`).

pub mod adam;
pub mod block;
pub mod bptt;
pub mod config;
pub mod evolution;
pub mod gradient;
pub mod imitation;
pub mod initialization;
pub mod net;
pub mod recipe;
pub mod run;
pub mod simd;
