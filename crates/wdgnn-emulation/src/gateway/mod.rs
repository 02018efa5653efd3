//! Simulated robots on the radio channel of real ones, through a gateway board
//! (`firmware/src/bin/gateway.rs`).
//!
//! [`flight::Flight`] contains all simulated robots. It has no other time than the bytes of the
//! line, so it runs with emulated and real gateways alike. `port` is the serial line of this
//! machine.
//!
//! **One tick ahead.** A frame must reach the gateway before its slot, and the line takes time. So
//! the tick of a simulated robot runs when the previous tick begins on the channel: its frame is
//! early enough, and it receives frames one tick later than a real robot. Two ticks later, frames
//! would be rejected as out of window.

pub mod counts;
pub mod flight;
#[cfg(unix)]
pub mod port;
mod simulated;
