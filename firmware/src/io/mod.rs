//! Board-independent drivers over `embedded-hal` and `embedded-io`, tested on the host.

pub mod companion;
pub mod drive;
pub mod gateway;
