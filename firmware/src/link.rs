//! Link profile, group key and trust of the image, selected at build time.
//!
//! The environment variables are `WDGNN_PROFILE`, `WDGNN_KEY` and `WDGNN_KEY_ROTATION`
//! (`docs/firmware.md`).

use wdgnn_link::{header::Profile, link};
use wdgnn_robot::onboard::TaskRobot;

#[cfg(profile = "esb32")]
pub use wdgnn_link::encoding::esb32::Esb32 as Encoding;
#[cfg(profile = "exact")]
pub use wdgnn_link::encoding::exact::Exact as Encoding;
#[cfg(profile = "dot154")]
pub use wdgnn_link::encoding::half::Dot154 as Encoding;
#[cfg(profile = "espnow")]
pub use wdgnn_link::encoding::half::EspNow as Encoding;
#[cfg(profile = "p2p57")]
pub use wdgnn_link::encoding::half::P2p57 as Encoding;

#[cfg(feature = "buggy")]
pub use selected::pose_key;
pub use selected::{Security, Trust, add_keys, security, with_trust};

/// Link of the robot.
pub type Link = link::Link<Encoding, Security>;

/// Robot of the image with the task `T`.
pub type Robot<'w, T> = TaskRobot<'w, T, Link, Trust>;

/// Link profile of the robot.
pub const PROFILE: Profile = <Encoding as wdgnn_link::encoding::Encoding>::PROFILE;

/// Frames per exchange.
pub const FRAMES: u32 = <Encoding as wdgnn_link::encoding::Encoding>::FRAMES_PER_EXCHANGE;

#[cfg(not(sealed))]
mod selected {
    use wdgnn_link::security::Open;
    use wdgnn_robot::config::{RobotConfig, TrustAll};

    use crate::board::Board;

    /// All messages count.
    pub type Trust = TrustAll;

    /// Configuration that trusts all messages.
    pub fn with_trust<M, T>(config: RobotConfig<M, T>) -> RobotConfig<M, T, Trust> {
        config.with(|model| model, TrustAll)
    }

    /// Security of the link.
    pub type Security = Open;

    /// No security.
    pub fn security() -> Security {
        Open
    }

    /// No keys.
    pub fn add_keys(_: &mut super::Link, _: &impl Board) {}
}

#[cfg(sealed)]
mod selected {
    use wdgnn_link::security::{
        group_key::GroupKey,
        key::{Key, KeyParseError, parse_key},
    };

    use wdgnn_robot::config::RobotConfig;

    use crate::board::{Board, ThisBoard};

    /// Robust trust.
    #[cfg(not(feature = "buggy"))]
    pub type Trust = wdgnn_robot::config::Trust;
    /// All members count: the velocity that a buggy reports is the one that it has agreed on, not that of its body, so
    /// that plausibility checks do not apply.
    #[cfg(feature = "buggy")]
    pub type Trust = wdgnn_robot::config::TrustAll;

    /// Key of pose frames. Frames of ticks before `since` are recordings.
    #[cfg(feature = "buggy")]
    pub fn pose_key(since: u32) -> wdgnn_link::security::pose_key::PoseKey<<ThisBoard as Board>::Cipher> {
        wdgnn_link::security::pose_key::PoseKey::new(ThisBoard::cipher(&KEY), since)
    }

    /// Configuration for a radio with losses, faults and liars.
    pub fn with_trust<M, T>(config: RobotConfig<M, T>) -> RobotConfig<M, T, Trust> {
        #[cfg(not(feature = "buggy"))]
        let config = config.robust();
        #[cfg(feature = "buggy")]
        let config = config.with(|model| model, wdgnn_robot::config::TrustAll);
        config
    }

    /// Tag length in bytes: 4 is the most that fits into an nRF24 frame.
    const TAG: usize = if cfg!(profile = "esb32") { 4 } else { 8 };

    /// Block cipher with the group key.
    type Group = GroupKey<<ThisBoard as Board>::Cipher, TAG>;

    /// Group key. Never logged.
    static KEY: Key = match parse_key(include_bytes!(env!("WDGNN_KEY"))) {
        Ok(key) => key,
        Err(KeyParseError::HalfKey) => panic!(
            "WDGNN_KEY must be a file of 32 hexadecimal digits, got 16: create one with `openssl rand -hex 16`"
        ),
        Err(KeyParseError::NotAKey) => panic!(
            "WDGNN_KEY must be a file of 32 hexadecimal digits or 16 bytes: create one with `openssl rand -hex 16`"
        ),
    };

    /// Group key of the image.
    fn group() -> Group {
        Group::with_cipher(ThisBoard::cipher(&KEY))
    }

    #[cfg(not(key_rotation))]
    mod keys {
        use super::{Board, Group, group};
        use crate::link::Link;

        /// Security of the link.
        pub type Security = Group;

        /// Group key of the image.
        pub fn security() -> Security {
            group()
        }

        /// No keys.
        pub fn add_keys(_: &mut Link, _: &impl Board) {}
    }

    #[cfg(key_rotation)]
    mod keys {
        use wdgnn_link::security::managed_keys::{ManagedKeys, ROSTER_CAPACITY};

        use super::{Board, KEY, TAG, ThisBoard, group};
        use crate::link::Link;

        /// Security of the link.
        pub type Security = ManagedKeys<<ThisBoard as Board>::Cipher, TAG, ROSTER_CAPACITY>;

        /// Group key of the image.
        pub fn security() -> Security {
            Security::new(group())
        }

        /// Adds key rotation if there is a personal key, and peer authentication if there is a roster.
        pub fn add_keys(link: &mut Link, board: &impl Board) {
            let Some((personal, epoch)) = board.personal_key() else {
                defmt::warn!("no personal key: the group key cannot be rotated");
                return;
            };
            link.keys_mut().set_key_rotation(board.id(), &personal, epoch, &KEY);
            link.keys_mut().set_peer_keys(board.id(), &personal, board.roster());
        }
    }

    pub use keys::{Security, add_keys, security};
}
