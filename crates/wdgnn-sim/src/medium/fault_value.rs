//! Text forms of fault values: `0.3`, `3@50`, `frozen:0.1@50`.

use std::{fmt::Display, ops::Range, str::FromStr};

use super::{
    clocks::Jump,
    events::{RobotInterval, RobotTick},
    heading::HeadingError,
    motors::MotorFault,
    options::{Bursts, Delay, Join, Liars},
    sensors::SensorFault,
};
use crate::option_range::OptionRange;

/// A field of [`Faults`](super::options::Faults) with a text form.
pub trait FaultField {
    /// Replaces the value. An error is the constraint, such as `a number between 0 and 1`.
    fn read(&mut self, text: &str, range: Option<OptionRange>) -> Result<(), String>;
    /// Text that [`FaultField::read`] accepts; empty for no value.
    fn text(&self) -> String;
    /// Robots that the value names.
    fn robots(&self) -> Vec<usize>;
    /// Ticks at which the fault begins.
    fn ticks(&self) -> Vec<u32>;
}

/// One value with a text form.
pub trait FaultValue: Sized {
    /// Parses a value. An error is the constraint.
    fn parse(text: &str, range: Option<OptionRange>) -> Result<Self, String>;
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
}

impl<T: FaultValue> FaultField for Option<T> {
    fn read(&mut self, text: &str, range: Option<OptionRange>) -> Result<(), String> {
        *self = Some(T::parse(text, range)?);
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
        let values = text.split(',').map(|part| T::parse(part.trim(), range));
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

/// Parses a number within a range.
fn number<T: FromStr>(text: &str, range: Option<OptionRange>) -> Result<T, String> {
    range.unwrap_or(OptionRange::whole(0, u32::MAX.into())).parse(text)
}

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl FaultValue for $number {
            fn parse(text: &str, range: Option<OptionRange>) -> Result<Self, String> {
                number(text, range)
            }

            fn text(&self) -> String {
                self.to_string()
            }
        }

        impl FaultField for $number {
            fn read(&mut self, text: &str, range: Option<OptionRange>) -> Result<(), String> {
                *self = number(text, range)?;
                Ok(())
            }

            fn text(&self) -> String {
                self.to_string()
            }

            fn robots(&self) -> Vec<usize> {
                Vec::new()
            }

            fn ticks(&self) -> Vec<u32> {
                Vec::new()
            }
        }
    )+};
}

numbers!(f32, f64, u32, usize);

impl FaultField for bool {
    fn read(&mut self, text: &str, _: Option<OptionRange>) -> Result<(), String> {
        *self = text.to_ascii_lowercase().parse().map_err(|_| "true or false")?;
        Ok(())
    }

    fn text(&self) -> String {
        self.to_string()
    }

    fn robots(&self) -> Vec<usize> {
        Vec::new()
    }

    fn ticks(&self) -> Vec<u32> {
        Vec::new()
    }
}

impl FaultValue for Range<u32> {
    fn parse(text: &str, _: Option<OptionRange>) -> Result<Self, String> {
        let parsed = text.split_once('-').and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
        let ticks = parsed.filter(|ticks: &Self| !ticks.is_empty());
        ticks.ok_or_else(|| "FROM-TO in ticks, such as 50-150".into())
    }

    fn text(&self) -> String {
        format!("{}-{}", self.start, self.end)
    }

    fn tick(&self) -> Option<u32> {
        Some(self.start)
    }
}

macro_rules! values {
    ($($value:ty { $robot:expr, $tick:expr })+) => {$(
        impl FaultValue for $value {
            fn parse(text: &str, _: Option<OptionRange>) -> Result<Self, String> {
                text.parse()
            }

            fn text(&self) -> String {
                self.to_string()
            }

            fn robot(&self) -> Option<usize> {
                let robot: fn(&Self) -> Option<usize> = $robot;
                robot(self)
            }

            fn tick(&self) -> Option<u32> {
                let tick: fn(&Self) -> Option<u32> = $tick;
                tick(self)
            }
        }
    )+};
}

values! {
    RobotTick { |at| Some(at.robot), |at| Some(at.tick) }
    RobotInterval { |at| Some(at.robot), |at| Some(at.from) }
    Jump { |jump| Some(jump.moment.robot), |jump| Some(jump.moment.tick) }
    Join { |_| None, |join| Some(join.tick) }
    SensorFault { |_| None, |fault| Some(fault.tick) }
    MotorFault { |_| None, |fault| Some(fault.tick) }
    HeadingError { |_| None, |_| None }
    Delay { |_| None, |_| None }
    Bursts { |_| None, |_| None }
    Liars { |_| None, |_| None }
}

/// Implements `Display` for types of this module's parents.
macro_rules! display {
    ($($value:ty: |$this:ident| $text:expr;)+) => {$(
        impl Display for $value {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $this = self;
                formatter.write_str(&$text)
            }
        }
    )+};
}

display! {
    RobotTick: |at| format!("{}@{}", at.robot, at.tick);
    RobotInterval: |at| format!("{}@{}-{}", at.robot, at.from, at.to);
    Jump: |jump| format!("{}:{}", jump.moment, jump.ticks);
    Join: |join| format!("{}@{}", join.share, join.tick);
    SensorFault: |fault| fault.words();
    MotorFault: |fault| fault.words();
    HeadingError: |error| error.words();
    Delay: |delay| format!("{}:{}", delay.share, delay.ticks);
    Bursts: |bursts| format!("{}:{}", bursts.share, bursts.ticks);
    Liars: |liars| liars.words();
}
