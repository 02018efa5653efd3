//! Profiles for small radios: taps and parameters in half precision, and only as many as fit.
//!
//! * [`Dot154`], IEEE 802.15.4: state in `f32`, all taps, one run of 12 wide parameters in rotation (one tap of C for two outputs
//!   and six features), or as many as fit. At most 116 bytes with a tag of 8.
//! * [`EspNow`]: the same with all wide parameters, or as many as fit. At most 250 bytes.
//! * [`Esb32`](crate::encoding::esb32::Esb32), nRF24 and Enhanced `ShockBurst`: frames of 32 bytes with a tag of 4, each with the state in half precision and
//!   six numbers: of the taps in all frames of an exchange but the last, of the wide parameters in the last.
//! * [`P2p57`](crate::encoding::p2p57::P2p57), a Crazyflie's peer-to-peer packets: two frames of at most 57 bytes with a tag of 8.
//!
//! Half precision is IEEE binary16, two bytes, to nearest even; what is too large for it is sent as its largest.

use crate::{
    encoding::{Codec, exact::check_length, halves, taps},
    error::FrameError,
    header::{Identity, Link, Payload, Profile, VERSION},
};
use wdgnn_core::{
    filter::DelayLines,
    message::Message,
    task::{NodeId, State},
    tensor::{Array, Tensor, kernels, param_range::ParamRange},
};

/// The most numbers that a tensor may have, which a part's number can still tell.
pub(crate) const MOST_NUMBERS: usize = 128;

/// Bytes that a tag may add: frames leave room for it, sealed or not.
pub const TAG_BYTES: usize = 8;

/// What is in front of [`Dot154`], [`EspNow`] and [`P2p57`](crate::encoding::p2p57::P2p57). Dimensions are left out: the model tells them.
pub(crate) struct ShortFront {
    /// Version, and the profile above it.
    pub first: u8,
    /// Which run of the wide parameters.
    pub part: u8,
    pub checksum: u32,
    pub sender: NodeId,
    pub boot: u32,
    pub sequence: u32,
    pub degree: u8,
}

/// Length of that in bytes.
pub(crate) const HEADER_BYTES: usize = 17;

impl ShortFront {
    /// The header at the front of a frame, and what is behind it.
    pub fn take(frame: &[u8]) -> Option<(Self, &[u8])> {
        let (header, content) = frame.split_first_chunk::<HEADER_BYTES>()?;
        let &[first, part, c0, c1, c2, c3, i0, i1, b0, b1, b2, b3, s0, s1, s2, s3, degree] = header;
        let header = Self {
            first,
            part,
            checksum: u32::from_le_bytes([c0, c1, c2, c3]),
            sender: NodeId::from_le_bytes([i0, i1]),
            boot: u32::from_le_bytes([b0, b1, b2, b3]),
            sequence: u32::from_le_bytes([s0, s1, s2, s3]),
            degree,
        };
        Some((header, content))
    }

    pub fn bytes(&self) -> [u8; HEADER_BYTES] {
        let [c0, c1, c2, c3] = self.checksum.to_le_bytes();
        let [i0, i1] = self.sender.to_le_bytes();
        let [b0, b1, b2, b3] = self.boot.to_le_bytes();
        let [s0, s1, s2, s3] = self.sequence.to_le_bytes();
        [self.first, self.part, c0, c1, c2, c3, i0, i1, b0, b1, b2, b3, s0, s1, s2, s3, self.degree]
    }
}

/// The first byte of every compact frame.
pub(crate) fn first_byte(profile: Profile) -> u8 {
    VERSION | (profile as u8) << 4
}

/// Checks that a frame is of this version and profile.
pub(crate) fn check_first(first: u8, profile: Profile) -> Result<(), FrameError> {
    match first {
        _ if first & 0x0f != VERSION => Err(FrameError::Version),
        _ if first != first_byte(profile) => Err(FrameError::Profile),
        _ => Ok(()),
    }
}

/// IEEE 802.15.4.
pub type Dot154 = Half<{ Profile::Dot154 as u8 }, 12, 116>;

/// ESP-NOW.
pub type EspNow = Half<{ Profile::EspNow as u8 }, { u16::MAX }, 250>;

/// One frame per exchange: `f32` state, all taps and a run of up to `RUN` wide parameters in half precision, within `LIMIT` bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Half<const CODE: u8, const RUN: u16, const LIMIT: usize>;

impl<const CODE: u8, const RUN: u16, const LIMIT: usize> Half<CODE, RUN, LIMIT> {
    /// The length of a frame without its wide parameters.
    const fn least<S: State, C: DelayLines>() -> usize {
        HEADER_BYTES + 4 * S::Array::LEN + 2 * C::LEN
    }

    /// How many wide parameters go into a frame: `RUN`, or as many as fit.
    const fn most<S: State, C: DelayLines>() -> u16 {
        let room = LIMIT.saturating_sub(Self::least::<S, C>() + TAG_BYTES) / 2;
        if room < RUN as usize { room as u16 } else { RUN }
    }

    fn run<S: State, C: DelayLines, W: Tensor>(part: u8) -> ParamRange {
        let most = Self::most::<S, C>();
        let from = u16::from(part).saturating_mul(most);
        ParamRange { from, to: from.saturating_add(most).min(count::<W>()) }
    }

    /// How many frames it takes to tell all of them; none where nothing fits.
    fn parts<S: State, C: DelayLines, W: Tensor>() -> u32 {
        const {
            let most = Self::most::<S, C>();
            if most == 0 { 0 } else { count::<W>().div_ceil(most) as u32 }
        }
    }

    /// The length of a frame with this run.
    fn length<S: State, C: DelayLines>(run: ParamRange) -> usize {
        Self::least::<S, C>() + 2 * usize::from(run.to.saturating_sub(run.from))
    }

    fn read_into<S: State, C: DelayLines, W: Tensor>(
        link: Link,
        frame: &[u8],
        beacon: &mut Message<S, C, W>,
    ) -> Result<Payload, FrameError> {
        let (header, content) = ShortFront::take(frame).ok_or(FrameError::TooShort)?;
        check_first(header.first, Self::profile(true))?;
        if u32::from(header.part) >= Self::parts::<S, C, W>() {
            return Err(FrameError::Dimensions);
        }
        let wide = Self::run::<S, C, W>(header.part);
        check_length(frame, Self::length::<S, C>(wide))?;
        let (state, numbers) = content.split_at_checked(4 * S::Array::LEN).ok_or(FrameError::Truncated)?;
        (beacon.sender, beacon.boot, beacon.sequence) = (header.sender, header.boot, header.sequence);
        (beacon.degree, beacon.state) = (header.degree, S::from_numbers(Array::from_bytes(state)));
        if header.checksum != link.checksum {
            return Err(FrameError::Model);
        }
        let parts = Payload { taps: ParamRange::ALL, wide };
        fill(beacon, parts, numbers)?;
        Ok(parts)
    }
}

impl<const CODE: u8, const RUN: u16, const LIMIT: usize> Codec for Half<CODE, RUN, LIMIT> {
    const FRAMES: u32 = 1;
    /// A frame in a slot must be ready when that begins: on an nRF52840 a proof takes 70 µs, and with six a frame is ready 0.2 ms before.
    const PROOFS: usize = if CODE == Profile::Dot154 as u8 { 6 } else { usize::MAX };

    fn profile(_: bool) -> Profile {
        if CODE == Profile::Dot154 as u8 { Profile::Dot154 } else { Profile::EspNow }
    }

    fn fits<S: State, C: DelayLines, W: Tensor>() -> bool {
        Self::most::<S, C>() > 0 && W::LEN <= MOST_NUMBERS
    }

    fn bytes<S: State, C: DelayLines, W: Tensor>() -> usize {
        Self::length::<S, C>(Self::run::<S, C, W>(0))
    }

    fn header_bytes() -> usize {
        HEADER_BYTES
    }

    fn identity(frame: &[u8], _: u32) -> Option<Identity> {
        let (ShortFront { sender, boot, sequence, .. }, _) = ShortFront::take(frame)?;
        Some(Identity { sender, boot, sequence })
    }

    fn checksum(frame: &[u8]) -> Option<u32> {
        ShortFront::take(frame).map(|(header, _)| header.checksum)
    }

    fn encode<S: State, C: DelayLines, W: Tensor>(
        &self,
        link: &Link,
        beacon: &Message<S, C, W>,
        round: u32,
        _: u32,
        buffer: &mut [u8],
    ) -> Option<usize> {
        let part = (round % Self::parts::<S, C, W>().max(1)) as u8;
        let (first, checksum) = (first_byte(Self::profile(true)), link.checksum);
        let Message { sender, boot, sequence, degree, .. } = *beacon;
        let header = ShortFront { first, part, checksum, sender, boot, sequence, degree };
        let (front, rest) = buffer.split_first_chunk_mut()?;
        *front = header.bytes();
        let (state, rest) = rest.split_at_mut_checked(4 * S::Array::LEN)?;
        kernels::write(state, beacon.state.numbers().as_ref());
        let parts = Payload { taps: ParamRange::ALL, wide: Self::run::<S, C, W>(part) };
        Some(HEADER_BYTES + state.len() + write(beacon, parts, rest)?)
    }

    fn decode<S: State, C: DelayLines, W: Tensor>(
        &mut self,
        link: &Link,
        _: u32,
        frame: &[u8],
    ) -> Result<(Message<S, C, W>, Payload), FrameError> {
        let mut beacon = Message::silent(S::zero());
        Self::read_into(*link, frame, &mut beacon).map(|parts| (beacon, parts))
    }

    fn read<S: State, C: DelayLines, W: Tensor>(
        &mut self,
        link: &Link,
        _: u32,
        frame: &mut [u8],
        beacon: &mut Message<S, C, W>,
    ) -> Result<Payload, FrameError> {
        Self::read_into(*link, frame, beacon)
    }
}

/// How many wide parameters there are.
pub(crate) const fn count<W: Tensor>() -> u16 {
    W::LEN as u16
}

/// Writes the taps and the wide parameters that a frame carries in half precision, and returns how many bytes they took.
pub(crate) fn write<S: State, C: DelayLines, W: Tensor>(
    beacon: &Message<S, C, W>,
    parts: Payload,
    bytes: &mut [u8],
) -> Option<usize> {
    let used = taps::write_halves(&beacon.chains, parts.taps, bytes)?;
    let wide = parts.wide.of(beacon.wide.numbers());
    halves::write(bytes.get_mut(used..used + 2 * wide.len())?, wide);
    Some(used + 2 * wide.len())
}

/// Fills a beacon with the taps and the wide parameters that a frame carries. Returns what is behind them.
///
/// # Errors
/// [`FrameError::NotAdmissible`], for the state too.
pub(crate) fn fill<'a, S: State, C: DelayLines, W: Tensor>(
    beacon: &mut Message<S, C, W>,
    parts: Payload,
    numbers: &'a [u8],
) -> Result<&'a [u8], FrameError> {
    let taps = 2 * parts.taps.count(C::LEN as u16);
    let (bytes, numbers) = numbers.split_at_checked(taps).ok_or(FrameError::Truncated)?;
    let wide = parts.wide.of_mut(beacon.wide.numbers_mut());
    let (read, rest) = numbers.split_at_checked(2 * wide.len()).ok_or(FrameError::Truncated)?;
    let admissible = beacon.state.admissible()
        & taps::read_halves(&mut beacon.chains, parts.taps, bytes)
        & halves::read(wide, read);
    if admissible { Ok(rest) } else { Err(FrameError::NotAdmissible) }
}
