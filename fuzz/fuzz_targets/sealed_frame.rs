//! Reads a sealed frame of any profile. There is no panic, and an accepted frame is accepted once.
//!
//! The state of a frame of another model is accepted, too.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wdgnn_core::{filter::LayerTaps, message::Message, tasks::flocking::Motion, tensor::Filter};
use wdgnn_link::{
    encoding::{
        Encoding,
        esb32::Esb32,
        exact::Exact,
        half::{Dot154, EspNow, P2p57},
    },
    error::FrameError,
    link::{Link, MessageLink as _},
    security::{aes::Aes, group_key::GroupKey, key::Key},
};

type Full = Message<Motion, LayerTaps<4, 6, ()>, Filter<4, 6, 2>>;

/// Model and key of the golden frames.
const MODEL: u32 = 0xdead_beef;
const KEY: Key = *b"a swarm's secret";

fn read<E: Encoding, const TAG: usize>(frame: &[u8]) {
    let mut link: Link<E, GroupKey<Aes, TAG>> = Link::new(MODEL, GroupKey::new(&KEY));
    let now = E::read_header(frame, 0).map_or(0, |header| header.id.sequence / E::FRAMES_PER_EXCHANGE);
    let mut message = Full::empty(Motion::REST);
    if link.receive(now, &mut frame.to_vec(), &mut message).is_ok() {
        let again = link.receive(now, &mut frame.to_vec(), &mut message);
        assert_eq!(again, Err(FrameError::Replayed));
    }
}

fuzz_target!(|frame: &[u8]| {
    read::<Exact, 8>(frame);
    read::<Dot154, 8>(frame);
    read::<EspNow, 8>(frame);
    read::<Esb32, 4>(frame);
    read::<P2p57, 8>(frame);
});
