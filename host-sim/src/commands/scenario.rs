//! Scenario files: the options of a command as TOML.
//!
//! ```toml
//! robots = 100              # options that all commands with scenarios share
//!
//! [fault]                   # faults, by the keys of `host-sim faults --list`
//! drop-chance = 0.3
//! kill = ["3@50", "4@60"]
//!
//! [eval]                    # options of one command
//! swarms = 10
//! ```
//!
//! Options on the command line take precedence. Tables of other commands are checked and ignored.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use clap::{ArgAction, Args, Command};
use toml::de::{DeTable, DeValue};

use super::invocation::{Invocation, OUTPUTS, OptionValues};
use crate::{
    error::{Error, Result},
    files,
    medium::options::Fault,
    origin::Origin,
};

/// Largest scenario file in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Options with file names, which are relative to the scenario's folder.
const PATHS: [&str; 3] = ["image", "key", "model"];

/// Options of the command and the scenario file that sets some of them.
#[derive(Args, Clone, Debug, Default)]
pub struct ScenarioArguments {
    #[command(flatten)]
    pub invocation: Invocation,
    /// Read options from a TOML file with option names as keys; the command line takes precedence.
    #[arg(long, value_name = "FILE", help_heading = "Scenario")]
    pub scenario: Option<PathBuf>,
}

impl ScenarioArguments {
    /// Returns the origin of the results of `command`.
    pub fn origin(&self, command: String, models: impl Into<String>) -> Origin {
        let scenario = self.scenario.as_ref().map(|path| path.display().to_string());
        Origin { scenario, ..Origin::new(command, models) }
    }
}

/// A scenario file and the options that it contributes to the command line.
#[derive(Debug)]
pub struct Source {
    pub path: PathBuf,
    options: Vec<String>,
}

impl Source {
    /// Returns whether the file sets an option, given without dashes.
    pub fn has(&self, option: &str) -> bool {
        self.options.iter().any(|known| known == option)
    }
}

/// Inserts the options of the scenario into a command line. Returns the scenario as well, if there is one.
pub fn expanded(line: Vec<OsString>, program: &Command) -> Result<(Vec<OsString>, Option<Source>)> {
    let named = |word: &OsString| program.find_subcommand(word).filter(|command| takes_scenarios(command));
    let place = line.iter().skip(1).position(|word| program.find_subcommand(word).is_some());
    let Some((place, command)) = place.and_then(|place| Some((place + 1, named(&line[place + 1])?))) else {
        return Ok((line, None));
    };
    let given: Vec<&str> = line[place + 1..].iter().filter_map(|word| name_of(word)).collect();
    let words = line[place + 1..].iter().enumerate();
    let path = words.filter(|(_, word)| name_of(word) == Some("scenario")).find_map(|(index, word)| {
        let after = word.to_str().and_then(|word| word.split_once('=')).map(|(_, path)| path.into());
        after.or_else(|| line.get(place + index + 2).map(PathBuf::from))
    });
    let Some(path) = path else { return Ok((line, None)) };
    let text = String::from_utf8(files::read_up_to(&path, MAX_BYTES)?)
        .map_err(|_| Error::usage(format!("{} is not a scenario: it is not UTF-8 text", path.display())))?;
    let settings = Scenario { path: &path, text: &text, program }.options(command)?;
    let mut expanded = line[..=place].to_vec();
    let mut options = Vec::new();
    let faults = given_faults(&line[place + 1..]);
    let is_given = |OptionValues { option, values, .. }: &&OptionValues| match (&option[..], &values[..]) {
        ("fault", [value]) => faults.contains(&value.split('=').next().unwrap_or_default()),
        (option, _) => given.contains(&option),
    };
    for OptionValues { option, values, .. } in settings.iter().filter(|setting| !is_given(setting)) {
        if values.is_empty() {
            expanded.push(format!("--{option}").into());
        }
        expanded.extend(values.iter().map(|value| format!("--{option}={value}").into()));
        options.push(option.clone());
    }
    expanded.extend_from_slice(&line[place + 1..]);
    Ok((expanded, Some(Source { path, options })))
}

/// Keys of the faults that a command line sets.
fn given_faults(words: &[OsString]) -> Vec<&str> {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let next = words.iter().skip(1).copied().chain([""]);
    let settings = words.iter().zip(next).filter_map(|(word, next)| match word.strip_prefix("--fault")? {
        "" => Some(next),
        rest => rest.strip_prefix('='),
    });
    settings.map(|setting| setting.split('=').next().unwrap_or(setting)).collect()
}

/// Returns the name of an option in a command line.
fn name_of(word: &OsStr) -> Option<&str> {
    word.to_str()?.strip_prefix("--").map(|word| word.split_once('=').map_or(word, |(name, _)| name))
}

fn takes_scenarios(command: &Command) -> bool {
    options(command).any(|option| option == "scenario")
}

fn options(command: &Command) -> impl Iterator<Item = &str> {
    command.get_arguments().filter_map(clap::Arg::get_long)
}

/// Returns the options of a command that a scenario may set.
fn keys(command: &Command) -> Vec<&str> {
    options(command)
        .filter(|option| !OUTPUTS.contains(option) && !["fault", "help"].contains(option))
        .collect()
}

/// A scenario file.
struct Scenario<'a> {
    path: &'a Path,
    text: &'a str,
    program: &'a Command,
}

impl Scenario<'_> {
    /// Returns the options that the file sets for a command.
    fn options(&self, command: &Command) -> Result<Vec<OptionValues>> {
        let table = DeTable::parse(self.text).map_err(|error| {
            self.wrong(error.span().unwrap_or_default().start, error.message().trim_end())
        })?;
        let mut options = Vec::new();
        for (key, value) in table.get_ref() {
            let (name, at) = (key.get_ref().as_ref(), key.span().start);
            match value.get_ref() {
                DeValue::Table(faults) if name == "fault" => {
                    for (key, value) in faults {
                        options.extend(self.fault(key.get_ref(), value, key.span().start)?);
                    }
                }
                DeValue::Table(inside) => {
                    let other = self.program.find_subcommand(name).filter(|other| takes_scenarios(other));
                    let other = other.ok_or_else(|| {
                        self.wrong(at, &format!("there is no command {name} that takes scenarios"))
                    })?;
                    for (key, value) in inside {
                        let option = self.option(other, key.get_ref(), value, key.span().start)?;
                        if name == command.get_name() {
                            options.extend(option);
                        }
                    }
                }
                _ => options.extend(self.option(command, name, value, at)?),
            }
        }
        Ok(options)
    }

    /// Returns the option that sets a fault; `None` for `false`.
    fn fault(
        &self, key: &str, value: &toml::Spanned<DeValue<'_>>, at: usize,
    ) -> Result<Option<OptionValues>> {
        Fault::named(key).map_err(|error| self.wrong(at, &error.to_string()))?;
        let text = match value.get_ref() {
            DeValue::Boolean(false) => return Ok(None),
            DeValue::Boolean(true) => "true".into(),
            DeValue::Array(values) => {
                let values = values.iter().map(|value| self.text(key, value.get_ref(), at));
                values.collect::<Result<Vec<_>>>()?.join(",")
            }
            value => self.text(key, value, at)?,
        };
        Ok(Some(OptionValues {
            option: "fault".into(),
            values: vec![format!("{key}={text}")],
            is_default: false,
        }))
    }

    /// Returns a number or a string as text.
    fn text(&self, name: &str, value: &DeValue<'_>, at: usize) -> Result<String> {
        match value {
            DeValue::String(text) if PATHS.contains(&name) => {
                Ok(self.path.parent().unwrap_or(Path::new("")).join(text.as_ref()).display().to_string())
            }
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(number) => Ok(number.to_string()),
            DeValue::Float(number) => Ok(number.to_string()),
            _ => Err(self.wrong(at, &format!("{name} must be a number, a string or a list of them"))),
        }
    }

    /// Returns the option that a key sets; `None` for `false`.
    fn option(
        &self, command: &Command, name: &str, value: &toml::Spanned<DeValue<'_>>, at: usize,
    ) -> Result<Option<OptionValues>> {
        if !keys(command).contains(&name) {
            return Err(self.unknown(command, name, at));
        }
        let words = |value: &DeValue<'_>| self.text(name, value, at);
        let values = match value.get_ref() {
            DeValue::Boolean(false) => return Ok(None),
            DeValue::Boolean(true) => Vec::new(),
            DeValue::Array(values) => {
                let list = values.iter().map(|value| words(value.get_ref())).collect::<Result<Vec<_>>>()?;
                let argument = command.get_arguments().find(|arg| arg.get_long() == Some(name));
                let commas = argument.is_some_and(|arg| arg.get_value_delimiter().is_some());
                let repeats = argument.is_some_and(|arg| matches!(arg.get_action(), ArgAction::Append));
                match list.len() {
                    0 => return Err(self.wrong(at, &format!("{name} has an empty list"))),
                    _ if commas => vec![list.join(",")],
                    2.. if !repeats => {
                        return Err(self.wrong(at, &format!("{name} takes one value, not a list")));
                    }
                    _ => list,
                }
            }
            value => vec![words(value)?],
        };
        Ok(Some(OptionValues { option: name.into(), values, is_default: false }))
    }

    /// Returns the error for an unknown key: the command that has it, or the nearest key.
    fn unknown(&self, command: &Command, name: &str, at: usize) -> Error {
        let here = command.get_name();
        if OUTPUTS.contains(&name) {
            return self.wrong(at, &format!("{name} is an output option: give --{name} on the command line"));
        }
        if Fault::named(name).is_ok() {
            return self.wrong(at, &format!("{name} is a fault: move it to [fault]"));
        }
        let others = self.program.get_subcommands().filter(|other| takes_scenarios(other));
        let others: Vec<&str> =
            others.filter(|other| keys(other).contains(&name)).map(Command::get_name).collect();
        if let [first, ..] = others[..] {
            let whose = others.join(", ");
            return self
                .wrong(at, &format!("{name} is an option of {whose}, not of {here}: move it to [{first}]"));
        }
        let keys = keys(command);
        let nearest = keys.iter().min_by_key(|key| strsim::damerau_levenshtein(key, name));
        let nearest = nearest.map_or(String::new(), |key| format!("; did you mean {key}?"));
        self.wrong(at, &format!("{here} has no option {name}{nearest}"))
    }

    fn wrong(&self, at: usize, what: &str) -> Error {
        let line = 1 + self.text.get(..at).unwrap_or_default().matches('\n').count();
        Error::usage(format!("{}, line {line}: {what}", self.path.display()))
    }
}
