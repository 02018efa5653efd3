//! IEEE 802.15.4 frames from the radio: no panic, and exact round trips.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wdgnn_protocol::mac::{HEADER_BYTES, parse, header};

fuzz_target!(|frame: &[u8]| {
    let Some((note, inside)) = parse(frame) else { return };
    let sender = u16::from_le_bytes([frame[7], frame[8]]);
    assert_eq!(frame, [&header(frame[2], sender, note)[..], inside].concat());
    assert_eq!(inside.len() + HEADER_BYTES, frame.len());
});
