//! Linker scripts for boards, and the place of the weight file that goes into the image.

use std::{env, path::PathBuf};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..");

    // Another model: `WDGNN_MODEL=path cargo build …`, relative to the workspace.
    println!("cargo::rerun-if-env-changed=WDGNN_MODEL");
    let model = env::var("WDGNN_MODEL").unwrap_or("models/flocking-wd-gnn.wdgnn".into());
    println!("cargo::rustc-env=WDGNN_MODEL={}", root.join(model).display());

    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        println!("cargo::rerun-if-changed={}", root.join("memory.x").display());
        println!("cargo::rustc-link-search={}", root.display());
        for argument in ["--nmagic", "-Tlink.x", "-Tdefmt.x"] {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
    }
}
