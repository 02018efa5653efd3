//! How helpers are reached: as processes that are started here, or over a socket of this machine.

use std::{
    convert::Infallible,
    io::{self, Read, Write},
    path::PathBuf,
    process::{Child, Command, Stdio},
    str::FromStr,
};

use super::line::{self, LineError};

/// How a helper is reached.
pub trait Reach: Send + Sync {
    /// What it is called in sentences.
    fn name(&self) -> String;
    /// Starts it, or calls it up.
    ///
    /// # Errors
    /// Why it cannot be had.
    fn reach(&self) -> io::Result<Line>;
}

/// A line to a helper.
#[allow(missing_debug_implementations, reason = "it is two ends of something")]
pub struct Line {
    /// What is asked goes here.
    pub to: Box<dyn Write + Send>,
    /// What it answers comes from here.
    pub from: Box<dyn Read + Send>,
    /// The process that ends with the line.
    pub process: Option<Child>,
}

impl Line {
    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// Where none comes.
    pub fn ask(&mut self, content: &[u8]) -> Result<Vec<u8>, LineError> {
        let sent = line::send(&mut self.to, content);
        let taken = line::take(&mut self.from);
        // Whoever does not listen may still have said why, or who it is.
        match (sent, taken) {
            (_, Err(LineError::Foreign)) => Err(LineError::Foreign),
            (sent, taken) => sent.and(taken)?.ok_or(LineError::Ended),
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // It has nothing that would have to be kept. What cannot be ended has ended already.
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// A helper as it is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// A command that reads requests on its standard input and answers on its standard output.
    Command(String),
    /// A socket of this machine, at which somebody answers.
    Socket(PathBuf),
}

impl FromStr for How {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.strip_prefix("unix:") {
            Some(path) => Self::Socket(path.into()),
            None => Self::Command(text.into()),
        })
    }
}

impl Reach for How {
    fn name(&self) -> String {
        match self {
            Self::Command(command) => command.clone(),
            Self::Socket(path) => format!("unix:{}", path.display()),
        }
    }

    fn reach(&self) -> io::Result<Line> {
        match self {
            Self::Command(command) => started(command),
            Self::Socket(path) => called(path.clone()),
        }
    }
}

/// Starts a command, by the shell.
fn started(command: &str) -> io::Result<Line> {
    let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut shell = Command::new(shell);
    shell.args([option, command]).stdin(Stdio::piped()).stdout(Stdio::piped());
    // Ctrl-C is for the training, which has its helpers finish the epoch.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    let mut process = shell.spawn()?;
    let none = || io::Error::other("it has no standard input and output");
    let to = process.stdin.take().ok_or_else(none)?;
    let from = process.stdout.take().ok_or_else(none)?;
    Ok(Line { to: Box::new(to), from: Box::new(from), process: Some(process) })
}

#[cfg(unix)]
fn called(path: PathBuf) -> io::Result<Line> {
    let to = std::os::unix::net::UnixStream::connect(path)?;
    let from = to.try_clone()?;
    Ok(Line { to: Box::new(to), from: Box::new(from), process: None })
}

#[cfg(not(unix))]
fn called(_: PathBuf) -> io::Result<Line> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no such sockets"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_told_from_a_command() {
        let how = |text: &str| text.parse::<How>().unwrap();
        assert_eq!(how("unix:/a b"), How::Socket("/a b".into()));
        assert_eq!(how("ssh one host-sim helper"), How::Command("ssh one host-sim helper".into()));
        assert_eq!([how("unix:/a").name(), how("x y").name()], ["unix:/a", "x y"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_command_that_says_the_same_back_is_understood_and_one_that_ends_is_missed() {
        let mut line = How::Command("cat".into()).reach().unwrap();
        assert_eq!(line.ask(b"one").unwrap(), b"one");
        assert_eq!(line.ask(b"two").unwrap(), b"two");
        // Whether it has gone before it is asked or afterwards.
        let asked = How::Command("true".into()).reach().unwrap().ask(b"one");
        assert!(matches!(asked, Err(LineError::Ended | LineError::Broken(_))), "{asked:?}");
        let asked =
            How::Command("head -c 1 >&2; echo Welcome to this machine".into()).reach().unwrap().ask(b"x");
        assert!(matches!(asked, Err(LineError::Foreign)), "{asked:?}");
    }
}
