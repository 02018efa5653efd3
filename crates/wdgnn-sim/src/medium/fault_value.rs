//! Text forms of fault values: `0.3`, `3@50`, `frozen:0.1@50`.

use std::{ops::Range, str::FromStr};

use super::shares::share;
use crate::option_range::OptionRange;

/// A field of [`Faults`](super::options::Faults) with a text form.
pub trait FaultField {
    /// Replaces the value. An error is the constraint, such as `a number between 0 and 1`.
    fn read(&mut self, text: &str, range: Option<OptionRange>) -> Result<(), String>;
    /// Text that [`FaultField::read`] accepts; empty for no value.
    fn text(&self) -> String;
    /// Robots that the value names.
    fn robots(&self) -> Vec<usize> {
        Vec::new()
    }
    /// Ticks at which the fault begins.
    fn ticks(&self) -> Vec<u32> {
        Vec::new()
    }
}

/// One value with a text form.
pub trait FaultValue: Sized {
    /// Constraint that an invalid text violates.
    const FORM: &'static str;
    /// Parses a value.
    fn parse(text: &str) -> Option<Self>;
    /// Text that [`FaultValue::parse`] accepts.
    fn text(&self) -> String;
    /// Robot that the value names.
    fn robot(&self) -> Option<usize> {
        None
    }
    /// Tick at which the fault begins.
    fn tick(&self) -> Option<u32> {
        None
    }
    /// Parses a value within a range. An error is the constraint.
    fn read(text: &str, range: Option<OptionRange>) -> Result<Self, String> {
        if let Some(range) = range {
            range.parse::<f64>(text)?;
        }
        Self::parse(text).ok_or_else(|| Self::FORM.to_owned())
    }
}

/// Splits a text at a separator and parses both parts.
pub fn pair<A: FromStr, B: FromStr>(text: &str, separator: char) -> Option<(A, B)> {
    let (first, second) = text.split_once(separator)?;
    Some((first.parse().ok()?, second.parse().ok()?))
}

impl<T: FaultValue> FaultField for Option<T> {
    fn read(&mut self, text: &str, range: Option<OptionRange>) -> Result<(), String> {
        *self = Some(T::read(text, range)?);
        Ok(())
    }

    fn text(&self) -> String {
        self.as_ref().map_or(String::new(), T::text)
    }

    fn robots(&self) -> Vec<usize> {
        self.iter().filter_map(T::robot).collect()
    }

    fn ticks(&self) -> Vec<u32> {
        self.iter().filter_map(T::tick).collect()
    }
}

/// A list: values separated by commas. Reading appends.
impl<T: FaultValue> FaultField for Vec<T> {
    fn read(&mut self, text: &str, range: Option<OptionRange>) -> Result<(), String> {
        let values = text.split(',').map(|part| T::read(part.trim(), range));
        self.extend(values.collect::<Result<Self, _>>()?);
        Ok(())
    }

    fn text(&self) -> String {
        self.iter().map(T::text).collect::<Vec<_>>().join(",")
    }

    fn robots(&self) -> Vec<usize> {
        self.iter().filter_map(T::robot).collect()
    }

    fn ticks(&self) -> Vec<u32> {
        self.iter().filter_map(T::tick).collect()
    }
}

/// Implements both traits for numbers. An optional number is a robot or a tick if it is so declared.
macro_rules! numbers {
    ($($number:ty, $form:literal $(, $names:ident -> $named:ty)?;)+) => {$(
        impl FaultValue for $number {
            const FORM: &'static str = $form;

            fn parse(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            fn text(&self) -> String {
                self.to_string()
            }

            $(fn $names(&self) -> Option<$named> {
                Some(*self)
            })?
        }

        impl FaultField for $number {
            fn read(&mut self, text: &str, range: Option<OptionRange>) -> Result<(), String> {
                *self = FaultValue::read(text, range)?;
                Ok(())
            }

            fn text(&self) -> String {
                self.to_string()
            }
        }
    )+};
}

numbers! {
    f32, "a number";
    f64, "a number";
    u32, "a whole number between 0 and 4294967295", tick -> u32;
    usize, "a whole number between 0 and 4294967295", robot -> usize;
}

impl FaultField for bool {
    fn read(&mut self, text: &str, _: Option<OptionRange>) -> Result<(), String> {
        *self = text.to_ascii_lowercase().parse().map_err(|_| "true or false")?;
        Ok(())
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

impl FaultValue for Range<u32> {
    const FORM: &'static str = "FROM-TO in ticks, such as 50-150";

    fn parse(text: &str) -> Option<Self> {
        let (start, end) = pair(text, '-')?;
        (start < end).then_some(start..end)
    }

    fn text(&self) -> String {
        format!("{}-{}", self.start, self.end)
    }

    fn tick(&self) -> Option<u32> {
        Some(self.start)
    }
}

/// Share of frames or of the time, and a number of ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShareTicks {
    /// Share of delayed frames, or of the time in bursts.
    pub share: f64,
    /// Largest delay, or mean length of a burst, in ticks.
    pub ticks: u32,
}

impl FaultValue for ShareTicks {
    const FORM: &'static str = "SHARE:TICKS with a share between 0 and 1, such as 0.2:5";

    fn parse(text: &str) -> Option<Self> {
        let (part, ticks) = text.split_once(':')?;
        let ticks = ticks.parse().ok().filter(|ticks| *ticks > 0)?;
        Some(Self { share: share(part)?, ticks })
    }

    fn text(&self) -> String {
        format!("{}:{}", self.share, self.ticks)
    }
}

/// Share of the swarm from a tick on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShareAt {
    /// Share of the swarm.
    pub share: f64,
    /// First tick.
    pub tick: u32,
}

impl FaultValue for ShareAt {
    const FORM: &'static str = "SHARE@TICK with a share between 0 and 1, such as 0.2@100";

    fn parse(text: &str) -> Option<Self> {
        let (part, tick) = text.split_once('@')?;
        Some(Self { share: share(part)?, tick: tick.parse().ok()? })
    }

    fn text(&self) -> String {
        format!("{}@{}", self.share, self.tick)
    }

    fn tick(&self) -> Option<u32> {
        Some(self.tick)
    }
}
