//! Link profile and group key of the image, selected at build time.
//!
//! The environment variables are `WDGNN_PROFILE`, `WDGNN_KEY` and `WDGNN_KEY_ROTATION`
//! (`docs/firmware.md`).

#[cfg(profile = "exact")]
type Profile = wdgnn_link::encoding::exact::Exact;
#[cfg(profile = "dot154")]
type Profile = wdgnn_link::encoding::half::Dot154;
#[cfg(profile = "esb32")]
type Profile = wdgnn_link::encoding::esb32::Esb32;
#[cfg(profile = "p2p57")]
type Profile = wdgnn_link::encoding::p2p57::P2p57;
#[cfg(profile = "espnow")]
type Profile = wdgnn_link::encoding::half::EspNow;

pub use selected::{Link, link};

#[cfg(not(sealed))]
mod selected {
    use wdgnn_core::task::NodeId;
    use wdgnn_link::security::key::Key;

    /// Codec of the robot.
    pub type Link = super::Profile;

    /// Codec without received frames.
    pub fn link(_: NodeId, _: Option<(Key, u8)>, _: &'static [Key]) -> Link {
        Link::default()
    }
}

#[cfg(sealed)]
mod selected {
    use wdgnn_core::task::NodeId;
    use wdgnn_link::security::{
        group_key,
        key::{Key, NoKey, parse_key},
    };

    use super::Profile;
    use crate::board::{Board, ThisBoard};

    /// Tag length in bytes: 4 is the most that fits into an nRF24 frame.
    const TAG: usize = if cfg!(profile = "esb32") { 4 } else { 8 };

    /// Number of peers whose key updates the robot relays, with key rotation.
    const ROSTER: usize = if cfg!(key_rotation) { group_key::ROSTER } else { 0 };

    /// Codec of the robot.
    pub type Link = group_key::SealedWith<Profile, <ThisBoard as Board>::Cipher, TAG, ROSTER>;

    /// Group key. Never logged.
    static KEY: Key = match parse_key(include_bytes!(env!("WDGNN_KEY"))) {
        Ok(key) => key,
        Err(NoKey::Half) => panic!(
            "WDGNN_KEY must be a file of 32 hexadecimal digits, got 16: create one with `openssl rand -hex 16`"
        ),
        Err(NoKey::Neither) => panic!(
            "WDGNN_KEY must be a file of 32 hexadecimal digits or 16 bytes: create one with `openssl rand -hex 16`"
        ),
    };

    /// Codec of robot `name`, with key rotation if there is a personal key, and peer authentication
    /// if there is a roster.
    pub fn link(name: NodeId, personal: Option<(Key, u8)>, roster: &'static [Key]) -> Link {
        let link = Link::with_cipher(Profile::default(), ThisBoard::cipher(&KEY));
        if let (Some((personal, epoch)), true) = (personal, cfg!(key_rotation)) {
            let link = link.rekeyed(name, &personal, epoch, &KEY);
            // The separate branch for an empty roster saves 1.4 KB of stack.
            return if roster.is_empty() { link } else { link.knowing(name, &personal, roster) };
        }
        if cfg!(key_rotation) {
            defmt::warn!("no personal key: the group key cannot be rotated");
        }
        link
    }
}
