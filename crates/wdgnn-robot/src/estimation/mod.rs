//! Estimation of the robot's own condition: its state and the response of its actuators.

pub(crate) mod actuator_monitor;
pub mod body;
pub(crate) mod state_estimator;
