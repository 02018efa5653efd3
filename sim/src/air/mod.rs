//! The air between robots, byte by byte, and everything that can go wrong in it.
//!
//! A robot's radio is a stack of [`Radio`](wdgnn_core::ports::Radio)s: a [`mailbox`] that the simulated air fills, what happens to
//! frames on the way ([`faulty`]), and somebody who plays back what was said before ([`replaying`]). Any other radio can take the
//! mailbox's place. [`insider`]s hold the swarm's key and lie before they seal. The [`medium`] is what is between those radios: it
//! does to the swarm what [`options`] say; what robots sense in it has the noise of their [`senses`]. [`crate::swarm::on_air`] flies
//! robots of any kind in it.

pub mod blueprint;
pub mod body;
pub mod events;
pub mod faulty;
pub mod insider;
pub mod loss;
pub mod mailbox;
pub mod medium;
pub mod options;
pub mod replaying;
pub mod senses;
pub mod voice;
