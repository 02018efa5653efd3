//! Command-line options for faults.

use clap::Args;

use crate::{
    error::Result,
    medium::options::{FAULTS, Faults, Trust},
};

/// Faults of an episode.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Faults")]
pub struct FaultArguments {
    /// Inject a fault, such as drop-chance=0.3 (repeatable); `host-sim faults --list` lists all.
    #[arg(long, value_name = "KEY=VALUE")]
    fault: Vec<String>,
}

impl FaultArguments {
    /// Returns the faults, checked for an episode of `robots` robots and `ticks` ticks.
    pub fn faults(&self, robots: usize, ticks: u32, seed: u64) -> Result<Faults> {
        let faults = Faults { seed, ..Faults::parse(&self.fault.join(" "))? };
        faults.check(robots, ticks)?;
        Ok(faults)
    }

    /// Settings separated by spaces, such as `drop-chance=0.3 kill=3@50`; empty without faults.
    pub fn settings(&self) -> String {
        Faults::parse(&self.fault.join(" ")).map_or(String::new(), |faults| faults.settings())
    }
}

/// Trust among robots.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Faults")]
pub struct TrustArguments {
    /// Average without clipping and trust all robots, as in the paper.
    #[arg(long)]
    pub no_robustness: bool,
}

impl TrustArguments {
    /// Returns the robots' trust.
    pub fn trust(self) -> Trust {
        if self.no_robustness { Trust::Plain } else { Trust::Robust }
    }

    /// Returns `faults` with this trust, or `None` if both are the defaults.
    pub fn apply(self, faults: Faults) -> Option<Faults> {
        let faults = Faults { trust: self.trust(), ..faults };
        (faults != Faults { seed: faults.seed, ..Faults::default() }).then_some(faults)
    }

    /// Describes faults and trust, such as `drop-chance=0.3, no robustness`; empty for the defaults.
    pub fn describe(self, settings: &str) -> String {
        match (settings, self.no_robustness) {
            (settings, false) => settings.into(),
            ("", true) => "no robustness".into(),
            (settings, true) => format!("{settings}, no robustness"),
        }
    }
}

/// Returns the list of faults by group: key and form of the value, description, default.
pub fn list() -> String {
    let mut text = String::new();
    let mut group = "";
    for fault in FAULTS {
        if fault.group != group {
            group = fault.group;
            text.extend([if text.is_empty() { "" } else { "\n" }, group, ":\n"]);
        }
        let default = match fault.default() {
            none if none.is_empty() => String::new(),
            value => format!(" [default: {value}]"),
        };
        let description = fault.description.trim().trim_end_matches('.');
        text.extend(["  ", fault.key, "=", fault.form, "\n      ", description, &default, "\n"]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_and_trust_have_descriptions() {
        let trust = TrustArguments { no_robustness: true };
        assert_eq!(trust.describe("burst=3"), "burst=3, no robustness");
        assert!(trust.apply(Faults::default()).is_some());
        assert_eq!(TrustArguments::default().apply(Faults { seed: 7, ..Faults::default() }), None);
        assert_eq!(FaultArguments::default().settings(), "");
    }
}
