//! The weight file: everything about a trained model, in one checked piece of bytes that flies from flash as it is.
//!
//! Layout (little-endian; `docs/wire-format.md` is normative): a header of [`HEADER_BYTES`], the network's numbers as
//! `f32` in the order of [`crate::Network::over`], and a CRC-32 over all of that. [`Weights::open`] copies nothing: the numbers are
//! read where they lie, so they must lie on a multiple of four ([`Aligned`] sees to it for `include_bytes!`).

use crc::{CRC_32_ISO_HDLC, Crc, NoTable};
use postcard::fixint::le;
use serde::{Deserialize, Serialize};

use crate::{
    activation::Activation,
    math,
    online::{Learning, Mixing},
    taps::Scale,
    wide::Metric,
};

/// Length of the header in bytes.
pub const HEADER_BYTES: usize = 108;
/// The most layers that a file can describe.
pub const MOST_LAYERS: usize = 6;
/// The file format's version.
pub const VERSION: u8 = 1;
const MAGIC: [u8; 4] = *b"WDGN";
const CHECKSUM: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);

/// Bytes on a multiple of four: `static FILE: Aligned<[u8; N]> = Aligned(*include_bytes!("…"))`.
#[derive(Debug)]
#[repr(C, align(4))]
pub struct Aligned<T: ?Sized>(pub T);

/// When the taps are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Schedule {
    /// One exchange per tick: tap k is k ticks old. Flocking.
    Delayed,
    /// As many exchanges as the chains are long inside one step, on a graph that stands still. Ratings.
    Synchronous,
}

/// What a task keeps in the weight file, because training and flight must agree on it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TaskSettings {
    /// Which task, so that a network is never flown on another one.
    pub task: u16,
    /// The task's own numbers.
    pub numbers: [f32; 8],
}

/// One layer's dimensions in the weight file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LayerDimensions {
    /// Taps, K_ℓ + 1.
    #[serde(with = "le")]
    pub taps: u16,
    /// Output features F_ℓ.
    #[serde(with = "le")]
    pub features: u16,
}

/// What a weight file says about its network.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Header {
    /// The deep part's nonlinearity.
    pub activation: Activation,
    /// When taps are exchanged.
    pub schedule: Schedule,
    /// How sums over neighbours are scaled.
    pub scale: Scale,
    /// Input features F.
    pub features: u16,
    /// Hidden features G.
    pub hidden: u16,
    /// Outputs O.
    pub outputs: u16,
    /// The layers in use, first layer first; the rest is zero.
    pub layers: [LayerDimensions; MOST_LAYERS],
    /// The task and its numbers.
    pub task: TaskSettings,
    /// The learning rule that the model was tuned for.
    pub learning: Learning,
    /// Control ticks per exchange that the model was trained for.
    pub exchange_divisor: u16,
}

/// The part of a network that a weight file and a type can disagree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Field {
    /// Input features F.
    Features,
    /// Taps of the first layer and of the wide part.
    Taps,
    /// Hidden features G.
    Hidden,
    /// Outputs O.
    Outputs,
    /// Number of layers L.
    Layers,
    /// Taps of a later layer.
    LayerTaps,
    /// Output features of a layer.
    LayerFeatures,
    /// The task.
    Task,
    /// The activation's code.
    Activation,
    /// The schedule's code.
    Schedule,
    /// The scale's code.
    Scale,
    /// A code of the learning rule.
    Learning,
}

/// Why a weight file is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum WeightsError {
    /// Not a weight file: it does not begin with `WDGN`.
    NotWeights,
    /// A version that this build does not read.
    Version {
        /// The file's version.
        found: u8,
    },
    /// The file is shorter than it says, or longer.
    Truncated {
        /// Bytes needed.
        needed: usize,
        /// Bytes there.
        found: usize,
    },
    /// The file and the network's type differ, or a code is unknown (`expected` is then 0).
    Mismatch {
        /// In what.
        field: Field,
        /// What the type has.
        expected: u32,
        /// What the file has.
        found: u32,
    },
    /// The bytes were changed since they were written.
    Checksum,
    /// A NaN, an infinity, a subnormal or a number too large.
    NotAdmissible,
    /// The bytes do not begin on a multiple of four.
    Misaligned,
}

impl core::fmt::Display for WeightsError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotWeights => write!(formatter, "this is not a weight file"),
            Self::Version { found } => {
                write!(formatter, "weight file version {found} is unknown (this build reads {VERSION})")
            }
            Self::Truncated { needed, found } => {
                write!(formatter, "the weight file has {found} bytes, {needed} are needed")
            }
            Self::Mismatch { field, expected, found } => {
                write!(formatter, "{field:?} differs: {expected} here, {found} in the weight file")
            }
            Self::Checksum => write!(formatter, "the weight file is damaged: its checksum does not match"),
            Self::NotAdmissible => {
                write!(formatter, "the weight file holds a number that is not finite or is out of range")
            }
            Self::Misaligned => {
                write!(formatter, "the weight file does not begin on a multiple of four bytes")
            }
        }
    }
}

impl core::error::Error for WeightsError {}

/// An opened weight file: checked, not copied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights<'w> {
    /// What the file says about its network.
    pub header: Header,
    /// The network's numbers.
    pub numbers: &'w [f32],
    /// The file's checksum. Robots put it into their beacons, so that different models never mix.
    pub model: u32,
}

impl<'w> Weights<'w> {
    /// Opens and checks a weight file.
    ///
    /// # Errors
    /// A [`WeightsError`] naming what is wrong; nothing is kept of a refused file.
    pub fn open(bytes: &'w [u8]) -> Result<Self, WeightsError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(WeightsError::NotWeights);
        }
        let version = bytes.get(4).copied().unwrap_or_default();
        if version != VERSION {
            return Err(WeightsError::Version { found: version });
        }
        let too_short = |needed| WeightsError::Truncated { needed, found: bytes.len() };
        let (raw, rest): (Raw, _) =
            postcard::take_from_bytes(bytes).map_err(|_| too_short(HEADER_BYTES + 4))?;
        let count = usize::try_from(raw.numbers).unwrap_or(usize::MAX);
        let length = count.saturating_mul(4);
        if rest.len() != length.saturating_add(4) {
            return Err(too_short(length.saturating_add(HEADER_BYTES + 4)));
        }
        let (covered, checksum) = bytes.split_last_chunk::<4>().ok_or(too_short(HEADER_BYTES + 4))?;
        let model = u32::from_le_bytes(*checksum);
        if CHECKSUM.checksum(covered) != model {
            return Err(WeightsError::Checksum);
        }
        let header = raw.check()?;
        let bytes = rest.get(..length).unwrap_or_default();
        let numbers: &[f32] = bytemuck::try_cast_slice(bytes).map_err(|_| WeightsError::Misaligned)?;
        let task = &header.task.numbers;
        if !numbers.iter().chain(task).chain(&header.learning.numbers()).all(|&x| math::admissible(x)) {
            return Err(WeightsError::NotAdmissible);
        }
        Ok(Self { header, numbers, model })
    }

    /// Compares the file with a network type, layer by layer.
    pub(crate) fn expect_dimensions(
        &self,
        features: usize,
        hidden: usize,
        outputs: usize,
        layers: usize,
        taps: usize,
        layer: impl Fn(usize) -> Option<(usize, usize)>,
    ) -> Result<(), WeightsError> {
        let header = &self.header;
        let used = header.layers.iter().take_while(|layer| layer.taps > 0).count();
        expect(Field::Features, features, header.features.into())?;
        expect(Field::Hidden, hidden, header.hidden.into())?;
        expect(Field::Outputs, outputs, header.outputs.into())?;
        expect(Field::Layers, layers, used)?;
        for (index, found) in header.layers.iter().take(used).enumerate() {
            let (layer_taps, layer_features) = layer(index).unwrap_or_default();
            let (field, expected) =
                if index == 0 { (Field::Taps, taps) } else { (Field::LayerTaps, layer_taps) };
            expect(field, expected, found.taps.into())?;
            expect(Field::LayerFeatures, layer_features, found.features.into())?;
        }
        Ok(())
    }

    /// Compares the file's task with the one that is going to be flown.
    ///
    /// # Errors
    /// [`WeightsError::Mismatch`] with [`Field::Task`].
    pub fn expect_task(&self, task: u16) -> Result<&[f32; 8], WeightsError> {
        expect(Field::Task, task.into(), self.header.task.task.into())?;
        Ok(&self.header.task.numbers)
    }
}

fn expect(field: Field, expected: usize, found: usize) -> Result<(), WeightsError> {
    if expected == found {
        Ok(())
    } else {
        Err(WeightsError::Mismatch { field, expected: expected as u32, found: found as u32 })
    }
}

/// Writes a weight file into `out` and returns its length.
///
/// # Errors
/// [`WeightsError::Truncated`] when `out` is too small: `HEADER_BYTES + 4 · numbers.len() + 4` bytes are needed.
/// [`WeightsError::NotAdmissible`] when a number could not be read back.
pub fn write(header: &Header, numbers: &[f32], out: &mut [u8]) -> Result<usize, WeightsError> {
    if !numbers.iter().all(|&x| math::admissible(x)) {
        return Err(WeightsError::NotAdmissible);
    }
    let (needed, found) = (HEADER_BYTES + 4 * numbers.len() + 4, out.len());
    let too_small = WeightsError::Truncated { needed, found };
    let out = out.get_mut(..needed).ok_or(too_small)?;
    let (covered, checksum) = out.split_last_chunk_mut::<4>().ok_or(too_small)?;
    postcard::to_slice(&Raw::new(header, numbers.len()), covered).map_err(|_| too_small)?;
    let body = covered.get_mut(HEADER_BYTES..).unwrap_or_default();
    for (bytes, x) in body.as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
        *bytes = x.to_le_bytes();
    }
    *checksum = CHECKSUM.checksum(covered).to_le_bytes();
    Ok(needed)
}

/// The header as it lies in the file. Every field has a fixed width, so the numbers behind it stay aligned.
#[derive(Serialize, Deserialize)]
struct Raw {
    magic: [u8; 4],
    version: u8,
    activation: u8,
    schedule: u8,
    scale: u8,
    scale_factor: f32,
    #[serde(with = "le")]
    features: u16,
    #[serde(with = "le")]
    hidden: u16,
    #[serde(with = "le")]
    outputs: u16,
    #[serde(with = "le")]
    task: u16,
    layers: [LayerDimensions; MOST_LAYERS],
    task_numbers: [f32; 8],
    learning: [f32; 5],
    metric: u8,
    mixing: u8,
    through_clamp: u8,
    reserved: u8,
    #[serde(with = "le")]
    exchange_divisor: u16,
    reserved_too: [u8; 2],
    #[serde(with = "le")]
    numbers: u32,
}

impl Raw {
    fn new(header: &Header, numbers: usize) -> Self {
        let (scale, scale_factor) = match header.scale {
            Scale::Sum => (0, 1.0),
            Scale::Mean => (1, 1.0),
            Scale::Scaled(factor) => (2, factor),
        };
        Self {
            magic: MAGIC,
            version: VERSION,
            activation: header.activation.code(),
            schedule: u8::from(header.schedule == Schedule::Synchronous),
            scale,
            scale_factor,
            features: header.features,
            hidden: header.hidden,
            outputs: header.outputs,
            task: header.task.task,
            layers: header.layers,
            task_numbers: header.task.numbers,
            learning: header.learning.numbers(),
            metric: u8::from(header.learning.metric == Metric::Euclidean),
            mixing: header.learning.mixing.code(),
            through_clamp: u8::from(header.learning.through_clamp),
            reserved: 0,
            exchange_divisor: header.exchange_divisor,
            reserved_too: [0; 2],
            numbers: numbers as u32,
        }
    }

    fn check(&self) -> Result<Header, WeightsError> {
        let unknown = |field, code: u8| WeightsError::Mismatch { field, expected: 0, found: code.into() };
        let metric = match self.metric {
            0 => Metric::Paper,
            1 => Metric::Euclidean,
            code => return Err(unknown(Field::Learning, code)),
        };
        let through_clamp = match self.through_clamp {
            0 => false,
            1 => true,
            code => return Err(unknown(Field::Learning, code)),
        };
        let mixing = Mixing::from_code(self.mixing).ok_or(unknown(Field::Learning, self.mixing))?;
        let [step, cooling, ridge, ball, clip] = self.learning;
        Ok(Header {
            activation: Activation::from_code(self.activation)
                .ok_or(unknown(Field::Activation, self.activation))?,
            schedule: match self.schedule {
                0 => Schedule::Delayed,
                1 => Schedule::Synchronous,
                code => return Err(unknown(Field::Schedule, code)),
            },
            scale: match self.scale {
                0 => Scale::Sum,
                1 => Scale::Mean,
                2 if math::admissible(self.scale_factor) => Scale::Scaled(self.scale_factor),
                code => return Err(unknown(Field::Scale, code)),
            },
            features: self.features,
            hidden: self.hidden,
            outputs: self.outputs,
            layers: self.layers,
            task: TaskSettings { task: self.task, numbers: self.task_numbers },
            learning: Learning { step, cooling, ridge, ball, clip, metric, mixing, through_clamp },
            exchange_divisor: self.exchange_divisor,
        })
    }
}

/// Takes tensors from the front of a list of numbers, without copying.
#[derive(Debug)]
pub struct Reader<'w> {
    rest: &'w [f32],
}

impl<'w> Reader<'w> {
    /// Starts at the front of `numbers`.
    #[must_use]
    pub fn new(numbers: &'w [f32]) -> Self {
        Self { rest: numbers }
    }

    /// Whether everything was taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    fn take(&mut self, count: usize) -> Option<&'w [f32]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    /// The next `N` numbers.
    pub fn vector<const N: usize>(&mut self) -> Option<&'w [f32; N]> {
        self.take(N)?.try_into().ok()
    }

    /// The next `ROWS` rows.
    pub fn matrix<const ROWS: usize, const COLUMNS: usize>(&mut self) -> Option<&'w [[f32; COLUMNS]; ROWS]> {
        self.take(ROWS * COLUMNS)?.as_chunks().0.try_into().ok()
    }

    /// The next filter bank.
    pub fn filter<const TAPS: usize, const IN: usize, const OUT: usize>(
        &mut self,
    ) -> Option<&'w [[[f32; OUT]; IN]; TAPS]> {
        self.take(TAPS * IN * OUT)?.as_chunks().0.as_chunks().0.try_into().ok()
    }
}
