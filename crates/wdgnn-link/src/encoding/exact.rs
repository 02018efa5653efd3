//! The profile `exact`: everything in `f32`, in one frame.
//!
//! A frame is a header, the sender's state, its taps and its wide parameters, little-endian and with everything at a fixed
//! width: two frames of one model have the same length, and any language can read them with a table (`docs/wire-format.md`).

use crate::{
    encoding::{Codec, taps},
    error::FrameError,
    header::{Identity, Link, Payload, Profile, VERSION},
};
use wdgnn_core::{
    filter::DelayLines,
    message::Message,
    task::{NodeId, State},
    tensor::{Array, Tensor, kernels},
};

/// The profile `exact`: everything in `f32`, in one frame. The paper's exchange, and the reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Exact;

impl Codec for Exact {
    const FRAMES: u32 = 1;

    fn profile(folded: bool) -> Profile {
        if folded { Profile::Exact } else { Profile::ExactUnfolded }
    }

    fn bytes<S: State, C: DelayLines, W: Tensor>() -> usize {
        frame_bytes::<S, C, W>()
    }

    fn header_bytes() -> usize {
        HEADER_BYTES
    }

    fn identity(frame: &[u8], _: u32) -> Option<Identity> {
        identity(frame)
    }

    fn checksum(frame: &[u8]) -> Option<u32> {
        checksum(frame)
    }

    #[inline]
    fn encode<S: State, C: DelayLines, W: Tensor>(
        &self,
        link: &Link,
        beacon: &Message<S, C, W>,
        _: u32,
        _: u32,
        buffer: &mut [u8],
    ) -> Option<usize> {
        encode(beacon, link, buffer)
    }

    #[inline]
    fn decode<S: State, C: DelayLines, W: Tensor>(
        &mut self,
        link: &Link,
        _: u32,
        frame: &[u8],
    ) -> Result<(Message<S, C, W>, Payload), FrameError> {
        decode(link, frame).map(|beacon| (beacon, Payload::ALL))
    }

    #[inline]
    fn read<S: State, C: DelayLines, W: Tensor>(
        &mut self,
        link: &Link,
        _: u32,
        frame: &mut [u8],
        beacon: &mut Message<S, C, W>,
    ) -> Result<Payload, FrameError> {
        read(beacon, link, frame).map(|()| Payload::ALL)
    }
}

/// What a frame says about itself.
struct Front {
    version: u8,
    profile: u8,
    state_numbers: u8,
    tap_numbers: u16,
    wide_numbers: u16,
    checksum: u32,
    sender: NodeId,
    boot: u32,
    sequence: u32,
    degree: u8,
}

/// Length of a frame's header in bytes.
pub const HEADER_BYTES: usize = 22;

impl Front {
    /// The header at the front of a frame, and what is behind it.
    fn take(frame: &[u8]) -> Option<(Self, &[u8])> {
        let (header, content) = frame.split_first_chunk::<HEADER_BYTES>()?;
        let &[version, profile, state_numbers, t0, t1, w0, w1, c0, c1, c2, c3, ref rest @ ..] = header;
        let &[i0, i1, b0, b1, b2, b3, s0, s1, s2, s3, degree] = rest;
        let header = Self {
            version,
            profile,
            state_numbers,
            tap_numbers: u16::from_le_bytes([t0, t1]),
            wide_numbers: u16::from_le_bytes([w0, w1]),
            checksum: u32::from_le_bytes([c0, c1, c2, c3]),
            sender: NodeId::from_le_bytes([i0, i1]),
            boot: u32::from_le_bytes([b0, b1, b2, b3]),
            sequence: u32::from_le_bytes([s0, s1, s2, s3]),
            degree,
        };
        Some((header, content))
    }

    fn bytes(&self) -> [u8; HEADER_BYTES] {
        let [t0, t1] = self.tap_numbers.to_le_bytes();
        let [w0, w1] = self.wide_numbers.to_le_bytes();
        let [c0, c1, c2, c3] = self.checksum.to_le_bytes();
        let [i0, i1] = self.sender.to_le_bytes();
        let [b0, b1, b2, b3] = self.boot.to_le_bytes();
        let [s0, s1, s2, s3] = self.sequence.to_le_bytes();
        let Self { version, profile, state_numbers, degree, .. } = *self;
        #[rustfmt::skip] // in the order of the frame, not one to a line
        let bytes = [
            version, profile, state_numbers, t0, t1, w0, w1, c0, c1, c2, c3,
            i0, i1, b0, b1, b2, b3, s0, s1, s2, s3, degree,
        ];
        bytes
    }
}

/// Whose frame this is, if it is long enough to tell.
fn identity(frame: &[u8]) -> Option<Identity> {
    let (Front { sender, boot, sequence, .. }, _) = Front::take(frame)?;
    Some(Identity { sender, boot, sequence })
}

/// The checksum of its sender's weight file, if it is long enough to tell.
fn checksum(frame: &[u8]) -> Option<u32> {
    Front::take(frame).map(|(header, _)| header.checksum)
}

/// Takes a frame's header and checks that it is of this version, profile and shape. Returns the rest with it.
fn take_header<S: State, C: DelayLines, W: Tensor>(link: Link, frame: &[u8]) -> Result<(Front, &[u8]), FrameError> {
    let (header, content) = Front::take(frame).ok_or(FrameError::TooShort)?;
    if header.version != VERSION {
        return Err(FrameError::Version);
    }
    if header.profile != link.profile as u8 {
        return Err(FrameError::Profile);
    }
    let found = (header.state_numbers, header.tap_numbers, header.wide_numbers);
    if found != dimensions::<S, C, W>() {
        return Err(FrameError::Dimensions);
    }
    Ok((header, content))
}

/// Checks that a frame is exactly so long.
pub(crate) fn check_length(frame: &[u8], length: usize) -> Result<(), FrameError> {
    match frame.len() {
        found if found < length => Err(FrameError::Truncated),
        found if found > length => Err(FrameError::Trailing),
        _ => Ok(()),
    }
}

/// The length of every such frame in bytes.
#[must_use]
pub const fn frame_bytes<S: State, C: DelayLines, W: Tensor>() -> usize {
    HEADER_BYTES + 4 * (S::Array::LEN + C::LEN + W::LEN)
}

/// How many numbers the state, the taps and the wide parameters are.
const fn dimensions<S: State, C: DelayLines, W: Tensor>() -> (u8, u16, u16) {
    const { assert!(S::Array::LEN < 1 << 8 && C::LEN < 1 << 16 && W::LEN < 1 << 16) };
    (S::Array::LEN as u8, C::LEN as u16, W::LEN as u16)
}

fn header<S: State, C: DelayLines, W: Tensor>(beacon: &Message<S, C, W>, link: Link) -> Front {
    let (state_numbers, tap_numbers, wide_numbers) = dimensions::<S, C, W>();
    Front {
        version: VERSION,
        profile: link.profile as u8,
        state_numbers,
        tap_numbers,
        wide_numbers,
        checksum: link.checksum,
        sender: beacon.sender,
        boot: beacon.boot,
        sequence: beacon.sequence,
        degree: beacon.degree,
    }
}

/// Writes the frame to the front of `buffer` and returns its length, or `None` when the buffer is shorter than
/// [`frame_bytes`].
#[must_use]
pub fn encode<S: State, C: DelayLines, W: Tensor>(
    beacon: &Message<S, C, W>,
    link: &Link,
    buffer: &mut [u8],
) -> Option<usize> {
    let length = frame_bytes::<S, C, W>();
    let frame = buffer.get_mut(..length)?;
    let (front, content) = frame.split_first_chunk_mut()?;
    let (state, numbers) = content.split_at_mut_checked(4 * S::Array::LEN)?;
    let (bytes, wide) = numbers.split_at_mut_checked(4 * C::LEN)?;
    *front = header(beacon, *link).bytes();
    kernels::write(state, beacon.state.numbers().as_ref());
    taps::write(&beacon.chains, bytes);
    kernels::write(wide, beacon.wide.numbers());
    Some(length)
}

/// Reads a frame.
///
/// # Errors
/// The first [`FrameError`] that applies, in the order of its declaration.
pub fn decode<S: State, C: DelayLines, W: Tensor>(link: &Link, frame: &[u8]) -> Result<Message<S, C, W>, FrameError> {
    let mut beacon = Message::silent(S::zero());
    read(&mut beacon, link, frame).map(|()| beacon)
}

/// Reads a frame into a beacon. What it holds after a refusal means nothing, except that of another model's frame it has who and
/// where its sender is.
///
/// The numbers are read in place, a tensor at a time: by value, copies took four fifths of a robot's hearing.
#[inline]
fn read<S: State, C: DelayLines, W: Tensor>(
    beacon: &mut Message<S, C, W>,
    link: &Link,
    frame: &[u8],
) -> Result<(), FrameError> {
    let (header, content) = take_header::<S, C, W>(*link, frame)?;
    check_length(frame, frame_bytes::<S, C, W>())?;
    let (state, numbers) = content.split_at_checked(4 * S::Array::LEN).ok_or(FrameError::Truncated)?;
    let (taps, wide) = numbers.split_at_checked(4 * C::LEN).ok_or(FrameError::Truncated)?;
    let state = S::from_numbers(Array::from_bytes(state));
    (beacon.sender, beacon.boot, beacon.sequence) = (header.sender, header.boot, header.sequence);
    (beacon.degree, beacon.state) = (header.degree, state);
    if header.checksum != link.checksum {
        return Err(FrameError::Model);
    }
    let admissible = state.admissible()
        & taps::read(&mut beacon.chains, taps)
        & kernels::read(beacon.wide.numbers_mut(), wide);
    if admissible { Ok(()) } else { Err(FrameError::NotAdmissible) }
}
