//! `--watch`, in a terminal that is none: keys go in, the screen comes out, and the terminal is as it was however it ends.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use rustix::{
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Termios, Winsize, tcgetattr, tcsetwinsize},
};

use super::program::refused;

/// What takes a terminal, and what gives it back.
const TAKEN: &str = "\x1b[?1049h";
const GIVEN_BACK: &str = "\x1b[?1049l";

/// A program in a terminal.
struct Session {
    child: Child,
    keyboard: File,
    terminal: File,
    before: Termios,
    screen: Arc<Mutex<String>>,
}

impl Session {
    fn start(columns: u16, rows: u16, arguments: &[&str]) -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap();
        let terminal = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let before = tcgetattr(&terminal).unwrap();
        let keyboard = File::from(keyboard);
        let side = || Stdio::from(terminal.try_clone().unwrap());
        resize(&terminal, columns, rows);
        let child = Command::new(env!("CARGO_BIN_EXE_host-sim"))
            .args(arguments)
            .env("TERM", "xterm-256color")
            .stdin(side())
            .stdout(side())
            .stderr(side())
            .spawn()
            .unwrap();
        let screen = Arc::new(Mutex::new(String::new()));
        let (mut reader, shown) = (keyboard.try_clone().unwrap(), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                shown.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        Self { child, keyboard, terminal, before, screen }
    }

    /// Everything that was shown, as it came.
    fn shown(&self) -> String {
        self.screen.lock().unwrap().clone()
    }

    /// The same as words: whatever moves the cursor is a space.
    fn words(&self, from: usize) -> String {
        let mut words = String::new();
        let mut rest = self.shown().get(from..).unwrap_or_default().to_owned();
        while let Some((before, after)) = rest.split_once("\x1b[") {
            words.extend([before, " "]);
            let end = after.find(|c: char| c.is_ascii_alphabetic()).map_or(after.len(), |end| end + 1);
            rest = after[end..].to_owned();
        }
        words + &rest
    }

    /// Waits until something is on the screen that was not there before `from`.
    fn until(&self, words: &str, from: usize) {
        for _ in 0..1200 {
            if self.words(from).contains(words) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("no {words} in {:?}", self.shown());
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for its end: the exit code and what was shown. The terminal is as it was.
    fn end(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        for _ in 0..100 {
            if self.shown().contains(GIVEN_BACK) {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        // What is printed after that still has to arrive.
        std::thread::sleep(Duration::from_millis(200));
        let (now, shown) = (tcgetattr(&self.terminal).unwrap(), self.shown());
        assert_eq!(
            now.local_modes, self.before.local_modes,
            "letters are shown again, and Ctrl-C is a signal"
        );
        assert_eq!(now.input_modes, self.before.input_modes);
        let (taken, back) = (shown.find(TAKEN).unwrap(), shown.rfind(GIVEN_BACK).unwrap());
        assert!(taken < back);
        assert!(shown.rfind("\x1b[?25h") > shown.rfind("\x1b[?25l"), "the cursor is back: {shown:?}");
        (code, shown)
    }
}

fn resize(terminal: &File, columns: u16, rows: u16) {
    let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).unwrap();
}

const LONG: [&str; 6] = ["swarm", "--watch", "--robots", "8", "--ticks", "3000"];

#[test]
fn a_flight_is_watched_to_its_end_and_told_as_usual() {
    let mut session = Session::start(80, 24, &["swarm", "--watch", "--robots", "8", "--ticks", "30"]);
    session.until("the end", 0);
    let words = session.words(0);
    assert!(words.contains("the swarm") && words.contains("velocity variation"), "{words:?}");
    session.press("q");
    let (code, shown) = session.end();
    assert_eq!(code, Some(0), "{shown:?}");
    assert!(shown[shown.rfind(GIVEN_BACK).unwrap()..].contains("digest"), "{shown:?}");
}

#[test]
fn it_is_left_by_a_key_by_an_interrupt_and_by_a_signal() {
    let mut left = Session::start(80, 24, &LONG);
    left.until("flying", 0);
    left.press(" ");
    left.until("paused", 0);
    left.press("q");
    let (code, shown) = left.end();
    assert_eq!(code, Some(0));
    assert!(shown.contains("left before the end"), "{shown:?}");

    let mut interrupted = Session::start(80, 24, &LONG);
    interrupted.until("flying", 0);
    interrupted.press("\x03");
    assert_eq!(interrupted.end().0, Some(130));

    let ended = Session::start(80, 24, &LONG);
    ended.until("flying", 0);
    kill_process(Pid::from_child(&ended.child), Signal::TERM).unwrap();
    assert_eq!(ended.end().0, Some(130));
}

#[test]
fn small_terminals_show_what_fits_and_grow() {
    let mut session = Session::start(30, 8, &LONG);
    session.until("the swarm", 0);
    assert!(!session.words(0).contains("velocity"));
    let before = session.shown().len();
    resize(&session.terminal, 100, 30);
    kill_process(Pid::from_child(&session.child), Signal::WINCH).unwrap();
    session.until("velocity", before);
    let before = session.shown().len();
    resize(&session.terminal, 10, 3);
    kill_process(Pid::from_child(&session.child), Signal::WINCH).unwrap();
    session.until("too", before);
    session.press("q");
    assert_eq!(session.end().0, Some(0));
}

#[test]
fn an_error_gives_the_terminal_back_too() {
    // The table is written at the end, and cannot be.
    let mut session = Session::start(
        80,
        24,
        &["swarm", "--watch", "--robots", "8", "--ticks", "20", "--trajectories", "/dev/full"],
    );
    session.until("the end", 0);
    session.press("q");
    let (code, shown) = session.end();
    assert_eq!(code, Some(2), "{shown:?}");
    assert!(shown.contains("cannot write /dev/full"), "{shown:?}");
}

#[test]
fn where_there_is_no_terminal_it_says_so() {
    for command in [&["swarm"][..], &["flock"], &["fly", "--task", "coverage"]] {
        refused(&[command, &["--watch"]].concat(), "--watch needs a terminal");
    }
}
