//! The air between robots, byte by byte, and everything that can go wrong in it.
//!
//! A robot's radio is a stack of [`Radio`](wdgnn_robot::ports::Radio)s: a [`mailbox`] that the simulated air fills, what happens to
//! frames on the way ([`faulty`]), and somebody who plays back what was said before ([`replaying`]). Any other radio can take the
//! mailbox's place. [`insider`]s hold the swarm's key and lie before they seal, an [`impostor`] speaks in others' names. The [`medium`]
//! is what is between those radios: it does to the swarm what [`options`] say; what it carries is in [`crossing`] and [`contention`].
//! What robots sense, what becomes of their commands and what time it is to them is in [`senses`], [`motors`], [`clocks`] and
//! [`rhythms`].
//! [`crate::swarm::on_air`] flies robots of any kind in it.

pub mod adversary;
pub mod clocks;
pub mod connectivity;
pub mod contention;
pub mod delivery;
pub mod events;
pub mod faulty_link;
pub mod heading;
pub mod impostor;
pub mod insider;
pub mod key_operator;
pub mod limits;
pub mod loss;
pub mod motors;
pub mod options;
pub mod peripherals;
pub mod replay_attack;
pub mod robot_clock;
pub mod robot_config;
pub mod rx_queue;
pub mod sensors;
pub mod shares;
