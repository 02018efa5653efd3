//! Raw images on a pipe, for `tools/tracker.py track --source pipe:PATH`.
//!
//! | bytes | content, little-endian |
//! |--:|---|
//! | 4 | `GRAY` |
//! | 2 | `u16` width |
//! | 2 | `u16` height |
//! | 8 | `u64` time of the middle of the exposure in microseconds |
//! | width × height | gray levels, row by row from the top |

/// Length of the header in bytes.
pub const HEADER_LEN: usize = 16;

/// Header of an image; `None` for a size above 65,535 pixels.
pub fn header(size: [usize; 2], time_us: u64) -> Option<[u8; HEADER_LEN]> {
    let mut header = [0; HEADER_LEN];
    header[..4].copy_from_slice(b"GRAY");
    for (axis, &pixels) in size.iter().enumerate() {
        header[4 + 2 * axis..6 + 2 * axis].copy_from_slice(&u16::try_from(pixels).ok()?.to_le_bytes());
    }
    header[8..].copy_from_slice(&time_us.to_le_bytes());
    Some(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_matches_a_hand_worked_example() {
        let expected = *b"GRAY\x00\x05\xd0\x02\x10\x27\x00\x00\x00\x00\x00\x00";
        assert_eq!(header([1_280, 720], 10_000), Some(expected));
        assert_eq!(header([70_000, 720], 0), None);
    }
}
