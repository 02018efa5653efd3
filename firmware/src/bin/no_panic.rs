//! A proof by linking: every verb of the robot, without a reachable panic. `panic-never` leaves its panic handler undefined, so one
//! panic that the compiler cannot rule out makes this program fail to link. It is never run.
//!
//! Every task that comes with the core, on every link profile: plain, sealed with tags of 8 and of 4 bytes by AES in software; and by
//! a block cipher that can do anything. Sealed robots have the robust settings, and what a weight file says (personal parts, ridges,
//! exchanges) nobody knows before it is read, so that nothing of it can be left out. Every port may fail, by an error that tells nothing:
//! a panic on a failing port would not link either.

#![no_std]
#![no_main]

use core::hint::black_box;

use panic_never as _;
use wdgnn_core::{
    task::State,
    tasks::{coverage::Coverage, flocking::Flocking},
    weights::{Aligned, Weights},
};
use wdgnn_link::{
    encoding::{
        Codec,
        esb32::Esb32,
        exact::Exact,
        half::{Dot154, EspNow},
        p2p57::P2p57,
    },
    header::Identity,
    security::{
        aes::Aes,
        ccm::{Block, BlockCipher},
        group_key::{Rekeyable, RekeyableEsb32, SealedWith},
    },
};
use wdgnn_robot::{
    control_loop,
    onboard::{self, LONGEST_BUFFER, Onboard},
    persist,
    ports::{Actuator, Ports, Radio, Received, Sensed, Sensor, Store},
};

/// Ports that can do anything and fail at any time, as far as the compiler knows.
struct Anything;

/// This value, or an error, as far as the compiler knows.
fn perhaps<T>(value: T) -> Result<T, ()> {
    black_box(Ok(value))
}

impl Radio for Anything {
    type Error = ();

    fn begin(&mut self, tick: u32) {
        black_box(tick);
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), ()> {
        black_box(frame);
        perhaps(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Received>, ()> {
        black_box(buffer);
        perhaps(Some(Received { length: LONGEST_BUFFER, arrived: 0 }))
    }

    fn vouched(&mut self, sender: &Identity, received: &Received) {
        black_box((sender, received));
    }
}

impl<S: State> Sensor<S> for Anything {
    type Error = ();

    fn sense(&mut self) -> Result<Sensed<S>, ()> {
        perhaps(Sensed { state: S::zero(), age: 0 })
    }
}

impl<C> Actuator<C> for Anything {
    type Error = ();

    fn act(&mut self, command: &C) -> Result<(), ()> {
        black_box(command);
        perhaps(())
    }

    fn stop(&mut self) -> Result<(), ()> {
        perhaps(())
    }
}

impl Store for Anything {
    type Error = ();

    fn load(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, ()> {
        black_box(buffer);
        perhaps(Some(LONGEST_BUFFER))
    }

    fn save(&mut self, bytes: &[u8]) -> Result<(), ()> {
        black_box(bytes);
        perhaps(())
    }

    fn flush(&mut self) -> Result<(), ()> {
        perhaps(())
    }
}

/// A block cipher that can do anything, as far as the compiler knows.
struct AnyCipher;

impl BlockCipher for AnyCipher {
    fn with_key(key: &[u8; 16]) -> Self {
        black_box(key);
        Self
    }

    fn encrypt(&self, block: &mut Block) {
        black_box(block);
    }
}

static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!(env!("WDGNN_MODEL")));

/// The keys by which others prove their names.
static ROSTER: &[[u8; 16]] = &[[7; 16]; 5];

#[cortex_m_rt::entry]
fn main() -> ! {
    fly_on_every_link::<Flocking<2>>();
    fly_on_every_link::<Flocking<3>>();
    fly_on_every_link::<Coverage>();
    fly::<Flocking<2>, _>(SealedWith::<_, _, 8>::with_cipher(Dot154::default(), AnyCipher));
    fly::<Flocking<2>, _>(SealedWith::<_, _, 4>::with_cipher(Esb32, AnyCipher));
    // With keys that change in flight.
    let key = black_box([7; 16]);
    fly::<Flocking<2>, _>(Rekeyable::new(Dot154::default(), &key).rekeyed(
        black_box(7),
        &key,
        black_box(0),
        &key,
    ));
    fly::<Flocking<2>, _>(RekeyableEsb32::new(Esb32, &key).rekeyed(black_box(7), &key, black_box(0), &key));
    // With names that have to be proven.
    let roster = black_box(ROSTER);
    fly::<Flocking<2>, _>(Rekeyable::new(Dot154::default(), &key).knowing(black_box(7), &key, roster));
    fly::<Flocking<3>, _>(Rekeyable::new(Exact, &key).knowing(black_box(7), &key, roster));
    fly::<Flocking<2>, _>(RekeyableEsb32::new(Esb32, &key).knowing(black_box(7), &key, roster));
    loop {
        cortex_m::asm::wfi();
    }
}

/// A task on every profile, sealed or not.
fn fly_on_every_link<T: Onboard>() {
    fly_sealed_or_not::<T, _>(Exact);
    fly_sealed_or_not::<T, _>(Dot154::default());
    fly_sealed_or_not::<T, _>(EspNow::default());
    fly_sealed_or_not::<T, _>(Esb32);
    fly_sealed_or_not::<T, _>(P2p57);
}

fn fly_sealed_or_not<T: Onboard, P: Codec + Copy>(codec: P) {
    let key = black_box([7; 16]);
    fly::<T, _>(codec);
    fly::<T, _>(SealedWith::<_, Aes, 8>::new(codec, &key));
    fly::<T, _>(SealedWith::<_, Aes, 4>::new(codec, &key));
}

/// Everything that a robot of one task does, on one link profile.
fn fly<T: Onboard, P: Codec>(codec: P) {
    let mut buffer = [0; LONGEST_BUFFER];
    let Ok(weights) = Weights::open(black_box(&FILE.0)) else { return };
    let Ok(mut robot) = onboard::robot::<T, _>(black_box(7), &weights, codec) else { return };
    let _ = black_box(persist::resume(&mut robot, &mut Anything, &mut buffer));
    for tick in 0..black_box(1_000) {
        let mut ports = Ports {
            radio: &mut Anything,
            sensor: &mut Anything,
            actuator: &mut Anything,
            store: &mut Anything,
        };
        black_box(control_loop::run(&mut robot, tick, &mut ports, &mut buffer));
    }
}
