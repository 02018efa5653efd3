//! Control frames: new group keys and proofs of identity.

use postcard::experimental::max_size::MaxSize;
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use wdgnn_core::tensor::serde_array;

use super::{
    Frame,
    fixed::{Bytes, U16Le, U32Le, array_newtype},
    header::CompactHeader,
    numbers::{Floats, NumberList},
};
use crate::{
    encoding::exact,
    error::FrameError,
    security::{key_update::KEY_UPDATE_BYTE, peer_auth::PROOF_MARK},
};

/// Frame that brings one robot the next group key ([`crate::security::key_update`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema, MaxSize)]
pub struct KeyUpdateFrame<const TAG: usize = 8> {
    /// Kind of frame: [`KEY_UPDATE_BYTE`].
    pub kind: u8,
    /// Address of the robot that the key is for.
    pub robot: U16Le,
    /// Number of the key, from 1.
    pub epoch: u8,
    /// First tick in which the swarm uses the key.
    pub first_tick: U32Le,
    /// Key, encrypted with the personal key of the robot.
    pub key: Bytes<16>,
    /// Tag of the encrypted key.
    pub tag: Bytes<TAG>,
    /// Tag of all bytes before, by the new key.
    pub confirmation: Bytes<TAG>,
}

impl<const TAG: usize> Frame for KeyUpdateFrame<TAG> {
    fn check(&self) -> Result<(), FrameError> {
        if self.kind == KEY_UPDATE_BYTE { Ok(()) } else { Err(FrameError::Version) }
    }
}

/// Proof of the sender's identity to one robot ([`crate::security::peer_auth`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema, MaxSize)]
pub struct Proof {
    /// Address of the robot in bits 0 to 6; bit 7 asks that robot to prove its identity.
    pub robot: u8,
    /// Tag by the key of the pair.
    pub tag: [u8; 4],
}

/// `N` proofs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proofs<const N: usize>(#[serde(with = "serde_array")] pub [Proof; N]);

array_newtype!(Proofs, Proof);

/// Frame with proofs of identity, after its seal was opened. The first byte of the header has bit 7 set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Schema, MaxSize)]
pub struct IdentityProofFrame<H = CompactHeader, S = Floats<4>, P = Proofs<6>> {
    /// Header of the profile.
    pub header: H,
    /// State of the sender, as in a message.
    pub state: S,
    /// Proofs.
    pub proofs: P,
}

impl<H, S, P> Frame for IdentityProofFrame<H, S, P>
where
    H: Serialize + MaxSize + Schema,
    S: NumberList,
    P: Serialize + MaxSize + Schema,
{
    fn check(&self) -> Result<(), FrameError> {
        let mut header = [0; exact::HEADER_LEN];
        let first =
            postcard::to_slice(&self.header, &mut header).ok().and_then(|bytes| bytes.first().copied());
        if first.is_none_or(|first| first & PROOF_MARK == 0) {
            return Err(FrameError::Version);
        }
        if self.state.admissible() { Ok(()) } else { Err(FrameError::NotAdmissible) }
    }
}
