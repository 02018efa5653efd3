//! One emulated robot in the world of a test.

use std::path::Path;

use host_sim::{
    medium::{
        any_link::{AnyLink, RobotKeys},
        peripherals::Peripherals,
    },
    profiles::Profile,
    scene::Frame,
    swarm::{TickOutcome, native::NativeRobot},
};
use wdgnn_core::{
    task::{NodeId, State as _},
    tasks::flocking::{Flocking, Motion},
    weights::Weights,
};
use wdgnn_emulation::qemu::Emulator;
use wdgnn_link::security::key::Key;
use wdgnn_protocol::emulation::SensorInput;
use wdgnn_robot::onboard::{self, FlockingModel};

/// Robot in this process with the image's task and network.
pub type Native<'w> = NativeRobot<Flocking, FlockingModel<'w>>;

/// The robot's address.
pub const ID: u16 = 5;

/// Starts a robot with its files in `folder`.
pub fn start(image: &Path, folder: &Path) -> Emulator {
    Emulator::start(image, ID.into(), 0, None, folder).expect("an emulator")
}

/// A native robot, constructed as in the firmware; without a key its link is open.
pub fn native<'w>(id: NodeId, weights: &Weights<'w>, profile: Profile, key: Option<&Key>) -> Native<'w> {
    let keys = key.map(|group| RobotKeys { group, own: None });
    let link = AnyLink::new(profile, weights.checksum, keys);
    let robot = onboard::robot_from_weights(id, weights, link).expect("a robot's model");
    NativeRobot::start(robot, Peripherals::default())
}

/// Runs a tick with received frames and returns the robot's frames and its outcome. Without a motion, its sensor fails.
pub fn tick(
    robot: &mut Emulator, tick: u32, motion: Option<Motion>, heard: &[Frame],
) -> (Vec<Frame>, TickOutcome) {
    let state = motion.unwrap_or_else(Motion::zero).to_array();
    robot.sense(&SensorInput { tick, sensed: motion.is_some().into() }, &state).expect("a robot that senses");
    let said = robot.speak().expect("a robot that speaks");
    robot.hear(heard).expect("a robot that hears");
    (said, robot.outcome().expect("a robot that acts"))
}

/// Motion of a robot at a tick, on a separate line for each robot, at constant speed.
pub fn motion(robot: u16, tick: u32) -> Motion {
    let (along, time) = (f32::from(robot) * 0.3, tick as f32 * 0.01);
    let velocity = [1.0 + 0.1 * along, -0.2 * along];
    Motion { position: [along + velocity[0] * time, 0.3 * along + velocity[1] * time], velocity }
}
