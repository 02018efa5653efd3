//! Frames: what a beacon says, how it is written for each radio, how it is sealed, and why a frame is refused.

pub mod ccm;
pub mod cipher;
pub mod codec;
pub mod compact;
mod epochs;
pub mod esb32;
pub(crate) mod key;
pub(crate) mod link;
pub mod message;
pub mod names;
pub mod p2p57;
pub mod refusal;
pub mod rekey;
pub mod seal;
mod senders;
