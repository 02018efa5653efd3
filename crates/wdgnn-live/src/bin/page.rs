//! Builds the web page: `cargo run -p wdgnn-live [FILE]`, by default `docs/live.html`.
//!
//! The page contains the core as WebAssembly. Builds are reproducible on every machine: the
//! toolchain is pinned (`rust-toolchain.toml`), and no local path gets into the module.

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

const TARGET: &str = "wasm32-unknown-unknown";

/// Sources in order of concatenation.
const STYLES: [&str; 2] = ["host-sim/src/page/page.css", "crates/wdgnn-live/page/live.css"];
const SCRIPTS: [&str; 6] = ["scenes.js", "engine.js", "draw.js", "plots.js", "controls.js", "main.js"];

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new("."));
    let out = env::args_os().nth(1).map_or_else(|| root.join("docs/live.html"), PathBuf::from);
    match page(root).and_then(|page| Ok((page.len(), fs::write(&out, page)?))) {
        Ok((bytes, ())) => {
            println!("{}: {} KB", out.display(), bytes.div_ceil(1000));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("live: {error}");
            ExitCode::from(2)
        }
    }
}

fn page(root: &Path) -> Result<String, Box<dyn Error>> {
    let module = fs::read(module(root)?)?;
    let packed = miniz_oxide::deflate::compress_to_vec(&module, 10);
    // Digest that the page compares its own episode with.
    let native = wdgnn_live::check::digest()?;
    let folder = root.join("crates/wdgnn-live/page");
    let scripts: Result<String, _> = SCRIPTS.iter().map(|name| one_line(&folder.join(name))).collect();
    let styles: Result<String, _> = STYLES.iter().map(|name| one_line(&root.join(name))).collect();
    let constants = format!("const CORE = \"{}\"; const NATIVE = \"{native}\";", base64(&packed));
    let page = one_line(&folder.join("live.html"))?;
    let page = page.replace("/*{{style}}*/", &format!("\n{}\n", styles?));
    Ok(page.replace("/*{{script}}*/", &format!("\n{constants}\n{}\n", scripts?)))
}

/// Content of a source file on one line, without comments.
fn one_line(path: &Path) -> Result<String, Box<dyn Error>> {
    let text = read(path)?;
    let lines =
        text.lines().map(str::trim).filter(|line| !line.starts_with("//") && !line.starts_with("/* "));
    Ok(lines.collect::<Vec<_>>().join(" ") + " ")
}

fn read(path: &Path) -> Result<String, Box<dyn Error>> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Builds the module and returns its path.
fn module(root: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let version = said("rustc", &["-vV"])?;
    let commit = version.lines().find_map(|line| line.strip_prefix("commit-hash: ")).unwrap_or("unknown");
    let sysroot = said("rustc", &["--print", "sysroot"])?;
    let home = env::var("CARGO_HOME")
        .or_else(|_| env::var("HOME").map(|home| format!("{home}/.cargo")))
        .unwrap_or_default();
    // Local source paths and their replacements in panic messages: the standard library's own
    // prefix, and one prefix for all crates of any registry.
    let mut names = vec![
        (root.display().to_string(), ".".to_owned()),
        (format!("{}/lib/rustlib/src/rust", sysroot.trim()), format!("/rustc/{commit}")),
    ];
    for registry in fs::read_dir(format!("{home}/registry/src")).into_iter().flatten().flatten() {
        names.push((registry.path().display().to_string(), "crates".to_owned()));
    }
    let mut flags = vec!["-Ctarget-feature=+simd128".to_owned()];
    flags.extend(names.iter().map(|(from, to)| format!("--remap-path-prefix={from}={to}")));
    let status = Command::new(env::var("CARGO").unwrap_or("cargo".into()))
        .current_dir(root)
        .args(["build", "--package", "wdgnn-live", "--lib", "--profile", "page", "--target", TARGET])
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
        // Incremental builds give different bytes.
        .env("CARGO_INCREMENTAL", "0")
        .status()?;
    if !status.success() {
        return Err(format!(
            "the module was not built; to install its target, run `rustup target add {TARGET}`"
        )
        .into());
    }
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join(TARGET).join("page/wdgnn_live.wasm"))
}

fn said(program: &str, arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    let output = Command::new(program).args(arguments).stderr(Stdio::inherit()).output()?;
    Ok(String::from_utf8(output.stdout)?)
}

/// Base64 encoding (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits =
            (0..3).fold(0, |bits, at| bits << 8 | u32::from(three.get(at).copied().unwrap_or_default()));
        for letter in 0..4 {
            let six = (bits >> (18 - 6 * letter) & 63) as usize;
            text.push(if letter > three.len() { '=' } else { LETTERS[six].into() });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_equals_rfc_4648_vectors() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
