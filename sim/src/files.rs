//! Files: read with a clear error; written all at once, so that a half-written file never replaces a good one.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use crate::error::{Error, Result};

/// Reads a file.
///
/// # Errors
/// [`Error::Read`].
pub fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|source| Error::Read { path: path.into(), source })
}

/// Writes a file beside its place and moves it there once it is complete. Missing folders are made.
///
/// # Errors
/// [`Error::Write`]; what was there before is still there.
pub fn write(path: &Path, bytes: &[u8]) -> Result {
    let failed = |source| Error::Write { path: PathBuf::from(path), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let mut draft = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    draft.write_all(bytes).map_err(failed)?;
    draft.as_file().sync_all().map_err(failed)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let readable = fs::Permissions::from_mode(0o644);
        draft.as_file().set_permissions(readable).map_err(failed)?;
    }
    draft.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Finds out whether a file can be written, without touching it.
///
/// # Errors
/// [`Error::Write`].
pub fn probe(path: &Path) -> Result {
    let failed = |source| Error::Write { path: PathBuf::from(path), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    if path.is_dir() {
        return Err(failed(std::io::Error::other("it is a folder")));
    }
    tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    Ok(())
}
