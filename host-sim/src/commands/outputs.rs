//! Where a command's results go: the table or JSON to the screen first, then files, so that one that cannot be written loses nothing.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{
    error::{Error, Result},
    files, table,
};

/// The longest name of a page that is made of options.
const LONGEST_NAME: usize = 100;

/// Where results go.
#[derive(Clone, Copy, Debug)]
pub struct Outputs<'a> {
    /// Comma-separated values.
    pub csv: Option<&'a Path>,
    /// The page.
    pub report: Option<&'a Path>,
    /// JSON in place of the table.
    pub json: bool,
}

/// JSON with what made it.
#[derive(Serialize)]
struct Marked<'a, J> {
    command: &'a str,
    version: &'static str,
    models: &'a str,
    #[serde(flatten)]
    results: &'a J,
}

/// What there is to see.
#[allow(missing_debug_implementations, reason = "functions")]
pub struct Results<'a, J> {
    /// The command that does this again, whatever the defaults will be.
    pub command: &'a str,
    /// The models that flew.
    pub models: &'a str,
    /// What JSON has besides these.
    pub json: J,
    /// Prints the table and what is to be said about it.
    pub print: &'a dyn Fn(),
    /// What comma-separated values have.
    pub csv: &'a dyn Fn() -> Vec<Vec<String>>,
    /// The page.
    pub page: &'a dyn Fn() -> Result<String>,
}

impl Outputs<'_> {
    /// Finds out, before anything is flown, whether everything can go where it should.
    ///
    /// # Errors
    /// [`Error::Usage`] for two results in one place, [`Error::Write`] for a place that cannot be written.
    pub fn check(&self) -> Result {
        let places: Vec<&Path> = [self.csv, self.report].into_iter().flatten().collect();
        let to_screen = places.iter().filter(|place| files::is_standard_output(place)).count();
        if to_screen + usize::from(self.json) > 1 {
            return Err(Error::usage(
                "only one of --json, --csv - and --report - can have the standard output",
            ));
        }
        if let [csv, report] = places[..]
            && csv == report
        {
            return Err(Error::usage(format!(
                "--csv and --report both name {}: name two files",
                csv.display()
            )));
        }
        places.into_iter().try_for_each(files::probe)
    }

    /// Shows everything.
    ///
    /// # Errors
    /// [`Error::Write`], after what goes to the screen is there.
    pub fn deliver<J: Serialize>(&self, results: &Results<'_, J>) -> Result {
        let taken = [self.csv, self.report].into_iter().flatten().any(files::is_standard_output);
        if self.json {
            let Results { command, models, json, .. } = results;
            print_json(command, models, json);
        } else if !taken {
            (results.print)();
        }
        if let Some(path) = self.csv {
            files::write(path, table::csv(&(results.csv)()).as_bytes())?;
        }
        if let Some(path) = self.report {
            files::write(path, (results.page)()?.as_bytes())?;
            match (self.json || taken, files::is_standard_output(path)) {
                (_, true) => {}
                (true, _) => eprintln!("page: {}", path.display()),
                (false, _) => println!("\npage: {}", path.display()),
            }
        }
        Ok(())
    }
}

/// Prints results as JSON, with the command, the version and the models that made them.
pub fn print_json<J: Serialize>(command: &str, models: &str, results: &J) {
    let marked = Marked { command, version: env!("CARGO_PKG_VERSION"), models, results };
    println!("{}", serde_json::to_string_pretty(&marked).unwrap_or_default());
}

/// Where a page goes when nothing is said: named by the options in which `command` differs from the `usual` one, so that no page
/// takes another's place.
#[must_use]
pub fn page(name: &str, command: &str, usual: &str) -> PathBuf {
    let usual: Vec<&str> = usual.split(" --").skip(1).collect();
    let mut file = name.to_owned();
    for option in command.split(" --").skip(1).filter(|option| !usual.contains(option)) {
        file.push('-');
        file.extend(option.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }));
    }
    file.truncate(LONGEST_NAME);
    Path::new("target/wdgnn").join(file + ".html")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_named_by_what_is_unusual_about_it() {
        let usual = "host-sim flock --robots 50 --speed 3 --seed 7";
        assert_eq!(page("flock", usual, usual), Path::new("target/wdgnn/flock.html"));
        let other = "host-sim flock --robots 100 --speed 3 --seed 7 --model my/net.wdgnn";
        assert_eq!(
            page("flock", other, usual),
            Path::new("target/wdgnn/flock-robots-100-model-my-net.wdgnn.html")
        );
    }

    #[test]
    fn two_results_never_share_a_place() {
        let both = |csv, report, json| {
            Outputs { csv: Some(Path::new(csv)), report: Some(Path::new(report)), json }.check()
        };
        assert!(both("-", "-", false).is_err());
        assert!(both("-", "/dev/null", true).is_err());
        assert!(both("x", "x", false).unwrap_err().to_string().contains("name two files"));
        assert!(both("-", "/dev/null", false).is_ok());
    }
}
