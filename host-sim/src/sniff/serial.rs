//! A serial line: frames in COBS, each ended by a zero. Whoever joins late, or loses bytes, is back in step at the next zero.

/// The longest frame that is taken for one: an unfolded beacon, and room.
const LONGEST: usize = 4096;

/// Splits a stream of bytes into frames.
#[derive(Clone, Debug, Default)]
pub struct Splitter {
    /// What has come of the next frame.
    begun: Vec<u8>,
    /// It is too long: nothing more is kept of it.
    overlong: bool,
    /// Bytes that were skipped.
    pub skipped: u64,
}

impl Splitter {
    /// Takes in some bytes and hands over every frame that they complete.
    pub fn feed(&mut self, bytes: &[u8], mut frame: impl FnMut(&[u8])) {
        for &byte in bytes {
            if byte != 0 {
                self.keep(byte);
                continue;
            }
            let encoded = std::mem::take(&mut self.begun);
            let mut decoded = vec![0; encoded.len()];
            match cobs::decode(&encoded, &mut decoded) {
                Ok(length) if !self.overlong && !encoded.is_empty() => frame(&decoded[..length]),
                _ => self.skipped += encoded.len() as u64,
            }
            self.overlong = false;
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.overlong {
            self.skipped += 1;
        } else if self.begun.len() < LONGEST {
            self.begun.push(byte);
        } else {
            self.overlong = true;
            self.skipped += 1;
        }
    }

    /// Ends the stream: half a frame is none.
    pub fn finish(&mut self) {
        self.skipped += std::mem::take(&mut self.begun).len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(frame: &[u8]) -> Vec<u8> {
        let mut encoded = cobs::encode_vec(frame);
        encoded.push(0);
        encoded
    }

    fn frames(stream: &[u8], piece: usize) -> (Vec<Vec<u8>>, u64) {
        let (mut splitter, mut found) = (Splitter::default(), Vec::new());
        for piece in stream.chunks(piece) {
            splitter.feed(piece, |frame| found.push(frame.to_vec()));
        }
        splitter.finish();
        (found, splitter.skipped)
    }

    #[test]
    fn frames_come_whole_however_the_line_delivers_them() {
        let sent = [vec![1, 2, 3], vec![0, 0, 7], vec![9; 300], vec![0]];
        let stream: Vec<u8> = sent.iter().flat_map(|frame| framed(frame)).collect();
        for piece in [1, 2, 7, 1000] {
            assert_eq!(frames(&stream, piece), (sent.to_vec(), 0));
        }
    }

    #[test]
    fn a_listener_that_joins_late_is_in_step_at_the_next_zero() {
        let stream = [framed(&[5; 40]), framed(&[1, 2, 3])].concat();
        // What is left of the first frame begins with 5, which would be a length: 5 is followed by 4 more, and so on.
        let (found, _) = frames(&stream[10..], 1);
        assert_eq!(found.last(), Some(&vec![1, 2, 3]));
    }

    #[test]
    fn what_is_no_cobs_is_skipped_and_counted() {
        // 9 announces eight bytes; only two come.
        let stream = [vec![9, 1, 2, 0], framed(&[1, 2, 3]), vec![7, 7]].concat();
        assert_eq!(frames(&stream, 3), (vec![vec![1, 2, 3]], 3 + 2));
    }

    #[test]
    fn a_line_without_zeros_takes_no_more_memory_than_a_frame() {
        let mut splitter = Splitter::default();
        for _ in 0..100 {
            splitter.feed(&[1; 1000], |_| panic!("no frame"));
        }
        assert!(splitter.begun.len() <= LONGEST);
        let mut found = 0;
        splitter.feed(&[0], |_| found += 1);
        splitter.feed(&framed(&[1, 2]), |_| found += 1);
        assert_eq!((found, splitter.skipped), (1, 100_000));
    }
}
