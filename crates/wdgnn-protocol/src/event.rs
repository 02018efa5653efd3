//! Messages between a radio gateway and a PC.
//!
//! A gateway is a board with a radio. It reports received frames as [`GatewayEvent`]s and sends the
//! frames that the PC requests with a [`GatewayRequest`] in their slots. Both are postcard enums on a
//! serial [`mod@line`] at [`BAUD`], 8 data bits, no parity, one stop bit. Their [`Schema`]s describe them
//! for programs in other languages.
//!
//! The gateway has no key and knows neither ticks nor slots. Times are microseconds of its clock.
//! The PC can decrypt frames, so it runs the slot clock (`wdgnn_link::tdma`).
//!
//! ```
//! use wdgnn_link::frames::P2p57Frame;
//! use wdgnn_protocol::event::{Arrival, GatewayEvent, MAX_EVENT_LEN, MessageFrame};
//!
//! let arrival = Arrival { time_us: 1_000, quality: None, slot: None };
//! let event = GatewayEvent::Message { arrival, message: MessageFrame::P2p57(P2p57Frame::default()) };
//! let mut buffer = [0; MAX_EVENT_LEN];
//! let length = event.encode(&mut buffer).unwrap();
//! assert_eq!(buffer[length - 1], 0);
//! assert_eq!(GatewayEvent::decode(&mut buffer[..length - 1]), Some(event));
//! ```

use postcard::experimental::max_size::MaxSize as _;
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use wdgnn_link::{
    error::FrameError,
    frames::{
        AnyFrame, CompactHeader, Dot154Frame, Esb32Frame, EspNowFrame, ExactFrame, Frame as _,
        KeyUpdateFrame, P2p57Frame, PoseFrame, SealedDot154Frame, SealedPoseFrame, decode, encode,
        poses::POSE_BYTE,
    },
    header::{PROTOCOL_VERSION, Profile},
    security::{key_update::KEY_UPDATE_BYTE, peer_auth::PROOF_MARK},
    tdma::{SlotInfo, SlotTiming},
};

use crate::{line, mac};

/// Version of these messages.
pub const VERSION: u8 = 2;
/// Baud rate: a frame takes 1.3 ms. Twice the rate of a robot, because a frame must arrive before
/// its slot.
pub const BAUD: u32 = 1_000_000;
/// Length of the longest IEEE 802.15.4 frame without its checksum.
pub const MAX_FRAME_LEN: usize = 125;

/// Length of the longest event of flocking in the plane, before COBS.
///
/// It is a rejected frame as long as a sealed `exact` frame: 310 bytes, their number (2), variant (1),
/// time (10), quality (2), slot (2), reason (1) and the checksum.
const MAX_PLAIN_EVENT: usize = 310 + 2 + 1 + 10 + 2 + 2 + 1 + line::CHECKSUM_LEN;
/// Length of the longest event with COBS and its zero.
pub const MAX_EVENT_LEN: usize = MAX_PLAIN_EVENT + 3;
/// Length of the longest request before COBS: a frame, its length (1), variant (1), number (3), time
/// (10) and the checksum.
const MAX_PLAIN_REQUEST: usize = MAX_FRAME_LEN + 1 + 1 + 3 + 10 + line::CHECKSUM_LEN;
/// Length of the longest request with COBS and its zero.
pub const MAX_REQUEST_LEN: usize = MAX_PLAIN_REQUEST + 2;

/// First byte of frames and identity proofs in profile `dot154`.
const DOT154: u8 = PROTOCOL_VERSION | (Profile::Dot154 as u8) << 4;
const PROOF: u8 = DOT154 | PROOF_MARK;
/// Length of the shortest identity proof: its header.
const MIN_PROOF_LEN: usize = CompactHeader::POSTCARD_MAX_SIZE;

/// Arrival of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct Arrival {
    /// Time of the first symbol.
    pub time_us: u64,
    /// Link quality, 255 for the best; `None` if the radio does not measure it.
    pub quality: Option<u8>,
    /// Slot information of the sender ([`SlotInfo`]); `None` on a radio without time slots.
    pub slot: Option<u8>,
}

/// Open message by its link profile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[allow(clippy::large_enum_variant, reason = "no heap")]
pub enum MessageFrame {
    /// Message in profile `exact`.
    Exact(ExactFrame),
    /// Message in profile `dot154`.
    Dot154(Dot154Frame),
    /// Message in profile `espnow`.
    EspNow(EspNowFrame),
    /// Message in profile `esb32`.
    Esb32(Esb32Frame),
    /// Message in profile `p2p57`.
    P2p57(P2p57Frame),
}

/// Properties of a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct Hello {
    /// [`VERSION`] of the gateway.
    pub version: u8,
    /// Code of the radio's link profile.
    pub profile: u8,
    /// Random number, drawn at each start. A change reveals a restart.
    pub boot_id: u32,
    /// Slot timing of the radio. The gateway does not know the swarm's interval and reports 1.
    pub timing: SlotTiming,
}

/// Result of a send request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub enum SendResult {
    /// The frame was sent.
    Sent,
    /// The channel was busy, also at the retry.
    Busy,
    /// The request came after the start of its slot. A late frame would collide with another
    /// robot's slot.
    Late,
    /// The frame is not a robot's broadcast, its slot is too far ahead, or the queue is full.
    Refused,
}

/// Message from a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[allow(clippy::large_enum_variant, reason = "no heap")]
pub enum GatewayEvent<'a> {
    /// Open message of a robot.
    Message {
        /// Arrival of the frame.
        arrival: Arrival,
        /// The message.
        message: MessageFrame,
    },
    /// Sealed message, for programs with the key.
    Sealed {
        /// Arrival of the frame.
        arrival: Arrival,
        /// The frame.
        frame: &'a [u8],
    },
    /// Key update, identity proof or poses.
    Control {
        /// Arrival of the frame.
        arrival: Arrival,
        /// The frame.
        frame: &'a [u8],
    },
    /// Broadcast in the swarm's network that is no frame of any profile.
    Rejected {
        /// Arrival of the frame.
        arrival: Arrival,
        /// Reason of the rejection.
        reason: FrameError,
        /// The frame.
        frame: &'a [u8],
    },
    /// Frame of another network on the channel.
    Foreign {
        /// Time of the first symbol.
        time_us: u64,
    },
    /// Frame with a bad checksum.
    Corrupt {
        /// Time of the first symbol.
        time_us: u64,
    },
    /// Result of a send request.
    SendDone {
        /// Number of the request.
        number: u16,
        /// The result.
        result: SendResult,
        /// Time of the first symbol, or of the decision not to send.
        time_us: u64,
    },
    /// Current time. All earlier events have been reported.
    Time {
        /// Current time.
        time_us: u64,
        /// Frames and events lost in full queues; wraps.
        lost: u16,
        /// Malformed requests from the PC; wraps.
        malformed: u16,
    },
    /// Properties of the gateway, at its start and on request.
    Hello(Hello),
}

impl<'a> GatewayEvent<'a> {
    /// Classifies a received frame on any radio.
    #[must_use]
    pub fn from_frame(arrival: Arrival, frame: &'a [u8]) -> Self {
        let message = |message| Self::Message { arrival, message };
        match AnyFrame::decode(frame) {
            Ok(AnyFrame::Exact(frame)) => message(MessageFrame::Exact(frame)),
            Ok(AnyFrame::Dot154(frame)) => message(MessageFrame::Dot154(frame)),
            Ok(AnyFrame::EspNow(frame)) => message(MessageFrame::EspNow(frame)),
            Ok(AnyFrame::Esb32(frame)) => message(MessageFrame::Esb32(frame)),
            Ok(AnyFrame::P2p57(frame)) => message(MessageFrame::P2p57(frame)),
            Ok(
                AnyFrame::SealedExact(_)
                | AnyFrame::SealedDot154(_)
                | AnyFrame::SealedEspNow(_)
                | AnyFrame::SealedEsb32(_)
                | AnyFrame::SealedP2p57(_),
            ) => Self::Sealed { arrival, frame },
            Ok(
                AnyFrame::KeyUpdate(_)
                | AnyFrame::ShortKeyUpdate(_)
                | AnyFrame::IdentityProof { .. }
                | AnyFrame::Poses(_)
                | AnyFrame::SealedPoses(_),
            ) => Self::Control { arrival, frame },
            Err(reason) => Self::Rejected { arrival, reason, frame },
        }
    }

    /// Classifies a received IEEE 802.15.4 frame with its [`mac`] header, as [`Self::from_frame`] does.
    ///
    /// Only the frames of profile `dot154` are decoded, which saves a gateway 13 KB of flash.
    #[must_use]
    pub fn from_broadcast(time_us: u64, quality: u8, frame: &'a [u8]) -> Self {
        let Some((SlotInfo(slot), frame)) = mac::parse(frame) else { return Self::Foreign { time_us } };
        let arrival = Arrival { time_us, quality: Some(quality), slot: Some(slot) };
        match (frame.first().copied().unwrap_or_default(), frame.len()) {
            (DOT154, SealedDot154Frame::BYTES) => Self::Sealed { arrival, frame },
            (KEY_UPDATE_BYTE, KeyUpdateFrame::<8>::BYTES)
            | (PROOF, MIN_PROOF_LEN..)
            | (POSE_BYTE, PoseFrame::BYTES | SealedPoseFrame::BYTES) => Self::Control { arrival, frame },
            (DOT154, _) => match decode(frame) {
                Ok(message) => Self::Message { arrival, message: MessageFrame::Dot154(message) },
                Err(reason) => Self::Rejected { arrival, reason, frame },
            },
            _ => Self::Rejected { arrival, reason: FrameError::Profile, frame },
        }
    }

    /// Arrival and bytes of a received frame of the swarm. `buffer` holds the longest open message.
    pub fn frame<'b>(&'b self, buffer: &'b mut [u8]) -> Option<(Arrival, &'b [u8])> {
        match self {
            Self::Sealed { arrival, frame }
            | Self::Control { arrival, frame }
            | Self::Rejected { arrival, frame, .. } => Some((*arrival, frame)),
            Self::Message { arrival, message } => {
                let length = match message {
                    MessageFrame::Exact(frame) => encode(frame, buffer),
                    MessageFrame::Dot154(frame) => encode(frame, buffer),
                    MessageFrame::EspNow(frame) => encode(frame, buffer),
                    MessageFrame::Esb32(frame) => encode(frame, buffer),
                    MessageFrame::P2p57(frame) => encode(frame, buffer),
                };
                Some((*arrival, buffer.get(..length?)?))
            }
            _ => None,
        }
    }

    /// Encodes the event into `buffer` and returns its length. [`MAX_EVENT_LEN`] bytes are enough for
    /// every event.
    #[must_use]
    pub fn encode(&self, buffer: &mut [u8]) -> Option<usize> {
        line::encode::<MAX_PLAIN_EVENT>(self, buffer)
    }

    /// Decodes an event without its final zero, in place.
    #[must_use]
    pub fn decode(bytes: &'a mut [u8]) -> Option<Self> {
        line::decode(bytes)
    }
}

/// Message from a PC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub enum GatewayRequest<'a> {
    /// Request for a [`Hello`].
    Query,
    /// Request to send a frame.
    Send {
        /// Freely chosen number, repeated with the result.
        number: u16,
        /// Start of the slot.
        slot_us: u64,
        /// IEEE 802.15.4 frame with its [`mac`] header, without checksum.
        frame: &'a [u8],
    },
}

impl<'a> GatewayRequest<'a> {
    /// Encodes the request into `buffer` and returns its length. [`MAX_REQUEST_LEN`] bytes are enough
    /// for every request.
    #[must_use]
    pub fn encode(&self, buffer: &mut [u8]) -> Option<usize> {
        line::encode::<MAX_PLAIN_REQUEST>(self, buffer)
    }

    /// Decodes a request without its final zero, in place.
    #[must_use]
    pub fn decode(bytes: &'a mut [u8]) -> Option<Self> {
        line::decode(bytes)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::{mem::discriminant, vec::Vec};

    use wdgnn_link::frames::{
        CompactHeader, Esb32Header, ExactHeader, Floats, Frame, SealedExactFrame, U16Le,
    };

    use super::*;
    use crate::line::CHECKSUM;

    const ARRIVAL: Arrival = Arrival { time_us: 1_000, quality: Some(200), slot: None };
    const TIMING: SlotTiming =
        SlotTiming { period: 10_000, interval: 1, slots: 2, lead: 900, slot: 4_530, delay: 211, retry: 350 };

    fn encoded(event: &GatewayEvent<'_>) -> Vec<u8> {
        let mut buffer = [0xee; MAX_EVENT_LEN];
        let length = event.encode(&mut buffer).unwrap();
        buffer[..length].to_vec()
    }

    fn assert_round_trip(event: &GatewayEvent<'_>) {
        let mut bytes = encoded(event);
        assert_eq!(bytes.pop(), Some(0));
        assert!(!bytes.contains(&0));
        assert_eq!(GatewayEvent::decode(&mut bytes).as_ref(), Some(event));
    }

    #[test]
    fn encoding_matches_hand_worked_bytes() {
        // Variant, 1,000 as a varint, quality present, 200, no slot; then the number of bytes and the
        // frame. COBS replaces each zero by the distance to the next one.
        let [a, b, c, d] = CHECKSUM.checksum(&[1, 0xe8, 7, 1, 200, 0, 3, 7, 0, 8]).to_le_bytes();
        let sealed = GatewayEvent::Sealed { arrival: ARRIVAL, frame: &[7, 0, 8] };
        assert_eq!(encoded(&sealed), [6, 1, 0xe8, 7, 1, 200, 3, 3, 7, 6, 8, a, b, c, d, 0]);
        // The reason is its code: 5 is `Trailing`. Slot information 9.
        let arrival = Arrival { time_us: 5, quality: Some(1), slot: Some(9) };
        let [a, b, c, d] = CHECKSUM.checksum(&[3, 5, 1, 1, 1, 9, 5, 1, 2]).to_le_bytes();
        let rejected = GatewayEvent::Rejected { arrival, reason: FrameError::Trailing, frame: &[2] };
        assert_eq!(encoded(&rejected), [14, 3, 5, 1, 1, 1, 9, 5, 1, 2, a, b, c, d, 0]);
        let send = GatewayRequest::Send { number: 300, slot_us: 1_000, frame: &[7, 8] };
        let [a, b, c, d] = CHECKSUM.checksum(&[1, 0xac, 2, 0xe8, 7, 2, 7, 8]).to_le_bytes();
        let mut bytes = [0; MAX_REQUEST_LEN];
        let length = send.encode(&mut bytes).unwrap();
        assert_eq!(bytes[..length], [13, 1, 0xac, 2, 0xe8, 7, 2, 7, 8, a, b, c, d, 0]);
        assert_eq!(GatewayRequest::decode(&mut bytes[..length - 1]), Some(send));
    }

    #[test]
    fn frames_of_all_kinds_are_classified_and_restored() {
        fn check(frame: &impl Frame, message: impl Fn(&[u8]) -> Option<MessageFrame>) {
            let mut buffer = [0; 512];
            let length = encode(frame, &mut buffer).unwrap();
            let bytes = &buffer[..length];
            let event = GatewayEvent::from_frame(ARRIVAL, bytes);
            let expected = match message(bytes) {
                Some(message) => GatewayEvent::Message { arrival: ARRIVAL, message },
                None => GatewayEvent::Sealed { arrival: ARRIVAL, frame: bytes },
            };
            assert_eq!(event, expected);
            assert_eq!(event.frame(&mut [0; 512]), Some((ARRIVAL, bytes)));
            assert_round_trip(&event);
        }
        let header = ExactHeader {
            version: 1,
            state_numbers: 4,
            tap_numbers: U16Le::new(18),
            wide_numbers: U16Le::new(48),
            ..ExactHeader::default()
        };
        let exact = ExactFrame { header, state: Floats([1.0; 4]), ..ExactFrame::default() };
        check(&exact, |_| Some(MessageFrame::Exact(exact)));
        check(&SealedExactFrame { header, ..SealedExactFrame::default() }, |_| None);
        let compact = |first| CompactHeader { version_and_profile: first, ..CompactHeader::default() };
        let dot154 = Dot154Frame { header: compact(0x21), ..Dot154Frame::default() };
        check(&dot154, |_| Some(MessageFrame::Dot154(dot154)));
        let espnow = EspNowFrame { header: compact(0x31), ..EspNowFrame::default() };
        check(&espnow, |_| Some(MessageFrame::EspNow(espnow)));
        let p2p57 = P2p57Frame { header: compact(0x51), ..P2p57Frame::default() };
        check(&p2p57, |_| Some(MessageFrame::P2p57(p2p57)));
        let header = Esb32Header { version_and_profile: 0x41, sender: 3, ..Esb32Header::default() };
        let esb32 = Esb32Frame { header, ..Esb32Frame::default() };
        check(&esb32, |_| Some(MessageFrame::Esb32(esb32)));
        let mut update = [0; 40];
        update[0] = 0xf1;
        for frame in [&update[..], &[0xa1; 80]] {
            let event = GatewayEvent::from_frame(ARRIVAL, frame);
            assert_eq!(event, GatewayEvent::Control { arrival: ARRIVAL, frame });
            assert_round_trip(&event);
        }
        let reason = FrameError::Profile;
        let rejected = GatewayEvent::Rejected { arrival: ARRIVAL, reason, frame: &[0x77] };
        assert_eq!(GatewayEvent::from_frame(ARRIVAL, &[0x77]), rejected);
    }

    #[test]
    fn broadcasts_of_the_swarm_have_slot_information_and_others_are_foreign() {
        let frame = [&mac::header(7, 3, SlotInfo(5))[..], &[0x77]].concat();
        let arrival = Arrival { time_us: 4, quality: Some(90), slot: Some(5) };
        let event = GatewayEvent::from_broadcast(4, 90, &frame);
        let reason = FrameError::Profile;
        assert_eq!(event, GatewayEvent::Rejected { arrival, reason, frame: &[0x77] });
        let foreign = GatewayEvent::from_broadcast(4, 90, &frame[1..]);
        assert_eq!((foreign, foreign.frame(&mut [])), (GatewayEvent::Foreign { time_us: 4 }, None));
        for (first, lengths) in [(0x21, 90..104), (0xf1, 40..41), (0xa1, 10..80), (0x31, 1..100)] {
            for length in lengths {
                let mut content = [0; 104];
                content[0] = first;
                let content = &content[..length];
                let frame = [&mac::header(7, 3, SlotInfo(5))[..], content].concat();
                let [event, expected] =
                    [GatewayEvent::from_broadcast(4, 90, &frame), GatewayEvent::from_frame(arrival, content)];
                assert_eq!(discriminant(&event), discriminant(&expected), "{event:?}, {expected:?}");
            }
        }
    }

    #[test]
    fn longest_messages_fit_and_every_event_survives_a_round_trip() {
        let arrival = Arrival { time_us: u64::MAX, quality: Some(255), slot: Some(255) };
        let reason = FrameError::Trailing;
        let longest = GatewayEvent::Rejected { arrival, reason, frame: &[1; 310] };
        assert_eq!(encoded(&longest).len(), MAX_EVENT_LEN);
        assert_eq!(longest.encode(&mut [0; MAX_EVENT_LEN - 1]), None);
        let (number, time_us, slot_us) = (u16::MAX, u64::MAX, u64::MAX);
        let longest = GatewayRequest::Send { number, slot_us, frame: &[1; MAX_FRAME_LEN] };
        assert_eq!(longest.encode(&mut [0; MAX_REQUEST_LEN]), Some(MAX_REQUEST_LEN));
        assert_eq!(GatewayRequest::Send { number, slot_us, frame: &[1; 126] }.encode(&mut [0; 300]), None);
        assert_round_trip(&GatewayEvent::Corrupt { time_us });
        assert_round_trip(&GatewayEvent::Time { time_us: 3, lost: 1, malformed: 2 });
        let hello = Hello { version: VERSION, profile: 2, boot_id: 0xdead_beef, timing: TIMING };
        assert_round_trip(&GatewayEvent::Hello(hello));
        for result in [SendResult::Sent, SendResult::Busy, SendResult::Late, SendResult::Refused] {
            assert_round_trip(&GatewayEvent::SendDone { number: 9, result, time_us: 4 });
        }
    }

    #[test]
    fn schema_names_the_variants() {
        use postcard_schema::schema::DataModelType;
        let DataModelType::Enum(variants) = GatewayEvent::SCHEMA.ty else { panic!("no enum") };
        let names: Vec<_> = variants.iter().map(|variant| variant.name).collect();
        let expected = "Message Sealed Control Rejected Foreign Corrupt SendDone Time Hello";
        assert_eq!(names.join(" "), expected);
    }
}
