//! Output of results. Tables and JSON are printed before files are written, so that a write error
//! loses nothing.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use clap::Args;
use serde::Serialize;
use wdgnn_core::weights::MAGIC;

use super::invocation::Invocation;
use crate::{
    chart::Drawing,
    error::{Error, Result},
    files,
    origin::Origin,
    table,
};

/// Default folder of pages, the only folder that the program creates for results.
const PAGES: &str = "target/wdgnn";

/// Largest length of a page name that is built from options.
const LONGEST_NAME: usize = 100;

/// Output options.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct OutputArguments {
    /// Print JSON instead of the table.
    #[arg(long)]
    pub json: bool,
    /// Write the table as CSV; `-` stands for standard output in all output options.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the HTML page [default for eval, sweep, shift and theorem: target/wdgnn/COMMAND.html].
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write the charts as SVG.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// Results of a command.
#[allow(missing_debug_implementations, reason = "functions")]
pub struct Results<'a, J> {
    /// Origin of the results.
    pub origin: &'a Origin,
    /// Content of the JSON output besides the origin.
    pub json: J,
    /// Prints the table with its notes.
    pub print: &'a dyn Fn(),
    /// Returns the CSV rows.
    pub csv: &'a dyn Fn() -> Vec<Vec<String>>,
    pub page: &'a dyn Fn() -> Result<String>,
    /// Returns the charts.
    pub plots: &'a dyn Fn() -> Vec<Drawing>,
}

impl OutputArguments {
    /// Returns the options with a default page.
    #[must_use]
    pub fn or_page(&self, usual: impl Into<PathBuf>) -> Self {
        Self { report: Some(self.report.clone().unwrap_or_else(|| usual.into())), ..self.clone() }
    }

    /// Returns the requested files with their options.
    fn places(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let places = [("csv", &self.csv), ("report", &self.report), ("svg", &self.svg)];
        places.into_iter().filter_map(|(option, place)| Some((option, place.as_deref()?)))
    }

    /// Returns whether any file is requested.
    pub fn any_file(&self) -> bool {
        self.places().next().is_some()
    }

    /// Returns whether an output is this file.
    pub fn names(&self, path: &Path) -> bool {
        self.places().any(|(_, place)| place == path)
    }

    /// Returns whether an output goes to standard output.
    fn takes_screen(&self) -> bool {
        self.places().any(|(_, place)| files::is_standard_output(place))
    }

    /// Checks that all files can be written, before the work starts.
    pub fn check(&self) -> Result {
        let mut seen: Vec<(&str, &Path)> =
            if self.json { vec![("json", Path::new("-"))] } else { Vec::new() };
        for (option, place) in self.places() {
            if let Some((other, _)) = seen.iter().find(|(_, other)| *other == place) {
                let why = if files::is_standard_output(place) {
                    "both write to standard output: leave one out".into()
                } else {
                    format!("both name {}: name two files", place.display())
                };
                return Err(Error::usage(format!("--{other} and --{option} {why}")));
            }
            if is_network(place) {
                return Err(Error::usage(format!(
                    "--{option} would replace the network {}: name another file",
                    place.display()
                )));
            }
            seen.push((option, place));
        }
        let (pages, others): (Vec<_>, Vec<_>) =
            self.places().map(|(_, place)| place).partition(|place| place.starts_with(PAGES));
        others.into_iter().try_for_each(files::probe)?;
        for page in pages {
            fs::create_dir_all(PAGES).map_err(|source| Error::Write { path: page.into(), source })?;
            files::probe(page)?;
        }
        Ok(())
    }

    /// Prints the results and writes all files.
    pub fn deliver<J: Serialize>(&self, results: &Results<'_, J>) -> Result {
        let quiet = self.json || self.takes_screen();
        if self.json {
            print_json(results.origin, &results.json);
        } else if !quiet {
            (results.print)();
        }
        self.write(results.csv, results.page, results.plots)
    }

    /// Writes all files.
    pub fn write(
        &self, csv: &dyn Fn() -> Vec<Vec<String>>, page: &dyn Fn() -> Result<String>,
        plots: &dyn Fn() -> Vec<Drawing>,
    ) -> Result {
        let quiet = self.json || self.takes_screen();
        if let Some(path) = &self.csv {
            files::write(path, table::csv(&csv()).as_bytes())?;
        }
        if let Some(path) = &self.svg {
            files::write(path, Drawing::stacked(&plots()).file().as_bytes())?;
        }
        if let Some(path) = &self.report {
            files::write(path, page()?.as_bytes())?;
            match (quiet, files::is_standard_output(path)) {
                (_, true) => {}
                (true, _) => eprintln!("page: {}", path.display()),
                (false, _) => println!("\npage: {}", path.display()),
            }
        }
        Ok(())
    }
}

/// Returns whether a file is a weight file, which no output replaces.
fn is_network(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    path.is_file()
        && fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == MAGIC
}

/// Prints results with their origin as JSON.
pub fn print_json<J: Serialize>(origin: &Origin, results: &J) {
    #[derive(Serialize)]
    struct WithOrigin<'a, J> {
        #[serde(flatten)]
        origin: &'a Origin,
        #[serde(flatten)]
        results: &'a J,
    }
    println!("{}", serde_json::to_string_pretty(&WithOrigin { origin, results }).unwrap_or_default());
}

/// Returns the default page of a command. Its name contains the given options, so that runs do not
/// overwrite each other.
pub fn page(name: &str, invocation: &Invocation) -> PathBuf {
    let mut file = name.to_owned();
    let mut given_options: Vec<_> =
        invocation.options().iter().filter(|given| !given.is_default && given.option != "task").collect();
    given_options.sort_by_key(|given| &given.option);
    for given in given_options {
        for part in std::iter::once(&given.option).chain(&given.values) {
            file.push('-');
            file.extend(part.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }));
        }
    }
    file.truncate(LONGEST_NAME);
    Path::new(PAGES).join(file + ".html")
}
