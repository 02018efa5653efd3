//! Gateway made of its messages.

use wdgnn_link::tdma::SlotInfo;

use super::*;
use wdgnn_sim::models;

const TIMING: SlotTiming =
    SlotTiming { period: 10_000, interval: 1, slots: 2, lead: 900, slot: 4_530, delay: 211, retry: 350 };
const HELLO: Hello = Hello { version: VERSION, profile: 2, boot_id: 7, timing: TIMING };

fn said(event: &GatewayEvent<'_>) -> Vec<u8> {
    let mut bytes = [0; MAX_EVENT_LEN];
    let length = event.encode(&mut bytes).unwrap();
    bytes[..length].to_vec()
}

fn time(time_us: u64) -> Vec<u8> {
    said(&GatewayEvent::Time { time_us, lost: 0, malformed: 0 })
}

/// Two unsealed robots at rest in the origin with a radio range of two meters.
fn with_flight(act: impl FnOnce(&mut Flight<'_>)) {
    let model = models::for_profile(Profile::Dot154).unwrap();
    let rest = Motion { position: [0.0; 2], velocity: [0.0; 2] };
    let simulated = vec![(0, rest), (1, rest)];
    let weights = model.weights();
    act(&mut Flight::new(Settings { weights, simulated, robots: 4, radius: 2.0, key: None, chance: 5 }));
}

/// Returns the frames sent until a time.
fn sent(flight: &mut Flight<'_>, until: u64) -> Vec<(u16, u64, Vec<u8>)> {
    let (mut found, mut line) = (Vec::new(), Deframer::<MAX_REQUEST_LEN>::default());
    for now in (flight.now + 1_000..=until).step_by(1_000) {
        for byte in flight.hear(&time(now)).unwrap() {
            if let Some(message) = line.push(byte)
                && let Some(GatewayRequest::Send { number, slot_us, frame }) = GatewayRequest::decode(message)
            {
                assert!(slot_us > now + 900, "it can be there in time");
                found.push((number, slot_us, frame.to_vec()));
            }
        }
    }
    found
}

#[test]
fn foreign_devices_are_reported() {
    let refusal = |bytes: &[u8]| {
        let mut refusal = String::new();
        with_flight(|flight| refusal = flight.hear(bytes).unwrap_err().to_string());
        refusal
    };
    assert!(
        refusal(&said(&GatewayEvent::Hello(Hello { version: 9, ..HELLO }))).contains("has message version 9")
    );
    let esb32 = Hello { profile: 4, ..HELLO };
    assert!(refusal(&said(&GatewayEvent::Hello(esb32))).contains("must be dot154, got esb32"));
    let mut command = [0; companion::MAX_MESSAGE];
    let robot = Command { acceleration: [0.0; 2], tick: 7, stop: 0 };
    let length = companion::encode(&robot, &mut command).unwrap();
    assert!(refusal(&command[..length]).contains("there is a robot at the other end"));
    let again =
        [said(&GatewayEvent::Hello(HELLO)), said(&GatewayEvent::Hello(Hello { boot_id: 8, ..HELLO }))]
            .concat();
    assert!(refusal(&again).contains("restarted during the run"));
}

#[test]
fn robots_have_separate_slots_and_counters() {
    with_flight(|flight| {
        flight.hear(&[said(&GatewayEvent::Hello(HELLO)), time(1_000)].concat()).unwrap();
        let frames = sent(flight, 500_000);
        let senders: Vec<u8> = frames.iter().map(|(_, _, frame)| frame[7]).collect();
        assert!(senders.contains(&0) && senders.contains(&1), "{senders:?}");
        let results = [SendResult::Sent, SendResult::Busy, SendResult::Late, SendResult::Refused];
        for ((number, at, _), result) in frames.iter().zip(results) {
            flight.hear(&said(&GatewayEvent::SendDone { number: *number, result, time_us: *at })).unwrap();
        }
        let Counts { given, sent, busy, late_down, refused_down, .. } = flight.counts;
        assert_eq!((given, sent, busy, late_down, refused_down), (frames.len() as u64, 1, 1, 1, 1));
        // Results for unknown frame numbers are ignored.
        flight
            .hear(&said(&GatewayEvent::SendDone { number: 9_999, result: SendResult::Sent, time_us: 0 }))
            .unwrap();
        assert_eq!(flight.counts.sent, 1);
    });
}

#[test]
fn late_frames_are_counted_and_received_in_the_next_tick() {
    with_flight(|flight| {
        flight.hear(&[said(&GatewayEvent::Hello(HELLO)), time(1_000)].concat()).unwrap();
        let frames = sent(flight, 500_000);
        let (_, _, words) = frames.iter().find(|(_, _, frame)| frame[7] == 1).unwrap();
        // Imitates a frame of robot 2.
        let (_, content) = mac::parse(words).unwrap();
        let from = content.windows(2).position(|pair| pair == [1, 0]).unwrap();
        let as_two = |counter: u8| {
            let mut content = content.to_vec();
            content[from] = 2;
            content[from + 6] = content[from + 6].wrapping_add(counter);
            [&mac::header(counter, 2, SlotInfo::default())[..], &content].concat()
        };
        let heard = |flight: &mut Flight<'_>, start: u64, counter: u8| {
            let bytes = said(&GatewayEvent::from_broadcast(start, 200, &as_two(counter)));
            flight.hear(&bytes).unwrap();
        };
        heard(flight, flight.now + 500, 1);
        assert_eq!((flight.counts.late_up, flight.counts.taken_of_real), (0, 0));
        sent(flight, 530_000);
        assert_eq!((flight.counts.late_up, flight.counts.taken_of_real), (0, 2), "by both");
        heard(flight, 400_000, 2);
        sent(flight, 560_000);
        assert_eq!((flight.counts.late_up, flight.counts.taken_of_real), (1, 4), "as what it is");
        flight.hear(&said(&GatewayEvent::from_broadcast(560_000, 200, &[1, 2, 3]))).unwrap();
        assert_eq!(flight.counts.foreign, 1);
    });
}

#[test]
fn lost_and_damaged_messages_are_counted() {
    with_flight(|flight| {
        let told = |time_us, lost, malformed| said(&GatewayEvent::Time { time_us, lost, malformed });
        flight.hear(&[1, 2, 3, 0]).unwrap();
        flight.hear(&[said(&GatewayEvent::Hello(HELLO)), told(1_000, 65_530, 3)].concat()).unwrap();
        flight.hear(&[told(2_000, 4, 5), vec![9, 9, 0]].concat()).unwrap();
        let Counts { lost, damaged, .. } = flight.counts;
        assert_eq!((lost, damaged), (10, 3), "counters wrap; those from before the flight are ignored");
    });
}
