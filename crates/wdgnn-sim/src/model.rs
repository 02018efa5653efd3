//! Weight files in memory: loaded, checked, and aligned to four bytes.

use std::path::{Path, PathBuf};

use wdgnn_core::weights::{Header, Weights, WeightsError, write};

use crate::{
    error::{Error, Result},
    files,
    recipe::Architecture,
};

/// Largest weight file that is read, in bytes. The largest network takes 0.1 MB.
const MAX_BYTES: u64 = 64 << 20;

/// A weight file in memory.
#[derive(Clone, Debug)]
pub struct ModelFile {
    path: PathBuf,
    words: Vec<u32>,
    bytes: usize,
}

impl ModelFile {
    /// Loads and checks a weight file.
    pub fn load(path: &Path) -> Result<Self> {
        Self::from_bytes(path, &files::read_up_to(path, MAX_BYTES)?)
    }

    /// Checks and copies a weight file's bytes; errors name `path`.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self> {
        let mut words = vec![0_u32; bytes.len().div_ceil(4)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        let model = Self { path: path.into(), words, bytes: bytes.len() };
        Weights::open(model.as_bytes()).map_err(|source| model.unusable(source))?;
        Ok(model)
    }

    /// Creates a weight file in memory from a network's numbers.
    pub fn new(path: &Path, header: &Header, numbers: &[f32]) -> Result<Self> {
        let bytes = encode(header, numbers).map_err(|source| Error::Model { path: path.into(), source })?;
        Self::from_bytes(path, &bytes)
    }

    /// Returns the file's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }

    /// Returns the opened file.
    ///
    /// # Panics
    /// Never: the bytes were checked when they were loaded.
    pub fn weights(&self) -> Weights<'_> {
        Weights::open(self.as_bytes()).expect("checked when it was loaded")
    }

    /// Returns which parts the network has.
    pub fn architecture(&self) -> Architecture {
        // The first numbers are α_D and α_W.
        match self.weights().numbers {
            [deep, wide, ..] => Architecture::of(*deep, *wide),
            _ => Architecture::WdGnn,
        }
    }

    /// Describes the model: its architecture, path and checksum.
    pub fn describe(&self) -> String {
        let (path, checksum) = (self.path.display(), self.weights().checksum);
        format!("{} {path} (checksum {checksum:08x})", self.architecture().name())
    }

    /// Creates an error that names this file.
    pub fn unusable(&self, source: WeightsError) -> Error {
        Error::Model { path: self.path.clone(), source }
    }

    /// Returns the path that errors name.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Encodes a weight file.
pub fn encode(header: &Header, numbers: &[f32]) -> std::result::Result<Vec<u8>, WeightsError> {
    let mut bytes = vec![0; wdgnn_core::weights::HEADER_BYTES + 4 * numbers.len() + 4];
    write(header, numbers, &mut bytes)?;
    Ok(bytes)
}
