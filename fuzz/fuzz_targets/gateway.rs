//! Decodes both directions of the gateway's line, and feeds the gateway's queues.
//!
//! There is no panic, encoding restores a decoded message, and a valid message after a zero byte is decoded
//! whatever precedes it.
#![no_main]

use firmware::io::gateway::GatewayQueues;
use libfuzzer_sys::fuzz_target;
use wdgnn_link::tdma::SlotTiming;
use wdgnn_protocol::gateway::{Deframer, FromGateway, Hello, MAX_MESSAGE, ToGateway};

const HELLO: Hello = Hello {
    profile: 2,
    boot_id: 0,
    timing: SlotTiming {
        period: 10_000,
        interval: 1,
        slots: 2,
        lead: 900,
        slot: 4_530,
        delay: 211,
        retry: 350,
    },
};

fuzz_target!(|bytes: &[u8]| {
    let mut place = [0; MAX_MESSAGE];
    if let Some(message) = FromGateway::decode(&mut bytes.to_vec()) {
        let length = message.encode(&mut place).expect("a decoded message fits");
        // A hello of another version may have more fields.
        assert_eq!(FromGateway::decode(&mut place[..length - 1]), Some(message));
    }
    if let Some(message) = ToGateway::decode(&mut bytes.to_vec()) {
        let length = message.encode(&mut place).expect("a decoded message fits");
        assert_eq!(ToGateway::decode(&mut place[..length - 1]), Some(message));
    }
    let length = FromGateway::Corrupt { start: 7 }.encode(&mut place).expect("the buffer is long enough");
    let (mut line, mut last) = (Deframer::default(), None);
    for byte in bytes.iter().chain(&[0]).chain(&place[..length]) {
        if let Some(message) = line.push(*byte) {
            last = FromGateway::decode(message).map(|message| message == FromGateway::Corrupt { start: 7 });
        }
    }
    assert_eq!(last, Some(true), "a valid message after a zero byte is decoded");
    let mut queues = GatewayQueues::new(HELLO);
    for (now, byte) in (0..).step_by(10).zip(bytes) {
        queues.push(*byte, now);
        if let Some(next) = queues.next_frame(now) {
            assert!(next.at > now && next.frame().len() <= 125, "no frame is sent in the past");
        }
        queues.report_time(now);
        queues.next_chunk(&mut [0; 64]);
    }
});
