//! Board-independent drivers over `embedded-hal` and `embedded-io`, tested on the host.

pub mod car;
pub mod companion;
pub mod gateway;
pub mod picture;
pub mod poses;
pub mod tilt;
