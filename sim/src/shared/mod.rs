//! One swarm, flown by several workers: processes on one machine or many, each with a strip of space and the robots in it.
//!
//! ```text
//! every tick:  own robots speak → one parcel to every worker nearby: states and words of robots near its strip, and whole robots that have
//!              flown into it → own robots hear, act, learn, and move
//! ```
//!
//! Every bit is that of one process: robots are the same code, neighbours come in the order of their numbers, what a robot
//! draws by lot belongs to it and goes with it, and what belongs to nobody is drawn everywhere alike. The digest is linear
//! ([`checksum`]), so that eight bytes of each worker are put together at the end.
//!
//! A worker knows its own robots and those near them ([`crowd`]), and has neither room nor time for others; only where what happens depends on
//! everybody, it knows everybody.
//!
//! [`cut`] says whose robot is where, [`board`] where parcels wait for each other, [`sky`] is a worker's share of the swarm, [`tick`] flies it among
//! others ([`company`]), and [`snapshot`]s are what everybody goes back to when a worker is lost ([`beginning`]). [`worker`] does one after the other.

pub mod beginning;
pub mod board;
pub mod checksum;
pub mod company;
pub mod crowd;
pub mod cut;
pub mod parcel;
pub mod results;
pub mod sky;
pub mod snapshot;
pub mod tick;
pub mod worker;

#[cfg(test)]
mod flights;

pub use self::{
    board::{Board, Lost, Post},
    results::Flown,
    tick::Account,
    worker::Worker,
};
