//! What goes into an image, told by environment variables: `WDGNN_TASK=name` (a task that comes with the core), `WDGNN_MODEL=path` (a
//! weight file), `WDGNN_PROFILE=name` (a link profile) `WDGNN_KEY=path` (the swarm's key: frames are sealed) and
//! `WDGNN_PERSONAL=told` (it can change in flight). Paths are relative
//! to the workspace. And the linker scripts for boards.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Link profiles.
const PROFILES: [&str; 5] = ["exact", "dot154", "esb32", "espnow", "p2p57"];

/// Tasks that come with the core: the type, and the weight file that was trained for each profile's exchange rate. Where there is none,
/// `WDGNN_MODEL` has to name one.
const TASKS: [(&str, &str, [&str; 5]); 3] = [
    (
        "flocking",
        "wdgnn_core::Flocking<2>",
        ["flocking-wd-gnn", "flocking-dot154", "flocking-dot154", "flocking-espnow", "flocking-dot154"],
    ),
    ("flocking-3d", "wdgnn_core::Flocking<3>", ["flocking-3d", "", "", "", ""]),
    ("coverage", "wdgnn_core::tasks::coverage::Coverage", ["coverage", "", "", "", ""]),
];

fn main() {
    let root = Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(sealed)");
    println!("cargo::rustc-check-cfg=cfg(rekeyed)");
    println!("cargo::rustc-check-cfg=cfg(debug_port_open)");
    println!("cargo::rustc-check-cfg=cfg(profile, values(\"{}\"))", PROFILES.join("\", \""));

    let carried = if env::var_os("CARGO_FEATURE_NRF52").is_some() { "dot154" } else { "exact" };
    let profile = told("WDGNN_PROFILE").unwrap_or(carried.into());
    let Some(place) = PROFILES.iter().position(|name| *name == profile) else {
        println!("cargo::error=WDGNN_PROFILE={profile} is not a link profile: give {}", PROFILES.join(", "));
        return;
    };
    println!("cargo::rustc-cfg=profile=\"{profile}\"");
    choose_task(&root, place);
    if env::var("WDGNN_KEY").is_ok_and(|key| key.is_empty()) {
        println!(
            "cargo::error=WDGNN_KEY is empty, and the image would not be sealed: name a file, or unset it"
        );
    }
    let key = told("WDGNN_KEY");
    if let Some(key) = &key {
        println!("cargo::rustc-cfg=sealed");
        include("WDGNN_KEY", &root.join(key), "key");
    }
    // Whether the key can change in flight: the robot is told its personal key, by its page of settings or by whoever emulates it.
    let personal = told("WDGNN_PERSONAL");
    match personal.as_deref() {
        Some("told") if key.is_some() => println!("cargo::rustc-cfg=rekeyed"),
        Some("told") => {
            println!("cargo::error=WDGNN_PERSONAL=told is for sealed robots: give WDGNN_KEY, too");
        }
        Some("none") | None => {}
        Some(other) => println!("cargo::error=WDGNN_PERSONAL={other}: give told or none"),
    }
    // An image with a key in it closes the debug port, through which the key could be read.
    match told("WDGNN_DEBUG_PORT").as_deref() {
        Some("open") => println!("cargo::rustc-cfg=debug_port_open"),
        None if key.is_none() => println!("cargo::rustc-cfg=debug_port_open"),
        Some("closed") | None => {}
        Some(other) => println!("cargo::error=WDGNN_DEBUG_PORT={other}: give open or closed"),
    }

    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        if key.is_none()
            && told("WDGNN_UNSEALED").as_deref() != Some("1")
            && env::var_os("CARGO_FEATURE_NRF52").is_some()
        {
            println!(
                "cargo::error=this robot would be unsealed and believe everybody who speaks: WDGNN_KEY=swarm.key seals it \
                 (`openssl rand -hex 16 > swarm.key`), WDGNN_UNSEALED=1 says that this is meant"
            );
        }
        if key.is_some() && personal.is_none() && env::var_os("CARGO_FEATURE_NRF52").is_some() {
            println!(
                "cargo::error=this robot would keep its swarm's key for good, so that losing one means flashing all: \
                 WDGNN_PERSONAL=told takes another in flight (`firmware/provision.py --personal FOLDER`), WDGNN_PERSONAL=none says \
                 that this is meant"
            );
        }
        link(&root);
    }
}

/// The task of `bin/robot.rs` and its weight file, for the link profile in this place of [`PROFILES`].
fn choose_task(root: &Path, profile: usize) {
    let task = told("WDGNN_TASK").unwrap_or("flocking".into());
    let Some((_, path, models)) = TASKS.into_iter().find(|(name, ..)| *name == task) else {
        let names = TASKS.map(|(name, ..)| name).join(", ");
        println!("cargo::error=WDGNN_TASK={task} is not a task that comes with the core: give {names}");
        return;
    };
    write_out("task.rs", &format!("type Task = {path};\n"));
    let model = match (told("WDGNN_MODEL"), models[profile]) {
        (Some(model), _) => model,
        (None, "") => {
            let profile = PROFILES[profile];
            println!(
                "cargo::error=no weight file comes with {task} on {profile}: name one, WDGNN_MODEL=path"
            );
            return;
        }
        (None, model) => format!("models/{model}.wdgnn"),
    };
    include("WDGNN_MODEL", &root.join(model), "weight file");
}

/// The folder of the chosen board.
fn board() -> Option<String> {
    let chosen: Vec<String> = env::vars()
        .filter_map(|(name, _)| Some(name.strip_prefix("CARGO_FEATURE_BOARD_")?.to_lowercase()))
        .collect();
    match &chosen[..] {
        [one] => return Some(one.clone()),
        // A proof by linking, on any processor.
        [] if env::var_os("CARGO_FEATURE_PANIC_NEVER").is_some() => return Some("qemu".into()),
        [] => println!("cargo::error=choose a board of firmware/Cargo.toml, such as --features board-qemu"),
        _ => println!("cargo::error=choose one board: add --no-default-features to --features"),
    }
    None
}

/// Linker scripts: cortex-m-rt's, the log's, and `memory.x`, which takes up the chosen board's map. The latter two are found by
/// whoever depends on this crate, too.
fn link(root: &Path) {
    let Some(folder) = board() else { return };
    let path = root.join("firmware/src/board").join(&folder).join("map.x");
    println!("cargo::rerun-if-changed={}", path.display());
    println!("cargo::rerun-if-changed={}", root.join("memory.x").display());
    let Ok(map) = fs::read_to_string(&path) else {
        println!("cargo::error=there is no map of this board's memory at {}", path.display());
        return;
    };
    // Whoever flashes an image can see what it was linked for.
    let out = write_out("board.x", &format!("{map}_board_is_{folder} = 1;\n"));
    println!("cargo::rustc-link-search={}", out.display());
    println!("cargo::rustc-link-search={}", root.display());
    // Whoever checks what an image takes can see that it is no robot.
    println!("cargo::rustc-link-arg-bin=gateway=--defsym=_image_is_gateway=1");
    for argument in ["--nmagic", "-Tlink.x", "-Tdefmt.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}

/// What the environment says, if anything.
fn told(variable: &str) -> Option<String> {
    println!("cargo::rerun-if-env-changed={variable}");
    env::var(variable).ok().filter(|value| !value.is_empty())
}

/// Tells the compiler where a file is that goes into the image.
fn include(variable: &str, path: &Path, what: &str) {
    if !path.is_file() {
        println!("cargo::error={variable}: there is no {what} at {}", path.display());
    }
    println!("cargo::rustc-env={variable}={}", path.display());
}

/// Writes a file to cargo's folder for such files, and says which that is.
fn write_out(name: &str, content: &str) -> PathBuf {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join(name), content).expect("it is cargo's own");
    out
}
