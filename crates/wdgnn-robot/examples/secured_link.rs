//! A swarm with a group key: the frames of a stranger and recorded frames are rejected.
//!
//! `cargo run -p wdgnn-robot --example secured_link`

use wdgnn_core::tasks::flocking::{Flocking, Motion};
use wdgnn_core::weights::{Aligned, Weights};
use wdgnn_link::encoding::half::Dot154;
use wdgnn_link::error::FrameError;
use wdgnn_link::link::{Link, Sealed};
use wdgnn_link::security::{group_key::GroupKey, key::Key};
use wdgnn_robot::onboard::{TaskRobot, robot_from_weights};
use wdgnn_robot::ports::Measurement;

static FILE: Aligned<[u8; 6788]> = Aligned(*include_bytes!("../../../models/flocking-dot154.wdgnn"));

type Robot = TaskRobot<'static, Flocking, Sealed<Dot154>>;

/// A robot at rest, x meters to the east.
fn start(id: u16, x: f32, key: &Key) -> Robot {
    let weights = Weights::open(&FILE.0).expect("the file is valid");
    let link = Link::new(weights.checksum, GroupKey::new(key));
    let mut robot = robot_from_weights::<Flocking, _>(id, &weights, link).expect("the file is for flocking");
    robot.sense(0, Some(Measurement::now(Motion { position: [x, 0.0], velocity: [0.0, 0.0] })));
    robot
}

fn frame(robot: &mut Robot) -> Vec<u8> {
    let mut buffer = vec![0; robot.max_frame_len()];
    let length = robot.send(0, &mut buffer).expect("the buffer is long enough");
    buffer.truncate(length);
    buffer
}

pub fn main() {
    let key = b"sixteen byte key";
    let mut robot = start(1, 0.0, key);
    let (mut member, mut stranger) = (start(2, 1.0, key), start(3, 2.0, b"a different key!"));

    let genuine = frame(&mut member);
    let mut changed = genuine.clone();
    changed[20] ^= 1;
    let frames = [
        ("a changed frame", changed, Err(FrameError::Forged)),
        ("a member's frame", genuine.clone(), Ok(())),
        ("a recording of it", genuine, Err(FrameError::Replayed)),
        ("a stranger's frame", frame(&mut stranger), Err(FrameError::Forged)),
    ];
    for (name, mut frame, expected) in frames {
        let result = robot.receive(&mut frame);
        println!("{name}: {result:?}");
        assert_eq!(result, expected, "{name}");
    }
    robot.end_receive();
    let neighbors: Vec<u16> = robot.trusted().map(|neighbor| neighbor.message.sender).collect();
    println!("neighbors: {neighbors:?}");
    assert_eq!(neighbors, [2]);
}
