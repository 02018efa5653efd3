//! The gateway's line, at both ends, and the gateway's desk behind it: never a panic, what is read is written to the same bytes, and a good
//! message behind a zero is taken whatever came before.
#![no_main]

use firmware::io::gateway::Desk;
use libfuzzer_sys::fuzz_target;
use wdgnn_link::tdma::Timing;
use wdgnn_protocol::gateway::{Down, Hello, LARGEST, Line, Up};

const HELLO: Hello = Hello {
    profile: 2,
    start: 0,
    timing: Timing { period: 10_000, interval: 1, slots: 2, lead: 900, slot: 4_530, delay: 211, retry: 350 },
};

fuzz_target!(|bytes: &[u8]| {
    let mut place = [0; LARGEST];
    if let Some(message) = Up::decode(&mut bytes.to_vec()) {
        let length = message.encode(&mut place).expect("it was read");
        // A hello of another version may say more, of which nothing is known.
        assert_eq!(Up::decode(&mut place[..length - 1]), Some(message));
    }
    if let Some(message) = Down::decode(&mut bytes.to_vec()) {
        let length = message.encode(&mut place).expect("it was read");
        assert_eq!(Down::decode(&mut place[..length - 1]), Some(message));
    }
    let length = Up::Spoilt { began: 7 }.encode(&mut place).expect("there is room");
    let (mut line, mut last) = (Line::default(), None);
    for byte in bytes.iter().chain(&[0]).chain(&place[..length]) {
        if let Some(message) = line.take(*byte) {
            last = Up::decode(message).map(|message| message == Up::Spoilt { began: 7 });
        }
    }
    assert_eq!(last, Some(true), "a good message behind a zero is taken");
    let mut desk = Desk::new(HELLO);
    for (now, byte) in (0..).step_by(10).zip(bytes) {
        desk.take(*byte, now);
        if let Some(next) = desk.next(now) {
            assert!(next.at > now && next.frame().len() <= 125, "nothing is sent in the past");
        }
        desk.tell(now);
        desk.piece(&mut [0; 64]);
    }
});
