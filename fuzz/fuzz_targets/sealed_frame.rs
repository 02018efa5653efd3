//! Sealed frames of each profile: decoding never panics, and a frame is accepted only once.
//!
//! Frames of another model, of which only the state is used, are also rejected the second time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wdgnn_core::{Motion, filter::{NoChain, Stacked}, tensor::Filter};
use wdgnn_link::{Refusal, encoding::{Codec, exact::Exact, half::{Dot154, EspNow}, esb32::Esb32, p2p57::P2p57}, header::Link, security::{key::Key, group_key::{Sealed, SealedEsb32}}};

type Taps = Stacked<4, 6, NoChain>;
type Wide = Filter<4, 6, 2>;

/// Model checksum and group key of the golden frames.
const MODEL: u32 = 0xdead_beef;
const KEY: Key = *b"a swarm's secret";

fn read<P: Codec>(mut codec: P, frame: &[u8]) {
    let link = Link { profile: P::profile(true), checksum: MODEL };
    let now = P::identity(frame, 0).map_or(0, |identity| identity.sequence / P::FRAMES);
    let first = codec.decode::<Motion, Taps, Wide>(&link, now, frame);
    if matches!(first, Ok(_) | Err(Refusal::Model)) {
        let again = codec.decode::<Motion, Taps, Wide>(&link, now, frame);
        assert_eq!(again.err(), Some(Refusal::Replayed));
    }
}

fuzz_target!(|frame: &[u8]| {
    read(Sealed::new(Exact, &KEY), frame);
    read(Sealed::new(Dot154::default(), &KEY), frame);
    read(Sealed::new(EspNow::default(), &KEY), frame);
    read(SealedEsb32::new(Esb32, &KEY), frame);
    read(Sealed::new(P2p57, &KEY), frame);
});
