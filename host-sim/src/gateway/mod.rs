//! Simulated robots in the air of real ones, by way of a board that stands in between (`firmware/src/bin/gateway.rs`).
//!
//! A [`simulated::Simulated`] robot is the core's tick with a body in this process; clock and slot it keeps as a board does, by
//! `wdgnn_link::tdma`, on the gateway's clock. [`flight::Flight`] is all of them: bytes of the line in, bytes of the line out, and no
//! other time than what these bytes tell, so that emulated gateways and real ones are flown alike. `port` is the line on this machine.
//!
//! **Ahead of the air.** A frame has to be at the gateway before its slot begins, and the line takes time. So a simulated robot's tick is
//! run when the one before begins in the air: it says what it has to say in time, and hears what was said a tick later than a real robot
//! would. A tick more, and what it hears would be refused as untimely (`LATE_TICKS` of `wdgnn_core`'s `senders`).

pub mod counts;
pub mod flight;
pub mod lookout;
#[cfg(unix)]
pub mod port;
pub mod simulated;
