//! Drivers for any chip, over `embedded-hal` and `embedded-io`: what a robot senses, moves and talks with. All of them run, and
//! are tested, on a host.

pub mod companion;
pub mod drive;
pub mod gateway;
pub mod nrf24;
