//! One emulated robot, with a test as its world.

use std::{path::Path, sync::Arc};

use host_sim::{
    medium::{peripherals::Peripherals, robot_config::RobotConfig},
    profiles::SimCodec,
    scene::Frame,
    swarm::{
        TickOutcome,
        native::NativeRobot,
        qemu::Emulator,
        watchdog::{PATIENCE, Watchdog},
    },
};
use wdgnn_core::{
    task::{NodeId, State as _},
    tasks::flocking::{Flocking, Motion},
    weights::Weights,
};
use wdgnn_link::security::key::Key;
use wdgnn_protocol::emulation::SensorInput;
use wdgnn_robot::onboard::{self, RobotModel};

/// A robot in this process that speaks by the codec `C`.
pub type Native<'w, C> = NativeRobot<Flocking, RobotModel<'w>, C>;

/// The robot's address.
pub const ID: u16 = 5;

/// Starts a robot that keeps its things in `folder`.
///
/// # Panics
/// Without an emulator.
pub fn start(image: &Path, folder: &Path) -> Emulator {
    Emulator::start(image, ID.into(), 0, None, folder, &Arc::new(Watchdog::new(PATIENCE)))
        .expect("an emulator")
}

/// The same robot in this process, made as the firmware makes it.
///
/// # Panics
/// When the weights are another robot's.
pub fn native<'w, C: SimCodec>(id: NodeId, weights: &Weights<'w>, key: &Key) -> Native<'w, C> {
    let node = onboard::robot::<Flocking, _>(id, weights, C::with_key(key)).expect("a robot's model");
    let (model, task, behaviour) = (*node.model(), *node.task(), *node.behaviour());
    let config = RobotConfig { model, task, checksum: node.link().checksum, behaviour };
    NativeRobot::start(&config, id, C::with_key(key), Peripherals::default())
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
) -> (Vec<Frame>, TickOutcome) {
    let state = motion.unwrap_or_else(Motion::zero).numbers();
    robot.sense(&SensorInput { tick, sensed: motion.is_some().into() }, &state).expect("a robot that senses");
    let said = robot.speak().expect("a robot that speaks");
    robot.hear(heard).expect("a robot that hears");
    (said, robot.outcome().expect("a robot that acts"))
}

/// Where a robot is at a tick: on a line of its own, at its own steady speed.
pub fn motion(robot: u16, tick: u32) -> Motion {
    let (along, time) = (f32::from(robot) * 0.3, tick as f32 * 0.01);
    let velocity = [1.0 + 0.1 * along, -0.2 * along];
    Motion { position: [along + velocity[0] * time, 0.3 * along + velocity[1] * time], velocity }
}
