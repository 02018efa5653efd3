//! A message of the companion link: never a panic, and what is read is written to the same bytes.
#![no_main]

use firmware::io::companion::{LARGEST, decode, encode};
use libfuzzer_sys::fuzz_target;
use wdgnn_core::Motion;

fuzz_target!(|bytes: &[u8]| {
    let mut frame = bytes.to_vec();
    if let Some(motion) = decode::<Motion>(&mut frame) {
        let mut again = [0; LARGEST];
        let length = encode(&motion, &mut again).expect("it was read");
        assert_eq!(decode(&mut again[..length - 1]).map(|m: Motion| bits(&m)), Some(bits(&motion)));
    }
});

fn bits(motion: &Motion) -> [u32; 4] {
    let ([x, y], [v, w]) = (motion.position, motion.velocity);
    [x, y, v, w].map(f32::to_bits)
}
