//! Linker arguments of a robot's image; the scripts come with the firmware.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        for argument in ["--nmagic", "-Tlink.x", "-Tdefmt.x"] {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
    }
}
