//! Profiles for small radios: taps and parameters in half precision, and only as many as fit.
//!
//! * [`Dot154`], IEEE 802.15.4: state in `f32`, all taps, one run of 12 wide parameters in rotation (one tap of C for two outputs
//!   and six features). At most 116 bytes with a tag of 8.
//! * [`EspNow`]: the same with all wide parameters. At most 250 bytes.
//! * [`Esb32`], nRF24 and Enhanced `ShockBurst`: frames of 32 bytes with a tag of 4, each with the state in half precision and
//!   six numbers: of the taps in all frames of an exchange but the last, of the wide parameters in the last.
//!
//! Half precision is IEEE binary16, two bytes, to nearest even; what is too large for it is sent as its largest.

use half::f16;
use postcard::{experimental::max_size::MaxSize, fixint::le};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    codec::{Codec, Identity, Parts, Share, Span},
    message::{self, Beacon, Link, Profile, check_length},
    refusal::Refusal,
    taps::Chains,
    task::{NodeId, State},
};

/// Room for the numbers of one tensor in `f32`: 128 of them.
const SCRATCH: usize = 512;

/// Bytes that a tag may add: frames leave room for it, sealed or not.
pub const TAG_BYTES: usize = 8;

/// What is in front of [`Dot154`] and [`EspNow`]. Dimensions are left out: the model tells them.
#[derive(Serialize, Deserialize)]
struct Header {
    /// Version, and the profile above it.
    first: u8,
    /// Which run of the wide parameters.
    part: u8,
    #[serde(with = "le")]
    model: u32,
    #[serde(with = "le")]
    sender: NodeId,
    #[serde(with = "le")]
    boot: u32,
    #[serde(with = "le")]
    sequence: u32,
    degree: u8,
}

/// Length of that in bytes.
const HEADER_BYTES: usize = 17;

/// The first byte of every compact frame.
fn first_byte(profile: Profile) -> u8 {
    message::VERSION | (profile as u8) << 4
}

/// Checks that a frame is of this version and profile.
fn check_first(first: u8, profile: Profile) -> Result<(), Refusal> {
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
        let (Header { sender, boot, sequence, .. }, _) = postcard::take_from_bytes(frame).ok()?;
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
        let mut writer = Writer { rest: buffer, used: 0 };
        writer.put(postcard::to_slice(&header, &mut [0; HEADER_BYTES]).ok()?)?;
        writer.tensor::<S, 4>(&beacon.state, Span::ALL)?;
        writer.tensor::<C, 2>(&beacon.chains, Span::ALL)?;
        writer.tensor::<W, 2>(&beacon.wide, Self::run::<W>(part))?;
        Some(writer.used)
    }

    fn decode<S: State, C: Chains, W: Share>(
        &mut self,
        link: &Link,
        _: u32,
        frame: &[u8],
    ) -> Result<(Beacon<S, C, W>, Parts), Refusal> {
        let (header, content): (Header, _) =
            postcard::take_from_bytes(frame).map_err(|_| Refusal::TooShort)?;
        let Header { first, part, model, sender, boot, sequence, degree } = header;
        check_first(first, Self::profile(true))?;
        if u32::from(part) >= Self::parts::<W>() {
            return Err(Refusal::Dimensions);
        }
        let run = Self::run::<W>(part);
        check_length(frame, Self::length::<S, C>(run))?;
        if model != link.model {
            return Err(Refusal::Model);
        }
        let mut reader = Reader { rest: content };
        let state: S = reader.tensor::<S, 4>(Span::ALL)?;
        let chains: C = reader.tensor::<C, 2>(Span::ALL)?;
        let wide: W = reader.tensor::<W, 2>(run)?;
        if !(state.admissible() && chains.admissible() && wide.admissible()) {
            return Err(Refusal::NotAdmissible);
        }
        let beacon = Beacon { sender, boot, sequence, degree, state, chains, wide };
        Ok((beacon, Parts { taps: Span::ALL, wide: run }))
    }
}

/// The nRF24's 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Esb32;

/// Numbers per frame.
const PIECE: u16 = 6;
/// Version and profile, sender, boot, sequence, piece.
const SHORT_HEADER_BYTES: usize = 8;
/// Frames per exchange: three of taps (18 numbers), one of wide parameters.
const SHORT_FRAMES: u32 = 4;

impl Esb32 {
    fn length<S: MaxSize>() -> usize {
        SHORT_HEADER_BYTES + S::POSTCARD_MAX_SIZE / 2 + 2 * usize::from(PIECE)
    }

    /// The taps' pieces come first, the wide parameters' behind them.
    fn span<C: MaxSize, W: MaxSize>(piece: u8) -> Option<Parts> {
        let tap_pieces = count::<C>().div_ceil(PIECE);
        let piece = u16::from(piece);
        let run = |index: u16, count: u16| {
            let from = index * PIECE;
            (from < count).then_some(Span { from, to: (from + PIECE).min(count) })
        };
        match piece.checked_sub(tap_pieces) {
            None => Some(Parts { taps: run(piece, count::<C>())?, wide: Span::NONE }),
            Some(wide) => Some(Parts { taps: Span::NONE, wide: run(wide, count::<W>())? }),
        }
    }
}

impl Codec for Esb32 {
    const FRAMES: u32 = SHORT_FRAMES;

    fn profile(_: bool) -> Profile {
        Profile::Esb32
    }

    fn bytes<S: State, C: Chains, W: Share>() -> usize {
        const {
            assert!(SHORT_HEADER_BYTES + S::POSTCARD_MAX_SIZE / 2 + 2 * PIECE as usize + 4 <= 32);
            assert!(
                C::POSTCARD_MAX_SIZE / 4 <= (SHORT_FRAMES as usize - 1) * PIECE as usize,
                "this network has more taps than the frames of one exchange carry"
            );
        }
        Self::length::<S>()
    }

    fn header_bytes() -> usize {
        SHORT_HEADER_BYTES
    }

    fn identity(frame: &[u8]) -> Option<Identity> {
        let &[_, sender, boot_low, boot_high, s0, s1, s2, _] = frame.first_chunk::<SHORT_HEADER_BYTES>()?;
        Some(Identity {
            sender: sender.into(),
            boot: u16::from_le_bytes([boot_low, boot_high]).into(),
            sequence: u32::from_le_bytes([s0, s1, s2, 0]),
        })
    }

    /// `None`, too, for what its short header cannot tell: an address beyond 255, a boot beyond 65,535, a sequence beyond 2²⁴.
    fn encode<S: State, C: Chains, W: Share>(
        &self,
        _: &Link,
        beacon: &Beacon<S, C, W>,
        exchange: u32,
        index: u32,
        buffer: &mut [u8],
    ) -> Option<usize> {
        let tap_pieces = u32::from(count::<C>().div_ceil(PIECE));
        let wide_pieces = u32::from(count::<W>().div_ceil(PIECE)).max(1);
        let piece = if index < tap_pieces { index } else { tap_pieces + exchange % wide_pieces } as u8;
        let parts = Self::span::<C, W>(piece)?;
        let sender = u8::try_from(beacon.sender).ok()?;
        let boot = u16::try_from(beacon.boot).ok()?.to_le_bytes();
        let [s0, s1, s2, 0] = beacon.sequence.to_le_bytes() else { return None };
        let mut writer = Writer { rest: buffer, used: 0 };
        writer.put(&[first_byte(Profile::Esb32), sender, boot[0], boot[1], s0, s1, s2, piece])?;
        writer.tensor::<S, 2>(&beacon.state, Span::ALL)?;
        writer.tensor::<C, 2>(&beacon.chains, parts.taps)?;
        writer.tensor::<W, 2>(&beacon.wide, parts.wide)?;
        // A last piece that is shorter is filled up: all frames have one length.
        while writer.used < Self::length::<S>() {
            writer.put(&[0])?;
        }
        Some(writer.used)
    }

    fn decode<S: State, C: Chains, W: Share>(
        &mut self,
        _: &Link,
        _: u32,
        frame: &[u8],
    ) -> Result<(Beacon<S, C, W>, Parts), Refusal> {
        let identity = Self::identity(frame).ok_or(Refusal::TooShort)?;
        let (header, content) = frame.split_first_chunk::<SHORT_HEADER_BYTES>().ok_or(Refusal::TooShort)?;
        let [first, .., piece] = *header;
        check_first(first, Profile::Esb32)?;
        let parts = Self::span::<C, W>(piece).ok_or(Refusal::Dimensions)?;
        check_length(frame, Self::length::<S>())?;
        let mut reader = Reader { rest: content };
        let state: S = reader.tensor::<S, 2>(Span::ALL)?;
        let chains: C = reader.tensor::<C, 2>(parts.taps)?;
        let wide: W = reader.tensor::<W, 2>(parts.wide)?;
        if !(state.admissible() && chains.admissible() && wide.admissible()) {
            return Err(Refusal::NotAdmissible);
        }
        // What fills up a piece is zero: one value, one frame.
        if reader.rest.iter().any(|byte| *byte != 0) {
            return Err(Refusal::NotAdmissible);
        }
        let Identity { sender, boot, sequence } = identity;
        Ok((Beacon { sender, boot, sequence, degree: 0, state, chains, wide }, parts))
    }
}

/// How many numbers a tensor sends.
fn count<T: MaxSize>() -> u16 {
    const { assert!(T::POSTCARD_MAX_SIZE <= SCRATCH, "more numbers than a compact profile carries") };
    (T::POSTCARD_MAX_SIZE / 4) as u16
}

/// The largest finite half-precision number.
const LARGEST_HALF: f32 = 65504.0;

struct Writer<'a> {
    rest: &'a mut [u8],
    used: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        self.rest.get_mut(self.used..self.used + bytes.len())?.copy_from_slice(bytes);
        self.used += bytes.len();
        Some(())
    }

    /// Writes a run of a tensor's numbers, `WIDTH` bytes each (4 or 2).
    fn tensor<T: Serialize, const WIDTH: usize>(&mut self, tensor: &T, span: Span) -> Option<()> {
        let mut scratch = [0; SCRATCH];
        let numbers = postcard::to_slice(tensor, &mut scratch).ok()?.as_chunks::<4>().0;
        for bytes in span.of(numbers) {
            if WIDTH == 4 {
                self.put(bytes)?;
            } else {
                let limited = crate::math::clamp(f32::from_le_bytes(*bytes), LARGEST_HALF);
                self.put(&f16::from_f32(limited).to_le_bytes())?;
            }
        }
        Some(())
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(Refusal::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }

    /// Reads a run of a tensor's numbers; the others are zero.
    fn tensor<T: DeserializeOwned + MaxSize, const WIDTH: usize>(
        &mut self,
        span: Span,
    ) -> Result<T, Refusal> {
        let mut scratch = [0; SCRATCH];
        let used = usize::from(count::<T>());
        let numbers = scratch.as_chunks_mut::<4>().0.get_mut(..used).ok_or(Refusal::Dimensions)?;
        for bytes in span.of_mut(numbers) {
            *bytes = if WIDTH == 4 {
                self.take::<4>()?
            } else {
                f16::from_le_bytes(self.take::<2>()?).to_f32().to_le_bytes()
            };
        }
        postcard::from_bytes(&scratch).map_err(|_| Refusal::Truncated)
    }
}
