//! The firmware image that emulated robots run: built here, unless a built one is given.

use std::{
    env, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    error::{Error, Result},
    profiles::Profile,
};

/// The emulator.
pub const QEMU: &str = "qemu-system-arm";
/// The emulated robot's processor: a Cortex-M4F.
pub const TARGET: &str = "thumbv7em-none-eabihf";

/// How to get an image without this program.
pub const BUILD: &str = "cargo build -p firmware --bin robot --release --target thumbv7em-none-eabihf";

/// What is built for a board in place of the emulated one, behind [`BUILD`].
pub const FOR_BOARD: &str = "--no-default-features --features";

/// Makes sure that there is an emulator.
///
/// # Errors
/// [`Error::Usage`] with the command that installs it.
pub fn check_emulator() -> Result {
    let version = Command::new(QEMU).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    match version {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Error::usage(format!(
            "{QEMU} is not there: `apt-get install qemu-system-arm` on Debian and Ubuntu, `brew install qemu` on macOS"
        ))),
    }
}

/// What goes into an image.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings<'a> {
    /// The task, by its name.
    pub task: &'a str,
    /// The cargo package whose image it is.
    pub package: &'a str,
    /// The link profile.
    pub profile: Profile,
    /// The file with the swarm's key; without one, frames are not sealed.
    pub key: Option<&'a Path>,
    /// The weight file; without one, the profile's that comes with the program.
    pub model: Option<&'a Path>,
    /// The board, by its cargo feature; without one, QEMU's.
    pub board: Option<&'a str>,
    /// Whether its key can change in flight; the robot is told its personal one at the start.
    pub rekeyed: bool,
}

/// Builds the robot's image and returns where it is.
///
/// # Errors
/// [`Error::Usage`] with the command that puts it right.
pub fn build(settings: &Settings<'_>) -> Result<PathBuf> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    cargo.current_dir(workspace).args(BUILD.split(' ').skip(1).map(|word| match word {
        "firmware" => settings.package,
        // A package of one's own has one program, named as itself.
        "robot" if settings.package != "firmware" => settings.package,
        word => word,
    }));
    if let Some(board) = settings.board {
        cargo.args(FOR_BOARD.split(' ')).arg(board);
    }
    cargo.arg("--message-format=json-render-diagnostics").stdin(Stdio::null());
    // What is not asked for is not taken from this program's own environment either.
    let file = |path: &Path| std::path::absolute(path).unwrap_or(path.into());
    let profile = (settings.profile != Profile::default()).then(|| settings.profile.name().into());
    let (key, model) = (settings.key.map(file), settings.model.map(file));
    // Another package's image is of its own task.
    let chosen = settings.package == "firmware" && settings.task != "flocking";
    let task = chosen.then(|| settings.task.into());
    // Whoever asks for no key means it: nothing is flashed here.
    let unsealed = key.is_none().then(|| "1".into());
    // Nor does whoever asks for robots with one key.
    let personal = if settings.rekeyed { "told" } else { "none" };
    for (variable, value) in [
        ("WDGNN_PERSONAL", key.is_some().then(|| personal.into())),
        ("WDGNN_EPOCH", None),
        ("WDGNN_TASK", task),
        ("WDGNN_PROFILE", profile),
        ("WDGNN_KEY", key),
        ("WDGNN_UNSEALED", unsealed),
        ("WDGNN_MODEL", model),
    ] {
        match value {
            Some(value) => cargo.env(variable, value),
            None => cargo.env_remove(variable),
        };
    }
    let output = cargo.output().map_err(|error| cannot(&error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("target may not be installed") {
            return Err(Error::usage(format!(
                "the Cortex-M target is not installed: `rustup target add {TARGET}`"
            )));
        }
        return Err(Error::Failed(format!("the firmware does not build (`{BUILD}`):\n{said}")));
    }
    executable(&output.stdout)
        .ok_or_else(|| Error::Failed(format!("`{BUILD}` made no image; give one with --image")))
}

fn cannot(error: &io::Error) -> Error {
    Error::usage(format!(
        "cargo cannot be started ({error}): build the image with `{BUILD}` and give it with --image"
    ))
}

/// The path in cargo's message about what it built.
fn executable(messages: &[u8]) -> Option<PathBuf> {
    let mut lines = messages.rsplit(|byte| *byte == b'\n');
    lines.find_map(|line| {
        let message: serde_json::Value = serde_json::from_slice(line).ok()?;
        message.get("executable")?.as_str().map(PathBuf::from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_image_is_found_in_what_cargo_says() {
        let said =
            b"{\"reason\":\"compiler-artifact\",\"executable\":null}\n{\"reason\":\"compiler-artifact\",\
                     \"executable\":\"/t/robot\"}\n{\"reason\":\"build-finished\",\"success\":true}\n";
        assert_eq!(executable(said), Some(PathBuf::from("/t/robot")));
        assert_eq!(executable(b"nothing"), None);
    }
}
