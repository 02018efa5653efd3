//! The options of a command with their values, given or default.
//!
//! The equivalent command line in pages and JSON, the name of a page and a saved scenario are derived from it.

use std::fmt::Display;

use clap::{ArgMatches, Args, Command, FromArgMatches, error::Error as ClapError, parser::ValueSource};

/// Options for output, which have no effect on results.
pub const OUTPUTS: &[&str] = &[
    "all",
    "capture",
    "csv",
    "force",
    "json",
    "list",
    "log",
    "out",
    "report",
    "scenario",
    "shard",
    "svg",
    "threads",
    "trajectories",
];

/// Positional arguments.
pub const POSITIONAL: [&str; 2] = ["parameter", "conditions"];

/// An option and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionValues {
    /// Name without dashes.
    pub option: String,
    /// One value per occurrence; none for a flag.
    pub values: Vec<String>,
    /// Whether the values are the defaults.
    pub is_default: bool,
}

/// All options of a command. Flattened first, before other arguments take values from the matches.
#[derive(Clone, Debug, Default)]
pub struct Invocation(Vec<OptionValues>);

impl Invocation {
    pub fn options(&self) -> &[OptionValues] {
        &self.0
    }

    /// Returns whether the command line or the scenario sets an option.
    pub fn sets(&self, option: &str) -> bool {
        self.0.iter().any(|given| given.option == option && !given.is_default)
    }

    /// Adds a default value of an option, if it has no value.
    #[must_use]
    pub fn with_default(mut self, option: &str, value: impl Display) -> Self {
        if !self.0.iter().any(|given| given.option == option) {
            let values = vec![value.to_string()];
            self.0.push(OptionValues { option: option.into(), values, is_default: true });
        }
        self
    }

    /// Removes an option.
    #[must_use]
    pub fn without(mut self, option: &str) -> Self {
        self.0.retain(|given| given.option != option);
        self
    }

    /// Returns the command line that repeats the run, with all values explicit.
    pub fn command(&self, name: &str) -> String {
        let (positional, named): (Vec<_>, Vec<_>) =
            self.0.iter().partition(|given| POSITIONAL.contains(&given.option.as_str()));
        let mut line = format!("host-sim {name}");
        for OptionValues { values, .. } in positional {
            line.extend(values.iter().map(|value| format!(" {}", quoted(value))));
        }
        for OptionValues { option, values, .. } in named {
            if values.is_empty() {
                line.extend([" --", option]);
            }
            line.extend(values.iter().map(|value| format!(" --{option} {}", quoted(value))));
        }
        line
    }
}

/// Quotes a value for a shell.
fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@,=+%".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        value.into()
    } else {
        format!("'{}'", value.replace('\'', "'\\''"))
    }
}

impl FromArgMatches for Invocation {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, ClapError> {
        let given = matches.ids().filter_map(|id| {
            let (id, option) = (id.as_str(), id.as_str().replace('_', "-"));
            // The id of an argument group is the name of its type.
            let is_option = id.starts_with(char::is_lowercase) && !OUTPUTS.contains(&option.as_str());
            let source = matches.value_source(id).filter(|_| is_option)?;
            let values = match matches.try_get_one::<bool>(id) {
                Ok(Some(true)) => Vec::new(),
                Ok(Some(false)) => return None,
                _ => occurrences(matches, id),
            };
            Some(OptionValues { option, values, is_default: source == ValueSource::DefaultValue })
        });
        Ok(Self(given.filter(|given| !given.values.iter().any(String::is_empty)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), ClapError> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns the value of each occurrence. Several values of one occurrence are joined by commas.
fn occurrences(matches: &ArgMatches, id: &str) -> Vec<String> {
    let Some(occurrences) = matches.get_raw_occurrences(id) else { return Vec::new() };
    let values = occurrences
        .map(|values| -> Vec<String> { values.map(|value| value.to_string_lossy().into_owned()).collect() });
    if POSITIONAL.contains(&id) {
        values.flatten().collect()
    } else {
        values.map(|values| values.join(",")).collect()
    }
}

impl Args for Invocation {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        invocation: Invocation,
        #[arg(long, default_value_t = 50)]
        robots: usize,
        #[arg(long)]
        fault: Vec<String>,
        #[arg(long, value_delimiter = ',')]
        values: Vec<f64>,
        #[arg(long)]
        flag: bool,
        #[arg(long)]
        json: bool,
        #[arg(long)]
        model: Option<String>,
        parameter: Option<String>,
    }

    fn invocation(words: &str) -> Invocation {
        let line = Line::parse_from(std::iter::once("host-sim").chain(words.split(' ')));
        assert!(line.robots > 0, "other arguments keep their values: {line:?}");
        line.invocation
    }

    #[test]
    fn the_command_line_contains_every_option_that_affects_results() {
        let line = invocation("radius --fault kill=3@5 --fault kill=4@6 --values 1,2 --flag --json");
        assert_eq!(
            line.command("sweep"),
            "host-sim sweep radius --fault kill=3@5 --fault kill=4@6 --values 1,2 --flag --robots 50"
        );
        let resolved = line.with_default("robots", 7).with_default("ticks", 200).without("flag");
        assert!(resolved.command("sweep").ends_with("--values 1,2 --robots 50 --ticks 200"));
    }

    #[test]
    fn values_are_quoted_for_a_shell() {
        let line = Line::parse_from(["host-sim", "x", "--model", "my net's.wdgnn"]).invocation;
        assert!(line.command("eval").contains("--model 'my net'\\''s.wdgnn'"), "{}", line.command("eval"));
    }
}
