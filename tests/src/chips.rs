//! Robots on emulated chips: the nRF52840's image, sealed, as it is flashed.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use host_sim::{
    air::options::Faults,
    chips::{
        Flight, Settings,
        operator::{Provisioning, settings_page},
    },
    flight::Start,
    model::ModelFile,
    models,
    profiles::Profile,
    recipe::RecipeName,
    seeds::{Purpose, generator},
    swarm::{log::Decoder, networks::Network, on_air::Air},
    world::{Condition, World as _, flock::Flock},
};
use nrf52_emulator::{Chip, Part, reset_reason};
use wdgnn_core::{
    tasks::flocking::Flocking,
    weights::{self, Weights},
};
use wdgnn_link::{
    encoding::half::Dot154,
    security::{
        group_key::{Rekeyable, Sealed},
        key::{self, Key},
        key_update::personal_key,
    },
};
use wdgnn_robot::onboard;

use crate::image;

/// The codec of the image.
pub type Link = Sealed<Dot154>;

/// What makes cargo build for the development kit.
pub const DEVELOPMENT_KIT: [&str; 3] = ["--no-default-features", "--features", "board-nrf52840"];
/// Address of the development kit's provisioning page (`firmware/src/board/nrf52840/map.x`).
pub const SETTINGS_PAGE: u32 = 0x000f_7000;
/// Address range of its store.
pub const STORE: std::ops::Range<u32> = 0x000f_8000..0x0010_0000;

/// The image.
pub static IMAGE: LazyLock<PathBuf> =
    LazyLock::new(|| image::build_sealed("dot154", &DEVELOPMENT_KIT).expect("an image for the nRF52840"));

static MODEL: LazyLock<ModelFile> =
    LazyLock::new(|| models::of_profile(RecipeName::Ours, Profile::Dot154).expect("a model"));

/// How so many robots are flown, from a seed, for so long.
///
/// # Panics
/// Without an image.
pub fn settings(robots: usize, seed: u64, seconds: f64) -> Settings {
    let condition = Condition { robots, ..Condition::PAPER };
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

/// Robots that are still switched off, with native twins that have the shipped model.
///
/// # Panics
/// When the image is none.
pub fn flight(settings: Settings) -> Flight<'static, Link> {
    flight_with(settings, MODEL.weights())
}

/// The same with another model in image and twins.
///
/// # Panics
/// When the image is none.
pub fn flight_with(settings: Settings, weights: Weights<'static>) -> Flight<'static, Link> {
    Flight::new(settings, |id| {
        Ok(onboard::robot(id, &weights, Link::new(Dot154::default(), &key())).expect("a robot's model"))
    })
    .expect("an image")
}

/// The shipped model, as every robot has it.
pub fn weights() -> Weights<'static> {
    MODEL.weights()
}

/// The velocity variation of a native flight from the same start, nothing lost, over all of it.
///
/// # Panics
/// Never: robots of the shipped model fly.
pub fn natively(settings: &Settings) -> f64 {
    let (robots, ticks) = (settings.start.len(), (settings.seconds * 100.0) as u32);
    let condition = Condition { robots, ticks, radius: settings.radius, ..Condition::PAPER };
    let start = Start { world: Flock::<2>::default(), condition, states: settings.start.clone() };
    let network = Network::<Flocking>::of(&MODEL, Profile::Dot154).expect("a flocking model");
    let (layout, faults) = (Flock::<2>::layout(), Faults::default());
    let air = Air { layout: &layout, faults: &faults, swarm: 0, key: [0; 16] };
    let mut native = network.native(&air, robots, true).expect("robots of this model");
    start.fly_alone(&network.task, native.as_mut()).expect("a flight").total()
}

/// The swarm's key of sealed images.
///
/// # Panics
/// Without one.
pub fn key() -> Key {
    key::parse_key(&fs::read(image::KEY).expect("the key")).expect("a key")
}

/// The codec of an image whose key can change.
pub type ToldLink = Rekeyable<Dot154>;

/// Builds the image for a board whose robots are told personal keys.
///
/// # Panics
/// When it does not build.
pub fn told_image(board: &str) -> PathBuf {
    let options = ["--no-default-features", "--features", board];
    let settings = [("WDGNN_PROFILE", "dot154"), ("WDGNN_KEY", image::KEY), ("WDGNN_KEY_ROTATION", "on")];
    image::build_with("robot", &options, &settings).expect("an image whose key can change")
}

/// Robots of such an image, with native twins that the operator with this master has told the same.
///
/// # Panics
/// When the image is none.
pub fn told_flight(settings: Settings, master: &Key, told: Provisioning) -> Flight<'static, ToldLink> {
    let (weights, key, robots) = (MODEL.weights(), key(), settings.start.len());
    Flight::new(settings, |id| {
        let personal = personal_key(master, id);
        let link = ToldLink::new(Dot154::default(), &key).rekeyed(id, &personal, 0, &key);
        let link = link.knowing(id, &personal, told.roster(id, robots));
        Ok(onboard::robot(id, &weights, link).expect("a robot's model"))
    })
    .expect("an image")
}

/// The shipped model as if it had been trained with an exchange in every so many-th tick: for questions about radio and time.
///
/// # Panics
/// Never: it is the shipped one but for that.
pub fn model_with_exchange(divisor: u16) -> Vec<u8> {
    let shipped = MODEL.weights();
    let mut header = shipped.header;
    header.interval = divisor;
    let mut bytes = vec![0; weights::HEADER_BYTES + 4 * shipped.numbers.len() + 4];
    weights::write(&header, shipped.numbers, &mut bytes).expect("room");
    bytes
}

/// One chip with the image and an address, without power.
///
/// # Panics
/// Without an image.
pub fn chip(address: u16) -> Chip {
    let mut chip = Chip::new(Part::Nrf52840, 0x5eed_0000 + u64::from(address));
    let pieces =
        nrf52_emulator::image::elf_segments(&fs::read(&*IMAGE).expect("the image")).expect("an ELF file");
    chip.flash(&pieces);
    chip.program(SETTINGS_PAGE, &settings_page(address, 0, None, &[]));
    chip
}

/// Resets that nobody asked for: all but those by which the image sets its debug port.
pub fn unwanted(chip: &Chip) -> Vec<String> {
    chip.resets
        .iter()
        .filter(|restart| restart.reason != reset_reason::SOFTWARE)
        .map(|restart| restart.description.clone())
        .collect()
}

/// What an image logged.
///
/// # Panics
/// When it has no log.
pub fn log(bytes: &[u8]) -> Vec<String> {
    log_of(&IMAGE, bytes)
}

/// What this image logged.
///
/// # Panics
/// When it has no log.
pub fn log_of(image: &Path, bytes: &[u8]) -> Vec<String> {
    Decoder::new(image).expect("a log").lines(bytes)
}
