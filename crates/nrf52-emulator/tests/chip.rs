//! Whole chips that run small generated programs.

use nrf52_emulator::{
    MICROSECOND,
    air::{Air, SECOND, Station},
    image::{self, ImageError},
    peripheral::Peripheral as _,
    peripherals::radio::Reception,
    reset_reason,
};

use crate::program::{BUFFER, chip};

const RADIO: u32 = 0x4000_1000;
const WDT: u32 = 0x4001_0000;
const AIRCR: u32 = 0xe000_ed0c;

#[test]
fn a_frame_passes_between_chips_with_different_clocks() {
    let radio = |offset: u32, value: u32| (RADIO + offset, value);
    let setup = [
        radio(0x510, 15),     // MODE: IEEE 802.15.4
        radio(0x508, 80),     // FREQUENCY
        radio(0x518, 127),    // PCNF1.MAXLEN
        radio(0x504, BUFFER), // PACKETPTR
    ];
    let receiver = [setup.as_slice(), &[radio(0x200, 1 << 19), radio(0x004, 1)]].concat();
    let frame = [(BUFFER, u32::from_le_bytes([5, b'a', b'b', b'c']))];
    let sender = [frame.as_slice(), &setup, &[radio(0x200, 1 << 18 | 1 << 20), radio(0x000, 1)]].concat();

    let mut air = Air::default();
    air.stations.push(Station::new(chip(&receiver), 0, 40.0));
    air.stations.push(Station::new(chip(&sender), SECOND / 1000, -40.0));
    air.run(SECOND / 200);

    assert_eq!(air.transmissions.len(), 1);
    assert_eq!((air.transmissions[0].sender, air.transmissions[0].receivers), (Some(1), 1));
    let arrival = &air.arrivals[0];
    assert_eq!((arrival.receiver, arrival.reception), (0, Reception::Good));
    // 6 bytes of header and 5 bytes of frame, 32 µs each.
    assert!((arrival.end - arrival.start).abs_diff(SECOND / 1_000_000 * 11 * 32) < SECOND / 10_000_000);
    assert_eq!(air.stations[0].chip.memory().dma_read(BUFFER, 4), [5, b'a', b'b', b'c']);
}

#[test]
fn a_transmitter_is_disabled_after_its_whole_frame() {
    let radio = |offset: u32, value: u32| (RADIO + offset, value);
    let mut air = Air::default();
    let sender = chip(&[
        (BUFFER, 100),                   // length byte
        radio(0x510, 15),                // MODE: IEEE 802.15.4
        radio(0x504, BUFFER),            // PACKETPTR
        radio(0x200, 1 << 18 | 1 << 20), // TXREADY → START, PHYEND → DISABLE
        radio(0x000, 1),                 // TXEN
    ]);
    air.stations.push(Station::new(sender, 0, 0.0));
    let disabled = |air: &mut Air| air.stations[0].chip.peripherals().radio.registers().load(0x110) == 1;
    // Ramp-up 130 µs, 106 bytes of 32 µs each, ramp-down 21 µs.
    air.run(SECOND / 1_000_000 * 3540);
    assert!(!disabled(&mut air));
    air.run(SECOND / 1_000_000 * 3560);
    assert!(disabled(&mut air));
}

#[test]
fn the_watchdog_resets_the_chip() {
    let mut chip = chip(&[
        (WDT + 0x504, 32), // CRV: 1 ms
        (WDT, 1),          // START
    ]);
    chip.power_on(0);
    chip.run(1500 * MICROSECOND);
    assert_eq!(chip.resets.len(), 1);
    assert_eq!(chip.resets[0].reason, reset_reason::WATCHDOG);
    assert!((1000..1100).contains(&(chip.resets[0].at / MICROSECOND)), "{:?}", chip.resets[0]);
}

#[test]
fn sysresetreq_resets_the_chip() {
    let mut chip = chip(&[(AIRCR, 0x05fa_0004)]);
    chip.power_on(0);
    chip.run(MICROSECOND);
    assert_eq!(chip.resets[0].reason, reset_reason::SOFTWARE);
}

#[test]
fn hex_files_are_read_with_addresses_and_checksums() {
    let file = ":020000040001F9\n:0400100001020304E2\n:00000001FF\n";
    assert_eq!(image::hex_segments(file), Ok(vec![(0x0001_0010, vec![1, 2, 3, 4])]));
    let corrupted = file.replace("E2", "E3");
    assert_eq!(image::hex_segments(&corrupted), Err(ImageError::InvalidHexRecord { line: 2 }));
}

#[test]
fn files_that_are_not_arm_elf_are_rejected() {
    assert_eq!(image::elf_segments(b"\x7fELF"), Err(ImageError::NotArmElf));
    let mut header = [0; 52];
    header[..6].copy_from_slice(b"\x7fELF\x01\x01");
    header[18] = 40;
    assert_eq!(image::elf_segments(&header), Ok(vec![]));
    // One program header, which is outside of the file.
    (header[28], header[42], header[44]) = (52, 32, 1);
    assert_eq!(image::elf_segments(&header), Err(ImageError::InvalidElf));
}
