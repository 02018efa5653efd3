//! The link of this image: the profile that its radio carries, and the key that its frames are sealed with. Chosen when the image
//! is built, by `WDGNN_PROFILE`, `WDGNN_KEY` and `WDGNN_PERSONAL` (`docs/firmware.md`).

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

pub use chosen::{Link, link};

#[cfg(not(sealed))]
mod chosen {
    use wdgnn_core::task::NodeId;
    use wdgnn_link::security::key::Key;

    /// The robot's codec.
    pub type Link = super::Profile;

    /// A codec that has heard nothing yet.
    pub fn link(_: NodeId, _: Option<(Key, u8)>, _: &'static [Key]) -> Link {
        Link::default()
    }
}

#[cfg(sealed)]
mod chosen {
    use wdgnn_core::task::NodeId;
    use wdgnn_link::security::{
        group_key,
        key::{Key, NoKey},
    };

    use super::Profile;
    use crate::board::{Board, ThisBoard};

    /// Bytes of a tag: all that fits into an nRF24's frame, and twice as many elsewhere.
    const TAG: usize = if cfg!(profile = "esb32") { 4 } else { 8 };

    /// Room for others' next keys, where keys change in flight.
    const ROSTER: usize = if cfg!(rekeyed) { group_key::ROSTER } else { 0 };

    /// The robot's codec.
    pub type Link = group_key::SealedWith<Profile, <ThisBoard as Board>::Cipher, TAG, ROSTER>;

    /// The swarm's key. Never printed.
    static KEY: Key = match group_key::parse_key(include_bytes!(env!("WDGNN_KEY"))) {
        Ok(key) => key,
        Err(NoKey::Half) => panic!(
            "WDGNN_KEY names a file of 16 hexadecimal digits, which are half a key: write 32 of them, such as with `openssl rand -hex 16`"
        ),
        Err(NoKey::Neither) => panic!(
            "WDGNN_KEY names a file that is no key: write 32 hexadecimal digits or 16 bytes to it, such as with `openssl rand -hex 16`"
        ),
    };

    /// A codec that has heard nothing yet, of the robot with this name and, if it was told, this personal key; and where names have to be
    /// proven, those by which others prove theirs.
    pub fn link(name: NodeId, personal: Option<(Key, u8)>, roster: &'static [Key]) -> Link {
        let link = Link::with_cipher(Profile::default(), ThisBoard::cipher(&KEY));
        if let (Some((personal, epoch)), true) = (personal, cfg!(rekeyed)) {
            let link = link.rekeyed(name, &personal, epoch, &KEY);
            // Two ways out, though the second alone would do: it takes 1.4 KB less of stack.
            return if roster.is_empty() { link } else { link.knowing(name, &personal, roster) };
        }
        if cfg!(rekeyed) {
            defmt::warn!("this robot was told no personal key: it keeps the swarm's key for good");
        }
        link
    }
}
