//! Group key files: 16 raw bytes or 32 hexadecimal digits. Keys are never printed.

use std::path::Path;

use wdgnn_link::security::key::{self, Key};

use crate::{
    error::{Error, Result},
    files,
};

/// Reads a key file.
pub fn read(path: &Path) -> Result<Key> {
    key::parse_key(&files::read(path)?).map_err(|why| Error::usage(format!("{} {}", path.display(), why)))
}
