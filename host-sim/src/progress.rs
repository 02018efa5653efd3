//! Progress bars on the standard error; hidden unless it is a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// Bar positions per step, so that a bar can show a share of a step.
const PARTS: u64 = 1000;

/// A progress bar over a number of steps.
#[derive(Debug)]
pub struct Progress(ProgressBar);

/// Shows a bar over `length` steps of an activity. A length of 0 is unknown.
pub fn bar(length: u64, activity: &'static str) -> Progress {
    let style = "{prefix:<9} [{bar:28}] {percent} % {msg}, {eta} left";
    let style = ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(PARTS * length).with_style(style.progress_chars("= ")).with_prefix(activity);
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    Progress(bar)
}

impl Progress {
    /// Completes more steps.
    pub fn inc(&self, steps: u64) {
        self.0.inc(PARTS * steps);
    }

    /// Completes a number of steps in total.
    pub fn set_position(&self, steps: u64) {
        self.0.set_position(PARTS * steps);
    }

    /// Completes a share of the current step.
    pub fn set_share(&self, share: f64) {
        let part = (share.clamp(0.0, 0.999) * PARTS as f64) as u64;
        self.0.set_position(self.0.position() / PARTS * PARTS + part);
    }

    /// Describes the current step.
    pub fn set_message(&self, message: impl Into<String>) {
        self.0.set_message(message.into());
    }

    /// Removes the bar.
    pub fn finish_and_clear(self) {}
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
