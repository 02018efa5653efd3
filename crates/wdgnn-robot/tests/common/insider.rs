//! An insider: arbitrary bytes behind a header, sealed with the group key. Shared with the fuzz target `resealed`.

use wdgnn_core::{Beacon, filter::Chains, task::State, tensor::Tensor};
use wdgnn_link::{
    encoding::Codec,
    error::Refusal,
    header::{Identity, Link, Parts, Profile},
};

/// An encoding whose frames carry given bytes, to be sealed.
#[derive(Clone, Debug)]
pub struct Insider<'c, C> {
    /// Encoding of the header.
    pub codec: C,
    /// Bytes behind the header.
    pub content: &'c [u8],
    /// An offset in the header, and the bits to flip there.
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
