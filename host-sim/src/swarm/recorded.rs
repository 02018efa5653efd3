//! A fleet whose every word is written to a capture.

use wdgnn_core::flocking::Motion;

use super::{Fleet, Outcome};
use crate::{air::mailbox::Frame, capture::Capture, error::Result};

/// A fleet that is listened to.
#[allow(missing_debug_implementations, reason = "fleets are told apart by what they do")]
pub struct Recorded<'a> {
    fleet: &'a mut dyn Fleet,
    /// Control period in seconds.
    period: f32,
    capture: Capture,
    written: Result,
}

impl<'a> Recorded<'a> {
    /// Listens to `fleet`, whose frames have at most `longest` bytes.
    ///
    /// # Errors
    /// [`crate::error::Error::Write`].
    pub fn new(
        fleet: &'a mut dyn Fleet,
        period: f32,
        path: &std::path::Path,
        longest: usize,
    ) -> Result<Self> {
        Ok(Self { fleet, period, capture: Capture::create(path, longest)?, written: Ok(()) })
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// The first [`crate::error::Error::Write`] that there was.
    pub fn finish(self) -> Result {
        self.written?;
        self.capture.finish()
    }
}

impl Fleet for Recorded<'_> {
    fn speak(&mut self, ticks: &[u32], motions: &[Motion]) -> Vec<Vec<Frame>> {
        let said = self.fleet.speak(ticks, motions);
        // Robots' clocks may differ; a capture has one, that of the slowest.
        let tick = ticks.iter().copied().min().unwrap_or_default();
        let microseconds = (f64::from(self.period) * f64::from(tick) * 1.0e6).round() as u64;
        for (robot, frames) in (0..).zip(&said) {
            for frame in frames {
                if self.written.is_ok() {
                    self.written = self.capture.frame(microseconds, robot, frame);
                }
            }
        }
        said
    }

    fn hear(&mut self, heard: &[Vec<Frame>]) -> Vec<Option<Outcome>> {
        self.fleet.hear(heard)
    }

    fn kill(&mut self, robot: usize) {
        self.fleet.kill(robot);
    }

    fn reboot(&mut self, robot: usize) -> Result {
        self.fleet.reboot(robot)
    }

    fn casualties(&mut self) -> Vec<String> {
        self.fleet.casualties()
    }
}
