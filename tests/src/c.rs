//! The C library, built as by a user and linked into C programs for three machines.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// Folder of the crate.
pub const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../bindings/c");

/// Machine that runs a C program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// This computer.
    Host,
    /// STM32F405, the chip of the Crazyflie.
    F405,
    /// RISC-V without a floating-point unit.
    Rv32,
}

impl Machine {
    /// All machines.
    pub const ALL: [Self; 3] = [Self::Host, Self::F405, Self::Rv32];

    /// Name in `examples/boards`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::F405 => "f405",
            Self::Rv32 => "rv32",
        }
    }

    const fn target(self) -> Option<&'static str> {
        match self {
            Self::Host => None,
            Self::F405 => Some("thumbv7em-none-eabihf"),
            Self::Rv32 => Some("riscv32imac-unknown-none-elf"),
        }
    }

    /// Prefix of the compiler and linker.
    pub const fn tools(self) -> &'static str {
        match self {
            Self::Host => "",
            Self::F405 => "arm-none-eabi-",
            Self::Rv32 => "riscv64-unknown-elf-",
        }
    }

    /// Builds the library.
    pub fn library(self) -> PathBuf {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
        // Incremental builds differ.
        cargo.env("CARGO_INCREMENTAL", "0");
        cargo.current_dir(FOLDER).args(["build", "-p", "wdgnn-c", "--release"]);
        if let Some(target) = self.target() {
            cargo.args(["--target", target]);
        }
        let said = said(cargo.arg("--message-format=json-render-diagnostics"));
        let path = said.lines().find_map(|line| {
            let (_, name) = line.split_once("\"filenames\":[\"")?;
            let name = name.split('"').next()?;
            name.ends_with("libwdgnn_c.a").then(|| name.into())
        });
        path.expect("cargo says where the library is")
    }

    /// Runs a program to its end and returns what it printed.
    pub fn run(self, program: &Path) -> String {
        let mut command = match self {
            Self::Host => Command::new(program),
            Self::F405 => {
                let mut qemu = Command::new("qemu-system-arm");
                qemu.args(["-M", "netduinoplus2", "-serial", "none", "-chardev", "stdio,id=said"]);
                qemu.args(["-semihosting-config", "enable=on,target=native,chardev=said"]);
                qemu
            }
            Self::Rv32 => {
                let mut qemu = Command::new("qemu-system-riscv32");
                qemu.args(["-M", "virt", "-bios", "none", "-serial", "stdio"]);
                qemu
            }
        };
        if self != Self::Host {
            command.args(["-display", "none", "-monitor", "none", "-kernel"]).arg(program);
        }
        said(&mut command)
    }
}

/// Runs a command that has to succeed, and returns what it printed.
pub fn said(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {err}\n{}", out.chars().take(2_000).collect::<String>());
    out.into_owned()
}
