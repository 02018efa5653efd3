//! The air between robots, byte by byte, and everything that can go wrong in it.
//!
//! A robot's radio is a stack of [`Radio`](wdgnn_robot::ports::Radio)s: a [`mailbox`] that the simulated air fills, what happens to
//! frames on the way ([`faulty`]), and somebody who plays back what was said before ([`replaying`]). Any other radio can take the
//! mailbox's place. [`insider`]s hold the swarm's key and lie before they seal, an [`impostor`] speaks in others' names. The [`medium`]
//! is what is between those radios: it does to the swarm what [`options`] say; what it carries is in [`crossing`] and [`contention`].
//! What robots sense, what becomes of their commands and what time it is to them is in [`senses`], [`motors`], [`clocks`] and
//! [`rhythms`].
//! [`crate::swarm::on_air`] flies robots of any kind in it.

pub mod blueprint;
pub mod body;
pub mod clocks;
pub mod contention;
pub mod crossing;
pub mod events;
pub mod fault_value;
pub mod faulty;
pub mod impostor;
pub mod insider;
pub mod limits;
pub mod loss;
pub mod mailbox;
pub mod medium;
pub mod motors;
pub mod options;
pub mod replaying;
pub mod rhythms;
pub mod senses;
pub mod shares;
pub mod station;
pub mod turns;
pub mod voice;
