//! `host-sim swarm --workers`: starts workers on this machine, and starts one again that dies.
//!
//! A worker is this program with the same words and its number behind them. It lives no longer than the program that started it: that one
//! holds its standard input, and who finds it at its end is over.

use std::{
    ffi::OsString,
    io::{BufRead as _, BufReader, Read},
    net::TcpListener,
    ops::Range,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread::{self, JoinHandle},
    time::Duration,
};

use serde::Serialize;

use super::swarm_workers::Output;
use crate::{
    error::{Error, Result},
    world::World,
};

/// From one look at the workers to the next.
const LOOK: Duration = Duration::from_millis(50);

/// The exit code of who was told what cannot be: told so again, it would not be any different.
const USAGE: i32 = 2;

/// Workers on this machine listen at some of these.
const PORTS: Range<u16> = 20_000..32_000;

/// So many workers, and how often one of them is started again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// How many.
    pub workers: usize,
    /// How often each is started again when it dies.
    pub restarts: u32,
    /// Whether results are JSON.
    pub json: bool,
    /// The image of emulated robots, where there are any and none was named.
    pub image: Option<PathBuf>,
}

/// The JSON output: what the first worker tells, and what each did.
#[derive(Debug, Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    first: &'a Output,
    restarts: u32,
    each: &'a [Output],
}

/// Workers under way. None outlives this.
#[derive(Debug)]
struct Crew {
    program: PathBuf,
    words: Vec<OsString>,
    peers: String,
    threads: Option<usize>,
    workers: Vec<Work>,
}

/// What a worker is about.
#[derive(Debug)]
enum Work {
    Flies { process: Process, restarts: u32 },
    Done(Box<Output>),
}

/// A worker's process. Whatever it says is taken off its hands at once: a pipe that is full would stop it.
#[derive(Debug)]
struct Process {
    child: Child,
    told: Option<JoinHandle<String>>,
    last: Option<JoinHandle<String>>,
}

impl Process {
    fn of(command: &mut Command) -> std::io::Result<Self> {
        let mut child = command.spawn()?;
        let told = child.stdout.take().map(|stream| thread::spawn(|| everything(stream)));
        let last = child.stderr.take().map(|stream| thread::spawn(|| last_sentence(stream)));
        Ok(Self { child, told, last })
    }
}

/// What is to be done about a worker that has ended.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Done,
    Again,
    GivenUp,
}

/// Whoever was told what cannot be is not asked again; whoever died is, as often as is left, as long as others wait for it.
fn verdict(status: ExitStatus, restarts: u32, most: u32, others_done: bool) -> Verdict {
    match status.code() {
        Some(0) => Verdict::Done,
        Some(USAGE) => Verdict::GivenUp,
        _ if restarts < most && !others_done => Verdict::Again,
        _ => Verdict::GivenUp,
    }
}

impl Launch {
    /// Has the swarm flown, and prints.
    ///
    /// # Errors
    /// A worker that cannot be started, that was told what cannot be, or that dies again and again; Ctrl-C.
    pub fn fly<W: World>(&self, stop: &AtomicBool) -> Result {
        let mut crew = Crew::new(self)?;
        let mut restarts = 0;
        while crew.workers.iter().any(|work| matches!(work, Work::Flies { .. })) {
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            for number in 0..self.workers {
                restarts += u32::from(crew.look(number, self.restarts, stop)?);
            }
            thread::sleep(LOOK);
        }
        let workers = std::mem::take(&mut crew.workers).into_iter();
        let each: Vec<Output> = workers
            .filter_map(|work| match work {
                Work::Done(output) => Some(*output),
                Work::Flies { .. } => None,
            })
            .collect();
        let [first, ..] = &each[..] else { return Ok(()) };
        if let Some(other) = each.iter().find(|other| other.digest != first.digest) {
            let (number, digest) = (other.worker, &other.digest);
            return Err(Error::Failed(format!("worker {number} has another digest: {digest}")));
        }
        if self.json {
            let told = Told { first, restarts, each: &each };
            let json = serde_json::to_string_pretty(&told).map_err(|why| Error::Failed(why.to_string()))?;
            println!("{json}");
        } else {
            first.print::<W>(&each);
        }
        Ok(())
    }
}

impl Crew {
    fn new(&Launch { workers, json, ref image, .. }: &Launch) -> Result<Self> {
        let program = std::env::current_exe().map_err(|why| {
            Error::Failed(format!("this program cannot be found to be started again: {why}"))
        })?;
        let mut words: Vec<OsString> = std::env::args_os().skip(1).collect();
        let threads = words.iter().any(|word| word.to_string_lossy().starts_with("--threads"));
        let threads = threads || std::env::var_os("RAYON_NUM_THREADS").is_some();
        if !json {
            words.push("--json".into());
        }
        if let Some(image) = image {
            words.extend(["--image".into(), image.into()]);
        }
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let mut crew = Self {
            program,
            words,
            peers: addresses(workers)?,
            // Several programs share the cores.
            threads: (!threads).then(|| (cores / workers).max(1)),
            workers: Vec::with_capacity(workers),
        };
        for number in 0..workers {
            let process = crew.start(number, workers)?;
            crew.workers.push(Work::Flies { process, restarts: 0 });
        }
        Ok(crew)
    }

    /// Starts a worker. The first one's progress is everybody's.
    fn start(&self, number: usize, of: usize) -> Result<Process> {
        let mut command = Command::new(&self.program);
        command.args(&self.words).args(["--worker", &format!("{number}/{of}"), "--peers", &self.peers]);
        command.arg("--until-stdin-ends").stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(if number == 0 { Stdio::inherit() } else { Stdio::piped() });
        if let Some(threads) = self.threads {
            command.env("RAYON_NUM_THREADS", threads.to_string());
        }
        let process = Process::of(&mut command);
        process.map_err(|why| Error::Failed(format!("worker {number} cannot be started: {why}")))
    }

    /// Looks how a worker is, and starts it again if it died. Whether it did.
    fn look(&mut self, number: usize, most: u32, stop: &AtomicBool) -> Result<bool> {
        let (of, others_done) =
            (self.workers.len(), self.workers.iter().any(|work| matches!(work, Work::Done(_))));
        let Work::Flies { process, restarts } = &mut self.workers[number] else { return Ok(false) };
        let ended = process.child.try_wait();
        let ended =
            ended.map_err(|why| Error::Failed(format!("worker {number} cannot be watched: {why}")))?;
        let Some(status) = ended else { return Ok(false) };
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let restarts = *restarts;
        match verdict(status, restarts, most, others_done) {
            Verdict::Done => {
                let output = serde_json::from_str(&said(&mut process.told)).map_err(|why| {
                    Error::Failed(format!("what worker {number} told cannot be read: {why}"))
                })?;
                self.workers[number] = Work::Done(Box::new(output));
                Ok(false)
            }
            Verdict::Again => {
                eprintln!("host-sim: worker {number} died ({status}): it is started again");
                let process = self.start(number, of)?;
                self.workers[number] = Work::Flies { process, restarts: restarts + 1 };
                Ok(true)
            }
            Verdict::GivenUp => Err(given_up(number, status, restarts, &said(&mut process.last))),
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for work in &mut self.workers {
            if let Work::Flies { process, .. } = work {
                // Whoever has ended already cannot be ended, and nobody else is meant.
                let _ = process.child.kill();
                let _ = process.child.wait();
            }
        }
    }
}

/// What was heard of a worker that has ended.
fn said(listener: &mut Option<JoinHandle<String>>) -> String {
    listener.take().and_then(|listener| listener.join().ok()).unwrap_or_default()
}

/// Everything that is said; what cannot be read was not.
fn everything(mut stream: impl Read) -> String {
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The last sentence that is said, of however many.
fn last_sentence(stream: impl Read) -> String {
    let mut last = String::new();
    for line in BufReader::new(stream).split(b'\n').map_while(std::result::Result::ok) {
        if let Some(sentence) = String::from_utf8_lossy(&line).strip_prefix("host-sim: ") {
            sentence.clone_into(&mut last);
        }
    }
    last
}

/// A worker's last sentence, as this program's.
fn given_up(number: usize, status: ExitStatus, restarts: u32, last: &str) -> Error {
    let sentence = if last.is_empty() { "it says why above" } else { last };
    if status.code() == Some(USAGE) {
        return Error::usage(format!("worker {number}: {sentence}"));
    }
    Error::Failed(format!(
        "worker {number} ended ({status}) after it was started again {restarts} times: {sentence}"
    ))
}

/// Addresses on this machine that nobody listens at. Between two lives of a worker its port is nobody's: systems draw ports for the other end of
/// connections from 32768 on, and these are below.
fn addresses(workers: usize) -> Result<String> {
    let ports = PORTS.cycle().skip(std::process::id() as usize * 61 % PORTS.len()).take(PORTS.len());
    let free = ports.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    let addresses: Vec<String> = free.take(workers).map(|port| format!("127.0.0.1:{port}")).collect();
    if addresses.len() < workers {
        return Err(Error::Failed(format!(
            "there are no {workers} free ports on this machine: end what listens at them"
        )));
    }
    Ok(addresses.join(","))
}

#[cfg(all(test, unix))]
mod tests {
    use std::{collections::BTreeSet, os::unix::process::ExitStatusExt as _};

    use super::*;

    #[test]
    fn who_died_is_started_again_a_few_times_and_who_was_told_what_cannot_be_never() {
        let code = |code: i32| ExitStatus::from_raw(code << 8);
        let killed = ExitStatus::from_raw(9);
        assert_eq!(verdict(code(0), 0, 3, true), Verdict::Done);
        assert_eq!(verdict(code(USAGE), 0, 3, false), Verdict::GivenUp);
        for died in [killed, code(101), code(1)] {
            assert_eq!(verdict(died, 2, 3, false), Verdict::Again);
            assert_eq!(verdict(died, 3, 3, false), Verdict::GivenUp);
            assert_eq!(verdict(died, 0, 3, true), Verdict::GivenUp, "nobody waits for it any more");
        }
    }

    #[test]
    fn the_last_sentence_and_the_exit_code_are_passed_on() {
        let said = "host-sim: flying    3/9, 1 s so far\nhost-sim: no start found\n  or so\n";
        let error = given_up(2, ExitStatus::from_raw(USAGE << 8), 0, &last_sentence(said.as_bytes()));
        assert_eq!(error.to_string(), "worker 2: no start found");
        assert!(matches!(error, Error::Usage(_)));
        let error = given_up(1, ExitStatus::from_raw(9), 3, "");
        assert!(error.to_string().contains("worker 1 ended (signal: 9"), "{error}");
    }

    #[test]
    fn whoever_says_more_than_a_pipe_holds_is_not_stopped() {
        let talks = "yes 'host-sim: flying' | head -c 300000 >&2; yes told | head -c 300000";
        let mut command = Command::new("sh");
        command.args(["-c", talks]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = Process::of(&mut command).unwrap();
        assert!(process.child.wait().unwrap().success());
        assert_eq!((said(&mut process.told).len(), &said(&mut process.last)[..]), (300_000, "flying"));
    }

    #[test]
    fn everybody_has_an_address_of_its_own() {
        let addresses = addresses(8).unwrap();
        let all: BTreeSet<&str> = addresses.split(',').collect();
        assert_eq!(all.len(), 8, "{addresses}");
        assert!(all.iter().all(|address| address.starts_with("127.0.0.1:")));
    }
}
