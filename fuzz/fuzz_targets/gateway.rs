//! Decodes both directions of the gateway's line, and feeds the gateway's queues.
//!
//! There is no panic, encoding restores a decoded message, and a valid message after a zero byte is decoded
//! whatever precedes it.
#![no_main]

use firmware::io::gateway::GatewayQueues;
use libfuzzer_sys::fuzz_target;
use wdgnn_link::tdma::SlotTiming;
use wdgnn_protocol::{
    event::{GatewayEvent, GatewayRequest, Hello, MAX_EVENT_LEN, MAX_REQUEST_LEN, VERSION},
    line::Deframer,
};

const TIMING: SlotTiming =
    SlotTiming { period: 10_000, interval: 1, slots: 2, lead: 900, slot: 4_530, delay: 211, retry: 350 };
const HELLO: Hello = Hello { version: VERSION, profile: 2, boot_id: 0, timing: TIMING };
const LAST: GatewayEvent<'_> = GatewayEvent::Corrupt { time_us: 7 };

fuzz_target!(|bytes: &[u8]| {
    let mut place = [0; MAX_EVENT_LEN];
    let mut copy = bytes.to_vec();
    if let Some(event) = GatewayEvent::decode(&mut copy)
        && let Some(length) = event.encode(&mut place)
    {
        // Frames may have NaN, which is not equal to itself.
        let again = GatewayEvent::decode(&mut place[..length - 1]).map(|event| format!("{event:?}"));
        assert_eq!(again, Some(format!("{event:?}")));
    }
    let mut copy = bytes.to_vec();
    if let Some(request) = GatewayRequest::decode(&mut copy)
        && let Some(length) = request.encode(&mut place[..MAX_REQUEST_LEN])
    {
        assert_eq!(GatewayRequest::decode(&mut place[..length - 1]), Some(request));
    }
    let length = LAST.encode(&mut place).expect("the buffer is long enough");
    let (mut line, mut last) = (Deframer::<MAX_EVENT_LEN>::default(), None);
    for byte in bytes.iter().chain(&[0]).chain(&place[..length]) {
        if let Some(message) = line.push(*byte) {
            last = GatewayEvent::decode(message).map(|event| event == LAST);
        }
    }
    assert_eq!(last, Some(true), "a valid message after a zero byte is decoded");
    let mut queues = GatewayQueues::new(HELLO);
    for (now, byte) in (0..).step_by(10).zip(bytes) {
        queues.push(*byte, now);
        if let Some(next) = queues.next_frame(now) {
            assert!(next.slot_us > now && next.frame().len() <= 125, "no frame is sent in the past");
        }
        queues.report_time(now);
        queues.next_chunk(&mut [0; 64]);
    }
});
