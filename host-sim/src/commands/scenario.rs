//! Scenarios: a whole condition in a file. Its keys are the names of options.
//!
//! ```toml
//! robots = 100              # what every command that flies takes
//! drop-chance = 0.3
//! kill = ["3@50", "4@60"]
//!
//! [flock]                   # what only one of them takes
//! swarms = 10
//! ```
//!
//! What the file says is read as if it were typed, and what is typed as well counts more. Nothing is ignored but the tables of other
//! commands.

use std::{
    ffi::{OsStr, OsString},
    fmt::Write as _,
    path::{Path, PathBuf},
};

use clap::{ArgAction, Args, Command};
use toml::de::{DeTable, DeValue};

use super::typed::{NAMELESS, OUTPUTS, Told, Typed};
use crate::{
    error::{Error, Result},
    fault_options::FlightArguments,
    files,
    origin::Origin,
};

/// The longest file that is read as a scenario, in bytes.
const LONGEST_BYTES: u64 = 1 << 20;

/// Options that name files, by their way from the scenario's folder.
const PATHS: [&str; 3] = ["image", "key", "model"];

/// Everything that the command was told, and the scenario that told some of it.
#[derive(Args, Clone, Debug, Default)]
pub struct ScenarioArguments {
    #[command(flatten)]
    pub typed: Typed,
    /// Take options from a scenario (TOML, with options' names as keys); what is typed as well counts more.
    #[arg(long, value_name = "FILE", help_heading = "Scenario")]
    pub scenario: Option<PathBuf>,
    /// Write the scenario that is flown.
    #[arg(long, value_name = "FILE", help_heading = "Scenario")]
    pub save_scenario: Option<PathBuf>,
}

impl ScenarioArguments {
    /// Where results of `command` come from.
    pub fn origin(&self, command: String, models: impl Into<String>) -> Origin {
        let scenario = self.scenario.as_ref().map(|path| path.display().to_string());
        Origin { scenario, ..Origin::new(command, models) }
    }

    /// Finds out whether the scenario can be written, before anything is flown.
    pub fn check(&self) -> Result {
        self.save_scenario.as_deref().map_or(Ok(()), files::probe)
    }

    /// Writes the scenario that was flown, if that was asked for. `settled` has everything that counted.
    pub fn save(&self, command: &str, settled: &Typed) -> Result {
        let Some(path) = &self.save_scenario else { return Ok(()) };
        files::write(path, written(command, settled, path).as_bytes())
    }
}

/// A scenario file and the options that it contributes to the command line.
#[derive(Debug)]
pub struct Source {
    /// The file.
    pub path: PathBuf,
    options: Vec<String>,
}

impl Source {
    /// Whether an option, without its dashes, is from the file.
    pub fn has(&self, option: &str) -> bool {
        self.options.iter().any(|known| known == option)
    }
}

/// The command line with the options of its scenario, and that scenario, if it names one.
pub fn expanded(line: Vec<OsString>, program: &Command) -> Result<(Vec<OsString>, Option<Source>)> {
    let named = |word: &OsString| program.find_subcommand(word).filter(|command| takes_scenarios(command));
    let place = line.iter().skip(1).position(|word| program.find_subcommand(word).is_some());
    let Some((place, command)) = place.and_then(|place| Some((place + 1, named(&line[place + 1])?))) else {
        return Ok((line, None));
    };
    let typed: Vec<&str> = line[place + 1..].iter().filter_map(|word| name_of(word)).collect();
    let words = line[place + 1..].iter().enumerate();
    let path = words.filter(|(_, word)| name_of(word) == Some("scenario")).find_map(|(index, word)| {
        let after = word.to_str().and_then(|word| word.split_once('=')).map(|(_, path)| path.into());
        after.or_else(|| line.get(place + index + 2).map(PathBuf::from))
    });
    let Some(path) = path else { return Ok((line, None)) };
    let text = String::from_utf8(files::read_up_to(&path, LONGEST_BYTES)?)
        .map_err(|_| Error::usage(format!("{} is not a scenario: it is not UTF-8 text", path.display())))?;
    let told = Scenario { path: &path, text: &text, program }.told(command)?;
    let mut expanded = line[..=place].to_vec();
    let mut options = Vec::new();
    for Told { option, values, .. } in told.iter().filter(|told| !typed.contains(&told.option.as_str())) {
        if values.is_empty() {
            expanded.push(format!("--{option}").into());
        }
        expanded.extend(values.iter().map(|value| format!("--{option}={value}").into()));
        options.push(option.clone());
    }
    expanded.extend_from_slice(&line[place + 1..]);
    Ok((expanded, Some(Source { path, options })))
}

/// The name of an option as it is typed.
fn name_of(word: &OsStr) -> Option<&str> {
    word.to_str()?.strip_prefix("--").map(|word| word.split_once('=').map_or(word, |(name, _)| name))
}

fn takes_scenarios(command: &Command) -> bool {
    options(command).any(|option| option == "scenario")
}

fn options(command: &Command) -> impl Iterator<Item = &str> {
    command.get_arguments().filter_map(clap::Arg::get_long)
}

/// What a scenario may say to a command.
fn keys(command: &Command) -> Vec<&str> {
    let mut keys: Vec<&str> =
        options(command).filter(|option| !OUTPUTS.contains(option) && *option != "help").collect();
    // Its number has a file's name in some commands.
    keys.retain(|key| *key != "trajectories");
    keys
}

/// A file that is read.
struct Scenario<'a> {
    path: &'a Path,
    text: &'a str,
    program: &'a Command,
}

impl Scenario<'_> {
    /// What it tells a command.
    fn told(&self, command: &Command) -> Result<Vec<Told>> {
        let table = DeTable::parse(self.text).map_err(|error| {
            self.wrong(error.span().unwrap_or_default().start, error.message().trim_end())
        })?;
        let mut told = Vec::new();
        for (key, value) in table.get_ref() {
            let (name, at) = (key.get_ref().as_ref(), key.span().start);
            match value.get_ref() {
                DeValue::Table(inside) => {
                    let other = self.program.find_subcommand(name).filter(|other| takes_scenarios(other));
                    let other = other.ok_or_else(|| {
                        self.wrong(at, &format!("there is no command {name} that takes scenarios"))
                    })?;
                    for (key, value) in inside {
                        let option = self.option(other, key.get_ref(), value, key.span().start)?;
                        if name == command.get_name() {
                            told.extend(option);
                        }
                    }
                }
                _ => told.extend(self.option(command, name, value, at)?),
            }
        }
        Ok(told)
    }

    /// What a key tells; nothing for `false`.
    fn option(
        &self,
        command: &Command,
        name: &str,
        value: &toml::Spanned<DeValue<'_>>,
        at: usize,
    ) -> Result<Option<Told>> {
        if !keys(command).contains(&name) {
            return Err(self.unknown(command, name, at));
        }
        let words = |value: &DeValue<'_>| match value {
            DeValue::String(text) if PATHS.contains(&name) => {
                Ok(self.path.parent().unwrap_or(Path::new("")).join(text.as_ref()).display().to_string())
            }
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(number) => Ok(number.to_string()),
            DeValue::Float(number) => Ok(number.to_string()),
            _ => Err(self.wrong(at, &format!("{name} must be a number, a text or a list of them"))),
        };
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
        Ok(Some(Told { option: name.into(), values, usual: false }))
    }

    /// Says what is wrong with a key that the command does not take: whose it is, or what is nearest.
    fn unknown(&self, command: &Command, name: &str, at: usize) -> Error {
        let here = command.get_name();
        if OUTPUTS.contains(&name) {
            return self.wrong(at, &format!("{name} belongs on the command line: give --{name}"));
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

/// What all commands take that take scenarios.
pub fn shared() -> Vec<String> {
    let faults = FlightArguments::augment_args(Command::new("faults"));
    let condition = ["task", "model", "profile", "robots", "radius", "speed", "ticks", "seed"];
    condition.map(str::to_owned).into_iter().chain(options(&faults).map(str::to_owned)).collect()
}

/// A scenario that tells `command` what `settled` has. What all commands take comes first.
fn written(command: &str, settled: &Typed, path: &Path) -> String {
    let line = |told: &Told| {
        let values: Vec<String> = told.values.iter().map(|value| worded(&told.option, value, path)).collect();
        match &values[..] {
            [] => format!("{} = true\n", told.option),
            [one] => format!("{} = {one}\n", told.option),
            several => format!("{} = [{}]\n", told.option, several.join(", ")),
        }
    };
    let shared = shared();
    let named = settled.told().iter().filter(|told| !NAMELESS.contains(&told.option.as_str()));
    let (common, own): (Vec<&Told>, Vec<&Told>) = named.partition(|told| shared.contains(&told.option));
    let mut text = format!(
        "# Flown by host-sim {}. Again: host-sim {command} --scenario {}\n\n",
        env!("CARGO_PKG_VERSION"),
        path.display()
    );
    text.extend(common.into_iter().map(line));
    if !own.is_empty() {
        let _ = write!(text, "\n[{command}]\n");
        text.extend(own.into_iter().map(line));
    }
    text
}

/// A value as TOML has it.
fn worded(option: &str, value: &str, scenario: &Path) -> String {
    if PATHS.contains(&option) {
        return format!("{:?}", from_folder_of(scenario, Path::new(value)).display().to_string());
    }
    let number = value.parse::<f64>().is_ok_and(f64::is_finite);
    let digits = value.trim_start_matches('-');
    let plain = digits.starts_with(|c: char| c.is_ascii_digit()) && !digits.ends_with('.');
    let padded = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    if number && plain && !padded { value.into() } else { format!("{value:?}") }
}

/// The way to a file from the folder of a scenario, where it is in that folder; else from the root.
fn from_folder_of(scenario: &Path, path: &Path) -> PathBuf {
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.into());
    let (scenario, path) = (whole(scenario), whole(path));
    let inside = scenario.parent().and_then(|folder| path.strip_prefix(folder).ok());
    inside.map_or(path.clone(), Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_what_they_are() {
        let worded = |value| worded("delay", value, Path::new("x.toml"));
        assert_eq!(
            ["5", "-0.5", "0.2:5", "1e-3", "inf", "007", "a\"b"].map(worded),
            ["5", "-0.5", "\"0.2:5\"", "1e-3", "\"inf\"", "\"007\"", "\"a\\\"b\""]
        );
        let near = super::worded("model", "here/my.wdgnn", Path::new("here/x.toml"));
        assert_eq!(near, "\"my.wdgnn\"");
    }
}
