//! Safety: the gate in front of the actuators, and the failsafe.

pub mod failsafe;
pub mod gate;
