//! An insider: arbitrary bytes behind a header, sealed with the group key. Shared with the fuzz target `resealed`.

use wdgnn_core::{filter::DelayLines, task::State, tensor::Tensor};
use wdgnn_link::{
    encoding::{Encoding, OutgoingMessage},
    security::{LinkSecurity as _, aes::Aes, group_key::GroupKey, key::Key},
};

/// Content of a frame with a valid tag.
#[derive(Clone, Copy, Debug)]
pub struct Insider<'c> {
    /// Bytes behind the header.
    pub content: &'c [u8],
    /// An offset in the header, and the bits to flip there.
    pub flip: (usize, u8),
}

impl Insider<'_> {
    /// Writes the header of frame 0 with the insider's content, and seals it. Returns its length.
    pub fn write<E: Encoding, const TAG: usize, S: State, L: DelayLines, W: Tensor>(
        &self, key: &Key, out: &OutgoingMessage<'_, S, L, W>, buffer: &mut [u8],
    ) -> Option<usize> {
        E::encode(out, 0, buffer)?;
        let length = E::HEADER_LEN + self.content.len();
        buffer.get_mut(E::HEADER_LEN..length)?.copy_from_slice(self.content);
        let (offset, bits) = self.flip;
        buffer[offset % E::HEADER_LEN] ^= bits;
        GroupKey::<Aes, TAG>::new(key).seal::<E>(out.model, &out.id(), length, buffer)
    }
}
