//! What the firmware takes: flash, RAM, stack; and what it does not have: a heap, a panic in the core.

#![cfg(feature = "emulated")]

use host_sim::{
    fleet::{Fleet as _, emulated::Emulated},
    models,
    train::recipe::{Architecture, RecipeName},
};
use system_tests::{
    golden,
    image::{self, Footprint},
};
use wdgnn_core::flocking::Motion;

const NRF52840: [&str; 3] = ["--no-default-features", "--features", "board-nrf52840"];
const KIB: u64 = 1024;

/// Sections change with every change of the code; by more than this, somebody should look.
const TOLERANCE: f64 = 0.05;

fn lines(board: &str, footprint: &Footprint) -> Vec<(String, u64)> {
    let Footprint { text, rodata, data, bss } = *footprint;
    [("text", text), ("rodata", rodata), ("data", data), ("bss", bss)]
        .map(|(section, bytes)| (format!("{board} {section}"), bytes))
        .to_vec()
}

/// The most stack that a robot with eight neighbours ever used, by its own account.
fn stack() -> u64 {
    let robots = 9;
    let model = models::shipped(RecipeName::Ours, Architecture::WdGnn).unwrap();
    let robot = image::build("robot", &[]).unwrap();
    let mut fleet = Emulated::new(&robot, &model, robots).unwrap();
    let motions: Vec<Motion> = (0..robots)
        .map(|robot| Motion { position: [robot as f32 * 0.5, 0.0], velocity: [robot as f32, 1.0] })
        .collect();
    // Past the first save of the parameters, so that it is in the account.
    for tick in 0..120 {
        let said = fleet.speak(tick, &motions);
        let heard = |robot| said.iter().enumerate().filter(move |(other, _)| *other != robot);
        let heard: Vec<Vec<&[u8]>> = (0..robots)
            .map(|robot| heard(robot).filter_map(|(_, frame)| frame.as_deref()).collect())
            .collect();
        assert!(
            fleet.hear(&heard).iter().all(|outcome| outcome.is_some_and(|outcome| outcome.neighbours == 8))
        );
    }
    fleet.leave();
    let words = |robot| fleet.log(robot).pop().unwrap_or_default();
    let bytes = |robot| {
        let line = words(robot);
        let number = line.split("high-water ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
        number.unwrap_or_else(|| panic!("robot {robot} did not tell its stack: {line}"))
    };
    (0..robots).map(bytes).max().unwrap()
}

#[test]
fn flash_ram_and_stack_are_within_the_budget() {
    let qemu = image::footprint(&image::build("robot", &[]).unwrap());
    let nrf52840 = image::footprint(&image::build("robot", &NRF52840).unwrap());
    let stack = stack();
    let mut measured = lines("qemu", &qemu);
    measured.extend(lines("nrf52840", &nrf52840));
    measured.push(("qemu stack".into(), stack));
    golden::compare("budget.txt", "bytes; text includes the table of interrupts", &measured, TOLERANCE);
    assert!(qemu.flash() <= 32 * KIB, "{} bytes of flash", qemu.flash());
    assert!(qemu.ram() <= 8 * KIB, "{} bytes of RAM", qemu.ram());
    assert!(stack <= 2 * KIB, "{stack} bytes of stack");
    assert!(nrf52840.flash() <= 96 * KIB, "{} bytes of flash", nrf52840.flash());
}

#[test]
fn no_image_has_a_heap() {
    for options in [&[][..], &NRF52840] {
        let symbols = image::symbols(&image::build("robot", options).unwrap());
        let heap = |name: &str| {
            ["__rust_alloc", "__rg_", "malloc", "alloc::alloc"].iter().any(|one| name.contains(one))
        };
        assert!(symbols.len() > 100, "the symbols are there");
        assert!(symbols.iter().all(|(name, _)| !heap(name)));
    }
}

#[test]
fn no_panic_can_be_reached_from_any_verb() {
    image::build("no_panic", &["--no-default-features", "--features", "panic-never"]).unwrap();
}
