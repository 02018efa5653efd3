//! The IEEE 802.15.4 radio. Robots speak one after the other, by address, and listen all the time in between.

use embassy_futures::{
    block_on,
    select::{Either, select},
};
use embassy_nrf::radio::ieee802154::{Packet, Radio as Driver};
use embassy_time::{Duration, Instant, Timer};
use heapless::{Deque, Vec};
use wdgnn_core::{
    ports::{Radio, Received},
    robot::NEIGHBOURS,
    task::NodeId,
};

use crate::io::mac;

/// 2.480 GHz, clear of wireless networks.
const CHANNEL: u8 = 26;
/// Full power, in dBm.
const POWER: i8 = 8;
/// From the beginning of a tick until the first slot, a frame is written and sealed.
const LEAD: Duration = Duration::from_micros(500);
/// From the beginning of a tick, this long is for the air; the rest is for opening two frames, thinking (0.7 ms) and the motors.
const WINDOW: Duration = Duration::from_micros(8_500);
/// A sealed frame (118 bytes with everything around it, 3.8 ms at 250 kbit/s) and the turnaround (0.2 ms).
const SLOT: Duration = Duration::from_millis(4);
/// So many slots are in a tick's window. Robots that have their turn in the same tick begin in one of them, by address, and only when
/// the channel is clear.
const SLOTS: u32 = 2;

type Content = Vec<u8, { mac::LARGEST_CONTENT }>;

/// The radio, and what was heard while waiting for the own slot.
pub struct Air {
    radio: Driver<'static>,
    heard: Deque<Content, NEIGHBOURS>,
    id: NodeId,
    /// Which of a tick's slots is its own.
    slot: u32,
    sequence: u8,
    begins: Instant,
}

impl core::fmt::Debug for Air {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Air").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Why nothing was sent, or a frame was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AirFailed {
    /// Longer than the standard allows.
    TooLong,
    /// Somebody else was speaking.
    Busy,
}

impl Air {
    pub(super) fn new(mut radio: Driver<'static>, id: NodeId) -> Self {
        radio.set_channel(CHANNEL);
        radio.set_transmission_power(POWER);
        Self { radio, heard: Deque::new(), id, slot: 0, sequence: 0, begins: Instant::MIN }
    }

    /// Robots have their turn in every so many-th tick.
    pub(super) fn take_turns(&mut self, exchange: u32) {
        self.slot = u32::from(self.id) / exchange.max(1) % SLOTS;
    }

    /// A tick begins.
    pub(super) fn open(&mut self, begins: Instant) {
        self.begins = begins;
        self.heard.clear();
    }

    /// The next of the robots' frames before `end`.
    fn listen(&mut self, end: Instant) -> Option<Content> {
        while Instant::now() < end {
            let mut packet = Packet::new();
            match block_on(select(self.radio.receive(&mut packet), Timer::at(end))) {
                // Only a packet with a good checksum has a length that can be trusted.
                Either::First(Ok(())) => {
                    if let Some(content) = mac::content(&packet).and_then(|bytes| Vec::from_slice(bytes).ok())
                    {
                        return Some(content);
                    }
                }
                Either::First(Err(_)) => {}
                Either::Second(()) => return None,
            }
        }
        None
    }
}

impl Radio for Air {
    type Error = AirFailed;

    fn send(&mut self, frame: &[u8]) -> Result<(), AirFailed> {
        // Before the driver sees it: it would panic.
        if frame.len() > mac::LARGEST_CONTENT {
            return Err(AirFailed::TooLong);
        }
        let slot = self.begins + LEAD + SLOT * self.slot;
        while let Some(content) = self.listen(slot) {
            // A full queue loses the newcomer, as the table would.
            let _ = self.heard.push_back(content);
        }
        self.sequence = self.sequence.wrapping_add(1);
        let mut bytes = Vec::<u8, { mac::HEADER_BYTES + mac::LARGEST_CONTENT }>::new();
        let filled = bytes.extend_from_slice(&mac::header(self.sequence, self.id));
        filled.and_then(|()| bytes.extend_from_slice(frame)).map_err(|_| AirFailed::TooLong)?;
        let mut packet = Packet::new();
        packet.copy_from_slice(&bytes);
        block_on(self.radio.try_send(&mut packet)).map_err(|_| AirFailed::Busy)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Received>, AirFailed> {
        // First everything is heard, then it is looked at: whoever thinks about one frame misses the beginning of the next.
        while let Some(content) = self.listen(self.begins + WINDOW) {
            let _ = self.heard.push_back(content);
        }
        Ok(self.heard.pop_front().map(|content| {
            buffer.iter_mut().zip(&content).for_each(|(to, from)| *to = *from);
            Received::untimed(content.len())
        }))
    }
}
