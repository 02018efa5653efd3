//! Link-time proof that no panic is reachable from a robot's control loop.
//!
//! `panic-never` leaves the panic handler undefined, so the program does not link if the compiler
//! cannot exclude a panic. It is never run.
//!
//! Covers every built-in task on every link profile: plain, sealed with tags of 8 and 4 bytes by
//! AES in software, and sealed by an arbitrary block cipher. Sealed robots use the robust settings.
//! The compiler does not know the content of the weight file, so it cannot remove any option. All
//! ports may fail.

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

/// Ports with arbitrary behavior, as far as the compiler knows.
struct AnyPort;

/// The value or an error, as far as the compiler knows.
fn maybe<T>(value: T) -> Result<T, ()> {
    black_box(Ok(value))
}

impl Radio for AnyPort {
    type Error = ();

    fn begin(&mut self, tick: u32) {
        black_box(tick);
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), ()> {
        black_box(frame);
        maybe(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Received>, ()> {
        black_box(buffer);
        maybe(Some(Received { length: LONGEST_BUFFER, arrived: 0 }))
    }

    fn vouched(&mut self, sender: &Identity, received: &Received) {
        black_box((sender, received));
    }
}

impl<S: State> Sensor<S> for AnyPort {
    type Error = ();

    fn sense(&mut self) -> Result<Sensed<S>, ()> {
        maybe(Sensed { state: S::zero(), age: 0 })
    }
}

impl<C> Actuator<C> for AnyPort {
    type Error = ();

    fn act(&mut self, command: &C) -> Result<(), ()> {
        black_box(command);
        maybe(())
    }

    fn stop(&mut self) -> Result<(), ()> {
        maybe(())
    }
}

impl Store for AnyPort {
    type Error = ();

    fn load(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, ()> {
        black_box(buffer);
        maybe(Some(LONGEST_BUFFER))
    }

    fn save(&mut self, bytes: &[u8]) -> Result<(), ()> {
        black_box(bytes);
        maybe(())
    }

    fn flush(&mut self) -> Result<(), ()> {
        maybe(())
    }
}

/// Block cipher with arbitrary output, as far as the compiler knows.
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

/// Pairwise keys of the peers.
static ROSTER: &[[u8; 16]] = &[[7; 16]; 5];

#[cortex_m_rt::entry]
fn main() -> ! {
    fly_on_every_link::<Flocking<2>>();
    fly_on_every_link::<Flocking<3>>();
    fly_on_every_link::<Coverage>();
    fly::<Flocking<2>, _>(SealedWith::<_, _, 8>::with_cipher(Dot154::default(), AnyCipher));
    fly::<Flocking<2>, _>(SealedWith::<_, _, 4>::with_cipher(Esb32, AnyCipher));
    // Key rotation.
    let key = black_box([7; 16]);
    fly::<Flocking<2>, _>(Rekeyable::new(Dot154::default(), &key).rekeyed(
        black_box(7),
        &key,
        black_box(0),
        &key,
    ));
    fly::<Flocking<2>, _>(RekeyableEsb32::new(Esb32, &key).rekeyed(black_box(7), &key, black_box(0), &key));
    // Peer authentication.
    let roster = black_box(ROSTER);
    fly::<Flocking<2>, _>(Rekeyable::new(Dot154::default(), &key).knowing(black_box(7), &key, roster));
    fly::<Flocking<3>, _>(Rekeyable::new(Exact, &key).knowing(black_box(7), &key, roster));
    fly::<Flocking<2>, _>(RekeyableEsb32::new(Esb32, &key).knowing(black_box(7), &key, roster));
    loop {
        cortex_m::asm::wfi();
    }
}

/// Runs a task on every profile, plain and sealed.
fn fly_on_every_link<T: Onboard>() {
    fly_plain_and_sealed::<T, _>(Exact);
    fly_plain_and_sealed::<T, _>(Dot154::default());
    fly_plain_and_sealed::<T, _>(EspNow::default());
    fly_plain_and_sealed::<T, _>(Esb32);
    fly_plain_and_sealed::<T, _>(P2p57);
}

fn fly_plain_and_sealed<T: Onboard, P: Codec + Copy>(codec: P) {
    let key = black_box([7; 16]);
    fly::<T, _>(codec);
    fly::<T, _>(SealedWith::<_, Aes, 8>::new(codec, &key));
    fly::<T, _>(SealedWith::<_, Aes, 4>::new(codec, &key));
}

/// Runs a robot with task `T` on one link.
fn fly<T: Onboard, P: Codec>(codec: P) {
    let mut buffer = [0; LONGEST_BUFFER];
    let Ok(weights) = Weights::open(black_box(&FILE.0)) else { return };
    let Ok(mut robot) = onboard::robot::<T, _>(black_box(7), &weights, codec) else { return };
    let _ = black_box(persist::resume(&mut robot, &mut AnyPort, &mut buffer));
    for tick in 0..black_box(1_000) {
        let mut ports =
            Ports { radio: &mut AnyPort, sensor: &mut AnyPort, actuator: &mut AnyPort, store: &mut AnyPort };
        black_box(control_loop::run(&mut robot, tick, &mut ports, &mut buffer));
    }
}
