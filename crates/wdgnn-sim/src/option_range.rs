//! Ranges of numeric options, with one form of error for all callers.

use std::{
    fmt::{self, Display, LowerExp},
    str::FromStr,
};

use crate::error::{Error, Result};

/// Characters of a number in an error message; longer numbers are written with an exponent.
const MAX_DIGITS: usize = 20;

/// Values that a numeric option accepts.
///
/// ```
/// use wdgnn_sim::option_range::OptionRange;
///
/// const ROBOTS: OptionRange = OptionRange::whole(1, 20_000_000);
/// assert_eq!(ROBOTS.parse::<usize>("50"), Ok(50));
/// assert_eq!(ROBOTS.parse::<usize>("-5").unwrap_err(), "a whole number between 1 and 20000000");
/// let error = ROBOTS.check_whole("robots", 0).unwrap_err().to_string();
/// assert_eq!(error, "--robots must be a whole number between 1 and 20000000, got 0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionRange {
    /// Whole numbers, both limits included.
    Whole {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// Finite numbers, compared in single precision.
    Real {
        /// Smallest value.
        min: f64,
        /// Whether `min` itself is accepted.
        includes_min: bool,
        /// Largest value; infinity for no limit.
        max: f64,
    },
}

impl OptionRange {
    /// Any seed.
    pub const SEED: Self = Self::whole(0, u64::MAX);
    /// A share of robots, frames or time.
    pub const SHARE: Self = Self::real(0.0, 1.0);
    /// Number of episodes or seeds.
    pub const COUNT: Self = Self::whole(1, 100_000);

    /// Whole numbers between two limits, both included.
    #[must_use]
    pub const fn whole(min: u64, max: u64) -> Self {
        Self::Whole { min, max }
    }

    /// Numbers between two limits, both included.
    #[must_use]
    pub const fn real(min: f64, max: f64) -> Self {
        Self::Real { min, includes_min: true, max }
    }

    /// Numbers above `min` and at most `max`.
    #[must_use]
    pub const fn above(min: f64, max: f64) -> Self {
        Self::Real { min, includes_min: false, max }
    }

    /// Reads a value.
    ///
    /// # Errors
    /// The constraint, such as `a number between 0 and 1`.
    pub fn parse<T: FromStr>(self, text: &str) -> std::result::Result<T, String> {
        let accepted = match self {
            Self::Whole { .. } => text.parse().is_ok_and(|value| self.contains_whole(value)),
            Self::Real { .. } => text.parse().is_ok_and(|value| self.contains_real(value)),
        };
        text.parse().ok().filter(|_| accepted).ok_or_else(|| self.to_string())
    }

    /// [`OptionRange::parse`] as a function value, for argument parsers.
    pub fn parser<T: FromStr>(
        self,
    ) -> impl Fn(&str) -> std::result::Result<T, String> + Clone + Send + Sync + 'static {
        move |text| self.parse(text)
    }

    /// Checks an option's whole number.
    ///
    /// # Errors
    /// [`Error::Usage`] with the option, the constraint and the value.
    pub fn check_whole(self, option: &str, value: u64) -> Result {
        if self.contains_whole(value) { Ok(()) } else { Err(self.error(option, value)) }
    }

    /// Checks an option's number.
    ///
    /// # Errors
    /// [`Error::Usage`] with the option, the constraint and the value.
    pub fn check_real<T: Into<f64> + Copy + Display + LowerExp>(self, option: &str, value: T) -> Result {
        if self.contains_real(value.into()) {
            return Ok(());
        }
        let digits = value.to_string();
        Err(self.error(option, if digits.len() > MAX_DIGITS { format!("{value:e}") } else { digits }))
    }

    fn contains_whole(self, value: u64) -> bool {
        matches!(self, Self::Whole { min, max } if (min..=max).contains(&value))
    }

    fn contains_real(self, value: f64) -> bool {
        let value = value as f32;
        let Self::Real { min, includes_min, max } = self else { return false };
        let (min, max) = (min as f32, max as f32);
        value.is_finite() && value <= max && (value > min || includes_min && value == min)
    }

    fn error(self, option: &str, value: impl Display) -> Error {
        Error::usage(format!("--{option} must be {self}, got {value}"))
    }
}

impl Display for OptionRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Whole { min, max } => write!(formatter, "a whole number between {min} and {max}"),
            Self::Real { min, includes_min: true, max } if max == f64::INFINITY => {
                write!(formatter, "a number of at least {min}")
            }
            Self::Real { min, includes_min: true, max } => {
                write!(formatter, "a number between {min} and {max}")
            }
            Self::Real { min, max, .. } if max == f64::INFINITY => write!(formatter, "a number above {min}"),
            Self::Real { min, max, .. } => write!(formatter, "a number above {min} and at most {max}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_inclusive_unless_stated() {
        let radius = OptionRange::above(0.1, 1000.0);
        for (text, accepted) in
            [("0.1", false), ("0.11", true), ("1000", true), ("1e38", false), ("NaN", false)]
        {
            assert_eq!(radius.parse::<f32>(text).is_ok(), accepted, "{text}");
        }
        assert!(radius.check_real("radius", 0.1_f32).is_err());
        let share = OptionRange::SHARE;
        for (text, accepted) in [("0", true), ("1", true), ("-0.1", false), ("1.1", false), ("x", false)] {
            assert_eq!(share.parse::<f64>(text).is_ok(), accepted, "{text}");
        }
        assert!(OptionRange::SEED.parse::<u64>("18446744073709551615").is_ok());
        assert!(OptionRange::SEED.parse::<u64>("18446744073709551616").is_err());
        assert!(OptionRange::COUNT.parse::<usize>("2.5").is_err());
    }

    #[test]
    fn errors_name_the_option_the_constraint_and_the_value() {
        let error =
            |range: OptionRange, value: f32| range.check_real("radius", value).unwrap_err().to_string();
        assert_eq!(
            error(OptionRange::above(0.1, 1000.0), 1.0e38),
            "--radius must be a number above 0.1 and at most 1000, got 1e38"
        );
        assert_eq!(
            error(OptionRange::real(0.0, f64::INFINITY), -1.0),
            "--radius must be a number of at least 0, got -1"
        );
    }
}
