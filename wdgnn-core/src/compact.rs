//! Profiles for small radios: taps and parameters in half precision, and only as many as fit.
//!
//! * [`Dot154`], IEEE 802.15.4: state in `f32`, all taps, one run of 12 wide parameters in rotation (one tap of C for two outputs
//!   and six features). At most 116 bytes with a tag of 8.
//! * [`EspNow`]: the same with all wide parameters. At most 250 bytes.
//! * [`Esb32`](crate::esb32::Esb32), nRF24 and Enhanced `ShockBurst`: frames of 32 bytes with a tag of 4, each with the state in half precision and
//!   six numbers: of the taps in all frames of an exchange but the last, of the wide parameters in the last.
//!
//! Half precision is IEEE binary16, two bytes, to nearest even; what is too large for it is sent as its largest.

use postcard::experimental::max_size::MaxSize;

use crate::{
    codec::{Codec, Identity, Parts, Share, Span},
    kernels,
    message::{self, Beacon, Link, Profile, check_length},
    refusal::Refusal,
    taps::Chains,
    task::{NodeId, State},
};

/// The most that a tensor may take in `f32`: 128 numbers, which a part's number can still tell.
const MOST_BYTES: usize = 512;

/// Bytes that a tag may add: frames leave room for it, sealed or not.
pub const TAG_BYTES: usize = 8;

/// What is in front of [`Dot154`] and [`EspNow`]. Dimensions are left out: the model tells them.
struct Header {
    /// Version, and the profile above it.
    first: u8,
    /// Which run of the wide parameters.
    part: u8,
    model: u32,
    sender: NodeId,
    boot: u32,
    sequence: u32,
    degree: u8,
}

/// Length of that in bytes.
const HEADER_BYTES: usize = 17;

impl Header {
    /// The header at the front of a frame, and what is behind it.
    fn take(frame: &[u8]) -> Option<(Self, &[u8])> {
        let (header, content) = frame.split_first_chunk::<HEADER_BYTES>()?;
        let &[first, part, m0, m1, m2, m3, i0, i1, b0, b1, b2, b3, s0, s1, s2, s3, degree] = header;
        let header = Self {
            first,
            part,
            model: u32::from_le_bytes([m0, m1, m2, m3]),
            sender: NodeId::from_le_bytes([i0, i1]),
            boot: u32::from_le_bytes([b0, b1, b2, b3]),
            sequence: u32::from_le_bytes([s0, s1, s2, s3]),
            degree,
        };
        Some((header, content))
    }

    fn bytes(&self) -> [u8; HEADER_BYTES] {
        let [m0, m1, m2, m3] = self.model.to_le_bytes();
        let [i0, i1] = self.sender.to_le_bytes();
        let [b0, b1, b2, b3] = self.boot.to_le_bytes();
        let [s0, s1, s2, s3] = self.sequence.to_le_bytes();
        [self.first, self.part, m0, m1, m2, m3, i0, i1, b0, b1, b2, b3, s0, s1, s2, s3, self.degree]
    }
}

/// The first byte of every compact frame.
pub(crate) fn first_byte(profile: Profile) -> u8 {
    message::VERSION | (profile as u8) << 4
}

/// Checks that a frame is of this version and profile.
pub(crate) fn check_first(first: u8, profile: Profile) -> Result<(), Refusal> {
    match first {
        _ if first & 0x0f != message::VERSION => Err(Refusal::Version),
        _ if first != first_byte(profile) => Err(Refusal::Profile),
        _ => Ok(()),
    }
}

/// IEEE 802.15.4.
pub type Dot154 = Half<{ Profile::Dot154 as u8 }, 12, 116>;

/// ESP-NOW.
pub type EspNow = Half<{ Profile::EspNow as u8 }, { u16::MAX }, 250>;

/// One frame per exchange: `f32` state, all taps and a run of `RUN` wide parameters in half precision, within `LIMIT` bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Half<const CODE: u8, const RUN: u16, const LIMIT: usize>;

impl<const CODE: u8, const RUN: u16, const LIMIT: usize> Half<CODE, RUN, LIMIT> {
    fn run<W: MaxSize>(part: u8) -> Span {
        let count = count::<W>();
        let from = u16::from(part).saturating_mul(RUN);
        Span { from, to: from.saturating_add(RUN).min(count) }
    }

    fn parts<W: MaxSize>() -> u32 {
        u32::from(count::<W>().div_ceil(RUN))
    }

    /// The length of a frame with this run.
    fn length<S: MaxSize, C: MaxSize>(run: Span) -> usize {
        HEADER_BYTES
            + S::POSTCARD_MAX_SIZE
            + C::POSTCARD_MAX_SIZE / 2
            + 2 * usize::from(run.to.saturating_sub(run.from))
    }

    /// Checks everything about a frame but its numbers: its header, its run, the state, and the numbers behind that.
    fn check<S: State, C: MaxSize, W: MaxSize>(
        link: Link,
        frame: &[u8],
    ) -> Result<(Header, Span, S, &[u8]), Refusal> {
        let (header, content) = Header::take(frame).ok_or(Refusal::TooShort)?;
        check_first(header.first, Self::profile(true))?;
        if u32::from(header.part) >= Self::parts::<W>() {
            return Err(Refusal::Dimensions);
        }
        let run = Self::run::<W>(header.part);
        check_length(frame, Self::length::<S, C>(run))?;
        if header.model != link.model {
            return Err(Refusal::Model);
        }
        let (state, numbers) = postcard::take_from_bytes(content).map_err(|_| Refusal::Truncated)?;
        Ok((header, run, state, numbers))
    }

    fn read_into<S: State, C: Chains, W: Share>(
        link: Link,
        frame: &[u8],
        beacon: &mut Beacon<S, C, W>,
    ) -> Result<Parts, Refusal> {
        let (header, wide, state, numbers) = Self::check::<S, C, W>(link, frame)?;
        (beacon.sender, beacon.boot, beacon.sequence) = (header.sender, header.boot, header.sequence);
        (beacon.degree, beacon.state) = (header.degree, state);
        let parts = Parts { taps: Span::ALL, wide };
        fill(beacon, parts, numbers)?;
        Ok(parts)
    }
}

impl<const CODE: u8, const RUN: u16, const LIMIT: usize> Codec for Half<CODE, RUN, LIMIT> {
    const FRAMES: u32 = 1;

    fn profile(_: bool) -> Profile {
        if CODE == Profile::Dot154 as u8 { Profile::Dot154 } else { Profile::EspNow }
    }

    fn bytes<S: State, C: Chains, W: Share>() -> usize {
        const {
            let wide =
                if W::POSTCARD_MAX_SIZE / 4 < RUN as usize { W::POSTCARD_MAX_SIZE / 4 } else { RUN as usize };
            let bytes = HEADER_BYTES + S::POSTCARD_MAX_SIZE + C::POSTCARD_MAX_SIZE / 2 + 2 * wide + TAG_BYTES;
            assert!(bytes <= LIMIT, "this network's beacon does not fit into one frame of this radio");
        }
        Self::length::<S, C>(Self::run::<W>(0))
    }

    fn header_bytes() -> usize {
        HEADER_BYTES
    }

    fn identity(frame: &[u8]) -> Option<Identity> {
        let (Header { sender, boot, sequence, .. }, _) = Header::take(frame)?;
        Some(Identity { sender, boot, sequence })
    }

    fn encode<S: State, C: Chains, W: Share>(
        &self,
        link: &Link,
        beacon: &Beacon<S, C, W>,
        exchange: u32,
        _: u32,
        buffer: &mut [u8],
    ) -> Option<usize> {
        let part = (exchange % Self::parts::<W>().max(1)) as u8;
        let (first, model) = (first_byte(Self::profile(true)), link.model);
        let Beacon { sender, boot, sequence, degree, .. } = *beacon;
        let header = Header { first, part, model, sender, boot, sequence, degree };
        let (front, rest) = buffer.split_first_chunk_mut()?;
        *front = header.bytes();
        let state = postcard::to_slice(&beacon.state, &mut *rest).ok()?.len();
        let parts = Parts { taps: Span::ALL, wide: Self::run::<W>(part) };
        Some(HEADER_BYTES + state + write(beacon, parts, rest.get_mut(state..)?)?)
    }

    fn decode<S: State, C: Chains, W: Share>(
        &mut self,
        link: &Link,
        _: u32,
        frame: &[u8],
    ) -> Result<(Beacon<S, C, W>, Parts), Refusal> {
        let mut beacon = Beacon::silent(Self::check::<S, C, W>(*link, frame)?.2);
        Self::read_into(*link, frame, &mut beacon).map(|parts| (beacon, parts))
    }

    fn read<S: State, C: Chains, W: Share>(
        &mut self,
        link: &Link,
        _: u32,
        frame: &mut [u8],
        beacon: &mut Beacon<S, C, W>,
    ) -> Result<Parts, Refusal> {
        Self::read_into(*link, frame, beacon)
    }
}

/// How many numbers a tensor sends.
pub(crate) fn count<T: MaxSize>() -> u16 {
    const { assert!(T::POSTCARD_MAX_SIZE <= MOST_BYTES, "more numbers than a compact profile carries") };
    (T::POSTCARD_MAX_SIZE / 4) as u16
}

/// Writes the taps and the wide parameters that a frame carries in half precision, and returns how many bytes they took.
pub(crate) fn write<S: State, C: Chains, W: Share>(
    beacon: &Beacon<S, C, W>,
    parts: Parts,
    bytes: &mut [u8],
) -> Option<usize> {
    let taps = beacon.chains.write_halves(parts.taps, bytes)?;
    let wide = parts.wide.of(beacon.wide.numbers());
    kernels::write_halves(bytes.get_mut(taps..taps + 2 * wide.len())?, wide);
    Some(taps + 2 * wide.len())
}

/// Fills a beacon with the taps and the wide parameters that a frame carries. Returns what is behind them.
///
/// # Errors
/// [`Refusal::NotAdmissible`], for the state too.
pub(crate) fn fill<'a, S: State, C: Chains, W: Share>(
    beacon: &mut Beacon<S, C, W>,
    parts: Parts,
    numbers: &'a [u8],
) -> Result<&'a [u8], Refusal> {
    let taps = 2 * parts.taps.count(count::<C>());
    let (taps, numbers) = numbers.split_at_checked(taps).ok_or(Refusal::Truncated)?;
    let wide = parts.wide.of_mut(beacon.wide.numbers_mut());
    let (read, rest) = numbers.split_at_checked(2 * wide.len()).ok_or(Refusal::Truncated)?;
    let admissible = beacon.state.admissible()
        & beacon.chains.read_halves(parts.taps, taps)
        & kernels::read_halves(wide, read);
    if admissible { Ok(rest) } else { Err(Refusal::NotAdmissible) }
}
