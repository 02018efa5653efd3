//! Buggies on emulated chips with the images of robots and gateway.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use host_sim::{
    model::ModelFile,
    seeds::{Purpose, generator},
};
use nrf52_emulator::devices::MotorProtocol;
use wdgnn_drive::buggy::Settings as Wheels;
use wdgnn_emulation::buggies::{
    chips::{Settings, Swarm},
    eye::Eye,
    native::{Conditions, scattered},
    twin::native,
};

use crate::{chips, image};

/// Cargo options of buggies.
pub const BOARD: [&str; 3] = ["--no-default-features", "--features", "board-microbit-v2,buggy"];

/// Image of a robot.
pub static ROBOT: LazyLock<PathBuf> =
    LazyLock::new(|| image::build_sealed("dot154", &BOARD).expect("an image of a buggy"));
/// Image of the gateway.
pub static GATEWAY: LazyLock<PathBuf> = LazyLock::new(|| {
    image::build_with("pose_gateway", &BOARD, &[("WDGNN_PROFILE", "dot154"), ("WDGNN_KEY", image::KEY)])
        .expect("an image of a gateway")
});

static MODEL: LazyLock<ModelFile> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/flocking-dot154-10hz.wdgnn");
    ModelFile::load(&path).expect("the network of buggies")
});

/// Scattered Maqueens with these conditions and a source of poses.
pub fn swarm(conditions: &Conditions, eye: Box<dyn Eye>) -> Swarm<'static> {
    swarm_on(conditions, eye, MotorProtocol::Maqueen)
}

/// [`swarm`] with another chassis.
pub fn swarm_on(conditions: &Conditions, eye: Box<dyn Eye>, chassis: MotorProtocol) -> Swarm<'static> {
    let wheels = Wheels::MAQUEEN;
    let mut random = generator(conditions.seed, Purpose::Testing, 0);
    let settings = Settings {
        image: fs::read(&*ROBOT).expect("the image"),
        gateway: fs::read(&*GATEWAY).expect("the image"),
        bodies: scattered(conditions, &wheels.arena, &mut random),
        wheels,
        chassis,
        loss: 0.0,
        ppm: 40.0,
        seed: conditions.seed,
    };
    let group = chips::key();
    let mut swarm = Swarm::new(settings, eye, |id| native(id, &MODEL.weights(), &group)).expect("images");
    swarm.set_key(&group);
    swarm
}
