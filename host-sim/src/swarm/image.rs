//! The firmware image that emulated robots run: built here, unless a built one is given.

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

/// The emulator.
pub const QEMU: &str = "qemu-system-arm";
/// The emulated robot's processor: a Cortex-M4F.
pub const TARGET: &str = "thumbv7em-none-eabihf";

/// How to get an image without this program.
pub const BUILD: &str = "cargo build -p wdgnn-firmware --bin robot --release --target thumbv7em-none-eabihf";

/// The package whose image it is, unless a task has one of its own.
const PACKAGE: &str = "wdgnn-firmware";

/// What is built for a board in place of the emulated one, behind [`BUILD`].
pub const FOR_BOARD: &str = "--no-default-features --features";

/// Makes sure that there is an emulator.
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
    /// No robot's image: that of a gateway.
    pub gateway: bool,
}

/// Builds the robot's image and returns where it is.
pub fn build(settings: &Settings<'_>) -> Result<PathBuf> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    cargo.current_dir(workspace).args(BUILD.split(' ').skip(1).map(|word| match word {
        PACKAGE => settings.package,
        // A package of one's own has one program, named as itself.
        "robot" if settings.package != PACKAGE => settings.package,
        "robot" if settings.gateway => "gateway",
        word => word,
    }));
    if let Some(board) = settings.board {
        cargo.args(FOR_BOARD.split(' ')).arg(features(board, settings.gateway));
    }
    cargo.arg("--message-format=json-render-diagnostics").stdin(Stdio::null());
    // A build by pieces is another build: larger, and with more of the stack.
    cargo.env("CARGO_INCREMENTAL", "0");
    // What is not asked for is not taken from this program's own environment either.
    let file = |path: &Path| std::path::absolute(path).unwrap_or(path.into());
    let profile = (settings.profile != Profile::default()).then(|| settings.profile.name().into());
    let (key, model) = (settings.key.map(file), settings.model.map(file));
    // Another package's image is of its own task.
    let chosen = settings.package == PACKAGE && settings.task != "flocking";
    let task = chosen.then(|| settings.task.into());
    // An explicit choice without a key, which a board image requires.
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
    let (built, messages, said) = watched(&mut cargo, crates(settings)).map_err(|error| cannot(&error))?;
    if !built {
        if said.contains("target may not be installed") {
            return Err(Error::usage(format!(
                "the Cortex-M target is not installed: `rustup target add {TARGET}`"
            )));
        }
        return Err(Error::Failed(format!("the firmware does not build (`{BUILD}`):\n{said}")));
    }
    executable(messages.as_bytes())
        .ok_or_else(|| Error::Failed(format!("`{BUILD}` made no image; give one with --image")))
}

/// Lets cargo build and tells how far it is: whether it succeeded, what it says to programs, and what to people.
fn watched(cargo: &mut Command, crates: u64) -> io::Result<(bool, String, String)> {
    let bar = progress::bar(crates, "building");
    bar.set_message("crates of the robots' firmware");
    let mut child = cargo.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    // Both at once, so that neither waits for the other to be read.
    let errors = child.stderr.take().map(|mut stream| {
        std::thread::spawn(move || {
            let mut said = Vec::new();
            // What was read until then is told.
            let _ = stream.read_to_end(&mut said);
            String::from_utf8_lossy(&said).into_owned()
        })
    });
    let (mut messages, mut done) = (String::new(), BTreeSet::new());
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(BufReader::lines) {
        let line = line?;
        if let Some(package) = package(&line)
            && done.insert(package)
            // A few are built for this machine, too, which cargo does not count beforehand.
            && done.len() as u64 <= crates
        {
            bar.inc(1);
        }
        messages.extend([&line, "\n"]);
    }
    let said = errors.and_then(|errors| errors.join().ok()).unwrap_or_default();
    Ok((child.wait()?.success(), messages, said))
}

/// The features of a board's image.
fn features(board: &str, gateway: bool) -> String {
    format!("{board}{}", if gateway { ",gateway" } else { "" })
}

/// How many crates an image is made of, if cargo can tell.
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

/// The package that a message of cargo's is about, once it is done, and whether it was before.
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

    #[test]
    fn crates_are_counted_once_they_are_done() {
        let message = |reason: &str, kind: &str| {
            format!(r#"{{"reason":"{reason}","package_id":"libm 0.2","target":{{"kind":["{kind}"]}}}}"#)
        };
        assert_eq!(package(&message("compiler-artifact", "lib")), Some("libm 0.2".into()));
        assert_eq!(package(&message("compiler-artifact", "custom-build")), None);
        assert_eq!(package(&message("build-script-executed", "lib")), None);
        assert_eq!(package("warning: x"), None);
    }
}
