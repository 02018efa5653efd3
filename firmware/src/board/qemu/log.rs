//! Where the log goes: appended to the file `log` in QEMU's working directory. What cannot be written is lost; the robot flies on.

use semihosting::{fs::File, io::Write as _};

/// The file, once it is open.
#[derive(Debug)]
pub struct Sink(Option<File>);

impl Sink {
    /// Not open yet.
    pub const fn new() -> Self {
        Self(None)
    }

    /// A frame begins.
    pub fn begin(&mut self) {
        if self.0.is_none() {
            self.0 = File::options().write(true).append(true).create(true).open(c"log").ok();
        }
    }

    /// A part of it.
    pub fn write(&mut self, bytes: &[u8]) {
        if let Some(file) = self.0.as_mut() {
            let _ = file.write_all(bytes);
        }
    }

    /// It ends.
    pub fn end(&mut self) {}
}
