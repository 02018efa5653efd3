//! Command-line interface. Each subcommand has a file in `commands`.

use std::{any::TypeId, ffi::OsString, path::PathBuf, process::ExitCode};

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, builder::StyledStr};

use crate::{
    commands::{self, scenario, shard},
    error::{self, Error, Result},
    jobs::Shard,
    option_range::OptionRange,
    table,
    tasks::{self, Tasks},
    usage_error,
};

/// Range of the number of threads.
const THREADS: OptionRange = OptionRange::whole(1, 4096);

/// Train, simulate and evaluate swarms of Wide and Deep Graph Neural Network robots.
///
/// Without a subcommand it runs `host-sim eval`: the flocking experiment.
#[derive(Debug, Parser)]
#[command(version, about, long_about, max_term_width = 110)]
pub struct Cli {
    /// Number of threads; results do not depend on it [default: one per core].
    #[arg(long, value_name = "N", global = true, display_order = 999, value_parser = THREADS.parser::<u16>())]
    threads: Option<u16>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one of it")]
enum Command {
    Train(commands::train::TrainArguments),
    Eval(commands::eval::EvalArguments),
    Run(commands::run::RunArguments),
    Sweep(commands::sweep::SweepArguments),
    Shift(commands::shift::ShiftArguments),
    Faults(commands::faults::FaultsArguments),
    Theorem(commands::theorem::TheoremArguments),
    Bench(commands::bench::BenchArguments),
    Airtime(commands::airtime::AirtimeArguments),
    Key(commands::key::KeyArguments),
    Schema(commands::schema::SchemaArguments),
    /// List the tasks.
    Tasks,
    Merge(shard::MergeArguments),
}

impl Cli {
    /// Runs the command.
    pub fn run(self, tasks: Tasks<'_>) -> Result {
        let task = |name: &str| tasks::named(tasks, name);
        if let Some(threads) = self.threads {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads.into())
                .build_global()
                .map_err(|error| Error::Failed(format!("cannot start {threads} threads: {error}")))?;
        }
        match self.command {
            Some(Command::Train(arguments)) => task(&arguments.task)?.train(&arguments),
            Some(Command::Eval(arguments)) => task(&arguments.model.task)?.eval(&arguments),
            Some(Command::Run(arguments)) => task(&arguments.model.task)?.run(&arguments),
            Some(Command::Sweep(arguments)) => task(&arguments.model.task)?.sweep(&arguments),
            Some(Command::Shift(arguments)) => arguments.run(),
            Some(Command::Faults(arguments)) => task(&arguments.model.task)?.faults(&arguments),
            Some(Command::Theorem(arguments)) => arguments.run(),
            Some(Command::Bench(arguments)) => arguments.run(),
            Some(Command::Airtime(arguments)) => arguments.run(),
            Some(Command::Key(arguments)) => arguments.run(),
            Some(Command::Schema(arguments)) => arguments.run(),
            Some(Command::Tasks) => {
                table::print(&list(tasks));
                Ok(())
            }
            Some(Command::Merge(arguments)) => parse_merged(&arguments.read()?)?.run(tasks),
            None => Self::parse_from(["host-sim", "eval"]).run(tasks),
        }
    }
}

fn list(tasks: Tasks<'_>) -> Vec<Vec<String>> {
    let heading = ["task", "description", "score, lower is better", "trained by"].map(str::to_owned).to_vec();
    let row = |task: &&dyn tasks::Entry| {
        let (title, score, recipe) = task.words();
        [task.name(), title, score, recipe].map(str::to_owned).to_vec()
    };
    std::iter::once(heading).chain(tasks.iter().map(row)).collect()
}

/// Runs a program with these tasks: parses the command line and prints errors in one line.
pub fn main(tasks: Tasks<'_>) -> ExitCode {
    handle_output_errors();
    match parse_process().and_then(|line| line.run(tasks)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let message = match &error {
                Error::Task { path, trained, flown } => {
                    error::other_task(path, *trained, *flown, |number| tasks::name_of(tasks, number))
                }
                error => error.to_string(),
            };
            eprintln!("host-sim: {message}");
            error.exit_code()
        }
    }
}

/// Parses the command line of this process.
fn parse_process() -> Result<Cli> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let matches = matches(&words)?;
    if let Some(shard) = shard_of(&matches) {
        let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        shard::fly(shard, &words)?;
    }
    Ok(cli(&matches))
}

/// Parses the command of parse_merged shards.
fn parse_merged(words: &[String]) -> Result<Cli> {
    let matches = matches(&words.iter().map(OsString::from).collect::<Vec<_>>())?;
    let program = command();
    let shards = matches.subcommand_name().and_then(|name| program.find_subcommand(name));
    let has_shards = shards.is_some_and(|command| command.get_arguments().any(|arg| arg.get_id() == "shard"));
    if has_shards && shard_of(&matches).is_none() {
        return Ok(cli(&matches));
    }
    Err(Error::usage(format!("`{}` has no shards", words.join(" "))))
}

/// Parses words with the options of their scenario.
fn matches(words: &[OsString]) -> Result<ArgMatches> {
    let line = std::iter::once(OsString::from("host-sim")).chain(words.iter().cloned()).collect();
    let (line, scenario) = scenario::expanded(line, &command())?;
    command().try_get_matches_from(line).map_err(|error| {
        let option = usage_error::option(&error);
        let message = usage_error::one_line(error).unwrap_or_else(|error| error.exit());
        match scenario.filter(|scenario| option.is_some_and(|option| scenario.has(&option))) {
            Some(scenario) => Error::usage(format!("{}: {message}", scenario.path.display())),
            None => message,
        }
    })
}

fn cli(matches: &ArgMatches) -> Cli {
    Cli::from_arg_matches(matches).unwrap_or_else(|error| error.exit())
}

/// Returns the value of `--shard`.
fn shard_of(matches: &ArgMatches) -> Option<Shard> {
    let (_, arguments) = matches.subcommand()?;
    arguments.try_get_one("shard").ok()?.copied()
}

/// Returns the argument parser.
pub fn command() -> clap::Command {
    short_help(accept_hyphens(Cli::command()))
}

/// Prints one line per option: details of commands are below the options, in front of the examples.
fn short_help(command: clap::Command) -> clap::Command {
    let text = |text: Option<&StyledStr>| text.map(StyledStr::to_string);
    let details = text(command.get_long_about());
    let details = details.as_deref().and_then(|details| details.split_once("\n\n"));
    let command = match (details, text(command.get_after_help())) {
        (Some((_, details)), Some(examples)) => command.after_help(format!("{details}\n\n{examples}")),
        (Some((_, details)), None) => command.after_help(details.to_owned()),
        (None, _) => command,
    };
    command.long_about(None::<&str>).mut_subcommands(short_help)
}

/// Lets numeric options accept values such as -5, so that their range rejects them. Options for
/// files and names, and options with optional values, do not: `--csv --json` lacks a file name.
fn accept_hyphens(command: clap::Command) -> clap::Command {
    let text = [TypeId::of::<String>(), TypeId::of::<PathBuf>()];
    command
        .mut_args(|arg| {
            let needs_value = arg.get_num_args().is_none_or(|range| range.min_values() > 0);
            let is_text = text.iter().any(|text| arg.get_value_parser().type_id() == *text);
            let accepts = arg.get_action().takes_values() && needs_value && !is_text && !arg.is_positional();
            arg.allow_hyphen_values(accepts)
        })
        .mut_subcommands(accept_hyphens)
}

/// Ends the program without a panic message if the standard output fails. A closed pipe, as in
/// `host-sim sweep speed | head`, is no error; a full disk is one. `println!` panics in both cases,
/// so a panic hook tells them apart.
fn handle_output_errors() {
    let other = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or_default();
        if let Some(why) = message.strip_prefix("failed printing to stdout: ") {
            if why.contains("Broken pipe") {
                std::process::exit(0);
            }
            eprintln!("host-sim: cannot write to standard output: {why}");
            std::process::exit(2);
        }
        other(panic);
    }));
}
