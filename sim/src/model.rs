//! Weight files on the host: loaded, checked and kept on a multiple of four.

use std::path::{Path, PathBuf};

use wdgnn_core::weights::{Header, Weights, WeightsError, write};

use crate::{
    error::{Error, Result},
    files,
    recipe::Architecture,
};

/// The longest weight file that is read, in bytes: the largest network there is has 0.1 MB.
const LONGEST_BYTES: u64 = 64 << 20;

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
        Self::from_bytes(path, &files::read_up_to(path, LONGEST_BYTES)?)
    }

    /// Takes over a weight file's bytes; `path` is what errors call it.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self> {
        let mut words = vec![0_u32; bytes.len().div_ceil(4)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        let model = Self { path: path.into(), words, bytes: bytes.len() };
        Weights::open(model.as_bytes()).map_err(|source| model.unusable(source))?;
        Ok(model)
    }

    /// A weight file of these numbers, not yet on disk.
    pub fn new(path: &Path, header: &Header, numbers: &[f32]) -> Result<Self> {
        let bytes = encode(header, numbers).map_err(|source| Error::Model { path: path.into(), source })?;
        Self::from_bytes(path, &bytes)
    }

    /// The file's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }

    /// The opened file.
    ///
    /// # Panics
    /// Never: the bytes were checked when they were taken over.
    pub fn weights(&self) -> Weights<'_> {
        Weights::open(self.as_bytes()).expect("checked when it was loaded")
    }

    /// Which parts the network has.
    pub fn architecture(&self) -> Architecture {
        // Numbers begin with α_D and α_W.
        match self.weights().numbers {
            [deep, wide, ..] => Architecture::of(*deep, *wide),
            _ => Architecture::WdGnn,
        }
    }

    /// What it is, for people: its parts, its name and its checksum.
    pub fn words(&self) -> String {
        let (path, checksum) = (self.path.display(), self.weights().checksum);
        format!("{} {path} (checksum {checksum:08x})", self.architecture().name())
    }

    /// This file's name with what is wrong with it.
    pub fn unusable(&self, source: WeightsError) -> Error {
        Error::Model { path: self.path.clone(), source }
    }

    /// Where it came from.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The bytes of a weight file.
pub fn encode(header: &Header, numbers: &[f32]) -> std::result::Result<Vec<u8>, WeightsError> {
    let mut bytes = vec![0; wdgnn_core::weights::HEADER_BYTES + 4 * numbers.len() + 4];
    write(header, numbers, &mut bytes)?;
    Ok(bytes)
}
