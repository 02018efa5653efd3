//! Gateway messages in both directions, and the gateway's queues.
//!
//! Decoding never panics, decoding an encoded message is the identity, and a valid message after a
//! zero byte is accepted whatever came before.
#![no_main]

use firmware::io::gateway::GatewayQueues;
use libfuzzer_sys::fuzz_target;
use wdgnn_link::tdma::Timing;
use wdgnn_protocol::gateway::{ToGateway, Hello, MAX_MESSAGE, Deframer, FromGateway};

const HELLO: Hello = Hello {
    profile: 2,
    boot_id: 0,
    timing: Timing { period: 10_000, interval: 1, slots: 2, lead: 900, slot: 4_530, delay: 211, retry: 350 },
};

fuzz_target!(|bytes: &[u8]| {
    let mut place = [0; MAX_MESSAGE];
    if let Some(message) = FromGateway::decode(&mut bytes.to_vec()) {
        let length = message.encode(&mut place).expect("the message was decoded");
        // A hello of a newer version may have more fields, which are dropped.
        assert_eq!(FromGateway::decode(&mut place[..length - 1]), Some(message));
    }
    if let Some(message) = ToGateway::decode(&mut bytes.to_vec()) {
        let length = message.encode(&mut place).expect("the message was decoded");
        assert_eq!(ToGateway::decode(&mut place[..length - 1]), Some(message));
    }
    let length = FromGateway::Corrupt { start: 7 }.encode(&mut place).expect("the buffer is large enough");
    let (mut line, mut last) = (Deframer::default(), None);
    for byte in bytes.iter().chain(&[0]).chain(&place[..length]) {
        if let Some(message) = line.push(*byte) {
            last = FromGateway::decode(message).map(|message| message == FromGateway::Corrupt { start: 7 });
        }
    }
    assert_eq!(last, Some(true), "a valid message after a zero byte is accepted");
    let mut queues = GatewayQueues::new(HELLO);
    for (now, byte) in (0..).step_by(10).zip(bytes) {
        queues.push(*byte, now);
        if let Some(next) = queues.next_frame(now) {
            assert!(next.at > now && next.frame().len() <= 125, "transmissions are scheduled in the future");
        }
        queues.report_time(now);
        queues.next_chunk(&mut [0; 64]);
    }
});
