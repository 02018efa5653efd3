//! Firmware image of emulated robots, built on demand.

use std::{
    collections::BTreeSet,
    env,
    io::{self, BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    error::{Error, Result},
    profiles::Profile,
    progress,
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
}

/// Builds the image and returns its path.
pub fn build(settings: &Settings<'_>) -> Result<PathBuf> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    cargo.current_dir(workspace).args(BUILD.split(' ').skip(1).map(|word| match word {
        PACKAGE => settings.package,
        // An external package has one program with the package's name.
        "robot" if settings.package != PACKAGE => settings.package,
        "robot" if settings.gateway => "gateway",
        word => word,
    }));
    if let Some(board) = settings.board {
        cargo.args(FOR_BOARD.split(' ')).arg(features(board, settings.gateway));
    }
    cargo.arg("--message-format=json-render-diagnostics").stdin(Stdio::null());
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
    let (built, messages, said) =
        build_with_progress(&mut cargo, crates(settings)).map_err(|error| cannot(&error))?;
    if !built {
        if said.contains("target may not be installed") {
            return Err(Error::usage(format!(
                "the Cortex-M target is not installed: `rustup target add {TARGET}`"
            )));
        }
        return Err(Error::Failed(format!("the firmware does not build (`{BUILD}`):\n{said}")));
    }
    executable(messages.as_bytes())
        .ok_or_else(|| Error::Failed(format!("`{BUILD}` built no image: give one with --image")))
}

/// Runs cargo with a progress bar. Returns success, messages and error output.
fn build_with_progress(cargo: &mut Command, crates: u64) -> io::Result<(bool, String, String)> {
    let bar = progress::bar(crates, "building");
    bar.set_message("crates of the firmware");
    let mut child = cargo.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    // Reads both streams in parallel, so that neither blocks.
    let errors = child.stderr.take().map(|mut stream| {
        std::thread::spawn(move || {
            let mut said = Vec::new();
            // An error ends the output early.
            let _ = stream.read_to_end(&mut said);
            String::from_utf8_lossy(&said).into_owned()
        })
    });
    let (mut messages, mut done) = (String::new(), BTreeSet::new());
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(BufReader::lines) {
        let line = line?;
        if let Some(package) = package(&line)
            && done.insert(package)
            // Build scripts compile some crates a second time for this machine.
            && done.len() as u64 <= crates
        {
            bar.inc(1);
        }
        messages.extend([&line, "\n"]);
    }
    let said = errors.and_then(|errors| errors.join().ok()).unwrap_or_default();
    Ok((child.wait()?.success(), messages, said))
}

/// Returns the features of a board's image.
fn features(board: &str, gateway: bool) -> String {
    format!("{board}{}", if gateway { ",gateway" } else { "" })
}

/// Returns the number of crates of an image, if cargo reports it.
fn crates(settings: &Settings<'_>) -> u64 {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    cargo.args([
        "tree",
        "--prefix",
        "none",
        "--edges",
        "normal,build",
        "--target",
        TARGET,
        "-p",
        settings.package,
    ]);
    if let Some(board) = settings.board {
        cargo.args(FOR_BOARD.split(' ')).arg(features(board, settings.gateway));
    }
    let listed = cargo.stdin(Stdio::null()).output().map(|output| output.stdout).unwrap_or_default();
    let names = String::from_utf8_lossy(&listed);
    let names: BTreeSet<&str> = names.lines().filter_map(|line| line.split(' ').next()).collect();
    names.len() as u64
}

/// Returns the package of a cargo message about a finished crate.
fn package(line: &str) -> Option<String> {
    let message: serde_json::Value = serde_json::from_str(line).ok()?;
    let done = message["reason"] == "compiler-artifact"
        && message["target"]["kind"] != serde_json::json!(["custom-build"]);
    let package = message["package_id"].as_str().filter(|_| done)?;
    Some(package.to_owned())
}

fn cannot(error: &io::Error) -> Error {
    Error::usage(format!(
        "cargo cannot be started ({error}): build the image with `{BUILD}` and give it with --image"
    ))
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

    #[test]
    fn finished_crates_are_counted() {
        let message = |reason: &str, kind: &str| {
            format!(r#"{{"reason":"{reason}","package_id":"libm 0.2","target":{{"kind":["{kind}"]}}}}"#)
        };
        assert_eq!(package(&message("compiler-artifact", "lib")), Some("libm 0.2".into()));
        assert_eq!(package(&message("compiler-artifact", "custom-build")), None);
        assert_eq!(package(&message("build-script-executed", "lib")), None);
        assert_eq!(package("warning: x"), None);
    }
}
