//! Training, for any pair of task and world, in three ways.
//!
//! * [`imitation`]: an expert says what it would have done, in its own flights or in the network's.
//! * [`bptt`]: the score of whole flights, differentiated.
//! * [`evolution`]: an evolution strategy, which needs nothing but the score.
//!
//! [`recipe`] holds the choices, [`net`] is the network forwards and backwards, [`block`] the same for networks of one layer in the
//! widest registers there are ([`simd`]), [`adam`] steps, [`run`] is the loop, [`checkpoint`]
//! keeps it over an interruption. Dimensions are known at run time here, so all this is compiled once per task.

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
