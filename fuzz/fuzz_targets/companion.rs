//! Decodes a message of the companion link. There is no panic, and encoding restores a decoded message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wdgnn_protocol::companion::{MAX_MESSAGE, PoseMessage, decode, encode};

fuzz_target!(|bytes: &[u8]| {
    let mut frame = bytes.to_vec();
    if let Some(message) = decode::<PoseMessage>(&mut frame) {
        let mut again = [0; MAX_MESSAGE];
        let length = encode(&message, &mut again).expect("a decoded message fits");
        assert_eq!(decode(&mut again[..length - 1]).map(|m: PoseMessage| bits(&m)), Some(bits(&message)));
    }
});

fn bits(message: &PoseMessage) -> ([u32; 4], u16, u16) {
    let ([x, y], [v, w]) = (message.motion.position, message.motion.velocity);
    ([x, y, v, w].map(f32::to_bits), message.number, message.age_ms)
}
