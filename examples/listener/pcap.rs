//! Reader of pcap files with radio frames.

/// Link types: plain frames, IEEE 802.15.4 with checksum, and IEEE 802.15.4 without checksum.
const PLAIN: u32 = 147;
const DOT154: u32 = 195;
const DOT154_WITHOUT_CHECKSUM: u32 = 230;
/// Bytes before a frame on IEEE 802.15.4: the MAC header and the slot.
const MAC_BYTES: usize = 10;

/// First bytes of a capture with little-endian numbers and times in microseconds.
pub const MAGIC: [u8; 4] = 0xa1b2_c3d4_u32.to_le_bytes();

/// Returns the frames of a capture with their times in microseconds.
pub fn frames(capture: &[u8]) -> Option<Vec<(u64, Vec<u8>)>> {
    let word = |bytes: &[u8], at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let (before, after) = match word(capture, 20)? {
        PLAIN => (0, 0),
        DOT154 => (MAC_BYTES, 2),
        DOT154_WITHOUT_CHECKSUM => (MAC_BYTES, 0),
        _ => return None,
    };
    let mut rest = capture.get(24..)?;
    let mut frames = Vec::new();
    while !rest.is_empty() {
        let microseconds = u64::from(word(rest, 0)?) * 1_000_000 + u64::from(word(rest, 4)?);
        let (packet, behind) = rest.get(16..)?.split_at_checked(word(rest, 8)? as usize)?;
        frames.push((microseconds, packet.get(before..packet.len().checked_sub(after)?)?.to_vec()));
        rest = behind;
    }
    Some(frames)
}
