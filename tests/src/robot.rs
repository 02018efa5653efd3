//! One emulated robot, with a test as its world.

use std::{path::Path, sync::Arc};

use host_sim::{
    air::mailbox::Frame,
    fleet::{
        Outcome,
        patrol::{PATIENCE, Patrol},
        qemu::Emulator,
    },
};
use wdgnn_core::flocking::Motion;
use wdgnn_protocol::emulation::{MOTION_NUMBERS, Situation, numbers};

/// The robot's address.
pub const ID: u16 = 5;

/// Starts a robot that keeps its things in `folder`.
///
/// # Panics
/// Without an emulator.
#[must_use]
pub fn start(image: &Path, folder: &Path) -> Emulator {
    Emulator::start(image, ID.into(), folder, &Arc::new(Patrol::new(PATIENCE))).expect("an emulator")
}

/// One tick: what the robot says, and what it does with what it hears. Without a motion, its sensor fails.
///
/// # Panics
/// When the robot is gone.
pub fn tick(
    robot: &mut Emulator,
    tick: u32,
    motion: Option<Motion>,
    heard: &[Frame],
) -> (Vec<Frame>, Outcome) {
    let state = motion.as_ref().map_or([0.0; MOTION_NUMBERS], numbers);
    robot.sense(&Situation { tick, sensed: motion.is_some().into() }, &state).expect("a robot that senses");
    let said = robot.speak().expect("a robot that speaks");
    robot.hear(heard).expect("a robot that hears");
    (said, robot.outcome().expect("a robot that acts"))
}

/// Where a robot is at a tick: on a line of its own, at its own steady speed.
#[must_use]
pub fn motion(robot: u16, tick: u32) -> Motion {
    let (along, time) = (f32::from(robot) * 0.3, tick as f32 * 0.01);
    let velocity = [1.0 + 0.1 * along, -0.2 * along];
    Motion { position: [along + velocity[0] * time, 0.3 * along + velocity[1] * time], velocity }
}
