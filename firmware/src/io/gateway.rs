//! The gateway's desk: frames from the PC that wait for their slots, and words for the PC that wait for the line. The messages are
//! [`wdgnn_protocol::gateway`]'s.

use heapless::{Deque, Vec};
use wdgnn_protocol::{
    gateway::{Down, Fate, Hello, LARGEST, LONGEST_FRAME, Line, Up},
    mac,
};

/// Frames that wait: two slots in each of the next four ticks.
const WAITING: usize = 8;
/// Bytes that wait for the line: 10 ms of it.
const OUTGOING: usize = 1_024;
/// A slot that begins sooner is too soon: the frame is still to be put where the radio fetches it.
const MARGIN_US: u64 = 150;
/// A frame is put there no earlier than this: one that comes later may have an earlier slot.
const SOON_US: u64 = 1_000;
/// Nobody speaks so long before: such a frame would only keep a place from others.
const FURTHEST_US: u64 = 200_000;

/// A frame that waits for its slot.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// Its number.
    pub number: u16,
    /// When its slot begins.
    pub at: u64,
    frame: Vec<u8, LONGEST_FRAME>,
}

impl Waiting {
    /// The frame.
    pub fn frame(&self) -> &[u8] {
        &self.frame
    }
}

/// What waits on either side.
#[derive(Debug)]
pub struct Desk {
    hello: Hello,
    line: Line,
    waiting: [Option<Waiting>; WAITING],
    outgoing: Deque<u8, OUTGOING>,
    lost: u16,
    unread: u16,
}

impl Desk {
    /// An empty one, that introduces itself.
    pub fn new(hello: Hello) -> Self {
        let mut desk = Self {
            hello,
            line: Line::default(),
            waiting: [const { None }; WAITING],
            outgoing: Deque::new(),
            lost: 0,
            unread: 0,
        };
        desk.say(&Up::Hello(hello));
        desk
    }

    /// Says something to the PC, all of it or nothing; what finds no room is lost, and counted.
    pub fn say(&mut self, message: &Up<'_>) {
        let mut bytes = [0; LARGEST];
        let whole = message.encode(&mut bytes).and_then(|length| bytes.get(..length));
        match whole.filter(|whole| self.outgoing.len() + whole.len() <= OUTGOING) {
            Some(whole) => whole.iter().for_each(|byte| _ = self.outgoing.push_back(*byte)),
            None => self.lost = self.lost.wrapping_add(1),
        }
    }

    /// Frames were lost before they came here.
    pub fn lose(&mut self, count: u32) {
        self.lost = self.lost.wrapping_add(count as u16);
    }

    /// Tells the time. Everything that came before must have been said.
    pub fn tell(&mut self, now: u64) {
        self.say(&Up::Time { now, lost: self.lost, unread: self.unread });
    }

    /// The next bytes for the line; none when there is nothing to say.
    pub fn piece<'a>(&mut self, place: &'a mut [u8]) -> &'a [u8] {
        let mut length = 0;
        for (slot, byte) in place.iter_mut().zip(core::iter::from_fn(|| self.outgoing.pop_front())) {
            *slot = byte;
            length += 1;
        }
        place.get(..length).unwrap_or_default()
    }

    /// A byte came from the PC.
    pub fn take(&mut self, byte: u8, now: u64) {
        let Some(bytes) = self.line.take(byte) else { return };
        match Down::decode(bytes) {
            Some(Down::Ask { .. }) => self.say(&Up::Hello(self.hello)),
            Some(Down::Send { number, at, frame }) => {
                let fate = put(&mut self.waiting, number, at, frame, now);
                if let Some(fate) = fate {
                    self.say(&Up::Fate { number, fate, at: now });
                }
            }
            None => self.unread = self.unread.wrapping_add(1),
        }
    }

    /// Takes out the frame whose slot is next, if it begins soon; those whose slots have begun meanwhile are told to be late.
    pub fn next(&mut self, now: u64) -> Option<Waiting> {
        loop {
            let waiting = self.waiting.iter_mut().filter(|place| place.is_some());
            let first = waiting.min_by_key(|place| place.as_ref().map(|frame| frame.at))?;
            let next = first.take_if(|frame| frame.at < now + SOON_US)?;
            if next.at >= now + MARGIN_US {
                return Some(next);
            }
            self.say(&Up::Fate { number: next.number, fate: Fate::Late, at: now });
        }
    }
}

/// Puts a frame where it waits; or what becomes of it instead. Not a method: the frame lies in the line.
fn put(waiting: &mut [Option<Waiting>], number: u16, at: u64, frame: &[u8], now: u64) -> Option<Fate> {
    if at < now + MARGIN_US {
        return Some(Fate::Late);
    }
    // The radio's retry changes a byte of the header, which has to be one.
    let whole = mac::content(frame).and_then(|_| Vec::from_slice(frame).ok());
    let free = waiting.iter_mut().find(|place| place.is_none()).filter(|_| at <= now + FURTHEST_US);
    let (Some(frame), Some(free)) = (whole, free) else { return Some(Fate::Refused) };
    *free = Some(Waiting { number, at, frame });
    None
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::{vec, vec::Vec as StdVec};

    use wdgnn_link::tdma::{Note, Timing};
    use wdgnn_protocol::gateway::VERSION;

    use super::*;

    const HELLO: Hello = Hello {
        profile: 2,
        start: 7,
        timing: Timing {
            period: 10_000,
            interval: 1,
            slots: 2,
            lead: 900,
            slot: 4_530,
            delay: 211,
            retry: 350,
        },
    };

    fn frame(sender: u16) -> StdVec<u8> {
        [&mac::header(1, sender, Note::default())[..], &[1, 2, 3]].concat()
    }

    fn given(desk: &mut Desk, message: &Down<'_>, now: u64) {
        let mut bytes = [0; LARGEST];
        let length = message.encode(&mut bytes).unwrap();
        bytes[..length].iter().for_each(|byte| desk.take(*byte, now));
    }

    fn send(desk: &mut Desk, number: u16, at: u64, now: u64) {
        given(desk, &Down::Send { number, at, frame: &frame(number) }, now);
    }

    /// What the PC is told, in pieces, with the content of frames left out.
    fn told(desk: &mut Desk) -> StdVec<std::string::String> {
        let (mut line, mut said, mut place) = (Line::default(), vec![], [0; 7]);
        loop {
            let piece = desk.piece(&mut place);
            if piece.is_empty() {
                return said;
            }
            for byte in piece {
                if let Some(bytes) = line.take(*byte) {
                    said.push(std::format!("{:?}", Up::decode(bytes).unwrap()));
                }
            }
        }
    }

    fn fate(number: u16, fate: Fate, at: u64) -> std::string::String {
        std::format!("{:?}", Up::Fate { number, fate, at })
    }

    #[test]
    fn frames_leave_in_the_order_of_their_slots_whatever_order_they_came_in() {
        let mut desk = Desk::new(HELLO);
        for (number, at) in [(1, 5_000), (2, 3_000), (3, 9_000)] {
            send(&mut desk, number, at, 0);
        }
        let next = |now: u64| desk.next(now).map(|next| next.number);
        assert_eq!([1_000, 2_100, 2_200, 4_200, 8_100].map(next), [None, Some(2), None, Some(1), Some(3)]);
        assert_eq!(told(&mut desk).len(), 1, "nothing but the hello");
    }

    #[test]
    fn whose_slot_has_begun_is_late_when_it_comes_and_when_it_has_waited_too_long() {
        let mut desk = Desk::new(HELLO);
        send(&mut desk, 1, 1_000, 1_000);
        send(&mut desk, 2, 2_000, 1_000);
        send(&mut desk, 3, 8_000, 1_000);
        assert_eq!(desk.next(2_000).map(|next| next.number), None);
        assert_eq!(desk.next(7_500).map(|next| next.number), Some(3));
        assert_eq!(told(&mut desk)[1..], [fate(1, Fate::Late, 1_000), fate(2, Fate::Late, 2_000)]);
    }

    #[test]
    fn what_is_no_robot_s_and_what_is_too_much_is_refused() {
        let mut desk = Desk::new(HELLO);
        given(&mut desk, &Down::Send { number: 50, at: 9_000, frame: &[1; 40] }, 0);
        send(&mut desk, 51, u64::MAX, 0);
        for number in 0..=WAITING as u16 {
            send(&mut desk, number, 1_000 + u64::from(number), 0);
        }
        assert_eq!(
            told(&mut desk)[1..],
            [50, 51, WAITING as u16].map(|number| fate(number, Fate::Refused, 0))
        );
    }

    #[test]
    fn what_cannot_be_read_is_counted_and_who_asks_is_answered() {
        let mut desk = Desk::new(HELLO);
        for byte in [3, 7, 0, 9, 0] {
            desk.take(byte, 0);
        }
        given(&mut desk, &Down::Ask { version: VERSION }, 0);
        desk.tell(5);
        let said = told(&mut desk);
        let hello = std::format!("{:?}", Up::Hello(HELLO));
        let time = std::format!("{:?}", Up::Time { now: 5, lost: 0, unread: 2 });
        assert_eq!(said, [hello.clone(), hello, time]);
    }

    #[test]
    fn a_line_that_is_full_loses_whole_messages_and_counts_them() {
        let mut desk = Desk::new(HELLO);
        let said = (0..20).map(|_| desk.say(&Up::Heard { began: 1, frame: &[9; 100] })).count();
        let heard = told(&mut desk).len() - 1;
        assert!(heard > 5 && heard < said, "{heard}");
        desk.lose(3);
        desk.tell(9);
        let lost = (said - heard + 3) as u16;
        assert_eq!(told(&mut desk), [std::format!("{:?}", Up::Time { now: 9, lost, unread: 0 })]);
    }
}
