//! Movie ratings, the paper's second experiment: predict the rating that a user would give to one movie from the ratings
//! that the user gave to others.
//!
//! Nodes are the 400 most rated movies, a user is a signal on them, and similar movies are neighbours. The steps, in order:
//!
//! | step | module | in → out |
//! |---|---|---|
//! | read | [`data`], [`lines`], [`crate::data_error`] | a folder → checked ratings |
//! | select | [`signals`] | the most rated movies → one signal per user |
//! | split | [`split`] | raters → training, held out, stream |
//! | connect | [`graph`] | training users' ratings → ten nearest movies each |
//! | aggregate | [`taps`] | a signal → the six numbers that reach the target movie |
//! | train | [`network`], [`gradient`], [`train`] | six numbers and a rating per user → weights |
//! | predict | [`task`], [`nodes`] | 400 `wdgnn-core` nodes in K = 5 rounds → a rating |
//! | keep learning | [`online`], [`streams`] | a rating after each prediction → a better wide part |
//! | report | [`experiment`], [`rows`], [`statistics`], [`table`] | all of it over many splits → a table |
//! | recommend | [`habits`], [`recommend`], [`weight_file`] | one user → the movies to watch next |

pub mod data;
pub mod experiment;
pub mod gradient;
pub mod graph;
pub mod habits;
pub mod lines;
pub mod network;
pub mod nodes;
pub mod online;
pub mod recommend;
pub mod rows;
pub mod signals;
pub mod split;
pub mod statistics;
pub mod streams;
pub mod synthetic;
pub mod table;
pub mod taps;
pub mod task;
pub mod train;
pub mod weight_file;
