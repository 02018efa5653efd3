//! Robots on emulated chips with the sealed nRF52840 image.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use host_sim::{
    episode::Episode,
    medium::{any_link::RobotKeys, options::Faults},
    model::ModelFile,
    models,
    profiles::Profile,
    seeds::{Purpose, generator},
    swarm::{networks::Network, radio_swarm::RadioConfig},
    world::{Scenario, World as _, flock::Flock},
};
use nrf52_emulator::{Chip, Part, reset_reason};
use wdgnn_core::{
    tasks::flocking::Flocking,
    weights::{self, Weights},
};
use wdgnn_emulation::{
    chips::{
        Flight, Settings,
        operator::{Provisioning, settings_page},
        twin,
    },
    log::Decoder,
};
use wdgnn_link::security::key::{self, Key};

use crate::image;

/// Cargo options of the development kit.
pub const DEVELOPMENT_KIT: [&str; 3] = ["--no-default-features", "--features", "board-nrf52840"];
/// Boards: cargo feature, chip, first address of the image, and address of the provisioning page behind it.
pub const BOARDS: [(&str, Part, u32, u32); 4] = [
    ("board-nrf52840", Part::Nrf52840, 0, SETTINGS_PAGE),
    ("board-nrf52840-dongle", Part::Nrf52840, 0x1000, 0x000d_7000),
    ("board-feather-nrf52840", Part::Nrf52840, 0x0002_6000, 0x000e_3000),
    ("board-microbit-v2", Part::Nrf52833, 0, 0x0007_7000),
];
/// One board of each chip, or all boards if the variable `WDGNN_ALL_BOARDS` is set (`./test.sh full`).
pub fn boards() -> impl Iterator<Item = (&'static str, Part, u32, u32)> {
    let all = env::var_os("WDGNN_ALL_BOARDS").is_some();
    BOARDS.into_iter().filter(move |(name, ..)| all || ["board-nrf52840", "board-microbit-v2"].contains(name))
}

/// Address of the development kit's provisioning page (`firmware/src/board/nrf52840/map.x`).
pub const SETTINGS_PAGE: u32 = 0x000f_7000;
/// Address range of its store.
pub const STORE: std::ops::Range<u32> = 0x000f_8000..0x0010_0000;

/// Sealed image of the development kit.
pub static IMAGE: LazyLock<PathBuf> =
    LazyLock::new(|| image::build_sealed("dot154", &DEVELOPMENT_KIT).expect("an image for the nRF52840"));

static MODEL: LazyLock<ModelFile> = LazyLock::new(|| models::for_profile(Profile::Dot154).expect("a model"));

/// Settings of a flight from a seed.
pub fn settings(robots: usize, seed: u64, seconds: f64) -> Settings {
    let condition = Scenario { robots, ..Scenario::PAPER };
    let mut random = generator(seed, Purpose::Testing, 0);
    let start = Flock::<2>::default().begin(&condition, &mut random).expect("a start");
    Settings {
        kind: Part::Nrf52840,
        image: fs::read(&*IMAGE).expect("the image"),
        settings_page: SETTINGS_PAGE,
        pages: Provisioning::default().pages(robots),
        gateway: None,
        start,
        radius: condition.radius,
        seconds,
        apart: 0.4,
        ppm: 40.0,
        loss: 0.0,
        companions_die: None,
        kills: vec![],
        reboots: vec![],
        rekey: None,
        seed,
    }
}

/// Robots before power-on, with native twins that have the shipped model.
pub fn flight(settings: Settings) -> Flight<'static> {
    let (weights, group) = (MODEL.weights(), &key());
    Flight::new(settings, |id| twin::native(id, &weights, Some(RobotKeys { group, own: None })))
        .expect("an image")
}

/// The shipped model.
pub fn weights() -> Weights<'static> {
    MODEL.weights()
}

/// Total velocity variation of a lossless native flight from this start.
pub fn natively(settings: &Settings) -> f64 {
    let (robots, ticks) = (settings.start.len(), (settings.seconds * 100.0) as u32);
    let condition = Scenario { robots, ticks, radius: settings.radius, ..Scenario::PAPER };
    let start = Episode { world: Flock::<2>::default(), scenario: condition, states: settings.start.clone() };
    let network = Network::<Flocking>::of(&MODEL, Profile::Dot154).expect("a flocking model");
    let (layout, faults) = (Flock::<2>::layout(), Faults::default());
    let air = RadioConfig { layout: &layout, faults: &faults, swarm: 0, key: [0; 16] };
    let mut native = network.native(&air, robots, true).expect("robots of this model");
    start.run_unobserved(&network.task, native.as_mut()).expect("a flight").total()
}

/// Group key of sealed images.
pub fn key() -> Key {
    key::parse_key(&fs::read(image::KEY).expect("the key")).expect("a key")
}

/// Builds an image with key rotation for a board.
pub fn told_image(board: &str) -> PathBuf {
    let options = ["--no-default-features", "--features", board];
    image::build_with("robot", &options, &image::WITH_KEY_ROTATION).expect("an image whose key can change")
}

/// Robots of such an image, with native twins that have the provisioned keys.
///
/// # Panics
/// When the image is none.
pub fn told_flight(settings: Settings, provisioning: Provisioning) -> Flight<'static> {
    let (weights, group, robots) = (MODEL.weights(), &key(), settings.start.len());
    Flight::new(settings, |id| {
        twin::native(id, &weights, Some(RobotKeys { group, own: provisioning.own(id, robots) }))
    })
    .expect("an image")
}

/// The shipped model with another exchange interval, for tests of radio and time.
pub fn model_with_exchange(divisor: u16) -> Vec<u8> {
    let shipped = MODEL.weights();
    let mut header = shipped.header;
    header.interval = divisor;
    let mut bytes = vec![0; weights::HEADER_BYTES + 4 * shipped.numbers.len() + 4];
    weights::write(&header, shipped.numbers, &mut bytes).expect("room");
    bytes
}

/// A chip with image and address, without power.
pub fn chip(address: u16) -> Chip {
    let mut chip = Chip::new(Part::Nrf52840, 0x5eed_0000 + u64::from(address));
    let pieces =
        nrf52_emulator::image::elf_segments(&fs::read(&*IMAGE).expect("the image")).expect("an ELF file");
    chip.flash(&pieces);
    chip.program(SETTINGS_PAGE, &settings_page(address, 0, None, &[]));
    chip
}

/// Resets other than those that set the debug port.
pub fn unwanted(chip: &Chip) -> Vec<String> {
    chip.resets
        .iter()
        .filter(|restart| restart.reason != reset_reason::SOFTWARE)
        .map(|restart| restart.description.clone())
        .collect()
}

/// Log lines of the sealed image.
pub fn log(bytes: &[u8]) -> Vec<String> {
    log_of(&IMAGE, bytes)
}

/// Log lines of an image.
pub fn log_of(image: &Path, bytes: &[u8]) -> Vec<String> {
    Decoder::new(image).expect("a log").lines(bytes)
}
