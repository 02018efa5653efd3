//! A swarm's key, from a file: 16 bytes as they are, or 32 hexadecimal digits. It is never printed.

use std::path::Path;

use wdgnn_core::seal::{self, Key};

use crate::{
    error::{Error, Result},
    files,
};

/// Reads a key.
pub fn read(path: &Path) -> Result<Key> {
    seal::parse_key(&files::read(path)?)
        .map_err(|why| Error::usage(format!("{} {}", path.display(), why.sentence())))
}
