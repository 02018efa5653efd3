//! What a command was told: every option with its value, typed or usual. From it comes the command that a page and JSON name, the name
//! of a page, and a scenario.

use std::fmt::Display;

use clap::{ArgMatches, Args, Command, FromArgMatches, error::Error as ClapError, parser::ValueSource};

use crate::fault_options::FlightArguments;

/// Options that say where results go or how they are shown, and change nothing in them.
pub const OUTPUTS: &[&str] = &[
    "capture",
    "csv",
    "force",
    "json",
    "log",
    "out",
    "report",
    "resume",
    "save-scenario",
    "scenario",
    "shard",
    "svg",
    "threads",
    "trajectories-of",
];

/// Those that are typed without a name.
pub const NAMELESS: [&str; 2] = ["parameter", "conditions"];

/// An option and what it was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Its name, without dashes.
    pub option: String,
    /// Its values, one per time that it is typed; none for one that takes none.
    pub values: Vec<String>,
    /// Whether nobody typed it.
    pub usual: bool,
}

/// Everything that a command was told. The first of its arguments, so that nobody has taken anything away yet.
#[derive(Clone, Debug, Default)]
pub struct Typed(Vec<Told>);

impl Typed {
    /// What was told.
    pub fn told(&self) -> &[Told] {
        &self.0
    }

    /// The same with a value for an option that has none of its own.
    #[must_use]
    pub fn or(mut self, option: &str, value: impl Display) -> Self {
        if !self.0.iter().any(|told| told.option == option) {
            let values = vec![value.to_string()];
            self.0.push(Told { option: option.into(), values, usual: true });
        }
        self
    }

    /// The same without an option.
    #[must_use]
    pub fn without(mut self, option: &str) -> Self {
        self.0.retain(|told| told.option != option);
        self
    }

    /// The command line that does this again, whatever will be usual then.
    pub fn command(&self, name: &str) -> String {
        let mut line = format!("host-sim {name}");
        for Told { option, values, .. } in &self.0 {
            if NAMELESS.contains(&option.as_str()) {
                line.extend(values.iter().map(|value| format!(" {}", quoted(value))));
            }
        }
        for Told { option, values, .. } in &self.0 {
            if NAMELESS.contains(&option.as_str()) {
                continue;
            }
            if values.is_empty() {
                line.extend([" --", option]);
            }
            line.extend(values.iter().map(|value| format!(" --{option} {}", quoted(value))));
        }
        line
    }
}

/// A value as a shell takes it.
fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@,=+%".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        value.into()
    } else {
        format!("'{}'", value.replace('\'', "'\\''"))
    }
}

impl FromArgMatches for Typed {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, ClapError> {
        let faults = FlightArguments::augment_args(Command::new("faults"));
        let is_fault = |option: &str| faults.get_arguments().any(|arg| arg.get_long() == Some(option));
        let told = matches.ids().filter_map(|id| {
            let (id, option) = (id.as_str(), id.as_str().replace('_', "-"));
            // A group of options has the name of its type.
            let is_option = id.starts_with(char::is_lowercase) && !OUTPUTS.contains(&option.as_str());
            let source = matches.value_source(id).filter(|_| is_option)?;
            let values = match matches.try_get_one::<bool>(id) {
                Ok(Some(true)) => Vec::new(),
                Ok(Some(false)) => return None,
                _ => occurrences(matches, id),
            };
            let usual = source == ValueSource::DefaultValue;
            // What does not go wrong need not be told.
            (!usual || !is_fault(&option)).then_some(Told { option, values, usual })
        });
        Ok(Self(told.filter(|told| !told.values.iter().any(String::is_empty)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), ClapError> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// What was typed each time; several values of one time have commas between them.
fn occurrences(matches: &ArgMatches, id: &str) -> Vec<String> {
    let Some(occurrences) = matches.get_raw_occurrences(id) else { return Vec::new() };
    let typed = occurrences
        .map(|values| -> Vec<String> { values.map(|value| value.to_string_lossy().into_owned()).collect() });
    if NAMELESS.contains(&id) {
        typed.flatten().collect()
    } else {
        typed.map(|values| values.join(",")).collect()
    }
}

impl Args for Typed {
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
        typed: Typed,
        #[arg(long, default_value_t = 50)]
        robots: usize,
        #[arg(long)]
        kill: Vec<String>,
        #[arg(long, value_delimiter = ',')]
        values: Vec<f64>,
        #[arg(long)]
        plain: bool,
        #[arg(long)]
        json: bool,
        #[arg(long)]
        model: Option<String>,
        parameter: Option<String>,
    }

    fn typed(words: &str) -> Typed {
        let line = Line::parse_from(std::iter::once("host-sim").chain(words.split(' ')));
        assert!(line.robots > 0, "what is noted down is still there: {line:?}");
        line.typed
    }

    #[test]
    fn everything_that_counts_is_said_again_as_it_may_be_typed() {
        let line = typed("radius --kill 3@5 --kill 4@6 --values 1,2 --plain --json");
        assert_eq!(
            line.command("sweep"),
            "host-sim sweep radius --kill 3@5 --kill 4@6 --values 1,2 --plain --robots 50"
        );
        let settled = line.or("robots", 7).or("ticks", 200).without("plain");
        assert!(settled.command("sweep").ends_with("--values 1,2 --robots 50 --ticks 200"));
    }

    #[test]
    fn a_shell_reads_what_is_said_as_it_was() {
        let line = Line::parse_from(["host-sim", "x", "--model", "my net's.wdgnn"]).typed;
        assert!(line.command("flock").contains("--model 'my net'\\''s.wdgnn'"), "{}", line.command("flock"));
    }
}
