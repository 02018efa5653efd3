//! Profiles for small radios: taps and parameters in half precision, and only as many as fit.
//!
//! * [`Dot154`], IEEE 802.15.4: state in `f32`, all taps, one run of 12 wide parameters in rotation (one tap of C for two outputs
//!   and six features). At most 116 bytes with a tag of 8.
//! * [`EspNow`]: the same with all wide parameters. At most 250 bytes.
//! * [`Esb32`](crate::esb32::Esb32), nRF24 and Enhanced `ShockBurst`: frames of 32 bytes with a tag of 4, each with the state in half precision and
//!   six numbers: of the taps in all frames of an exchange but the last, of the wide parameters in the last.
//!
//! Half precision is IEEE binary16, two bytes, to nearest even; what is too large for it is sent as its largest.

use half::f16;
use postcard::{experimental::max_size::MaxSize, fixint::le};
use serde::{Deserialize, Serialize};

use crate::{
    codec::{Codec, Identity, Parts, Share, Span},
    math,
    message::{self, Beacon, Link, Profile, check_length},
    refusal::Refusal,
    taps::Chains,
    task::{NodeId, State},
};

/// Room for the numbers of one tensor in `f32`: 128 of them.
pub(crate) const SCRATCH: usize = 512;

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
        let (header, content): (Header, _) =
            postcard::take_from_bytes(frame).map_err(|_| Refusal::TooShort)?;
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
        now: u32,
        frame: &[u8],
    ) -> Result<(Beacon<S, C, W>, Parts), Refusal> {
        let mut beacon = Beacon::silent(Self::check::<S, C, W>(*link, frame)?.2);
        self.read(link, now, frame, &mut beacon).map(|parts| (beacon, parts))
    }

    fn read<S: State, C: Chains, W: Share>(
        &mut self,
        link: &Link,
        _: u32,
        frame: &[u8],
        beacon: &mut Beacon<S, C, W>,
    ) -> Result<Parts, Refusal> {
        let (header, wide, state, numbers) = Self::check::<S, C, W>(*link, frame)?;
        (beacon.sender, beacon.boot, beacon.sequence) = (header.sender, header.boot, header.sequence);
        (beacon.degree, beacon.state) = (header.degree, state);
        let parts = Parts { taps: Span::ALL, wide };
        fill(beacon, parts, numbers)?;
        Ok(parts)
    }
}

/// How many numbers a tensor sends.
pub(crate) fn count<T: MaxSize>() -> u16 {
    const { assert!(T::POSTCARD_MAX_SIZE <= SCRATCH, "more numbers than a compact profile carries") };
    (T::POSTCARD_MAX_SIZE / 4) as u16
}

/// The largest finite half-precision number.
const LARGEST_HALF: f32 = 65504.0;

pub(crate) struct Writer<'a> {
    pub(crate) rest: &'a mut [u8],
    pub(crate) used: usize,
}

impl Writer<'_> {
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Option<()> {
        self.rest.get_mut(self.used..self.used + bytes.len())?.copy_from_slice(bytes);
        self.used += bytes.len();
        Some(())
    }

    /// Writes a run of a tensor's numbers, `WIDTH` bytes each (4 or 2).
    pub(crate) fn tensor<T: Serialize, const WIDTH: usize>(&mut self, tensor: &T, span: Span) -> Option<()> {
        let mut scratch = [0; SCRATCH];
        let numbers = postcard::to_slice(tensor, &mut scratch).ok()?.as_chunks::<4>().0;
        for bytes in span.of(numbers) {
            if WIDTH == 4 {
                self.put(bytes)?;
            } else {
                let limited = math::clamp(f32::from_le_bytes(*bytes), LARGEST_HALF);
                self.put(&f16::from_f32(limited).to_le_bytes())?;
            }
        }
        Some(())
    }
}

pub(crate) fn widened(half: [u8; 2]) -> f32 {
    f16::from_le_bytes(half).to_f32()
}

/// Fills a beacon with the taps and the wide parameters that a frame carries; the others are zero. Returns what is behind them.
///
/// # Errors
/// [`Refusal::NotAdmissible`], for the state too.
pub(crate) fn fill<'a, S: State, C: Chains, W: Share>(
    beacon: &mut Beacon<S, C, W>,
    parts: Parts,
    numbers: &'a [u8],
) -> Result<&'a [[u8; 2]], Refusal> {
    let mut halves = numbers.as_chunks().0.iter();
    let mut scratch = [[0; 4]; SCRATCH / 4];
    let taps = scratch.get_mut(..count::<C>().into()).unwrap_or_default();
    for (slot, half) in parts.taps.of_mut(taps).iter_mut().zip(&mut halves) {
        *slot = widened(*half).to_le_bytes();
    }
    let mut admissible = beacon.state.admissible() & beacon.chains.read_sent(taps.as_flattened());
    beacon.wide = W::ZERO;
    for (slot, half) in parts.wide.of_mut(beacon.wide.numbers_mut()).iter_mut().zip(&mut halves) {
        *slot = widened(*half);
        admissible &= math::admissible(*slot);
    }
    if admissible { Ok(halves.as_slice()) } else { Err(Refusal::NotAdmissible) }
}
