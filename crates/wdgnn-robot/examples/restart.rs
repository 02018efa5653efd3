//! A robot continues after a restart with its learned parameters and a new boot count.
//!
//! `cargo run -p wdgnn-robot --example restart`

use wdgnn_core::tasks::flocking::Flocking;
use wdgnn_core::tensor::Tensor as _;
use wdgnn_core::weights::{Aligned, Weights};
use wdgnn_link::encoding::exact::Exact;
use wdgnn_link::link::{Link, RadioLink as _};
use wdgnn_robot::onboard::{TaskRobot, robot_from_weights};
use wdgnn_robot::{persist, ports::Store};

static FILE: Aligned<[u8; 6788]> = Aligned(*include_bytes!("../../../models/flocking-wd-gnn.wdgnn"));

/// One record in memory, where a board has flash.
#[derive(Default)]
struct Memory(Vec<u8>);

impl Store for Memory {
    type Error = ();
    fn load(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, ()> {
        let length = self.0.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.0[..length]);
        Ok((!self.0.is_empty()).then_some(self.0.len()))
    }
    fn save(&mut self, bytes: &[u8]) -> Result<(), ()> {
        self.0 = bytes.to_vec();
        Ok(())
    }
}

fn start(store: &mut Memory) -> TaskRobot<'static, Flocking, Link<Exact>> {
    let weights = Weights::open(&FILE.0).expect("the file is valid");
    let link = Link::open(weights.checksum);
    let mut robot = robot_from_weights::<Flocking, _>(7, &weights, link).expect("the file is for flocking");
    let restored = persist::restore(&mut robot, store, &mut [0; 512]).expect("memory does not fail");
    println!("boot {}, first tick {}, restored: {restored}", robot.link().boot_count(), robot.first_tick());
    robot
}

pub fn main() {
    let mut store = Memory::default();
    let mut robot = start(&mut store);
    // Learning changes the parameters. The control loop stores a record every second.
    let mut learned = *robot.agent().wide();
    learned.numbers_mut().iter_mut().for_each(|w| *w *= 1.1);
    assert!(robot.agent_mut().set_wide(&learned));
    robot.sense(99, None);
    persist::save_and_flush(&robot, &mut store, &mut [0; 512]).expect("memory does not fail");

    let restarted = start(&mut store);
    assert_eq!(restarted.agent().wide(), &learned);
    assert_eq!(restarted.link().boot_count(), robot.link().boot_count() + 1);
    assert!(restarted.first_tick() > 99, "no frame number occurs twice");
}
