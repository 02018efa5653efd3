//! Weight files: a trained model with its settings, used directly from flash.
//!
//! The layout is little-endian: a header of [`HEADER_BYTES`], the network's weights as `f32` in the
//! order of [`crate::model::network::Network::from_numbers`], and a CRC-32 of both. `docs/wire-format.md`
//! is normative. [`Weights::open`] borrows the weights without copying, so they must start at a
//! multiple of four bytes. [`Aligned`] ensures that for `include_bytes!`.

mod encoding;
mod error;
mod format;
mod header;

use crate::{
    math,
    model::{deep::Deep, network::Network},
};

pub use self::{
    error::{HeaderField, WeightsError},
    format::{HEADER_BYTES, MAGIC, MAX_LAYERS, VERSION, crc_32},
    header::{Header, LayerDimensions, TaskSettings},
};

/// Bytes aligned to a multiple of four.
///
/// Example: `static FILE: Aligned<[u8; N]> = Aligned(*include_bytes!("…"))`.
#[derive(Debug)]
#[repr(C, align(4))]
pub struct Aligned<T: ?Sized>(pub T);

/// An opened weight file: checked, not copied.
///
/// ```
/// use wdgnn_core::{
///     filter::scale::Scale,
///     model::{activation::Activation, deep::{Layer, EndOfStack}, network::Network},
///     online::Learning,
///     weights::{self, Aligned, HeaderField, Header, LayerDimensions, TaskSettings, Weights, WeightsError},
/// };
///
/// type Net<'w> = Network<'w, 6, 4, 32, 2, Layer<'w, 4, 6, 32, EndOfStack>>;
/// type Narrow<'w> = Network<'w, 6, 4, 16, 2, Layer<'w, 4, 6, 16, EndOfStack>>;
///
/// let mut layers = [LayerDimensions::default(); weights::MAX_LAYERS];
/// layers[0] = LayerDimensions { taps: 4, features: 32 };
/// let header = Header {
///     activation: Activation::Tanh,
///     scale: Scale::Mean,
///     features: 6,
///     hidden: 32,
///     outputs: 2,
///     layers,
///     task: TaskSettings { task: 1, numbers: [0.0; 8] },
///     learning: Learning::paper(1.0),
///     interval: 1,
///     lag: 0.0,
/// };
/// let mut file = Aligned([0; weights::HEADER_BYTES + 4 * Net::WEIGHT_COUNT + 4]);
/// weights::write(&header, &[0.25; Net::WEIGHT_COUNT], &mut file.0)?;
///
/// let opened = Weights::open(&file.0)?;
/// let network = Net::from_weights(&opened)?;
/// assert_eq!(network.alpha_wide, 0.25);
/// // Another type than the file's is refused, and the difference named.
/// let mismatch = WeightsError::Mismatch { field: HeaderField::Hidden, expected: 16, found: 32 };
/// assert_eq!(Narrow::from_weights(&opened).err(), Some(mismatch));
/// # Ok::<(), WeightsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights<'w> {
    /// Description of the network.
    pub header: Header,
    /// Weights of the network.
    pub numbers: &'w [f32],
    /// Checksum of the file.
    ///
    /// Robots include it in their messages, so robots with different models never mix parameters.
    pub checksum: u32,
}

impl<'w> Weights<'w> {
    /// Opens and checks a weight file.
    ///
    /// # Errors
    /// A [`WeightsError`] that states what is wrong.
    #[inline(never)] // returns its stack before the robot is built
    pub fn open(bytes: &'w [u8]) -> Result<Self, WeightsError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(WeightsError::NotWeights);
        }
        let too_short = |needed| WeightsError::Length { needed, found: bytes.len() };
        let version = *bytes.get(MAGIC.len()).ok_or(too_short(HEADER_BYTES + 4))?;
        if version != VERSION {
            return Err(WeightsError::Version { found: version });
        }
        let (header, rest) = bytes.split_first_chunk().ok_or(too_short(HEADER_BYTES + 4))?;
        let [.., c0, c1, c2, c3]: [u8; HEADER_BYTES] = *header;
        let count = u32::from_le_bytes([c0, c1, c2, c3]);
        let length = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(4);
        if rest.len() != length.saturating_add(4) {
            return Err(too_short(length.saturating_add(HEADER_BYTES + 4)));
        }
        let (covered, stored) = bytes.split_last_chunk::<4>().ok_or(too_short(HEADER_BYTES + 4))?;
        let checksum = u32::from_le_bytes(*stored);
        if crc_32(covered) != checksum {
            return Err(WeightsError::Checksum);
        }
        let header = encoding::read(header)?;
        let bytes = rest.get(..length).unwrap_or_default();
        let numbers: &[f32] = bytemuck::try_cast_slice(bytes).map_err(|_| WeightsError::Misaligned)?;
        if !numbers.iter().all(|&x| math::is_admissible(x)) {
            return Err(WeightsError::NotAdmissible);
        }
        Ok(Self { header, numbers, checksum })
    }

    /// Checks the file's task and returns its constants.
    ///
    /// # Errors
    /// [`WeightsError::Mismatch`] with [`HeaderField::Task`] if the file is for another task.
    pub fn check_task(&self, task: u16) -> Result<&[f32; 8], WeightsError> {
        expect(HeaderField::Task, task.into(), self.header.task.task.into())?;
        Ok(&self.header.task.numbers)
    }
}

impl<'w, const F: usize, const TAPS: usize, const G: usize, const O: usize, D> Network<'w, F, TAPS, G, O, D>
where
    D: Deep<'w, F, G>,
{
    /// Borrows the network from an opened weight file.
    ///
    /// # Errors
    /// [`WeightsError::Mismatch`] with the first dimension in which the file and this type differ.
    pub fn from_weights(weights: &Weights<'w>) -> Result<Self, WeightsError> {
        let header = &weights.header;
        let layers = || header.layers.iter().take_while(|layer| layer.taps > 0);
        expect(HeaderField::Features, F, header.features.into())?;
        expect(HeaderField::Hidden, G, header.hidden.into())?;
        expect(HeaderField::Outputs, O, header.outputs.into())?;
        expect(HeaderField::Layers, D::LAYERS, layers().count())?;
        for (index, found) in layers().enumerate() {
            let (taps, features) = D::dimensions(index).unwrap_or_default();
            let field = if index == 0 { HeaderField::Taps } else { HeaderField::LayerTaps };
            expect(field, taps, found.taps.into())?;
            expect(HeaderField::LayerFeatures, features, found.features.into())?;
        }
        Self::from_numbers(weights.numbers, header.activation, header.scale)
            .ok_or(WeightsError::Length { needed: 4 * Self::WEIGHT_COUNT, found: 4 * weights.numbers.len() })
    }
}

fn expect(field: HeaderField, expected: usize, found: usize) -> Result<(), WeightsError> {
    if expected == found {
        Ok(())
    } else {
        Err(WeightsError::Mismatch { field, expected: expected as u32, found: found as u32 })
    }
}

/// Writes a weight file into `out` and returns its length.
///
/// # Errors
/// [`WeightsError::Length`] if `out` has fewer than `HEADER_BYTES + 4 · numbers.len() + 4`
/// bytes. [`WeightsError::NotAdmissible`] if a number is not admissible. [`WeightsError::Mismatch`]
/// if a header field has no valid code.
pub fn write(header: &Header, numbers: &[f32], out: &mut [u8]) -> Result<usize, WeightsError> {
    let mut encoded = [0; HEADER_BYTES];
    encoding::write(header, numbers.len(), &mut encoded);
    encoding::read(&encoded)?;
    if !numbers.iter().all(|&x| math::is_admissible(x)) {
        return Err(WeightsError::NotAdmissible);
    }
    let (needed, found) = (HEADER_BYTES + 4 * numbers.len() + 4, out.len());
    let too_small = WeightsError::Length { needed, found };
    let out = out.get_mut(..needed).ok_or(too_small)?;
    let (covered, stored) = out.split_last_chunk_mut::<4>().ok_or(too_small)?;
    let (header, body) = covered.split_first_chunk_mut().ok_or(too_small)?;
    *header = encoded;
    for (bytes, x) in body.as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
        *bytes = x.to_le_bytes();
    }
    *stored = crc_32(covered).to_le_bytes();
    Ok(needed)
}
