//! Parses a frame of IEEE 802.15.4. There is no panic, and an accepted frame consists of header and content.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wdgnn_protocol::mac::{HEADER_BYTES, header, parse};

fuzz_target!(|frame: &[u8]| {
    let Some((note, inside)) = parse(frame) else { return };
    let sender = u16::from_le_bytes([frame[7], frame[8]]);
    assert_eq!(frame, [&header(frame[2], sender, note)[..], inside].concat());
    assert_eq!(inside.len() + HEADER_BYTES, frame.len());
});
