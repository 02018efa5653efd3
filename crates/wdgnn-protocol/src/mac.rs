//! MAC header that makes a frame an IEEE 802.15.4 broadcast.
//!
//! Other devices on the channel see a well-formed data frame; robots ignore frames with any other
//! header. The last header byte is the sender's slot information ([`SlotInfo`]).

use wdgnn_core::task::NodeId;
use wdgnn_link::tdma::SlotInfo;

/// PAN identifier of the swarm.
pub const PAN_ID: u16 = 0x5744;
/// Header length in bytes, with the slot information.
pub const HEADER_BYTES: usize = 10;
/// Offset of the slot information in the header.
pub const NOTE_OFFSET: usize = 9;
/// Maximum number of payload bytes: the 127 bytes of the standard minus header and checksum.
pub const MAX_PAYLOAD: usize = 127 - 2 - HEADER_BYTES;

/// Data frame, no acknowledgement, PAN id compression, short addresses, version 2003 (§7.2.1).
const FRAME_CONTROL: u16 = 0x8841;
const BROADCAST: u16 = 0xffff;

/// Header of a broadcast from `sender`.
#[must_use]
pub fn header(sequence: u8, sender: NodeId, note: SlotInfo) -> [u8; HEADER_BYTES] {
    let [control, pan, to, from] = [FRAME_CONTROL, PAN_ID, BROADCAST, sender].map(u16::to_le_bytes);
    [control[0], control[1], sequence, pan[0], pan[1], to[0], to[1], from[0], from[1], note.0]
}

/// Slot information and payload of a robot's broadcast; `None` for any other frame.
#[must_use]
pub fn parse(frame: &[u8]) -> Option<(SlotInfo, &[u8])> {
    let (found, payload) = frame.split_first_chunk::<HEADER_BYTES>()?;
    let note = SlotInfo(found[NOTE_OFFSET]);
    let expected = header(found[2], NodeId::from_le_bytes([found[7], found[8]]), note);
    (*found == expected).then_some((note, payload))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_matches_a_hand_worked_example() {
        let note = SlotInfo::new(1, Some(4)).with_retries(1);
        // Slot 1 of its tick, one retry, and slot 4 of the exchange is contested: 1 | 1 << 1 | 5 <<
        // 3.
        assert_eq!(header(7, 0x0102, note), [0x41, 0x88, 7, 0x44, 0x57, 0xff, 0xff, 0x02, 0x01, 0x2b]);
        assert_eq!(MAX_PAYLOAD, 115);
    }

    #[test]
    fn frames_with_another_header_are_rejected() {
        let mut frame = [0; 13];
        frame[..HEADER_BYTES].copy_from_slice(&header(200, 5, SlotInfo(9)));
        frame[HEADER_BYTES..].copy_from_slice(&[1, 2, 3]);
        assert_eq!(parse(&frame), Some((SlotInfo(9), &[1, 2, 3][..])));
        for byte in [0, 1, 3, 4, 5, 6] {
            let mut other = frame;
            other[byte] ^= 1;
            assert_eq!(parse(&other), None, "byte {byte}");
        }
        assert_eq!(parse(&frame[..9]), None);
    }
}
