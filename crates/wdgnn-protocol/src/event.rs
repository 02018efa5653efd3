//! Frames that a gateway received, as events for programs on a PC.
//!
//! An event is one postcard enum in one COBS frame that ends with a zero byte. It carries open messages
//! as the frame types of [`wdgnn_link::frames`]. It carries sealed frames as bytes, because a gateway has
//! no key. The [`Schema`] of [`GatewayEvent`] describes the stream for programs in other languages.
//!
//! ```
//! use wdgnn_link::frames::P2p57Frame;
//! use wdgnn_protocol::event::{Arrival, GatewayEvent, MAX_EVENT_LEN, MessageFrame};
//!
//! let message = MessageFrame::P2p57(P2p57Frame::default());
//! let event = GatewayEvent::Message { arrival: Arrival { time_us: 1_000, quality: None }, message };
//! let mut buffer = [0; MAX_EVENT_LEN];
//! let bytes = event.encode(&mut buffer)?;
//! let (zero, content) = bytes.split_last_mut().unwrap();
//! assert_eq!((*zero, GatewayEvent::decode(content)?), (0, event));
//! # Ok::<(), postcard::Error>(())
//! ```

use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use wdgnn_link::{
    error::FrameError,
    frames::{AnyFrame, Dot154Frame, Esb32Frame, EspNowFrame, ExactFrame, P2p57Frame},
};

use crate::companion::cobs_decode;

/// Length of the longest event of flocking in the plane, with COBS and its zero.
///
/// It is a sealed `exact` frame: 310 bytes, their number (2), variant (1), time (10), quality (2) and
/// COBS (3).
pub const MAX_EVENT_LEN: usize = 310 + 2 + 1 + 10 + 2 + 3;

/// Arrival of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct Arrival {
    /// Time of the first symbol in microseconds of the gateway's clock.
    pub time_us: u64,
    /// Link quality, 255 for the best; `None` if the radio does not measure it.
    pub quality: Option<u8>,
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

/// A received frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[allow(clippy::large_enum_variant, reason = "no heap")]
pub enum GatewayEvent<'a> {
    /// Open message.
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
    /// Key update or identity proof.
    Control {
        /// Arrival of the frame.
        arrival: Arrival,
        /// The frame.
        frame: &'a [u8],
    },
    /// Frame that was rejected.
    Rejected {
        /// Arrival of the frame.
        arrival: Arrival,
        /// Reason of the rejection.
        reason: FrameError,
        /// The frame.
        frame: &'a [u8],
    },
}

impl<'a> GatewayEvent<'a> {
    /// Classifies a received frame.
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
            Ok(AnyFrame::KeyUpdate(_) | AnyFrame::ShortKeyUpdate(_) | AnyFrame::IdentityProof { .. }) => {
                Self::Control { arrival, frame }
            }
            Err(reason) => Self::Rejected { arrival, reason, frame },
        }
    }

    /// Encodes the event to the start of `buffer` and returns its bytes, with the final zero.
    ///
    /// # Errors
    /// The buffer is too short.
    pub fn encode<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b mut [u8], postcard::Error> {
        postcard::to_slice_cobs(self, buffer)
    }

    /// Decodes an event without its final zero, in place.
    ///
    /// # Errors
    /// The bytes are no event, or more than one.
    pub fn decode(bytes: &'a mut [u8]) -> Result<Self, postcard::Error> {
        let length = cobs_decode(bytes).ok_or(postcard::Error::DeserializeBadEncoding)?;
        let content = bytes.get(..length).ok_or(postcard::Error::DeserializeBadEncoding)?;
        match postcard::take_from_bytes(content)? {
            (event, []) => Ok(event),
            _ => Err(postcard::Error::DeserializeBadEncoding),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use wdgnn_link::frames::{
        CompactHeader, Esb32Header, ExactHeader, Floats, Frame, SealedExactFrame, U16Le, encode,
    };

    use super::*;

    const ARRIVAL: Arrival = Arrival { time_us: 1_000, quality: Some(200) };

    fn encoded(event: &GatewayEvent<'_>) -> Vec<u8> {
        event.encode(&mut [0; MAX_EVENT_LEN]).unwrap().to_vec()
    }

    fn assert_round_trip(event: &GatewayEvent<'_>) {
        let mut bytes = encoded(event);
        assert_eq!(bytes.pop(), Some(0));
        assert!(!bytes.contains(&0));
        assert_eq!(GatewayEvent::decode(&mut bytes).as_ref(), Ok(event));
    }

    #[test]
    fn encoding_matches_hand_worked_bytes() {
        // Variant, 1,000 as a varint, quality present, 200; then the number of bytes and the frame.
        // COBS replaces each zero by the distance to the next one.
        let sealed = GatewayEvent::Sealed { arrival: ARRIVAL, frame: &[7, 0, 9] };
        assert_eq!(encoded(&sealed), [8, 1, 0xe8, 7, 1, 200, 3, 7, 2, 9, 0]);
        let arrival = Arrival { time_us: 5, quality: None };
        let control = GatewayEvent::Control { arrival, frame: &[0xf1] };
        assert_eq!(encoded(&control), [3, 2, 5, 3, 1, 0xf1, 0]);
        // The reason is its code: 5 is `Trailing`.
        let rejected = GatewayEvent::Rejected { arrival, reason: FrameError::Trailing, frame: &[] };
        assert_eq!(encoded(&rejected), [3, 3, 5, 2, 5, 1, 0]);
    }

    #[test]
    fn message_is_the_frame_behind_two_variants_and_the_arrival() {
        let header = Esb32Header { version_and_profile: 0x41, sender: 3, ..Esb32Header::default() };
        let frame = Esb32Frame { header, ..Esb32Frame::default() };
        let message = MessageFrame::Esb32(frame);
        let mut bytes = encoded(&GatewayEvent::Message { arrival: ARRIVAL, message });
        bytes.pop();
        let length = cobs_decode(&mut bytes).unwrap();
        let mut content = [0; 64];
        let frame_len = encode(&frame, &mut content).unwrap();
        assert_eq!(bytes[..length], [&[0, 0xe8, 7, 1, 200, 3][..], &content[..frame_len]].concat());
    }

    #[test]
    fn frames_of_all_kinds_are_classified() {
        fn bytes(frame: &impl Frame) -> Vec<u8> {
            let mut buffer = [0; 512];
            let length = encode(frame, &mut buffer).unwrap();
            buffer[..length].to_vec()
        }
        let header = ExactHeader {
            version: 1,
            state_numbers: 4,
            tap_numbers: U16Le::new(18),
            wide_numbers: U16Le::new(48),
            ..ExactHeader::default()
        };
        let exact = ExactFrame { header, state: Floats([1.0; 4]), ..ExactFrame::default() };
        let event = GatewayEvent::Message { arrival: ARRIVAL, message: MessageFrame::Exact(exact) };
        let frame = bytes(&exact);
        assert_eq!(GatewayEvent::from_frame(ARRIVAL, &frame), event);
        assert_round_trip(&event);
        for (first, wrap) in [(0x21, 0), (0x31, 1), (0x51, 2)] {
            let header = CompactHeader { version_and_profile: first, ..CompactHeader::default() };
            let message = match wrap {
                0 => MessageFrame::Dot154(Dot154Frame { header, ..Dot154Frame::default() }),
                1 => MessageFrame::EspNow(EspNowFrame { header, ..EspNowFrame::default() }),
                _ => MessageFrame::P2p57(P2p57Frame { header, ..P2p57Frame::default() }),
            };
            let frame = match &message {
                MessageFrame::Dot154(frame) => bytes(frame),
                MessageFrame::EspNow(frame) => bytes(frame),
                MessageFrame::P2p57(frame) => bytes(frame),
                MessageFrame::Exact(_) | MessageFrame::Esb32(_) => unreachable!(),
            };
            let event = GatewayEvent::from_frame(ARRIVAL, &frame);
            assert_eq!(event, GatewayEvent::Message { arrival: ARRIVAL, message });
            assert_round_trip(&event);
        }
        let sealed = bytes(&SealedExactFrame { header, ..SealedExactFrame::default() });
        assert_eq!(
            GatewayEvent::from_frame(ARRIVAL, &sealed),
            GatewayEvent::Sealed { arrival: ARRIVAL, frame: &sealed }
        );
        let mut update = [0; 40];
        update[0] = 0xf1;
        let control = GatewayEvent::from_frame(ARRIVAL, &update);
        assert_eq!(control, GatewayEvent::Control { arrival: ARRIVAL, frame: &update });
        assert_round_trip(&control);
        let proof = [0xa1; 80];
        let event = GatewayEvent::from_frame(ARRIVAL, &proof);
        assert_eq!(event, GatewayEvent::Control { arrival: ARRIVAL, frame: &proof });
        let reason = FrameError::Profile;
        let rejected = GatewayEvent::Rejected { arrival: ARRIVAL, reason, frame: &[0x77] };
        assert_eq!(GatewayEvent::from_frame(ARRIVAL, &[0x77]), rejected);
    }

    #[test]
    fn longest_event_fits_and_damaged_events_are_errors() {
        let arrival = Arrival { time_us: u64::MAX, quality: Some(255) };
        let longest = GatewayEvent::Sealed { arrival, frame: &[1; 310] };
        assert_eq!(encoded(&longest).len(), MAX_EVENT_LEN);
        assert!(longest.encode(&mut [0; MAX_EVENT_LEN - 1]).is_err());
        let good = encoded(&GatewayEvent::Sealed { arrival: ARRIVAL, frame: &[7, 0, 9] });
        for length in 0..good.len() - 1 {
            assert!(GatewayEvent::decode(&mut good[..length].to_vec()).is_err(), "{length} bytes");
        }
        assert!(GatewayEvent::decode(&mut [5, 2, 5, 3, 1]).is_err());
    }

    #[test]
    fn schema_names_the_variants() {
        use postcard_schema::schema::DataModelType;
        let DataModelType::Enum(variants) = GatewayEvent::SCHEMA.ty else { panic!("no enum") };
        let names: Vec<_> = variants.iter().map(|variant| variant.name).collect();
        assert_eq!(names, ["Message", "Sealed", "Control", "Rejected"]);
    }
}
