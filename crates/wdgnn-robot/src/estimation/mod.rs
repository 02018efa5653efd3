//! Estimation of the robot's own condition: its state and the response of its actuators.

pub(crate) mod actuator_monitor;
pub(crate) mod state_estimator;
