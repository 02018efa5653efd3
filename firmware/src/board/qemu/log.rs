//! Log sink of QEMU: appends to the file `log` in QEMU's working directory. Write errors are
//! ignored.

use semihosting::{fs::File, io::Write as _};

/// Log file, once open.
#[derive(Debug)]
pub struct Sink(Option<File>);

impl Sink {
    /// Sink before the first frame.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Begins a frame and opens the file if needed.
    pub fn begin(&mut self) {
        if self.0.is_none() {
            self.0 = File::options().write(true).append(true).create(true).open(c"log").ok();
        }
    }

    /// Appends bytes to the frame.
    pub fn write(&mut self, bytes: &[u8]) {
        if let Some(file) = self.0.as_mut() {
            let _ = file.write_all(bytes);
        }
    }

    /// Ends the frame.
    #[allow(clippy::unused_self, reason = "sinks of other boards need it")]
    pub fn end(&mut self) {}
}
