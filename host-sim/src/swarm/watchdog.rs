//! Watchdog for emulated robots: ends a robot that does not answer in time, which ends the wait.

use std::{
    process::Child,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Time limit for an answer. Robots answer within a millisecond; fifty starting robots on one slow
/// core take seconds.
pub const PATIENCE: Duration = Duration::from_secs(30);
const ROUND: Duration = Duration::from_millis(200);

/// Child process that several threads may end.
pub type SharedChild = Arc<Mutex<Child>>;

type Waiting = Arc<Mutex<Option<(Instant, SharedChild)>>>;

/// Takes a lock, even a poisoned one.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Watchdog of one process at a time.
#[derive(Debug)]
pub struct Watchdog {
    waiting: Waiting,
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Starts the watchdog thread.
    pub fn new(patience: Duration) -> Self {
        let waiting = Waiting::default();
        let (stop, stopped) = mpsc::channel();
        let watched = Arc::clone(&waiting);
        let thread = thread::spawn(move || {
            while stopped.recv_timeout(ROUND.min(patience)) == Err(mpsc::RecvTimeoutError::Timeout) {
                if let Some((since, child)) = &*lock(&watched)
                    && since.elapsed() > patience
                {
                    // The process may have ended already.
                    let _ = lock(child).kill();
                }
            }
        });
        Self { waiting, stop: Some(stop), thread: Some(thread) }
    }

    /// Runs `wait` with the time limit for `child`.
    pub fn wait<T>(&self, child: &SharedChild, wait: impl FnOnce() -> T) -> T {
        *lock(&self.waiting) = Some((Instant::now(), Arc::clone(child)));
        let result = wait();
        *lock(&self.waiting) = None;
        result
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{
        io::Read as _,
        process::{Command, Stdio},
    };

    use super::*;

    #[test]
    fn silent_children_are_ended() {
        let mut child = Command::new("sleep").arg("60").stdout(Stdio::piped()).spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        let child = Arc::new(Mutex::new(child));
        let watchdog = Watchdog::new(Duration::from_millis(50));
        let read = watchdog.wait(&child, || output.read(&mut [0; 1]).unwrap());
        assert_eq!(read, 0, "the pipe ended, because the child did");
        assert!(!lock(&child).wait().unwrap().success());
    }
}
