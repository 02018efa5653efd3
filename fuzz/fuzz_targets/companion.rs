//! Companion messages: no panic, and exact round trips.
#![no_main]

use wdgnn_protocol::companion::{MAX_MESSAGE, PoseMessage, decode, encode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut frame = bytes.to_vec();
    if let Some(message) = decode::<PoseMessage>(&mut frame) {
        let mut again = [0; MAX_MESSAGE];
        let length = encode(&message, &mut again).expect("the message was decoded");
        assert_eq!(decode(&mut again[..length - 1]).map(|m: PoseMessage| bits(&m)), Some(bits(&message)));
    }
});

fn bits(message: &PoseMessage) -> ([u32; 4], u16, u16) {
    let ([x, y], [v, w]) = (message.motion.position, message.motion.velocity);
    ([x, y, v, w].map(f32::to_bits), message.number, message.age_ms)
}
