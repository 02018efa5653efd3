//! Link profiles: how a message is divided into frames for one kind of radio.
//!
//! All profiles carry the same message. They differ in the number of frames per exchange and in the
//! size of a number. Every frame is useful on its own; frames are never reassembled.
//!
//! Robots encode headers with serde and postcard from the types of [`crate::frames`], and numbers in
//! blocks. They decode with hand-written code: on a Cortex-M4F, postcard would add 24 to 32 % to the
//! instructions of a tick for decoding and up to 8 % for encoding numbers. Property tests and a fuzz
//! target prove that both agree.

use wdgnn_core::{filter::DelayLines, message::Message, task::State, tensor::Tensor};

use crate::{
    error::FrameError,
    header::{FrameId, Header, Payload, Profile},
};

pub(crate) mod content;
pub mod esb32;
pub mod exact;
pub mod floats;
pub mod half;
pub mod halves;

/// Message with the numbers that a link adds.
#[derive(Clone, Copy, Debug)]
pub struct OutgoingMessage<'a, S, L, W> {
    /// The message.
    pub message: &'a Message<S, L, W>,
    /// Number of times the robot has started.
    pub boot: u32,
    /// Number of the frame.
    pub sequence: u32,
    /// Checksum of the weight file.
    pub model: u32,
    /// Number of the exchange: profiles send their wide parameters in rotation.
    pub round: u32,
}

impl<S, L, W> OutgoingMessage<'_, S, L, W> {
    /// Sender and number of the frame.
    pub fn id(&self) -> FrameId {
        FrameId { sender: self.message.sender, boot: self.boot, sequence: self.sequence }
    }
}

/// Link profile: stateless conversion between messages and frames.
pub trait Encoding {
    /// The profile.
    const PROFILE: Profile;
    /// Frames per exchange.
    const FRAMES_PER_EXCHANGE: u32;
    /// Whether every frame carries a whole message.
    const SENDS_WHOLE_MESSAGES: bool = false;
    /// Length of the header in bytes. Headers are never encrypted.
    const HEADER_LEN: usize;
    /// Bytes per number of the state, which follows the header in every frame.
    const BYTES_PER_STATE_NUMBER: usize = 4;
    /// Largest number of identity proofs in one frame, where time limits it ([`crate::security::peer_auth`]).
    const MAX_PROOFS_PER_FRAME: usize = usize::MAX;

    /// Whether the frames have room for messages of these types.
    fn has_room_for<S: State, L: DelayLines, W: Tensor>() -> bool {
        true
    }

    /// Length of the longest frame in bytes.
    fn max_frame_len<S: State, L: DelayLines, W: Tensor>() -> usize;

    /// Reads the header of a frame; `None` if the frame is too short.
    ///
    /// `now` is the receiver's tick. It completes a sequence number of which the header has the low
    /// bits only.
    fn read_header(frame: &[u8], now: u32) -> Option<Header>;

    /// Writes frame `index` of an exchange. Returns its length; `None` if the buffer is too short or
    /// the header cannot hold a number.
    fn encode<S: State, L: DelayLines, W: Tensor>(
        out: &OutgoingMessage<'_, S, L, W>, index: u32, buffer: &mut [u8],
    ) -> Option<usize>;

    /// Reads the content of a frame into a message and returns which numbers the frame carries.
    ///
    /// Other numbers of the message are unchanged. `model` is the receiver's weight file.
    ///
    /// # Errors
    /// The reason of the rejection. The message is then undefined, except that the state is valid
    /// after [`FrameError::Model`].
    fn decode<S: State, L: DelayLines, W: Tensor>(
        frame: &[u8], header: &Header, model: u32, into: &mut Message<S, L, W>,
    ) -> Result<Payload, FrameError>;
}

/// Reads the end of a long header: model, sender, boot count, sequence number and degree.
#[inline]
fn read_long_header(end: &[u8]) -> Option<Header> {
    let &[c0, c1, c2, c3, i0, i1, b0, b1, b2, b3, s0, s1, s2, s3, degree] = end.first_chunk()?;
    let id = FrameId {
        sender: u16::from_le_bytes([i0, i1]),
        boot: u32::from_le_bytes([b0, b1, b2, b3]),
        sequence: u32::from_le_bytes([s0, s1, s2, s3]),
    };
    Some(Header { id, model: Some(u32::from_le_bytes([c0, c1, c2, c3])), degree })
}

/// Checks the length of a frame.
fn check_length(frame: &[u8], length: usize) -> Result<(), FrameError> {
    match frame.len() {
        found if found < length => Err(FrameError::Truncated),
        found if found > length => Err(FrameError::Trailing),
        _ => Ok(()),
    }
}

/// Checks that the sender runs the receiver's weight file.
fn check_model(header: &Header, model: u32) -> Result<(), FrameError> {
    if header.model.is_none_or(|found| found == model) { Ok(()) } else { Err(FrameError::Model) }
}
