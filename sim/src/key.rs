//! A swarm's key, from a file: 16 bytes as they are, or 32 hexadecimal digits. It is never printed.

use std::path::Path;

use wdgnn_link::security::key::{self, Key};

use crate::{
    error::{Error, Result},
    files,
};

/// Reads a key.
pub fn read(path: &Path) -> Result<Key> {
    key::parse_key(&files::read(path)?)
        .map_err(|why| Error::usage(format!("{} {}", path.display(), why.sentence())))
}
