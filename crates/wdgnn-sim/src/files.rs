//! File access: clear errors, and atomic replacement of files.
//!
//! Only regular files are replaced. Symbolic links are followed. Devices and pipes are written to
//! and stay in place. The path `-` is the standard output.

use std::{
    fs, io,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
};

use crate::error::{Error, Result};

/// Largest file that is read, in bytes; a limit for endless files.
const MAX_BYTES: u64 = 1 << 30;

/// Largest number of symbolic links that are followed, as on Linux.
const MAX_LINKS: usize = 40;

/// Reads a file.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    read_up_to(path, MAX_BYTES)
}

/// Reads a file of at most `longest` bytes.
pub fn read_up_to(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let failed = |source| Error::Read { path: path.into(), source };
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(failed)?;
    file.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(failed(io::Error::other(format!("it is longer than {limit} bytes"))));
    }
    Ok(bytes)
}

/// Destination of a write.
enum Destination {
    /// Standard output.
    Stdout,
    /// Existing device or pipe.
    Device(PathBuf),
    /// Regular file, existing or not, after all links.
    File(PathBuf),
}

impl Destination {
    fn of(path: &Path) -> io::Result<Self> {
        if is_standard_output(path) {
            return Ok(Self::Stdout);
        }
        let mut path = PathBuf::from(path);
        for _ in 0..MAX_LINKS {
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_symlink() => path = folder_of(&path).join(fs::read_link(&path)?),
                Ok(found) if found.is_dir() => return Err(io::Error::other("it is a folder")),
                Ok(found) if !found.is_file() => return Ok(Self::Device(path)),
                Ok(_) => return Ok(Self::File(path)),
                Err(_) if folder_of(&path).is_dir() => return Ok(Self::File(path)),
                Err(_) => {
                    let missing = format!("the folder {} does not exist", folder_of(&path).display());
                    return Err(io::Error::new(io::ErrorKind::NotFound, missing));
                }
            }
        }
        Err(io::Error::other("too many symbolic links"))
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns whether a path is `-`, the standard output.
pub fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Writes a temporary file in the same folder and renames it when it is complete.
///
/// Folders are not created.
pub fn write(path: &Path, bytes: &[u8]) -> Result {
    let written = Destination::of(path).and_then(|place| match place {
        Destination::Stdout => io::stdout().write_all(bytes),
        Destination::Device(there) => fs::OpenOptions::new().write(true).open(there)?.write_all(bytes),
        Destination::File(file) => replace(&file, bytes),
    });
    written.map_err(|source| Error::Write { path: path.into(), source })
}

fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = draft(file)?;
    draft.write_all(bytes)?;
    draft.as_file().sync_all()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        draft.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    draft.persist(file)?;
    Ok(())
}

/// Creates a temporary file in the folder of `file`. Errors do not name the temporary file.
fn draft(file: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(folder_of(file)).map_err(|error| {
        let reason = error.to_string();
        io::Error::new(error.kind(), reason.split(" at path").next().unwrap_or_default().to_owned())
    })
}

/// Checks whether a file can be written, without changing it.
pub fn probe(path: &Path) -> Result {
    let possible = Destination::of(path).and_then(|place| {
        if let Destination::File(file) = place {
            draft(&file)?;
        }
        Ok(())
    });
    possible.map_err(|source| Error::Write { path: path.into(), source })
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{FileTypeExt as _, symlink};

    use super::*;

    #[test]
    fn a_link_is_followed_and_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("far")).unwrap();
        fs::write(at("far/file"), "old").unwrap();
        symlink("far/file", at("near")).unwrap();
        symlink("near", at("nearer")).unwrap();
        write(&at("nearer"), b"new").unwrap();
        assert_eq!(fs::read(at("far/file")).unwrap(), b"new");
        assert!(fs::symlink_metadata(at("near")).unwrap().is_symlink());
        // A link to a file that does not exist yet.
        symlink("far/later", at("promise")).unwrap();
        write(&at("promise"), b"kept").unwrap();
        assert_eq!(fs::read(at("far/later")).unwrap(), b"kept");
        symlink("circle", at("circle")).unwrap();
        assert!(write(&at("circle"), b"").unwrap_err().to_string().contains("too many symbolic links"));
    }

    #[test]
    fn devices_and_pipes_are_written_to_and_not_replaced() {
        write(Path::new("/dev/null"), b"gone").unwrap();
        probe(Path::new("/dev/null")).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = {
            let pipe = pipe.clone();
            std::thread::spawn(move || fs::read(pipe).unwrap())
        };
        write(&pipe, b"through").unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    }

    #[test]
    fn a_missing_folder_is_named_and_not_created() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("none");
        for outcome in [probe(&missing.join("file")), write(&missing.join("file"), b"")] {
            let error = outcome.unwrap_err().to_string();
            assert!(error.ends_with(&format!("the folder {} does not exist", missing.display())), "{error}");
        }
        assert!(!missing.exists());
    }

    #[test]
    fn endless_files_are_rejected() {
        let endless = read_up_to(Path::new("/dev/zero"), 1000).unwrap_err();
        assert!(endless.to_string().contains("longer than 1000 bytes"), "{endless}");
    }
}
