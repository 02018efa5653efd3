//! Runs a firmware image and prints its serial output and RTT log.
//!
//! `cargo run -p nrf52-emulator --example run -- IMAGE [MILLISECONDS]`, where IMAGE is an ELF file,
//! an Intel HEX file (`.hex`) or a binary file for address 0 (`.bin`). RTT needs the symbols of an
//! ELF file.

use std::{
    env,
    error::Error,
    fs,
    io::{self, Write as _},
    process::ExitCode,
};

use nrf52_emulator::{Chip, MICROSECOND, Part, image, rtt::Rtt};

const MILLISECOND: u64 = 1000 * MICROSECOND;

fn run(path: &str, milliseconds: u64) -> Result<(), Box<dyn Error>> {
    let file = fs::read(path)?;
    let segments = match path.rsplit_once('.') {
        Some((_, "hex")) => image::hex_segments(str::from_utf8(&file)?)?,
        Some((_, "bin")) => vec![(0, file.clone())],
        _ => image::elf_segments(&file)?,
    };
    let rtt = image::elf_symbol(&file, "_SEGGER_RTT").map(Rtt::new);

    let mut chip = Chip::new(Part::Nrf52840, 1);
    chip.flash(&segments);
    // An image that does not start at address 0 has a bootloader below it.
    chip.boot_from(segments.iter().map(|(address, _)| *address).min().unwrap_or(0));
    chip.power_on(0);
    for millisecond in 1..=milliseconds {
        chip.run(millisecond * MILLISECOND);
        let serial = std::mem::take(&mut chip.peripherals().uarte.tx_bytes);
        let mut output: Vec<u8> = serial.into_iter().map(|(_, byte)| byte).collect();
        output.extend(rtt.iter().flat_map(|rtt| rtt.read(&mut chip)));
        io::stdout().write_all(&output)?;
    }
    eprintln!(
        "{milliseconds} ms, {} instructions, {:.1} % active, {} resets",
        chip.cpu().instructions,
        100.0 * chip.active_cycles as f64 / chip.now() as f64,
        chip.resets.len()
    );
    for reset in &chip.resets {
        eprintln!("reset after {} µs: {}", reset.at / MICROSECOND, reset.description);
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let milliseconds = arguments.get(1).map_or(Ok(1000), |text| text.parse());
    let (Some(path), Ok(milliseconds)) = (arguments.first(), milliseconds) else {
        eprintln!("usage: run IMAGE [MILLISECONDS]");
        return ExitCode::from(2);
    };
    match run(path, milliseconds) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}
