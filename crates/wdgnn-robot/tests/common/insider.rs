//! Somebody with the swarm's key and no manners: any bytes behind a header, sealed as an honest robot would. Shared with the fuzz target
//! `resealed`.

use wdgnn_core::{Beacon, filter::Chains, task::State, tensor::Tensor};
use wdgnn_link::{
    encoding::Codec,
    error::Refusal,
    header::{Identity, Link, Parts, Profile},
};

/// A profile, to be sealed, whose frames carry what they are told to.
#[derive(Clone, Debug)]
pub struct Insider<'c, C> {
    /// The profile.
    pub codec: C,
    /// What a frame carries behind its header.
    pub content: &'c [u8],
    /// A place in the header, and the bits that are changed there.
    pub flip: (usize, u8),
}

impl<C: Codec> Codec for Insider<'_, C> {
    const FRAMES: u32 = C::FRAMES;

    fn profile(folded: bool) -> Profile {
        C::profile(folded)
    }

    /// Room for any content that can be sealed.
    fn bytes<S: State, H: Chains, W: Tensor>() -> usize {
        600
    }

    fn header_bytes() -> usize {
        C::header_bytes()
    }

    fn identity(frame: &[u8], now: u32) -> Option<Identity> {
        C::identity(frame, now)
    }

    fn encode<S: State, H: Chains, W: Tensor>(
        &self,
        link: &Link,
        beacon: &Beacon<S, H, W>,
        round: u32,
        index: u32,
        buffer: &mut [u8],
    ) -> Option<usize> {
        self.codec.encode(link, beacon, round, index, buffer)?;
        let header = C::header_bytes();
        let length = header + self.content.len();
        buffer.get_mut(header..length)?.copy_from_slice(self.content);
        let (place, bits) = self.flip;
        buffer[place % header] ^= bits;
        Some(length)
    }

    fn decode<S: State, H: Chains, W: Tensor>(
        &mut self,
        link: &Link,
        now: u32,
        frame: &[u8],
    ) -> Result<(Beacon<S, H, W>, Parts), Refusal> {
        self.codec.decode(link, now, frame)
    }
}
