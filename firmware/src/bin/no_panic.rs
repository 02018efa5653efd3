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
    tasks::flocking::Flocking,
    weights::{Aligned, Weights},
};
use wdgnn_link::{
    encoding::{
        Encoding,
        esb32::Esb32,
        exact::Exact,
        half::{Dot154, EspNow},
        p2p57::P2p57,
    },
    header::FrameId,
    link::Link,
    security::{
        LinkSecurity, Open,
        aes::Aes,
        ccm::{Block, BlockCipher},
        group_key::GroupKey,
        managed_keys::{ManagedKeys, ROSTER_CAPACITY},
    },
};
use wdgnn_robot::{
    control_loop,
    onboard::{self, MAX_BUFFER_LEN, OnboardTask},
    persist,
    ports::{Actuator, Measurement, PortSet, Radio, ReceivedFrame, Sensor, Store},
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

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<ReceivedFrame>, ()> {
        black_box(buffer);
        maybe(Some(ReceivedFrame { length: MAX_BUFFER_LEN, arrived_us: 0 }))
    }

    fn on_authenticated(&mut self, sender: &FrameId, received: &ReceivedFrame) {
        black_box((sender, received));
    }
}

impl<S: State> Sensor<S> for AnyPort {
    type Error = ();

    fn sense(&mut self) -> Result<Measurement<S>, ()> {
        maybe(Measurement { state: S::zero(), age: 0 })
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
        maybe(Some(MAX_BUFFER_LEN))
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
static PEER_KEYS: &[[u8; 16]] = &[[7; 16]; 5];

#[cortex_m_rt::entry]
fn main() -> ! {
    fly_on_every_link::<Flocking<2>>();
    fly_on_every_link::<Flocking<3>>();
    fly::<Flocking<2>, Dot154, _>(GroupKey::<_, 8>::with_cipher(AnyCipher));
    fly::<Flocking<2>, Esb32, _>(GroupKey::<_, 4>::with_cipher(AnyCipher));
    // Key rotation.
    let (id, epoch, key) = (black_box(7), black_box(0), black_box([7; 16]));
    fly::<Flocking<2>, Dot154, _>(managed::<8>(&key).with_key_rotation(id, &key, epoch, &key));
    fly::<Flocking<2>, Esb32, _>(managed::<4>(&key).with_key_rotation(id, &key, epoch, &key));
    // Peer authentication.
    let roster = black_box(PEER_KEYS);
    fly::<Flocking<2>, Dot154, _>(managed::<8>(&key).with_peer_keys(id, &key, roster));
    fly::<Flocking<3>, Exact, _>(managed::<8>(&key).with_peer_keys(id, &key, roster));
    fly::<Flocking<2>, Esb32, _>(managed::<4>(&key).with_peer_keys(id, &key, roster));
    loop {
        cortex_m::asm::wfi();
    }
}

fn managed<const TAG: usize>(key: &[u8; 16]) -> ManagedKeys<Aes, TAG, ROSTER_CAPACITY> {
    ManagedKeys::new(GroupKey::new(key))
}

/// Runs a task on every profile, plain and sealed.
fn fly_on_every_link<T: OnboardTask>() {
    fly_plain_and_sealed::<T, Exact>();
    fly_plain_and_sealed::<T, Dot154>();
    fly_plain_and_sealed::<T, EspNow>();
    fly_plain_and_sealed::<T, Esb32>();
    fly_plain_and_sealed::<T, P2p57>();
}

fn fly_plain_and_sealed<T: OnboardTask, E: Encoding>() {
    let key = black_box([7; 16]);
    fly::<T, E, _>(Open);
    fly::<T, E, _>(GroupKey::<Aes, 8>::new(&key));
    fly::<T, E, _>(GroupKey::<Aes, 4>::new(&key));
}

/// Runs a robot with task `T` on one link.
fn fly<T: OnboardTask, E: Encoding, S: LinkSecurity>(security: S) {
    let mut buffer = [0; MAX_BUFFER_LEN];
    let Ok(weights) = Weights::open(black_box(&FILE.0)) else { return };
    let link = Link::<E, S>::new(weights.checksum, security);
    let Ok(mut robot) = onboard::robot_from_weights::<T, _>(black_box(7), &weights, link) else { return };
    let _ = black_box(persist::restore(&mut robot, &mut AnyPort, &mut buffer));
    for tick in 0..black_box(1_000) {
        let mut ports = PortSet {
            radio: &mut AnyPort,
            sensor: &mut AnyPort,
            actuator: &mut AnyPort,
            store: &mut AnyPort,
        };
        black_box(control_loop::run_tick(&mut robot, tick, &mut ports, &mut buffer));
    }
}
