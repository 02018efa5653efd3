//! Progress bars: on the terminal's error stream, and silent where nobody watches.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over `length` steps of something called `what`.
///
/// # Panics
/// Never: the template is fixed.
#[must_use]
pub fn bar(length: u64, what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:<12} [{bar:32}] {pos}/{len} {msg} ({eta} left)")
        .expect("a template that was looked at")
        .progress_chars("=> ");
    let bar = ProgressBar::new(length).with_style(style).with_prefix(what);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
