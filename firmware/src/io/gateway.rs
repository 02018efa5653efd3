//! Queues of a gateway: frames from the PC that wait for their slots, and messages to the PC.
//!
//! The messages are defined in [`wdgnn_protocol::event`].

use heapless::{Deque, Vec};
use wdgnn_protocol::{
    event::{GatewayEvent, GatewayRequest, Hello, MAX_EVENT_LEN, MAX_FRAME_LEN, MAX_REQUEST_LEN, SendResult},
    line::Deframer,
    mac,
};

/// Capacity of the frame queue: two slots in each of the next four ticks.
const MAX_FRAMES: usize = 8;
/// Capacity of the transmit buffer in bytes: 10 ms of the serial line.
const TX_BUFFER_LEN: usize = 1_024;
/// Time that the radio needs to load a frame. A slot that starts sooner is too late.
const MARGIN_US: u64 = 150;
/// A frame goes to the radio at most this long before its slot, because a later request may have an
/// earlier slot.
const LOAD_AHEAD_US: u64 = 1_000;
/// Maximum time between a request and its slot.
const MAX_AHEAD_US: u64 = 200_000;

/// Frame that waits for its slot.
#[derive(Clone, Debug)]
pub struct QueuedFrame {
    /// Frame number of the request.
    pub number: u16,
    /// Start of the slot.
    pub slot_us: u64,
    frame: Vec<u8, MAX_FRAME_LEN>,
}

impl QueuedFrame {
    /// The frame.
    pub fn frame(&self) -> &[u8] {
        &self.frame
    }
}

/// Queues in both directions.
#[derive(Debug)]
pub struct GatewayQueues {
    hello: Hello,
    deframer: Deframer<MAX_REQUEST_LEN>,
    frames: [Option<QueuedFrame>; MAX_FRAMES],
    outgoing: Deque<u8, TX_BUFFER_LEN>,
    lost: u16,
    malformed: u16,
}

impl GatewayQueues {
    /// Empty queues, except for a hello to the PC.
    pub fn new(hello: Hello) -> Self {
        let mut queues = Self {
            hello,
            deframer: Deframer::default(),
            frames: [const { None }; MAX_FRAMES],
            outgoing: Deque::new(),
            lost: 0,
            malformed: 0,
        };
        queues.report(&GatewayEvent::Hello(hello));
        queues
    }

    /// Queues an event for the PC. Counts it as lost if it does not fit as a whole.
    pub fn report(&mut self, event: &GatewayEvent<'_>) {
        let mut bytes = [0; MAX_EVENT_LEN];
        let whole = event.encode(&mut bytes).and_then(|length| bytes.get(..length));
        match whole.filter(|whole| self.outgoing.len() + whole.len() <= TX_BUFFER_LEN) {
            Some(whole) => whole.iter().for_each(|byte| _ = self.outgoing.push_back(*byte)),
            None => self.lost = self.lost.wrapping_add(1),
        }
    }

    /// Counts frames that the radio lost.
    pub fn count_lost(&mut self, count: u32) {
        self.lost = self.lost.wrapping_add(count as u16);
    }

    /// Reports the current time. All earlier events must have been reported.
    pub fn report_time(&mut self, time_us: u64) {
        self.report(&GatewayEvent::Time { time_us, lost: self.lost, malformed: self.malformed });
    }

    /// Moves the next bytes for the serial line to `buffer`.
    pub fn next_chunk<'a>(&mut self, buffer: &'a mut [u8]) -> &'a [u8] {
        let mut length = 0;
        for (slot, byte) in buffer.iter_mut().zip(core::iter::from_fn(|| self.outgoing.pop_front())) {
            *slot = byte;
            length += 1;
        }
        buffer.get(..length).unwrap_or_default()
    }

    /// Processes a byte from the PC.
    pub fn push(&mut self, byte: u8, now: u64) {
        let Some(bytes) = self.deframer.push(byte) else { return };
        match GatewayRequest::decode(bytes) {
            Some(GatewayRequest::Query) => self.report(&GatewayEvent::Hello(self.hello)),
            Some(GatewayRequest::Send { number, slot_us, frame }) => {
                if let Err(result) = enqueue(&mut self.frames, number, slot_us, frame, now) {
                    self.report(&GatewayEvent::SendDone { number, result, time_us: now });
                }
            }
            None => self.malformed = self.malformed.wrapping_add(1),
        }
    }

    /// Removes the frame with the next slot, if the slot starts soon. Reports frames with a past
    /// slot as late.
    pub fn next_frame(&mut self, now: u64) -> Option<QueuedFrame> {
        loop {
            let queued = self.frames.iter_mut().filter(|slot| slot.is_some());
            let first = queued.min_by_key(|slot| slot.as_ref().map(|frame| frame.slot_us))?;
            let next = first.take_if(|frame| frame.slot_us < now + LOAD_AHEAD_US)?;
            if next.slot_us >= now + MARGIN_US {
                return Some(next);
            }
            let (number, result) = (next.number, SendResult::Late);
            self.report(&GatewayEvent::SendDone { number, result, time_us: now });
        }
    }
}

/// Queues a frame. A free function, because the frame borrows from the deframer.
fn enqueue(
    frames: &mut [Option<QueuedFrame>], number: u16, slot_us: u64, frame: &[u8], now: u64,
) -> Result<(), SendResult> {
    if slot_us < now + MARGIN_US {
        return Err(SendResult::Late);
    }
    // The radio's retry changes a byte of the MAC header, so the frame must have one.
    let valid = mac::parse(frame).and_then(|_| Vec::from_slice(frame).ok());
    let free = frames.iter_mut().find(|slot| slot.is_none()).filter(|_| slot_us <= now + MAX_AHEAD_US);
    let (Some(frame), Some(free)) = (valid, free) else { return Err(SendResult::Refused) };
    *free = Some(QueuedFrame { number, slot_us, frame });
    Ok(())
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::{vec, vec::Vec as StdVec};

    use wdgnn_link::tdma::{SlotInfo, SlotTiming};
    use wdgnn_protocol::event::{Arrival, VERSION};

    use super::*;

    const TIMING: SlotTiming =
        SlotTiming { period: 10_000, interval: 1, slots: 2, lead: 900, slot: 4_530, delay: 211, retry: 350 };
    const HELLO: Hello = Hello { version: VERSION, profile: 2, boot_id: 7, timing: TIMING };

    fn frame(sender: u16) -> StdVec<u8> {
        [&mac::header(1, sender, SlotInfo::default())[..], &[1, 2, 3]].concat()
    }

    fn receive(queues: &mut GatewayQueues, message: &GatewayRequest<'_>, now: u64) {
        let mut bytes = [0; MAX_REQUEST_LEN];
        let length = message.encode(&mut bytes).unwrap();
        bytes[..length].iter().for_each(|byte| queues.push(*byte, now));
    }

    fn send(queues: &mut GatewayQueues, number: u16, slot_us: u64, now: u64) {
        receive(queues, &GatewayRequest::Send { number, slot_us, frame: &frame(number) }, now);
    }

    /// Events for the PC, read in small chunks, in debug format.
    fn reports(queues: &mut GatewayQueues) -> StdVec<std::string::String> {
        let (mut deframer, mut reports, mut buffer) = (Deframer::<MAX_EVENT_LEN>::default(), vec![], [0; 7]);
        loop {
            let chunk = queues.next_chunk(&mut buffer);
            if chunk.is_empty() {
                return reports;
            }
            for byte in chunk {
                if let Some(bytes) = deframer.push(*byte) {
                    reports.push(std::format!("{:?}", GatewayEvent::decode(bytes).unwrap()));
                }
            }
        }
    }

    fn done(number: u16, result: SendResult, time_us: u64) -> std::string::String {
        std::format!("{:?}", GatewayEvent::SendDone { number, result, time_us })
    }

    #[test]
    fn frames_are_sent_in_the_order_of_their_slots() {
        let mut queues = GatewayQueues::new(HELLO);
        for (number, at) in [(1, 5_000), (2, 3_000), (3, 9_000)] {
            send(&mut queues, number, at, 0);
        }
        let next = |now: u64| queues.next_frame(now).map(|next| next.number);
        assert_eq!([1_000, 2_100, 2_200, 4_200, 8_100].map(next), [None, Some(2), None, Some(1), Some(3)]);
        assert_eq!(reports(&mut queues).len(), 1, "only the hello");
    }

    #[test]
    fn frames_with_a_past_slot_are_late_on_arrival_and_in_the_queue() {
        let mut queues = GatewayQueues::new(HELLO);
        send(&mut queues, 1, 1_000, 1_000);
        send(&mut queues, 2, 2_000, 1_000);
        send(&mut queues, 3, 8_000, 1_000);
        assert_eq!(queues.next_frame(2_000).map(|next| next.number), None);
        assert_eq!(queues.next_frame(7_500).map(|next| next.number), Some(3));
        let late = [done(1, SendResult::Late, 1_000), done(2, SendResult::Late, 2_000)];
        assert_eq!(reports(&mut queues)[1..], late);
    }

    #[test]
    fn foreign_frames_distant_slots_and_a_full_queue_are_refused() {
        let mut queues = GatewayQueues::new(HELLO);
        receive(&mut queues, &GatewayRequest::Send { number: 50, slot_us: 9_000, frame: &[1; 40] }, 0);
        send(&mut queues, 51, u64::MAX, 0);
        for number in 0..=MAX_FRAMES as u16 {
            send(&mut queues, number, 1_000 + u64::from(number), 0);
        }
        let refused = [50, 51, MAX_FRAMES as u16].map(|number| done(number, SendResult::Refused, 0));
        assert_eq!(reports(&mut queues)[1..], refused);
    }

    #[test]
    fn malformed_messages_are_counted_and_queries_answered() {
        let mut queues = GatewayQueues::new(HELLO);
        for byte in [3, 7, 0, 9, 0] {
            queues.push(byte, 0);
        }
        receive(&mut queues, &GatewayRequest::Query, 0);
        queues.report_time(5);
        let hello = std::format!("{:?}", GatewayEvent::Hello(HELLO));
        let time = std::format!("{:?}", GatewayEvent::Time { time_us: 5, lost: 0, malformed: 2 });
        assert_eq!(reports(&mut queues), [hello.clone(), hello, time]);
    }

    #[test]
    fn a_full_transmit_buffer_drops_and_counts_whole_messages() {
        let mut queues = GatewayQueues::new(HELLO);
        let arrival = Arrival { time_us: 1, quality: None, slot: None };
        let message = GatewayEvent::Sealed { arrival, frame: &[9; 100] };
        let total = (0..20).map(|_| queues.report(&message)).count();
        let delivered = reports(&mut queues).len() - 1;
        assert!(delivered > 5 && delivered < total, "{delivered}");
        queues.count_lost(3);
        queues.report_time(9);
        let lost = (total - delivered + 3) as u16;
        assert_eq!(
            reports(&mut queues),
            [std::format!("{:?}", GatewayEvent::Time { time_us: 9, lost, malformed: 0 })]
        );
    }
}
