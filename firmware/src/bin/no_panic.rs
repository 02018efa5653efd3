//! A proof by linking: every verb of the robot, without a reachable panic. `panic-never` leaves its panic handler undefined, so one
//! panic that the compiler cannot rule out makes this program fail to link. It is never run.

#![no_std]
#![no_main]

use core::{convert::Infallible, hint::black_box};

use panic_never as _;
use wdgnn_core::{
    codec::Codec,
    flocking::Motion,
    ports::{Actuator, Ports, Radio, Sensor, Store},
    restart,
    robot::{self, BUFFER_BYTES},
    tick,
    weights::{Aligned, Weights},
};

/// Ports that can do anything, as far as the compiler knows.
struct Anything;

impl Radio for Anything {
    type Error = Infallible;

    fn send(&mut self, frame: &[u8]) -> Result<(), Infallible> {
        black_box(frame);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, Infallible> {
        black_box(buffer);
        Ok(black_box(Some(BUFFER_BYTES)))
    }
}

impl Sensor<Motion> for Anything {
    type Error = Infallible;

    fn sense(&mut self) -> Result<Motion, Infallible> {
        Ok(black_box(Motion { position: [0.0; 2], velocity: [0.0; 2] }))
    }
}

impl Actuator<[f32; 2]> for Anything {
    type Error = Infallible;

    fn act(&mut self, command: &[f32; 2]) -> Result<(), Infallible> {
        black_box(command);
        Ok(())
    }
}

impl Store for Anything {
    type Error = Infallible;

    fn load(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, Infallible> {
        black_box(buffer);
        Ok(black_box(Some(BUFFER_BYTES)))
    }

    fn save(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        black_box(bytes);
        Ok(())
    }
}

static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!(env!("WDGNN_MODEL")));

#[cortex_m_rt::entry]
fn main() -> ! {
    fly(wdgnn_core::codec::Exact);
    fly(wdgnn_core::compact::Dot154::default());
    loop {
        cortex_m::asm::wfi();
    }
}

/// Everything that a robot does, on one link profile.
fn fly<P: Codec>(codec: P) {
    let mut buffer = [0; BUFFER_BYTES];
    let Ok(weights) = Weights::open(black_box(&FILE.0)) else { return };
    let Ok(mut robot) = robot::robot(black_box(7), &weights, codec) else { return };
    let _ = black_box(restart::resume(&mut robot, &mut Anything, &mut buffer));
    for tick in 0..black_box(1_000) {
        let mut ports = Ports {
            radio: &mut Anything,
            sensor: &mut Anything,
            actuator: &mut Anything,
            store: &mut Anything,
        };
        black_box(tick::run(&mut robot, tick, &mut ports, &mut buffer));
    }
}
