//! The header that makes a beacon an IEEE 802.15.4 broadcast: others on the channel see a well-formed data frame, and a robot
//! ignores what is not a robot's. Behind it, one byte tells the sender's slot ([`Note`]).

use wdgnn_core::task::NodeId;
use wdgnn_link::tdma::Note;

/// The swarm's personal area network.
pub const PAN: u16 = 0x5744;
/// Length of the header in bytes, note included.
pub const HEADER_BYTES: usize = 10;
/// The note's place in the header.
pub const NOTE_PLACE: usize = 9;
/// The most bytes behind the header: 127 of the standard, less header and checksum.
pub const LARGEST_CONTENT: usize = 127 - 2 - HEADER_BYTES;

/// A data frame, no acknowledgement, PAN id compressed, short addresses, version 2003 (§7.2.1).
const FRAME_CONTROL: u16 = 0x8841;
const BROADCAST: u16 = 0xffff;

/// The header of a frame that `sender` broadcasts.
#[must_use]
pub fn header(sequence: u8, sender: NodeId, note: Note) -> [u8; HEADER_BYTES] {
    let [control, pan, to, from] = [FRAME_CONTROL, PAN, BROADCAST, sender].map(u16::to_le_bytes);
    [control[0], control[1], sequence, pan[0], pan[1], to[0], to[1], from[0], from[1], note.0]
}

/// What a robot's broadcast carries, and its note; `None` for anything else.
#[must_use]
pub fn content(frame: &[u8]) -> Option<(Note, &[u8])> {
    let (found, content) = frame.split_first_chunk::<HEADER_BYTES>()?;
    let note = Note(found[NOTE_PLACE]);
    let expected = header(found[2], NodeId::from_le_bytes([found[7], found[8]]), note);
    (*found == expected).then_some((note, content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_by_hand() {
        let note = Note::new(1, Some(4)).retried(1);
        // Slot 1 of its tick, one retry, and slot 4 of the exchange is contested: 1 | 1 << 1 | 5 << 3.
        assert_eq!(header(7, 0x0102, note), [0x41, 0x88, 7, 0x44, 0x57, 0xff, 0xff, 0x02, 0x01, 0x2b]);
        assert_eq!(LARGEST_CONTENT, 115);
    }

    #[test]
    fn only_a_robot_s_broadcast_is_let_in() {
        let mut frame = [0; 13];
        frame[..HEADER_BYTES].copy_from_slice(&header(200, 5, Note(9)));
        frame[HEADER_BYTES..].copy_from_slice(&[1, 2, 3]);
        assert_eq!(content(&frame), Some((Note(9), &[1, 2, 3][..])));
        for byte in [0, 1, 3, 4, 5, 6] {
            let mut other = frame;
            other[byte] ^= 1;
            assert_eq!(content(&other), None, "byte {byte}");
        }
        assert_eq!(content(&frame[..9]), None);
    }
}
