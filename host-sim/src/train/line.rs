//! Bytes on the line between a training and its helpers: one parcel after the other, each checked.
//!
//! ```text
//! 0   8   the letters `wdgnn-h` and the version of this format
//! 8   8   length of the content, little-endian
//! 16  8   checksum of the content, CRC-64/XZ, little-endian
//! 24      the content
//! ```

use std::io::{self, Read, Write};

use crc::{CRC_64_XZ, Crc, Table};

/// How a parcel begins.
const BEGIN: [u8; 8] = *b"wdgnn-h\x01";
/// Bytes before the content.
const HEAD: usize = 24;
/// The longest content that is read, in bytes: the flights of very large swarms.
const LONGEST: u64 = 1 << 34;
/// Flights that are imitated are megabytes: sixteen bytes at a time.
const CHECK: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_XZ);

/// What hinders a parcel.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// Nothing goes through.
    #[error("{0}")]
    Broken(#[from] io::Error),
    /// It ended where something was still to come.
    #[error("it ended in the middle")]
    Ended,
    /// Something else is said there.
    #[error("what it says is nothing that a training and its helpers say")]
    Foreign,
    /// Not what was sent.
    #[error("what it says is damaged")]
    Damaged,
}

/// Sends a parcel.
///
/// # Errors
/// [`LineError::Broken`].
pub fn send(to: &mut dyn Write, content: &[u8]) -> Result<(), LineError> {
    let mut head = Vec::with_capacity(HEAD);
    head.extend(BEGIN);
    head.extend((content.len() as u64).to_le_bytes());
    head.extend(CHECK.checksum(content).to_le_bytes());
    to.write_all(&head)?;
    to.write_all(content)?;
    Ok(to.flush()?)
}

/// Takes the next parcel; `None` where the other end has nothing more to say.
///
/// # Errors
/// As they are said.
pub fn take(from: &mut dyn Read) -> Result<Option<Vec<u8>>, LineError> {
    let mut head = Vec::with_capacity(HEAD);
    from.take(HEAD as u64).read_to_end(&mut head)?;
    if head.is_empty() {
        return Ok(None);
    }
    if !BEGIN.starts_with(&head[..head.len().min(BEGIN.len())]) {
        return Err(LineError::Foreign);
    }
    let (numbers, []) = head[BEGIN.len().min(head.len())..].as_chunks::<8>() else {
        return Err(LineError::Ended);
    };
    let [length, check] = numbers else { return Err(LineError::Ended) };
    let length = u64::from_le_bytes(*length);
    if length > LONGEST {
        return Err(LineError::Damaged);
    }
    // Room comes with the bytes: a length alone takes none.
    let mut content = Vec::new();
    from.take(length).read_to_end(&mut content)?;
    if (content.len() as u64) < length {
        return Err(LineError::Ended);
    }
    if CHECK.checksum(&content) != u64::from_le_bytes(*check) {
        return Err(LineError::Damaged);
    }
    Ok(Some(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(contents: &[&[u8]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for content in contents {
            send(&mut bytes, content).unwrap();
        }
        bytes
    }

    #[test]
    fn parcels_arrive_as_they_were_sent_and_in_order() {
        let bytes = sent(&[b"one", b"", &[7; 1000]]);
        let mut from = &bytes[..];
        assert_eq!(take(&mut from).unwrap().unwrap(), b"one");
        assert_eq!(take(&mut from).unwrap().unwrap(), b"");
        assert_eq!(take(&mut from).unwrap().unwrap(), [7; 1000]);
        assert!(take(&mut from).unwrap().is_none());
    }

    #[test]
    fn a_parcel_is_laid_out_as_it_is_written_down() {
        let bytes = sent(&[b"123456789"]);
        assert_eq!(bytes[..16], *b"wdgnn-h\x01\x09\0\0\0\0\0\0\0");
        // The check value of CRC-64/XZ.
        assert_eq!(bytes[16..24], 0x995d_c9bb_df19_39fa_u64.to_le_bytes());
    }

    #[test]
    fn no_byte_can_be_changed_and_none_left_out() {
        let bytes = sent(&[b"content"]);
        for place in 0..bytes.len() {
            assert!(place == 0 || matches!(take(&mut &bytes[..place]), Err(LineError::Ended)), "{place}");
            let mut changed = bytes.clone();
            changed[place] ^= 0x10;
            let taken = take(&mut &changed[..]);
            match place {
                0..8 => assert!(matches!(taken, Err(LineError::Foreign)), "{place}: {taken:?}"),
                _ => {
                    assert!(
                        matches!(taken, Err(LineError::Damaged | LineError::Ended)),
                        "{place}: {taken:?}"
                    );
                }
            }
        }
        assert!(matches!(take(&mut &b"Welcome to this machine!"[..]), Err(LineError::Foreign)));
    }
}
