//! Options that were typed, said again as they were.

use std::fmt::Display;

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
