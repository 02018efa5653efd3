//! Plain frames of each profile: no panic, and exact round trips of content.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wdgnn_core::{Motion, tensor::{Filter, span::Span}, filter::{NoChain, Stacked}};
use wdgnn_link::{encoding::{Codec, exact::Exact, half::{Dot154, EspNow}, esb32::Esb32, p2p57::P2p57}, header::{Link, Profile}};

type Taps = Stacked<4, 6, NoChain>;
type Wide = Filter<4, 6, 2>;

/// Model checksum of the golden frames.
const MODEL: u32 = 0xdead_beef;

fn read<P: Codec>(mut codec: P, frame: &[u8], run: u16) {
    let link = Link { profile: P::profile(true), checksum: MODEL };
    let Ok((beacon, parts)) = codec.decode::<Motion, Taps, Wide>(&link, 0, frame) else { return };
    let (exchange, index) = match parts.wide {
        // An exchange has two parts.
        wide if link.profile == Profile::P2p57 => {
            (u32::from(wide.from / run / 2), u32::from(wide.from / run % 2))
        }
        Span::NONE => (0, u32::from(parts.taps.from / run)),
        wide => (u32::from(wide.from / run), P::FRAMES - 1),
    };
    let mut again = [0; 512];
    let length = codec.encode(&link, &beacon, exchange, index, &mut again);
    // Bytes may differ: −0 is encoded as 0.
    let again = &again[..length.expect("the buffer is large enough")];
    assert_eq!(again.len(), frame.len());
    assert_eq!(codec.decode(&link, 0, again), Ok((beacon, parts)));
}

fuzz_target!(|frame: &[u8]| {
    read(Exact, frame, 48);
    read(Dot154::default(), frame, 12);
    read(EspNow::default(), frame, 48);
    read(Esb32, frame, 6);
    read(P2p57, frame, 3);
});
