//! Radio medium between robots, byte by byte, and its faults.
//!
//! A robot's receive path is a stack of [`FrameSource`](rx_queue::FrameSource)s: a queue filled by
//! the medium ([`rx_queue`]), link faults ([`faulty_link`]) and a replay attack
//! ([`replay_attack`]). [`delivery`] decides which frames reach which robots, with [`connectivity`]
//! and [`contention`]. [`insider`]s hold the group key and falsify their data; an [`impostor`] uses
//! other robots' addresses. [`sensors`], [`motors`], [`clocks`] and [`robot_clock`] model faults of
//! the robots themselves. [`options`] holds the configuration of all faults.
//!
//! [`crate::swarm::radio_swarm`] runs robots of any kind on this medium.

pub mod adversary;
pub mod any_link;
pub mod clocks;
pub mod connectivity;
pub mod contention;
pub mod delivery;
pub mod events;
pub mod fault_value;
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
