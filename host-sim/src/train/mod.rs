//! Training, for any pair of task and world, in three ways.
//!
//! * [`imitate`]: an expert says what it would have done, in its own flights or in the network's.
//! * [`through`]: the score of whole flights, differentiated.
//! * [`evolve`]: an evolution strategy, which needs nothing but the score.
//!
//! [`recipe`] holds the choices, [`net`] is the network forwards and backwards, [`block`] the same for networks of one layer in the
//! widest registers there are ([`lanes`]), [`adam`] steps, [`run`] is the loop, [`checkpoint`]
//! keeps it over an interruption. Dimensions are known at run time here, so all this is compiled once per task.

pub mod adam;
pub mod block;
pub mod checkpoint;
pub mod dataset;
pub mod evolve;
pub mod first;
pub mod gradient;
pub mod imitate;
pub mod lanes;
pub mod matrix;
pub mod net;
pub mod plan;
pub mod recipe;
pub mod run;
pub mod through;
pub mod ways;
