//! Images of all nRF52 boards boot on an emulated chip from their start address.

#![cfg(feature = "emulated")]

use std::{fs, path::Path};

use nrf52_emulator::{Chip, MICROSECOND, Part, cpu::Size, image, reset_reason};
use system_tests::{
    chips::{BOARDS, boards},
    image::{build, build_sealed, build_with},
};
use wdgnn_protocol::companion::{Command, decode};

/// Bytes of RAM reserved for the master boot record.
const BOOT_RECORD_RAM: usize = 8;
/// State of the debug port (product specification, UICR).
const APPROTECT: u32 = 0x1000_1208;
const HALF_A_SECOND: u64 = 500_000 * MICROSECOND;

fn options(feature: &str) -> [&str; 3] {
    ["--no-default-features", "--features", feature]
}

/// Decoded commands of a chip, one per tick.
fn commands(chip: &mut Chip) -> Vec<Command> {
    let said: Vec<u8> =
        std::mem::take(&mut chip.peripherals().uarte.tx_bytes).into_iter().map(|(_, byte)| byte).collect();
    said.split(|byte| *byte == 0).filter_map(|frame| decode(&mut frame.to_vec())).collect()
}

/// Boots an image and returns the state of the debug port.
fn boots(feature: &str, kind: Part, begins: u32, settings: u32, file: &Path) -> u32 {
    let pieces = image::elf_segments(&fs::read(file).unwrap()).unwrap();
    let first = pieces.iter().map(|(address, _)| *address).min();
    let last = pieces.iter().map(|(address, bytes)| address + bytes.len() as u32).max();
    assert_eq!(first, Some(begins), "{feature}");
    assert!(last.is_some_and(|last| last <= settings), "{feature} reaches over its settings");
    let mut chip = Chip::new(kind, 0x1234_5678_9abc);
    chip.flash(&pieces);
    chip.boot_from(begins);
    let boot_record = chip.memory().ram[..BOOT_RECORD_RAM].to_vec();
    chip.power_on(0);
    chip.run(HALF_A_SECOND);
    // A change of the debug port takes effect after a reset.
    let reasons: Vec<u32> = chip.resets.iter().map(|restart| restart.reason).collect();
    // Every board sets its debug port; the dongle also sets its voltage.
    let fixed = if feature == "board-nrf52840-dongle" { 2 } else { 1 };
    assert_eq!(reasons, vec![reset_reason::SOFTWARE; fixed], "{feature}: {:?}", chip.resets);
    assert!(chip.illegal_writes().is_empty(), "{feature}: {:?}", chip.illegal_writes());
    if begins != 0 {
        assert_eq!(
            chip.memory().ram[..BOOT_RECORD_RAM],
            boot_record,
            "{feature} leaves the boot record's RAM alone"
        );
    }
    let commands = commands(&mut chip);
    // It starts within a few hundredths of a second, then ticks 100 times per second.
    assert!((40..=51).contains(&commands.len()), "{feature}: {} commands", commands.len());
    assert!(
        commands.iter().all(|command| command.stop == 1),
        "{feature} is blind without a companion, and stops"
    );
    assert!(commands.windows(2).all(|pair| pair[1].tick == pair[0].tick + 1), "{feature} leaves no tick out");
    chip.memory().load(APPROTECT, Size::Word).unwrap()
}

#[test]
fn open_images_boot_at_100_ticks_per_second() {
    for (feature, kind, begins, settings) in boards() {
        let port = boots(feature, kind, begins, settings, &build("robot", &options(feature)).unwrap());
        assert_eq!(port, 0x0000_005a, "{feature}: open");
    }
}

#[test]
fn every_board_boots_sealed_from_its_start_address_and_closes_its_debug_port() {
    for (feature, kind, begins, settings) in BOARDS {
        let port =
            boots(feature, kind, begins, settings, &build_sealed("dot154", &options(feature)).unwrap());
        assert_eq!(port, 0xffff_ff00, "{feature}: closed");
    }
}

#[test]
fn an_image_without_a_key_requires_an_explicit_choice() {
    let refused = build_with("robot", &options("board-nrf52840"), &[("WDGNN_UNSEALED", "")]).unwrap_err();
    assert!(refused.contains("a robot without a key accepts every frame"), "{refused}");
}
