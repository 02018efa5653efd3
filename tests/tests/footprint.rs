//! Flash, RAM and stack of the firmware, without a heap.

#![cfg(feature = "emulated")]

use std::path::Path;

use host_sim::{
    medium::options::Faults,
    models,
    profiles::Profile,
    scene::Frame,
    swarm::{Robots, TickInput, TickOutcome},
};
use system_tests::{
    chips::DEVELOPMENT_KIT,
    golden,
    image::{self, Footprint},
    robot::motion,
};
use wdgnn_core::tasks::flocking::Flocking;
use wdgnn_emulation::emulated::{Emulated, Link};

const KIB: u64 = 1024;

/// Changes of a section above this share need a look.
const TOLERANCE: f64 = 0.05;

fn lines(board: &str, footprint: &Footprint) -> Vec<(String, u64)> {
    let Footprint { text, rodata, data, bss } = *footprint;
    [("text", text), ("rodata", rodata), ("data", data), ("bss", bss)]
        .map(|(section, bytes)| (format!("{board} {section}"), bytes))
        .to_vec()
}

/// High-water mark of the stack of a robot with eight neighbors, by its own log.
fn stack(image: &Path, link: Link) -> u64 {
    let (robots, profile) = (9, link.profile);
    let model = models::for_profile(profile).unwrap();
    let mut emulated = Emulated::new::<Flocking>(image, &model, link, robots, &Faults::default()).unwrap();
    let swarm: &mut dyn Robots<Flocking> = &mut emulated;
    // Beyond the first save of the parameters, to include it.
    for tick in 0..120 {
        let wake = |robot| Some(TickInput::new(tick, motion(robot, tick)));
        let said = swarm.begin_tick(&(0..robots as u16).map(wake).collect::<Vec<_>>());
        let heard = |robot| said.iter().enumerate().filter(move |(other, _)| *other != robot);
        let heard = |robot| Some(heard(robot).flat_map(|(_, frames)| frames.clone()).collect());
        let heard: Vec<Option<Vec<Frame>>> = (0..robots).map(heard).collect();
        let known = |outcome: &TickOutcome| outcome.counts.neighbors == 8 || tick < profile.exchange_ticks();
        assert!(
            swarm.end_tick(&heard).iter().all(|outcome| outcome.as_ref().is_some_and(known)),
            "tick {tick}"
        );
    }
    emulated.leave();
    let words = |robot| emulated.log(robot).pop().unwrap_or_default();
    let bytes = |robot| {
        let line = words(robot);
        let number = line.split("high-water ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
        number.unwrap_or_else(|| panic!("robot {robot} did not tell its stack: {line}"))
    };
    (0..robots).map(bytes).max().unwrap()
}

#[test]
fn flash_ram_and_stack_are_within_budget() {
    let image = image::build("robot", &[]).unwrap();
    let sealed_image = image::build_sealed("dot154", &[]).unwrap();
    let (qemu, qemu_sealed) = (image::footprint(&image), image::footprint(&sealed_image));
    let nrf52840 = image::footprint(&image::build("robot", &DEVELOPMENT_KIT).unwrap());
    let nrf52840_sealed = image::footprint(&image::build_sealed("dot154", &DEVELOPMENT_KIT).unwrap());
    let stack_unsealed = stack(&image, Link { profile: Profile::Exact, sealed: false });
    let stack_sealed = stack(&sealed_image, Link { profile: Profile::Dot154, sealed: true });
    let mut measured = lines("qemu", &qemu);
    measured.extend(lines("nrf52840", &nrf52840));
    measured.push(("qemu stack".into(), stack_unsealed));
    measured.extend(lines("qemu dot154 sealed", &qemu_sealed));
    measured.extend(lines("nrf52840 dot154 sealed", &nrf52840_sealed));
    measured.push(("qemu dot154 sealed stack".into(), stack_sealed));
    golden::compare("budget.txt", "bytes; text includes the table of interrupts", &measured, TOLERANCE);
    // An unsealed robot trusts all senders and contains no code of robust trust and AES.
    assert!(qemu.flash() <= 30 * KIB, "{} bytes of flash", qemu.flash());
    assert!(qemu.ram() <= 9 * KIB, "{} bytes of RAM", qemu.ram());
    assert!(stack_unsealed <= 2 * KIB, "{stack_unsealed} bytes of stack");
    assert!(nrf52840.flash() <= 47 * KIB, "{} bytes of flash", nrf52840.flash());
    // Additional budget for sealing, mixed models and key rotation.
    assert!(qemu_sealed.flash() <= 49 * KIB, "{} bytes of flash", qemu_sealed.flash());
    assert!(qemu_sealed.ram() <= 10 * KIB, "{} bytes of RAM", qemu_sealed.ram());
    assert!(stack_sealed <= 3 * KIB, "{stack_sealed} bytes of stack");
    assert!(nrf52840_sealed.flash() <= 58 * KIB, "{} bytes of flash", nrf52840_sealed.flash());
}

#[test]
fn no_image_has_a_heap() {
    for options in [&[][..], &DEVELOPMENT_KIT] {
        let symbols = image::symbols(&image::build("robot", options).unwrap());
        let heap = |name: &str| {
            ["__rust_alloc", "__rg_", "malloc", "alloc::alloc"].iter().any(|one| name.contains(one))
        };
        assert!(symbols.len() > 100, "the symbols are there");
        assert!(symbols.iter().all(|(name, _)| !heap(name)));
    }
}
