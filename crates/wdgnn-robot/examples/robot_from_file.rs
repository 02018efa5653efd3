//! A robot from a weight file, in the control loop. Without neighbors, it comes to rest.
//!
//! `cargo run -p wdgnn-robot --example robot_from_file`

use wdgnn_core::tasks::flocking::{Flocking, Motion};
use wdgnn_core::weights::{Aligned, Weights};
use wdgnn_link::{encoding::exact::Exact, link::Link};
use wdgnn_robot::ports::{Actuator, Measurement, NoStore, PortSet, Radio, ReceivedFrame, Sensor};
use wdgnn_robot::{control_loop, onboard};

static FILE: Aligned<[u8; 6788]> = Aligned(*include_bytes!("../../../models/flocking-wd-gnn.wdgnn"));

/// Radio and motors of a robot that receives nothing.
struct Board;

impl Radio for Board {
    type Error = ();
    fn send(&mut self, _frame: &[u8]) -> Result<(), ()> {
        Ok(())
    }
    fn receive(&mut self, _buffer: &mut [u8]) -> Result<Option<ReceivedFrame>, ()> {
        Ok(None)
    }
}

impl Actuator<[f32; 2]> for Board {
    type Error = ();
    fn act(&mut self, _command: &[f32; 2]) -> Result<(), ()> {
        Ok(())
    }
    fn stop(&mut self) -> Result<(), ()> {
        Ok(())
    }
}

struct ExactSensor(Motion);

impl Sensor<Motion> for ExactSensor {
    type Error = ();
    fn sense(&mut self) -> Result<Measurement<Motion>, ()> {
        Ok(Measurement::now(self.0))
    }
}

pub fn main() {
    let file = Weights::open(&FILE.0).unwrap();
    let mut robot =
        onboard::robot_from_weights::<Flocking, _>(7, &file, Link::<Exact>::open(file.checksum)).unwrap();
    let sensor = &mut ExactSensor(Motion { position: [0.0, 0.0], velocity: [2.0, -1.0] });
    let mut ports = PortSet { radio: &mut Board, sensor, actuator: &mut Board, store: &mut NoStore };
    for tick in 0..500 {
        let report = control_loop::run_tick(&mut robot, tick, &mut ports, &mut [0; onboard::BUFFER_LEN]);
        let velocity = &mut ports.sensor.0.velocity;
        (0..2).for_each(|axis| velocity[axis] += 0.01 * report.command[axis]);
        if tick % 100 == 0 {
            println!("tick {tick}: {:?}, velocity {velocity:.3?} m/s", report.verdict);
        }
    }
    assert!(ports.sensor.0.velocity.iter().all(|v| v.abs() < 0.01), "at rest");
}
