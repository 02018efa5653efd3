//! Speak and hear: the beacon that a node broadcasts once per exchange.
//!
//! A frame is a header, the sender's state, its taps and its wide parameters, little-endian and with everything at a fixed
//! width: two frames of one model have the same length, and any language can read them with a table (`docs/wire-format.md`).

use crate::{
    net::{
        kernels,
        taps::Chains,
        tensor::{Numbers, Tensor},
    },
    tasks::task::{NodeId, State},
    wire::refusal::Refusal,
};

/// The protocol's version, the first byte of every frame.
pub const VERSION: u8 = 1;

/// The degree that a robot tells who is nothing but a body to others.
pub const ONLY_A_BODY: u8 = 255;

pub use super::link::{Identity, Link, OTHER_CLOCK_TICKS, Parts, Profile};

/// One node's broadcast.
///
/// ```
/// use wdgnn_core::{
///     Beacon, Motion, Refusal,
///     message::{Link, Profile},
///     taps::{Chain, NoChain, Stacked},
///     tensor::{Filter, Tensor},
/// };
///
/// type Frame = Beacon<Motion, Stacked<2, 1, NoChain>, Filter<2, 1, 2>>;
///
/// let state = Motion { position: [1.0, 2.0], velocity: [3.0, 4.0] };
/// let chains = Stacked { chain: Chain([[0.5], [0.0]]), above: NoChain };
/// let sent = Frame { sender: 7, boot: 0, sequence: 12, degree: 3, state, chains, wide: Filter::ZERO };
///
/// let link = Link { profile: Profile::Exact, checksum: 0xdead_beef };
/// let mut frame = [0; Frame::BYTES];
/// assert_eq!(sent.encode(&link, &mut frame), Some(Frame::BYTES));
/// assert_eq!(Frame::decode(&link, &frame), Ok(sent));
///
/// let other_swarm = Link { checksum: 1, ..link };
/// assert_eq!(Frame::decode(&other_swarm, &frame), Err(Refusal::Model));
/// assert_eq!(Frame::decode(&link, &frame[..40]), Err(Refusal::Truncated));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Beacon<S, C, W> {
    /// Who speaks.
    pub sender: NodeId,
    /// How often the sender was started.
    pub boot: u32,
    /// The sender's count of frames, which tells the time: at least its tick times the frames per exchange.
    pub sequence: u32,
    /// How many neighbours the sender has.
    pub degree: u8,
    /// The sender's state at this tick.
    pub state: S,
    /// The sender's taps as they stood one exchange earlier.
    pub chains: C,
    /// The sender's wide parameters.
    pub wide: W,
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
pub(crate) fn identity(frame: &[u8]) -> Option<Identity> {
    let (Front { sender, boot, sequence, .. }, _) = Front::take(frame)?;
    Some(Identity { sender, boot, sequence })
}

/// The checksum of its sender's weight file, if it is long enough to tell.
pub(crate) fn checksum(frame: &[u8]) -> Option<u32> {
    Front::take(frame).map(|(header, _)| header.checksum)
}

/// Takes a frame's header and checks that it is of this version, profile and shape. Returns the rest with it.
fn take_header<S: State, C: Chains, W: Tensor>(link: Link, frame: &[u8]) -> Result<(Front, &[u8]), Refusal> {
    let (header, content) = Front::take(frame).ok_or(Refusal::TooShort)?;
    if header.version != VERSION {
        return Err(Refusal::Version);
    }
    if header.profile != link.profile as u8 {
        return Err(Refusal::Profile);
    }
    let dimensions = (header.state_numbers, header.tap_numbers, header.wide_numbers);
    if dimensions != Beacon::<S, C, W>::DIMENSIONS {
        return Err(Refusal::Dimensions);
    }
    Ok((header, content))
}

/// Checks that a frame is exactly so long.
pub(crate) fn check_length(frame: &[u8], length: usize) -> Result<(), Refusal> {
    match frame.len() {
        found if found < length => Err(Refusal::Truncated),
        found if found > length => Err(Refusal::Trailing),
        _ => Ok(()),
    }
}

impl<S: State, C: Chains, W: Tensor> Beacon<S, C, W> {
    /// The length of every such frame in bytes.
    pub const BYTES: usize = HEADER_BYTES + 4 * (S::Numbers::COUNT + C::COUNT + W::COUNT);

    /// How many numbers the state, the taps and the wide parameters are.
    const DIMENSIONS: (u8, u16, u16) = {
        assert!(S::Numbers::COUNT < 1 << 8 && C::COUNT < 1 << 16 && W::COUNT < 1 << 16);
        (S::Numbers::COUNT as u8, C::COUNT as u16, W::COUNT as u16)
    };

    fn header(&self, link: Link) -> Front {
        let (state_numbers, tap_numbers, wide_numbers) = Self::DIMENSIONS;
        Front {
            version: VERSION,
            profile: link.profile as u8,
            state_numbers,
            tap_numbers,
            wide_numbers,
            checksum: link.checksum,
            sender: self.sender,
            boot: self.boot,
            sequence: self.sequence,
            degree: self.degree,
        }
    }

    /// Writes the frame to the front of `buffer` and returns its length, or `None` when the buffer is shorter than
    /// [`Beacon::BYTES`].
    #[must_use]
    pub fn encode(&self, link: &Link, buffer: &mut [u8]) -> Option<usize> {
        let frame = buffer.get_mut(..Self::BYTES)?;
        let (header, content) = frame.split_first_chunk_mut()?;
        let (state, numbers) = content.split_at_mut_checked(4 * S::Numbers::COUNT)?;
        let (taps, wide) = numbers.split_at_mut_checked(4 * C::COUNT)?;
        *header = self.header(*link).bytes();
        kernels::write(state, self.state.numbers().as_ref());
        self.chains.write_sent(taps);
        kernels::write(wide, self.wide.numbers());
        Some(Self::BYTES)
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// The first [`Refusal`] that applies, in the order of its declaration.
    pub fn decode(link: &Link, frame: &[u8]) -> Result<Self, Refusal> {
        let mut beacon = Self::silent(S::zero());
        beacon.read(link, frame).map(|()| beacon)
    }

    /// A beacon that says nothing yet.
    #[must_use]
    pub fn silent(state: S) -> Self {
        Self { sender: 0, boot: 0, sequence: 0, degree: 0, state, chains: C::ZERO, wide: W::ZERO }
    }

    /// Takes over what a later frame of the same sender carries.
    #[inline(never)] // once for newcomers and for those who are known
    pub(crate) fn take_over(&mut self, later: &Self, parts: Parts) {
        (self.sequence, self.degree, self.state) = (later.sequence, later.degree, later.state);
        self.chains.copy_sent(&later.chains, parts.taps);
        kernels::copy(parts.wide.of_mut(self.wide.numbers_mut()), parts.wide.of(later.wide.numbers()));
    }

    /// Reads a frame into this beacon. What it holds after a refusal means nothing, except that of another model's frame it has who and
    /// where its sender is.
    ///
    /// The numbers are read in place, a tensor at a time: by value, copies took four fifths of a robot's hearing.
    #[inline]
    pub(crate) fn read(&mut self, link: &Link, frame: &[u8]) -> Result<(), Refusal> {
        let (header, content) = take_header::<S, C, W>(*link, frame)?;
        check_length(frame, Self::BYTES)?;
        let (state, numbers) = content.split_at_checked(4 * S::Numbers::COUNT).ok_or(Refusal::Truncated)?;
        let (taps, wide) = numbers.split_at_checked(4 * C::COUNT).ok_or(Refusal::Truncated)?;
        let state = S::from_numbers(Numbers::from_bytes(state));
        (self.sender, self.boot, self.sequence) = (header.sender, header.boot, header.sequence);
        (self.degree, self.state) = (header.degree, state);
        if header.checksum != link.checksum {
            return Err(Refusal::Model);
        }
        let admissible =
            state.admissible() & self.chains.read_sent(taps) & kernels::read(self.wide.numbers_mut(), wide);
        if admissible { Ok(()) } else { Err(Refusal::NotAdmissible) }
    }
}
