//! Build script: selects task, model, link profile and keys of an image, and provides the linker
//! scripts.
//!
//! `docs/firmware.md` describes the environment variables. Paths are relative to the workspace.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Link profiles.
const PROFILES: [&str; 5] = ["exact", "dot154", "esb32", "espnow", "p2p57"];

/// Built-in tasks: name, type, and the weight file for each link profile. Without a weight file,
/// `WDGNN_MODEL` is required.
const TASKS: [(&str, &str, [&str; 5]); 2] = [
    (
        "flocking",
        "wdgnn_core::tasks::flocking::Flocking<2>",
        ["flocking-wd-gnn", "flocking-dot154", "flocking-dot154", "flocking-espnow", "flocking-dot154"],
    ),
    ("flocking-3d", "wdgnn_core::tasks::flocking::Flocking<3>", ["flocking-3d", "", "", "", ""]),
];

fn main() {
    let root = Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("..");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(sealed)");
    println!("cargo::rustc-check-cfg=cfg(key_rotation)");
    println!("cargo::rustc-check-cfg=cfg(debug_port_open)");
    println!("cargo::rustc-check-cfg=cfg(profile, values(\"{}\"))", PROFILES.join("\", \""));

    let nrf52 = env::var_os("CARGO_FEATURE_NRF52").is_some();
    let profile = variable("WDGNN_PROFILE").unwrap_or(if nrf52 { "dot154" } else { "exact" }.into());
    let Some(index) = PROFILES.iter().position(|name| *name == profile) else {
        println!("cargo::error=WDGNN_PROFILE must be one of {}, got {profile}", PROFILES.join(", "));
        return;
    };
    println!("cargo::rustc-cfg=profile=\"{profile}\"");
    select_task(&root, index);
    if env::var("WDGNN_KEY").is_ok_and(|key| key.is_empty()) {
        println!("cargo::error=WDGNN_KEY is empty: set it to a key file, or unset it");
    }
    let key = variable("WDGNN_KEY");
    if let Some(key) = &key {
        println!("cargo::rustc-cfg=sealed");
        include("WDGNN_KEY", &root.join(key), "key");
    }
    let rotation = variable("WDGNN_KEY_ROTATION");
    match rotation.as_deref() {
        Some("on") if key.is_some() => println!("cargo::rustc-cfg=key_rotation"),
        Some("on") => println!("cargo::error=WDGNN_KEY_ROTATION=on requires WDGNN_KEY"),
        Some("off") | None => {}
        Some(other) => println!("cargo::error=WDGNN_KEY_ROTATION must be on or off, got {other}"),
    }
    if env::var_os("CARGO_FEATURE_BUGGY").is_some() && (key.is_none() || rotation.as_deref() == Some("on")) {
        println!("cargo::error=the feature buggy requires WDGNN_KEY and WDGNN_KEY_ROTATION=off");
    }
    // An image with a key closes the debug port by default, because the key could be read through
    // it.
    match variable("WDGNN_DEBUG_PORT").as_deref() {
        Some("open") => println!("cargo::rustc-cfg=debug_port_open"),
        None if key.is_none() => println!("cargo::rustc-cfg=debug_port_open"),
        Some("closed") | None => {}
        Some(other) => println!("cargo::error=WDGNN_DEBUG_PORT must be open or closed, got {other}"),
    }

    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        if key.is_none() && variable("WDGNN_UNSEALED").as_deref() != Some("1") && nrf52 {
            println!(
                "cargo::error=a robot without a key accepts every frame: set WDGNN_KEY to a key file \
             (`openssl rand -hex 16 > swarm.key`), or set WDGNN_UNSEALED=1"
            );
        }
        if key.is_some() && rotation.is_none() && nrf52 {
            println!(
                "cargo::error=set WDGNN_KEY_ROTATION=on if robots have personal keys \
             (`firmware/provision.py --personal-keys FOLDER`); with WDGNN_KEY_ROTATION=off, a new group key \
             requires flashing all robots"
            );
        }
        link(&root);
    }
}

/// Selects the task and the weight file of `bin/robot.rs`. `profile` is an index into [`PROFILES`].
fn select_task(root: &Path, profile: usize) {
    let task = variable("WDGNN_TASK").unwrap_or("flocking".into());
    let Some((_, path, models)) = TASKS.into_iter().find(|(name, ..)| *name == task) else {
        let names = TASKS.map(|(name, ..)| name).join(", ");
        println!("cargo::error=WDGNN_TASK must be one of {names}, got {task}");
        return;
    };
    write_out("task.rs", &format!("type Task = {path};\n"));
    let model = match (variable("WDGNN_MODEL"), models[profile]) {
        (Some(model), _) => model,
        (None, "") => {
            let profile = PROFILES[profile];
            println!("cargo::error=there is no weight file for {task} on {profile}: set WDGNN_MODEL");
            return;
        }
        // Ten slots of an exchange are those of ten ticks, because every tick has a slot for poses.
        (None, _) if env::var_os("CARGO_FEATURE_BUGGY").is_some() => {
            "models/flocking-dot154-10hz.wdgnn".into()
        }
        (None, model) => format!("models/{model}.wdgnn"),
    };
    include("WDGNN_MODEL", &root.join(model), "weight file");
}

/// Folder of the selected board.
fn board() -> Option<String> {
    let selected: Vec<String> = env::vars()
        .filter_map(|(name, _)| Some(name.strip_prefix("CARGO_FEATURE_BOARD_")?.to_lowercase()))
        .collect();
    match &selected[..] {
        [one] => return Some(one.clone()),
        [] => println!("cargo::error=select a board of firmware/Cargo.toml, such as --features board-qemu"),
        _ => println!("cargo::error=select only one board: add --no-default-features"),
    }
    None
}

/// Passes the linker scripts: cortex-m-rt's, defmt's, and `memory.x`, which includes the board's
/// map. Crates that depend on this one also find the latter two.
fn link(root: &Path) {
    let Some(folder) = board() else { return };
    let path = root.join("firmware/src/board").join(&folder).join("map.x");
    println!("cargo::rerun-if-changed={}", path.display());
    println!("cargo::rerun-if-changed={}", root.join("memory.x").display());
    let Ok(map) = fs::read_to_string(&path) else {
        println!("cargo::error=the board has no memory map at {}", path.display());
        return;
    };
    // Symbol by which tools find the board of an image.
    let out = write_out("board.x", &format!("{map}_board_is_{folder} = 1;\n"));
    if folder == "qemu" {
        // Names of interrupts: none. Boards with interrupts get the file from their register crate.
        write_out("device.x", "");
    }
    println!("cargo::rustc-link-search={}", out.display());
    println!("cargo::rustc-link-search={}", root.display());
    // Symbol by which tools recognize a gateway image.
    for program in ["gateway", "pose_gateway"] {
        println!("cargo::rustc-link-arg-bin={program}=--defsym=_image_is_gateway=1");
    }
    if env::var_os("CARGO_FEATURE_BUGGY").is_some() {
        println!("cargo::rustc-link-arg-bins=--defsym=_image_is_buggy=1");
    }
    for argument in ["--nmagic", "-Tlink.x", "-Tdefmt.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}

/// Value of an environment variable, if it is not empty.
fn variable(name: &str) -> Option<String> {
    println!("cargo::rerun-if-env-changed={name}");
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// Passes the path of an included file to the compiler.
fn include(variable: &str, path: &Path, kind: &str) {
    if !path.is_file() {
        println!("cargo::error={variable}: there is no {kind} at {}", path.display());
    }
    println!("cargo::rustc-env={variable}={}", path.display());
}

/// Writes a file to cargo's output folder and returns the folder.
fn write_out(name: &str, content: &str) -> PathBuf {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    fs::write(out.join(name), content).expect("cargo's output folder is writable");
    out
}
