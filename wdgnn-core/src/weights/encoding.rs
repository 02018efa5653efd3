//! Encoding of a weight file's header: 27 words of four bytes.

use super::{
    error::{HeaderField, WeightsError},
    format::{HEADER_BYTES, MAGIC, MAX_LAYERS, VERSION},
    header::{Header, LayerDimensions, TaskSettings},
};
use crate::{
    filter::scale::Scale,
    math,
    model::{GradientMetric, activation::Activation},
    online::{Learning, Mixing},
};

/// Units per 1.0 of the largest bias, which the file stores in tenths.
const CLIPS_PER_UNIT: f32 = 10.0;

/// Units per 1.0 of the bias step, which the file stores in thousandths.
const STEPS_PER_UNIT: f32 = 1000.0;

/// Units per second of the lag, which the file stores in steps of 2 ms.
const LAGS_PER_SECOND: f32 = 500.0;

/// Writes a header for `count` weights.
pub(super) fn write(header: &Header, count: usize, bytes: &mut [u8; HEADER_BYTES]) {
    let Header { features, hidden, outputs, layers, task, learning, interval, .. } = *header;
    let (scale, factor) = match header.scale {
        Scale::Sum => (0, 1.0),
        Scale::Mean => (1, 1.0),
        Scale::Scaled(factor) => (2, factor),
        Scale::Closed => (3, 1.0),
    };
    let Learning { step, cooling, ridge, ball, clip, metric, mixing, .. } = learning;
    let flags = u8::from(learning.through_clamp) + 2 * u8::from(learning.adapts_gain);
    let bias_clip = (learning.bias_clip * CLIPS_PER_UNIT) as u8;
    let bias_step = (learning.bias_step * STEPS_PER_UNIT + 0.5) as u16;
    let lag = (header.lag * LAGS_PER_SECOND + 0.5) as u8;
    let pair = |low: u16, high: u16| (u32::from(low) | u32::from(high) << 16).to_le_bytes();
    let codes = [VERSION, header.activation as u8, lag, scale];
    let words = [MAGIC, codes, factor.to_le_bytes(), pair(features, hidden), pair(outputs, task.task)]
        .into_iter()
        .chain(layers.map(|layer| pair(layer.taps, layer.features)))
        .chain(task.numbers.map(f32::to_le_bytes))
        .chain([step, cooling, ridge, ball, clip].map(f32::to_le_bytes))
        .chain([[metric as u8, mixing as u8, flags, bias_clip]])
        .chain([pair(interval, bias_step), (count as u32).to_le_bytes()]);
    bytes.as_chunks_mut().0.iter_mut().zip(words).for_each(|(to, word)| *to = word);
}

/// Reads and checks a header.
pub(super) fn read(bytes: &[u8; HEADER_BYTES]) -> Result<Header, WeightsError> {
    let mut words = bytes.as_chunks().0.iter();
    let mut next = || words.next().copied().unwrap_or_default();
    let pair = |[a, b, c, d]: [u8; 4]| (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
    let (_magic, [_version, activation, lag, scale]) = (next(), next());
    let factor = f32::from_le_bytes(next());
    let ((features, hidden), (outputs, task)) = (pair(next()), pair(next()));
    let layers = [(); MAX_LAYERS].map(|()| pair(next()));
    let numbers = [(); 8].map(|()| f32::from_le_bytes(next()));
    let rates = [(); 5].map(|()| f32::from_le_bytes(next()));
    let ([metric, mixing, flags, bias_clip], (interval, bias_step)) = (next(), pair(next()));

    let unknown = |field, code| WeightsError::UnknownCode { field, code };
    let metric =
        *GradientMetric::ALL.get(usize::from(metric)).ok_or(unknown(HeaderField::Learning, metric))?;
    let mixing = *Mixing::ALL.get(usize::from(mixing)).ok_or(unknown(HeaderField::Learning, mixing))?;
    if flags > 3 {
        return Err(unknown(HeaderField::Learning, flags));
    }
    if !numbers.iter().chain(&rates).chain([&factor]).all(|x| math::is_admissible(*x)) {
        return Err(WeightsError::NotAdmissible);
    }
    let activation =
        *Activation::ALL.get(usize::from(activation)).ok_or(unknown(HeaderField::Activation, activation))?;
    let scale = match scale {
        0 => Scale::Sum,
        1 => Scale::Mean,
        2 => Scale::Scaled(factor),
        3 => Scale::Closed,
        code => return Err(unknown(HeaderField::Scale, code)),
    };
    let [step, cooling, ridge, ball, clip] = rates;
    let (through_clamp, adapts_gain) = (flags & 1 != 0, flags & 2 != 0);
    let bias_step = f32::from(bias_step) / STEPS_PER_UNIT;
    let bias_clip = f32::from(bias_clip) / CLIPS_PER_UNIT;
    let local = Learning { through_clamp, bias_step, bias_clip, adapts_gain, ..Learning::OFF };
    let learning = Learning { step, cooling, ridge, ball, clip, metric, mixing, ..local };
    let lag = f32::from(lag) / LAGS_PER_SECOND;
    let layers = layers.map(|(taps, features)| LayerDimensions { taps, features });
    let task = TaskSettings { task, numbers };
    Ok(Header { activation, scale, features, hidden, outputs, layers, task, learning, interval, lag })
}
