//! Two robots on a radio that loses a third of the frames fly at one velocity.
//!
//! `cargo run -p wdgnn-robot --example lossy_radio`

use rand::{RngExt as _, SeedableRng as _};
use wdgnn_core::tasks::flocking::{Flocking, Motion};
use wdgnn_core::weights::{Aligned, Weights};
use wdgnn_link::{encoding::half::Dot154, link::Link};
use wdgnn_robot::{onboard, ports::Measurement, robot::Robot};

const LOSS: f64 = 0.33;

static FILE: Aligned<[u8; 6788]> = Aligned(*include_bytes!("../../../models/flocking-dot154.wdgnn"));

pub fn main() {
    let weights = Weights::open(&FILE.0).expect("the file is valid");
    let config =
        onboard::config_from_weights::<Flocking>(&weights).expect("the file is for flocking").robust();
    let mut motions = [
        Motion { position: [0.0, 0.0], velocity: [1.0, 0.5] },
        Motion { position: [1.0, 0.0], velocity: [-1.0, 1.5] },
    ];
    let mut robots: [Robot<_, _>; 2] = [0, 1].map(|id: u16| {
        Robot::new(id, config, Link::<Dot154>::open(weights.checksum), motions[usize::from(id)])
    });
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let (mut sent, mut lost, mut isolated) = (0, 0, 0);
    for tick in 0..1_000 {
        let mut frames = [None, None];
        for (id, robot) in robots.iter_mut().enumerate() {
            robot.sense(tick, Some(Measurement::now(motions[id])));
            if robot.sends_this_tick() {
                let mut buffer = [0; onboard::BUFFER_LEN];
                let length = robot.send(0, &mut buffer).expect("the buffer is long enough");
                frames[id] = Some(buffer[..length].to_vec());
                sent += 1;
            }
        }
        for (id, robot) in robots.iter_mut().enumerate() {
            match &mut frames[1 - id] {
                Some(_) if random.random_bool(LOSS) => lost += 1,
                Some(frame) => robot.receive(frame).expect("an honest frame is accepted"),
                None => {}
            }
            robot.end_receive();
            isolated += u32::from(robot.trusted().next().is_none());
            let (command, _) = robot.decide();
            robot.set_executed_command(Some(command));
            robot.learn();
            for (axis, u) in command.into_iter().enumerate() {
                motions[id].velocity[axis] += 0.01 * u;
                motions[id].position[axis] += 0.01 * motions[id].velocity[axis];
            }
        }
    }
    let [first, second] = motions.map(|motion| motion.velocity);
    println!("{lost} of {sent} frames lost, {isolated} of 2000 ticks without a neighbor");
    println!("velocities {first:.3?} and {second:.3?} m/s");
    assert!((first[0] - second[0]).hypot(first[1] - second[1]) < 0.1);
}
