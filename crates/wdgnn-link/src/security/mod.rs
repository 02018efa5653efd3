//! Security of a link: authenticated encryption, replay window, key rotation and peer authentication.

#[cfg(feature = "aes")]
pub mod aes;
pub mod ccm;
pub mod group_key;
pub mod key;
pub mod key_ring;
pub mod key_update;
pub mod peer_auth;
pub mod replay;
