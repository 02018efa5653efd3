//! Errors of the argument parser in one line, in the form of this program's errors.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::Error;

/// Printed characters of a rejected value.
const MAX_VALUE_CHARS: usize = 60;

/// Returns the option with a rejected value, without dashes.
pub fn option(error: &clap::Error) -> Option<String> {
    text(error, ContextKind::InvalidArg).map(|argument| name(argument).trim_start_matches('-').to_owned())
}

/// Returns the one-line form of an error, or the parser's error for help, versions and unknown
/// kinds.
pub fn one_line(error: clap::Error) -> Result<Error, clap::Error> {
    match message(&error) {
        Some(message) => Ok(Error::usage(message)),
        None => Err(error),
    }
}

fn message(error: &clap::Error) -> Option<String> {
    let argument = text(error, ContextKind::InvalidArg).map(name);
    let value = text(error, ContextKind::InvalidValue);
    match (error.kind(), argument, value) {
        (ErrorKind::InvalidValue | ErrorKind::ValueValidation, Some(argument), Some("")) => {
            Some(format!("{argument} needs a value"))
        }
        (ErrorKind::InvalidValue, Some(argument), Some(value)) => {
            let Some(ContextValue::Strings(valid)) = error.get(ContextKind::ValidValue) else { return None };
            Some(refused(argument, &alternatives(valid), value))
        }
        (ErrorKind::ValueValidation, Some(argument), Some(value)) => {
            Some(refused(argument, &std::error::Error::source(error)?.to_string(), value))
        }
        (ErrorKind::UnknownArgument, Some(argument), _) => {
            let nearest = text(error, ContextKind::SuggestedArg).map(name);
            let nearest = nearest.map_or(String::new(), |nearest| format!(": did you mean {nearest}?"));
            let kind = if argument.starts_with('-') { "option" } else { "argument" };
            Some(format!("there is no {kind} {argument} here{nearest}"))
        }
        (ErrorKind::InvalidSubcommand, ..) => {
            let command = text(error, ContextKind::InvalidSubcommand)?;
            Some(format!("there is no command {command}: `host-sim --help` lists the commands"))
        }
        (ErrorKind::ArgumentConflict, Some(argument), _) => {
            let others = texts(error, ContextKind::PriorArg);
            match others.iter().find(|other| name(other) != argument) {
                Some(other) => {
                    Some(format!("{argument} and {} cannot be combined: leave one out", name(other)))
                }
                None => Some(format!("{argument} was given twice")),
            }
        }
        (ErrorKind::MissingRequiredArgument, ..) => {
            let missing = texts(error, ContextKind::InvalidArg);
            let missing: Vec<&str> = missing.iter().map(|missing| name(missing)).collect();
            let (last, verb) = (missing.last()?, if missing.len() > 1 { "are" } else { "is" });
            let first = missing[..missing.len() - 1].join(", ");
            let and = if first.is_empty() { "" } else { " and " };
            Some(format!("{first}{and}{last} {verb} required"))
        }
        _ => None,
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

fn texts(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

/// `--robots` of `--robots <N>`, `PARAMETER` of `<PARAMETER>`.
fn name(argument: &str) -> &str {
    argument.split(' ').next().unwrap_or(argument).trim_matches(['<', '>', '[', ']', '.'])
}

fn refused(argument: &str, constraint: &str, value: &str) -> String {
    let value = match value.char_indices().nth(MAX_VALUE_CHARS) {
        None => value.to_owned(),
        Some((end, _)) => format!("{}…", &value[..end]),
    };
    format!("{argument} must be {constraint}, got {value}")
}

/// `a, b or c`.
fn alternatives(values: &[String]) -> String {
    match values {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        values => values.concat(),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command};

    use super::*;

    #[test]
    fn long_values_are_cut_and_help_stays_as_it_is() {
        let command = || {
            let robots = Arg::new("robots").long("robots").value_parser(clap::value_parser!(u8));
            Command::new("x").no_binary_name(true).arg(robots)
        };
        let message = |words: &[&str]| {
            one_line(command().try_get_matches_from(words).unwrap_err()).unwrap().to_string()
        };
        let long = "9".repeat(1000);
        assert!(message(&["--robots", &long]).ends_with(&format!(", got {}…", &long[..MAX_VALUE_CHARS])));
        assert_eq!(message(&["--robots", "1", "--robots", "2"]), "--robots was given twice");
        assert_eq!(message(&["--robot", "3"]), "there is no option --robot here: did you mean --robots?");
        assert_eq!(message(&["more"]), "there is no argument more here");
        let help = command().try_get_matches_from(["--help"]).unwrap_err();
        assert_eq!(one_line(help).unwrap_err().kind(), ErrorKind::DisplayHelp);
    }
}
