//! Weight files: a trained model with its settings, used directly from flash.
//!
//! The layout is little-endian: a header of [`HEADER_BYTES`], the network's weights as `f32` in the
//! order of [`crate::model::network::Network::over`], and a CRC-32 of both. `docs/wire-format.md`
//! is normative. [`Weights::open`] borrows the weights without copying, so they must start at a
//! multiple of four bytes. [`Aligned`] ensures that for `include_bytes!`.

mod error;
mod format;
mod header;
mod raw;

use self::raw::Raw;
use crate::{
    math,
    model::{deep::Deep, network::Network},
};

pub use self::{
    error::{Field, WeightsError},
    format::{HEADER_BYTES, MAGIC, MAX_LAYERS, VERSION, crc_32},
    header::{Header, LayerDimensions, TaskSettings},
};
pub use crate::tensor::reader::Reader;

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
///     model::{activation::Activation, deep::{Layer, Top}, network::Network},
///     online::Learning,
///     weights::{self, Aligned, Field, Header, LayerDimensions, TaskSettings, Weights, WeightsError},
/// };
///
/// type Net<'w> = Network<'w, 6, 4, 32, 2, Layer<'w, 4, 6, 32, Top>>;
/// type Narrow<'w> = Network<'w, 6, 4, 16, 2, Layer<'w, 4, 6, 16, Top>>;
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
/// };
/// let mut file = Aligned([0; weights::HEADER_BYTES + 4 * Net::NUMBERS + 4]);
/// weights::write(&header, &[0.25; Net::NUMBERS], &mut file.0)?;
///
/// let opened = Weights::open(&file.0)?;
/// let network = Net::from_weights(&opened)?;
/// assert_eq!(network.alpha_wide, 0.25);
/// // Another type than the file's is refused, and the difference named.
/// let mismatch = WeightsError::Mismatch { field: Field::Hidden, expected: 16, found: 32 };
/// assert_eq!(Narrow::from_weights(&opened).err(), Some(mismatch));
/// # Ok::<(), WeightsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
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
    pub fn open(bytes: &'w [u8]) -> Result<Self, WeightsError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(WeightsError::NotWeights);
        }
        let too_short = |needed| WeightsError::Truncated { needed, found: bytes.len() };
        let version = *bytes.get(MAGIC.len()).ok_or(too_short(HEADER_BYTES + 4))?;
        if version != VERSION {
            return Err(WeightsError::Version { found: version });
        }
        let (header, rest) = bytes.split_first_chunk().ok_or(too_short(HEADER_BYTES + 4))?;
        let raw = Raw::read(header);
        let count = usize::try_from(raw.numbers).unwrap_or(usize::MAX);
        let length = count.saturating_mul(4);
        if rest.len() != length.saturating_add(4) {
            return Err(too_short(length.saturating_add(HEADER_BYTES + 4)));
        }
        let (covered, stored) = bytes.split_last_chunk::<4>().ok_or(too_short(HEADER_BYTES + 4))?;
        let checksum = u32::from_le_bytes(*stored);
        if crc_32(covered) != checksum {
            return Err(WeightsError::Checksum);
        }
        let header = raw.check()?;
        let bytes = rest.get(..length).unwrap_or_default();
        let numbers: &[f32] = bytemuck::try_cast_slice(bytes).map_err(|_| WeightsError::Misaligned)?;
        if !numbers.iter().all(|&x| math::admissible(x)) {
            return Err(WeightsError::NotAdmissible);
        }
        Ok(Self { header, numbers, checksum })
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

    /// Checks the file's task and returns its constants.
    ///
    /// # Errors
    /// [`WeightsError::Mismatch`] with [`Field::Task`] if the file is for another task.
    pub fn expect_task(&self, task: u16) -> Result<&[f32; 8], WeightsError> {
        expect(Field::Task, task.into(), self.header.task.task.into())?;
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
        weights.expect_dimensions(F, G, O, D::LAYERS, TAPS, D::dimensions)?;
        Self::over(weights.numbers, weights.header.activation, weights.header.scale)
            .ok_or(WeightsError::Truncated { needed: 4 * Self::NUMBERS, found: 4 * weights.numbers.len() })
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
/// [`WeightsError::Truncated`] if `out` has fewer than `HEADER_BYTES + 4 · numbers.len() + 4`
/// bytes. [`WeightsError::NotAdmissible`] if a number is not admissible. [`WeightsError::Mismatch`]
/// if a header field has no valid code.
pub fn write(header: &Header, numbers: &[f32], out: &mut [u8]) -> Result<usize, WeightsError> {
    let raw = Raw::new(header, numbers.len());
    raw.check()?;
    if !numbers.iter().all(|&x| math::admissible(x)) {
        return Err(WeightsError::NotAdmissible);
    }
    let (needed, found) = (HEADER_BYTES + 4 * numbers.len() + 4, out.len());
    let too_small = WeightsError::Truncated { needed, found };
    let out = out.get_mut(..needed).ok_or(too_small)?;
    let (covered, stored) = out.split_last_chunk_mut::<4>().ok_or(too_small)?;
    let (header, body) = covered.split_first_chunk_mut().ok_or(too_small)?;
    raw.write(header);
    for (bytes, x) in body.as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
        *bytes = x.to_le_bytes();
    }
    *stored = crc_32(covered).to_le_bytes();
    Ok(needed)
}
