//! Firmware image of emulated robots, built on demand.

use std::{
    env,
    io::{IsTerminal as _, stderr},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    error::{Error, Result},
    profiles::Profile,
};

/// Emulator program.
pub const QEMU: &str = "qemu-system-arm";
/// Processor of the emulated robot: a Cortex-M4F.
pub const TARGET: &str = "thumbv7em-none-eabihf";

/// Build command of the image.
pub const BUILD: &str = "cargo build -p wdgnn-firmware --bin robot --release --target thumbv7em-none-eabihf";

/// Default package of images.
const PACKAGE: &str = "wdgnn-firmware";

/// Additional build options of boards, after [`BUILD`].
pub const FOR_BOARD: &str = "--no-default-features --features";

/// Checks that the emulator is installed.
pub fn check_emulator() -> Result {
    let version = Command::new(QEMU).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    match version {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Error::usage(format!(
            "{QEMU} is not installed: `apt-get install qemu-system-arm` on Debian and Ubuntu, `brew install qemu` on macOS"
        ))),
    }
}

/// Content of an image.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings<'a> {
    /// Name of the task.
    pub task: &'a str,
    pub package: &'a str,
    pub profile: Profile,
    /// Key file; without one, frames are not sealed.
    pub key: Option<&'a Path>,
    /// Weight file; without one, the supplied network of the profile.
    pub model: Option<&'a Path>,
    /// Board as a cargo feature; without one, QEMU's.
    pub board: Option<&'a str>,
    /// Whether the swarm key can change; robots get personal keys at the start.
    pub rekeyed: bool,
    /// Whether to build a gateway instead of a robot.
    pub gateway: bool,
    /// Whether the robot has wheels and a camera.
    pub buggy: bool,
}

/// Checks that rustc has the processor's target.
fn check_target() -> Result {
    let path = Command::new(env::var_os("RUSTC").unwrap_or("rustc".into()))
        .args(["--print", "target-libdir", "--target", TARGET])
        .output();
    match path {
        Ok(path) if !Path::new(String::from_utf8_lossy(&path.stdout).trim()).is_dir() => {
            Err(Error::usage(format!("the Cortex-M target is not installed: `rustup target add {TARGET}`")))
        }
        _ => Ok(()),
    }
}

/// Builds the image and returns its path. Cargo shows its progress on terminals.
pub fn build(settings: &Settings<'_>) -> Result<PathBuf> {
    check_target()?;
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    cargo.current_dir(workspace).args(BUILD.split(' ').skip(1).map(|word| match word {
        PACKAGE => settings.package,
        // An external package has one program with the package's name.
        "robot" if settings.package != PACKAGE => settings.package,
        "robot" if settings.gateway && settings.buggy => "pose_gateway",
        "robot" if settings.gateway => "gateway",
        word => word,
    }));
    if let Some(board) = settings.board {
        let kind = match settings {
            Settings { buggy: true, .. } => ",buggy",
            Settings { gateway: true, .. } => ",gateway",
            _ => "",
        };
        let features = format!("{board}{kind}");
        cargo.args(FOR_BOARD.split(' ')).arg(features);
    }
    if !stderr().is_terminal() {
        cargo.arg("--quiet");
    }
    cargo.arg("--message-format=json-render-diagnostics").stdin(Stdio::null()).stderr(Stdio::inherit());
    // Incremental builds differ: they are larger and use more stack.
    cargo.env("CARGO_INCREMENTAL", "0");
    // Removes settings of the environment that are not requested.
    let file = |path: &Path| std::path::absolute(path).unwrap_or(path.into());
    let profile = (settings.profile != Profile::default()).then(|| settings.profile.name().into());
    let (key, model) = (settings.key.map(file), settings.model.map(file));
    // The image of another package has the package's task.
    let chosen = settings.package == PACKAGE && settings.task != "flocking";
    let task = chosen.then(|| settings.task.into());
    // A board image without a key requires an explicit choice.
    let unsealed = key.is_none().then(|| "1".into());
    let key_rotation = if settings.rekeyed { "on" } else { "off" };
    for (variable, value) in [
        ("WDGNN_KEY_ROTATION", key.is_some().then(|| key_rotation.into())),
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
    let output = cargo.output().map_err(|error| {
        Error::usage(format!(
            "cargo cannot be started ({error}): build the image with `{BUILD}` and give it with --image"
        ))
    })?;
    if !output.status.success() {
        return Err(Error::Failed(format!("the firmware does not build: `{BUILD}` shows why")));
    }
    executable(&output.stdout)
        .ok_or_else(|| Error::Failed(format!("`{BUILD}` built no image: give one with --image")))
}

/// Returns the path of the built image from cargo's messages.
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
    fn the_image_is_found_in_cargos_messages() {
        let said =
            b"{\"reason\":\"compiler-artifact\",\"executable\":null}\n{\"reason\":\"compiler-artifact\",\
                     \"executable\":\"/t/robot\"}\n{\"reason\":\"build-finished\",\"success\":true}\n";
        assert_eq!(executable(said), Some(PathBuf::from("/t/robot")));
        assert_eq!(executable(b"nothing"), None);
    }
}
