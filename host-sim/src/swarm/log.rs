//! The robots' log: defmt frames, made readable with the strings that the image keeps for them.

use std::path::Path;

use defmt_decoder::{DecodeError, Table};

use crate::{
    error::{Error, Result},
    files,
};

/// Decodes logs of one firmware image.
pub struct Decoder(Table);

impl std::fmt::Debug for Decoder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Decoder")
    }
}

impl Decoder {
    /// For logs of the firmware `image`.
    ///
    /// # Errors
    /// [`Error::Failed`] when it is not a firmware image with a log.
    pub fn new(image: &Path) -> Result<Self> {
        let table = Table::parse(&files::read(image)?).ok().flatten();
        let named = || Error::usage(format!("{} is not a robot's firmware image", image.display()));
        table.map(Self).ok_or_else(named)
    }

    /// The lines of a log. What cannot be decoded is passed over.
    #[must_use]
    pub fn lines(&self, log: &[u8]) -> Vec<String> {
        let mut decoder = self.0.new_stream_decoder();
        decoder.received(log);
        let mut lines = Vec::new();
        loop {
            match decoder.decode() {
                Ok(frame) => {
                    let level = frame.level().map_or("", |level| level.as_str());
                    lines.push(format!("{level:5} {}", frame.display_message()));
                }
                Err(DecodeError::UnexpectedEof) => return lines,
                Err(DecodeError::Malformed) => {}
            }
        }
    }
}
