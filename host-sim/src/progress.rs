//! Progress, on the error stream: a bar with the time that is left where somebody watches a terminal, and otherwise a plain line every
//! tenth of the way. What is over within a second says nothing to a file.

use std::{
    fmt::Write as _,
    io::{IsTerminal as _, Write as _},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// From one look to the next.
const LOOK: Duration = Duration::from_millis(200);
/// Before this, nobody needs a line in a file.
const FIRST: Duration = Duration::from_secs(1);
/// Where nothing else is to be told, that it still goes on.
const STILL: Duration = Duration::from_mins(1);
/// Lines of a file from beginning to end.
const LINES: f64 = 10.0;
/// Characters of a bar.
const BAR: usize = 28;
/// Columns of a terminal that does not tell.
const COLUMNS: usize = 80;

/// How far something is.
#[derive(Clone, Debug)]
struct State {
    what: &'static str,
    done: f64,
    /// Of what is done, what took no time.
    free: f64,
    length: u64,
    message: String,
}

/// Something under way. It is told about until it is dropped.
#[derive(Debug)]
pub struct Progress {
    state: Arc<Mutex<State>>,
    over: Arc<AtomicBool>,
    teller: Option<JoinHandle<()>>,
}

/// A bar over `length` steps of something called `what`; 0 for as many as it takes.
pub fn bar(length: u64, what: &'static str) -> Progress {
    let state = Arc::new(Mutex::new(State { what, done: 0.0, free: 0.0, length, message: String::new() }));
    let over = Arc::new(AtomicBool::new(false));
    let (seen, ends) = (Arc::clone(&state), Arc::clone(&over));
    let teller = std::thread::spawn(move || tell(&seen, &ends));
    Progress { state, over, teller: Some(teller) }
}

impl Progress {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// So many steps more.
    pub fn inc(&self, steps: u64) {
        let mut state = self.state();
        state.done = state.done.floor() + steps as f64;
    }

    /// So many steps more that took no time, and say nothing about the others.
    pub fn skip(&self, steps: u64) {
        let mut state = self.state();
        state.done = state.done.floor() + steps as f64;
        state.free += steps as f64;
    }

    /// So many steps in all.
    pub fn set_position(&self, steps: u64) {
        self.state().done = steps as f64;
    }

    /// This share of the step under way: what is left is known before a long first step is done.
    pub fn set_share(&self, share: f64) {
        let mut state = self.state();
        state.done = state.done.floor() + share.clamp(0.0, 0.999);
    }

    /// So many steps from beginning to end.
    pub fn set_length(&self, steps: u64) {
        self.state().length = steps;
    }

    /// What is to be said about the step under way.
    pub fn set_message(&self, message: impl Into<String>) {
        self.state().message = message.into();
    }

    /// It is over; the terminal is as it was.
    pub fn finish_and_clear(self) {}
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(teller) = self.teller.take() {
            teller.thread().unpark();
            // Whatever it died of, the work itself is done.
            let _ = teller.join();
        }
    }
}

/// Tells until it is over.
fn tell(state: &Mutex<State>, over: &AtomicBool) {
    let watched = std::io::stderr().is_terminal();
    let began = Instant::now();
    let mut plain = Plain::default();
    loop {
        std::thread::park_timeout(LOOK);
        if over.load(Ordering::Relaxed) {
            break;
        }
        let now = state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let elapsed = began.elapsed();
        let mut stream = std::io::stderr().lock();
        // Nobody hears of a stream that is gone.
        if watched {
            let columns =
                terminal_size::terminal_size_of(std::io::stderr()).map_or(COLUMNS, |size| size.0.0.into());
            let _ = write!(stream, "\r\x1b[2K{}", cut(&line(&now, elapsed, true), columns));
            let _ = stream.flush();
        } else if plain.due(&now, elapsed) {
            let _ = writeln!(stream, "host-sim: {}", line(&now, elapsed, false));
        }
    }
    if watched {
        let _ = write!(std::io::stderr().lock(), "\r\x1b[2K");
    }
}

/// When a plain line is due.
#[derive(Debug, Default)]
struct Plain {
    told: f64,
    last: Duration,
}

impl Plain {
    fn due(&mut self, state: &State, elapsed: Duration) -> bool {
        let tenths = match state.length {
            0 => 0.0,
            length => (LINES * state.done / length as f64).floor(),
        };
        let due = elapsed >= FIRST
            && (self.last == Duration::ZERO || tenths > self.told || elapsed >= self.last + STILL);
        if due {
            (self.told, self.last) = (tenths, elapsed);
        }
        due
    }
}

/// What is left at the pace so far; unknown before anything is done.
fn left(state: &State, elapsed: Duration) -> Option<Duration> {
    let State { done, free, length, .. } = *state;
    let known = done > free && length > 0;
    known.then(|| elapsed.mul_f64(((length as f64 - done) / (done - free)).max(0.0)))
}

/// One line about it.
fn line(state: &State, elapsed: Duration, with_bar: bool) -> String {
    let State { what, done, length, message, .. } = state;
    let mut line = format!("{what:<9}");
    if with_bar && *length > 0 {
        let full = ((BAR as f64 * done / *length as f64) as usize).min(BAR);
        let _ = write!(line, " [{}{}]", "=".repeat(full), " ".repeat(BAR - full));
    }
    let _ = match length {
        0 => write!(line, " {done:.0}"),
        length => write!(line, " {:.0}/{length}", done.floor()),
    };
    if !message.is_empty() {
        line.extend([" ", message]);
    }
    let _ = match left(state, elapsed) {
        Some(left) => write!(line, ", about {} left", in_words(left)),
        None => write!(line, ", {} so far", in_words(elapsed)),
    };
    line
}

/// A time as people say it.
fn in_words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..100 => format!("{seconds} s"),
        seconds @ 100..6000 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// A line as far as it fits.
fn cut(line: &str, columns: usize) -> String {
    line.chars().take(columns.saturating_sub(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(done: f64, length: u64) -> State {
        State { what: "flying", done, free: 0.0, length, message: String::new() }
    }

    #[test]
    fn what_is_left_follows_from_the_pace_so_far() {
        let seconds = Duration::from_secs;
        assert_eq!(left(&state(1.0, 4), seconds(10)), Some(seconds(30)));
        assert_eq!(left(&state(0.25, 4), seconds(1)), Some(seconds(15)), "within the first step");
        assert_eq!(left(&state(4.0, 4), seconds(10)), Some(seconds(0)));
        assert_eq!(left(&state(0.0, 4), seconds(10)), None, "nobody can know");
        assert_eq!(left(&state(5.0, 0), seconds(10)), None);
        let mostly_free = State { free: 50.0, ..state(52.0, 60) };
        assert_eq!(left(&mostly_free, seconds(10)), Some(seconds(40)), "what took no time says nothing");
        assert_eq!(left(&State { free: 50.0, ..state(50.0, 60) }, seconds(10)), None);
        assert_eq!(line(&state(0.0, 4), seconds(3), false), "flying    0/4, 3 s so far");
        assert_eq!(line(&state(2.0, 4), seconds(300), false), "flying    2/4, about 5 min 0 s left");
        assert!(line(&state(2.0, 4), seconds(3), true).contains("[==============              ] 2/4"));
    }

    #[test]
    fn a_file_gets_a_line_every_tenth_of_the_way_and_none_of_what_is_over_at_once() {
        let mut plain = Plain::default();
        let mut told = Vec::new();
        for tick in 0..=1000_u64 {
            let elapsed = Duration::from_millis(10 * tick);
            if plain.due(&state(tick as f64, 1000), elapsed) {
                told.push(tick);
            }
        }
        assert_eq!(told, [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]);
        let mut plain = Plain::default();
        let still: Vec<u64> =
            (0..200).filter(|second| plain.due(&state(0.0, 9), Duration::from_secs(*second))).collect();
        assert_eq!(still, [1, 61, 121, 181], "that it still goes on");
    }

    #[test]
    fn times_are_said_as_people_do() {
        let said = [5, 99, 100, 5999, 7260].map(|seconds| in_words(Duration::from_secs(seconds)));
        assert_eq!(said, ["5 s", "99 s", "1 min 40 s", "99 min 59 s", "2 h 1 min"]);
    }

    #[test]
    fn a_line_never_wraps() {
        assert_eq!(cut("ääää", 3), "ää");
    }
}
