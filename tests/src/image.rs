//! Firmware images, built as by a user, and their contents.

use std::{
    collections::BTreeMap,
    env, fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{Mutex, PoisonError},
};

use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionFlags};

/// Images of this test run by their inputs, so that each is built once. Its lock is held during a build, because cargo
/// writes every board's program to one path.
static BUILT: Mutex<BTreeMap<u64, Result<PathBuf, String>>> = Mutex::new(BTreeMap::new());

/// Runs a custom build while no other build runs.
pub fn alone<T>(work: impl FnOnce() -> T) -> T {
    let _building = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    work()
}

/// Builds a firmware program and returns its path, or cargo's errors.
pub fn build(program: &str, options: &[&str]) -> Result<PathBuf, String> {
    build_with(program, options, &[])
}

/// Key of sealed images.
pub const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/swarm.key");

/// Settings of a sealed `dot154` image with key rotation.
pub const WITH_KEY_ROTATION: [(&str, &str); 3] =
    [("WDGNN_PROFILE", "dot154"), ("WDGNN_KEY", KEY), ("WDGNN_KEY_ROTATION", "on")];

/// Builds the robot for a profile, sealed with [`KEY`].
pub fn build_sealed(profile: &str, options: &[&str]) -> Result<PathBuf, String> {
    build_with("robot", options, &[("WDGNN_PROFILE", profile), ("WDGNN_KEY", KEY)])
}

/// Builds with settings of the image: `WDGNN_TASK`, `WDGNN_MODEL`, `WDGNN_PROFILE`, `WDGNN_KEY`.
pub fn build_with(program: &str, options: &[&str], settings: &[(&str, &str)]) -> Result<PathBuf, String> {
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let mut inputs = DefaultHasher::new();
    (program, options, settings).hash(&mut inputs);
    // Settings name files, whose content may change.
    for (_, value) in settings {
        fs::read(value).ok().hash(&mut inputs);
    }
    let inputs = inputs.finish();
    built.entry(inputs).or_insert_with(|| cargo_build(program, options, settings, inputs)).clone()
}

fn cargo_build(
    program: &str, options: &[&str], settings: &[(&str, &str)], inputs: u64,
) -> Result<PathBuf, String> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = "thumbv7em-none-eabihf";
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    for setting in
        ["WDGNN_TASK", "WDGNN_MODEL", "WDGNN_PROFILE", "WDGNN_KEY", "WDGNN_UNSEALED", "WDGNN_DEBUG_PORT"]
    {
        cargo.env_remove(setting);
    }
    // Images without a key are unsealed on purpose; a test that sets the variable overrides this.
    let sealed = settings.iter().any(|(name, _)| *name == "WDGNN_KEY");
    cargo.env("WDGNN_KEY_ROTATION", if sealed { "off" } else { "" });
    cargo.env("WDGNN_UNSEALED", if sealed { "" } else { "1" });
    // Incremental builds are larger and use more stack.
    cargo.env("CARGO_INCREMENTAL", "0");
    cargo.envs(settings.iter().copied());
    let Output { status, stdout, stderr } = cargo
        .current_dir(workspace)
        .args(["build", "-p", "wdgnn-firmware", "--release", "--target", target, "--bin", program])
        .arg("--message-format=json-render-diagnostics")
        .args(options)
        .output()
        .expect("cargo");
    let messages = String::from_utf8_lossy(&stdout);
    let artifacts =
        messages.lines().rev().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut executables = artifacts.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    match executables.next() {
        Some(path) if status.success() => {
            let kept = path.with_file_name(format!("tested-{program}-{inputs:016x}"));
            // Renamed into place: an emulator may be reading the previous file.
            let draft = kept.with_extension("draft");
            fs::copy(path, &draft).and_then(|_| fs::rename(&draft, &kept)).expect("room for a copy");
            Ok(kept)
        }
        _ => Err(String::from_utf8_lossy(&stderr).into_owned()),
    }
}

/// Bytes of an image by kind of section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Code and the vector table.
    pub text: u64,
    /// Constants, including the weight file.
    pub rodata: u64,
    /// Initialized variables, in flash and RAM.
    pub data: u64,
    /// Variables that are zero or uninitialized.
    pub bss: u64,
}

impl Footprint {
    /// Bytes of flash.
    pub fn flash(&self) -> u64 {
        self.text + self.rodata + self.data
    }

    /// Bytes of RAM, without the stack.
    pub fn ram(&self) -> u64 {
        self.data + self.bss
    }
}

/// Section sizes of an image.
pub fn footprint(image: &Path) -> Footprint {
    let bytes = fs::read(image).expect("a built image");
    let file = object::File::parse(&*bytes).expect("an ELF file");
    let mut footprint = Footprint::default();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
        if sh_flags & u64::from(object::elf::SHF_ALLOC) == 0 {
            continue;
        }
        let sum = match section.name().unwrap_or_default() {
            ".vector_table" | ".text" => &mut footprint.text,
            ".data" => &mut footprint.data,
            ".bss" | ".uninit" => &mut footprint.bss,
            _ => &mut footprint.rodata,
        };
        *sum += section.size();
    }
    footprint
}

/// Names and addresses of all symbols of an image.
pub fn symbols(image: &Path) -> Vec<(String, u64)> {
    let bytes = fs::read(image).expect("a built image");
    let file = object::File::parse(&*bytes).expect("an ELF file");
    // Bit 0 of a Thumb function's address is a flag.
    let defined = file.symbols().filter(object::ObjectSymbol::is_definition);
    defined.filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.address() & !1))).collect()
}
