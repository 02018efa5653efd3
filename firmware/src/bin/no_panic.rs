//! A proof by linking: every verb of the robot, without a reachable panic. `panic-never` leaves its panic handler undefined, so one
//! panic that the compiler cannot rule out makes this program fail to link. It is never run.
//!
//! Sealed links are linked with AES, and with any cipher in place of AES-CCM: the crate `ccm` 0.6 unwraps what its key stream says,
//! which fails after 2³² blocks of 16 bytes. A frame has at most 32 of them, but that is more than the linker knows.

#![no_std]
#![no_main]

use core::{convert::Infallible, hint::black_box};

use aes::{Aes128, cipher::BlockCipherEncrypt as _};
use panic_never as _;
use wdgnn_core::{
    codec::{Codec, Exact},
    compact::{Dot154, EspNow},
    esb32::Esb32,
    flocking::Motion,
    ports::{Actuator, Ports, Radio, Received, Sensed, Sensor, Store},
    restart,
    robot::{self, BUFFER_BYTES},
    seal::{
        SealedWith,
        aead::{
            self, AeadCore, AeadInOut, Key, KeyInit, KeySizeUser, Nonce, Tag, TagPosition,
            array::Array,
            consts::{U8, U13, U16},
            inout::InOutBuf,
        },
    },
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

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Received>, Infallible> {
        black_box(buffer);
        Ok(black_box(Some(Received { length: BUFFER_BYTES, arrived: 0 })))
    }
}

impl Sensor<Motion> for Anything {
    type Error = Infallible;

    fn sense(&mut self) -> Result<Sensed<Motion>, Infallible> {
        Ok(black_box(Sensed { state: Motion { position: [0.0; 2], velocity: [0.0; 2] }, age: 0 }))
    }
}

impl Actuator<[f32; 2]> for Anything {
    type Error = Infallible;

    fn act(&mut self, command: &[f32; 2]) -> Result<(), Infallible> {
        black_box(command);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Infallible> {
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

/// A cipher that can do anything, as far as the compiler knows, with the block cipher that it is made of.
struct Cipher(Aes128);

impl KeySizeUser for Cipher {
    type KeySize = U16;
}

impl KeyInit for Cipher {
    fn new(key: &Key<Self>) -> Self {
        Self(Aes128::new(key))
    }
}

impl AeadCore for Cipher {
    type NonceSize = U13;
    type TagSize = U8;
    const TAG_POSITION: TagPosition = TagPosition::Postfix;
}

impl AeadInOut for Cipher {
    fn encrypt_inout_detached(
        &self,
        nonce: &Nonce<Self>,
        associated: &[u8],
        mut content: InOutBuf<'_, '_, u8>,
    ) -> aead::Result<Tag<Self>> {
        let mut block = black_box(Array::default());
        self.0.encrypt_block(&mut block);
        black_box((nonce, associated, content.get_out(), block));
        black_box(Ok(Tag::<Self>::default()))
    }

    fn decrypt_inout_detached(
        &self,
        nonce: &Nonce<Self>,
        associated: &[u8],
        content: InOutBuf<'_, '_, u8>,
        tag: &Tag<Self>,
    ) -> aead::Result<()> {
        black_box(tag);
        self.encrypt_inout_detached(nonce, associated, content).map(|_| ())
    }
}

fn sealed<C: Codec>(codec: C) -> SealedWith<C, Cipher> {
    SealedWith::new(codec, &black_box([7; 16]))
}

static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!(env!("WDGNN_MODEL")));

#[cortex_m_rt::entry]
fn main() -> ! {
    fly(Exact);
    fly(Dot154::default());
    fly(EspNow::default());
    fly(Esb32);
    fly(sealed(Exact));
    fly(sealed(Dot154::default()));
    fly(sealed(EspNow::default()));
    fly(sealed(Esb32));
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
