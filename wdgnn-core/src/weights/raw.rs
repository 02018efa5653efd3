//! Encoding of a weight file's header.

use super::{
    error::{Field, WeightsError},
    format::{HEADER_BYTES, MAGIC, MAX_LAYERS, VERSION},
    header::{Header, LayerDimensions, TaskSettings},
};
use crate::{
    filter::scale::Scale,
    math,
    model::{Metric, activation::Activation},
    online::{Learning, Mixing},
};

/// Units per 1.0 of the largest bias, which the file stores in tenths.
const CLIPS_PER_UNIT: f32 = 10.0;

/// Units per 1.0 of the bias step, which the file stores in thousandths.
const STEPS_PER_UNIT: f32 = 1000.0;

/// Header fields with their width in the file.
///
/// The widths are fixed, so the weights after the header stay aligned.
pub(super) struct Raw {
    magic: [u8; 4],
    version: u8,
    activation: u8,
    reserved: u8,
    scale: u8,
    scale_factor: f32,
    features: u16,
    hidden: u16,
    outputs: u16,
    task: u16,
    layers: [LayerDimensions; MAX_LAYERS],
    task_numbers: [f32; 8],
    learning: [f32; 5],
    metric: u8,
    mixing: u8,
    through_clamp: u8,
    bias_clip: u8,
    interval: u16,
    bias_step: u16,
    pub(super) numbers: u32,
}

/// Reader of consecutive fields with fixed width.
struct Fields<'b>(&'b [u8]);

impl Fields<'_> {
    /// Takes the next field; returns zeros past the end.
    fn next<const N: usize>(&mut self) -> [u8; N] {
        let (field, rest) = self.0.split_first_chunk().unwrap_or((&[0; N], &[]));
        self.0 = rest;
        *field
    }

    fn u8(&mut self) -> u8 {
        u8::from_le_bytes(self.next())
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.next())
    }

    fn f32(&mut self) -> f32 {
        f32::from_le_bytes(self.next())
    }
}

impl Raw {
    pub(super) fn read(bytes: &[u8; HEADER_BYTES]) -> Self {
        let mut fields = Fields(bytes);
        // The fields are in file order.
        Self {
            magic: fields.next(),
            version: fields.u8(),
            activation: fields.u8(),
            reserved: fields.u8(),
            scale: fields.u8(),
            scale_factor: fields.f32(),
            features: fields.u16(),
            hidden: fields.u16(),
            outputs: fields.u16(),
            task: fields.u16(),
            layers: core::array::from_fn(|_| LayerDimensions { taps: fields.u16(), features: fields.u16() }),
            task_numbers: core::array::from_fn(|_| fields.f32()),
            learning: core::array::from_fn(|_| fields.f32()),
            metric: fields.u8(),
            mixing: fields.u8(),
            through_clamp: fields.u8(),
            bias_clip: fields.u8(),
            interval: fields.u16(),
            bias_step: fields.u16(),
            numbers: u32::from_le_bytes(fields.next()),
        }
    }

    pub(super) fn write(&self, bytes: &mut [u8; HEADER_BYTES]) {
        let mut rest = bytes.as_mut_slice();
        let mut put = |field: &[u8]| {
            if let Some((front, behind)) = core::mem::take(&mut rest).split_at_mut_checked(field.len()) {
                front.copy_from_slice(field);
                rest = behind;
            }
        };
        put(&self.magic);
        put(&[self.version, self.activation, self.reserved, self.scale]);
        put(&self.scale_factor.to_le_bytes());
        for count in [self.features, self.hidden, self.outputs, self.task] {
            put(&count.to_le_bytes());
        }
        for layer in &self.layers {
            put(&layer.taps.to_le_bytes());
            put(&layer.features.to_le_bytes());
        }
        self.task_numbers.iter().chain(&self.learning).for_each(|number| put(&number.to_le_bytes()));
        put(&[self.metric, self.mixing, self.through_clamp, self.bias_clip]);
        put(&self.interval.to_le_bytes());
        put(&self.bias_step.to_le_bytes());
        put(&self.numbers.to_le_bytes());
    }

    pub(super) fn new(header: &Header, numbers: usize) -> Self {
        let (scale, scale_factor) = match header.scale {
            Scale::Sum => (0, 1.0),
            Scale::Mean => (1, 1.0),
            Scale::Scaled(factor) => (2, factor),
            Scale::Closed => (3, 1.0),
            Scale::Echo(share) => (4, share),
        };
        Self {
            magic: MAGIC,
            version: VERSION,
            activation: header.activation.code(),
            reserved: 0,
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
            through_clamp: u8::from(header.learning.through_clamp)
                + 2 * u8::from(header.learning.adapts_gain),
            bias_clip: (header.learning.bias_clip * CLIPS_PER_UNIT) as u8,
            interval: header.interval,
            bias_step: (header.learning.bias_step * STEPS_PER_UNIT + 0.5) as u16,
            numbers: numbers as u32,
        }
    }

    pub(super) fn check(&self) -> Result<Header, WeightsError> {
        let unknown = |field, code: u8| WeightsError::Mismatch { field, expected: 0, found: code.into() };
        if self.reserved != 0 {
            return Err(unknown(Field::Reserved, self.reserved));
        }
        let metric = match self.metric {
            0 => Metric::Paper,
            1 => Metric::Euclidean,
            code => return Err(unknown(Field::Learning, code)),
        };
        let (through_clamp, adapts_gain) = match self.through_clamp {
            code @ 0..=3 => (code & 1 != 0, code & 2 != 0),
            code => return Err(unknown(Field::Learning, code)),
        };
        let bias_step = f32::from(self.bias_step) / STEPS_PER_UNIT;
        let bias_clip = f32::from(self.bias_clip) / CLIPS_PER_UNIT;
        let mixing = Mixing::from_code(self.mixing).ok_or(unknown(Field::Learning, self.mixing))?;
        let fractions = self.task_numbers.iter().chain(&self.learning).chain([&self.scale_factor]);
        if !fractions.copied().all(math::admissible) {
            return Err(WeightsError::NotAdmissible);
        }
        let [step, cooling, ridge, ball, clip] = self.learning;
        Ok(Header {
            activation: Activation::from_code(self.activation)
                .ok_or(unknown(Field::Activation, self.activation))?,
            scale: match self.scale {
                0 => Scale::Sum,
                1 => Scale::Mean,
                2 => Scale::Scaled(self.scale_factor),
                3 => Scale::Closed,
                // With a feedback weight of 1 or more, taps would grow without bound.
                4 if (0.0..1.0).contains(&self.scale_factor) => Scale::Echo(self.scale_factor),
                code => return Err(unknown(Field::Scale, code)),
            },
            features: self.features,
            hidden: self.hidden,
            outputs: self.outputs,
            layers: self.layers,
            task: TaskSettings { task: self.task, numbers: self.task_numbers },
            learning: Learning {
                step,
                cooling,
                ridge,
                ball,
                clip,
                metric,
                mixing,
                through_clamp,
                bias_step,
                bias_clip,
                adapts_gain,
            },
            interval: self.interval,
        })
    }
}
