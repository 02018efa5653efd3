//! Options that were typed: said again as they were, and refused where they cannot be.

use std::fmt::Display;

use crate::error::{Error, Result};

/// Options as they are typed, each with a space in front.
#[derive(Debug, Default)]
pub(super) struct Words(pub String);

impl Words {
    /// One with a value, if it has one.
    pub fn say(&mut self, option: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.0.extend([" --", option, " ", &value.to_string()]);
        }
    }

    /// One with a number, unless that is what is taken where nothing is typed.
    pub fn number<N: Display + PartialEq + Copy>(&mut self, option: &str, value: N, nothing: N) {
        self.say(option, (value != nothing).then_some(value));
    }

    /// One without a value.
    pub fn flag(&mut self, option: &str, typed: bool) {
        if typed {
            self.0.extend([" --", option]);
        }
    }
}

/// A share that was typed.
///
/// # Errors
/// [`Error::Usage`] when it is none.
pub(super) fn share(option: &str, share: f64) -> Result<f64> {
    if (0.0..=1.0).contains(&share) {
        return Ok(share);
    }
    Err(Error::usage(format!("--{option} {share} cannot be: give a share between 0 and 1")))
}

/// A number that was typed.
///
/// # Errors
/// [`Error::Usage`] when it is none, or below 0, or too large.
pub(super) fn number<N: Display + PartialOrd + From<u8> + Copy>(
    option: &str,
    number: N,
    most: N,
) -> Result<N> {
    if number >= N::from(0) && number <= most {
        return Ok(number);
    }
    Err(Error::usage(format!("--{option} {number} cannot be: give between 0 and {most}")))
}
