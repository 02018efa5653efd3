//! Passing in and out of vectors of bytes, and what passes in this crate.

use rand_chacha::ChaCha8Rng;
use wdgnn_core::passage::Passage;

use crate::scene::Frame;

/// More than anything has.
const MOST: usize = 1 << 28;

/// Appends what passes out to `bytes`.
pub fn write(bytes: &mut Vec<u8>, each: impl FnOnce(&mut Passage<'_>)) {
    let mut carry = |some: &mut [u8]| {
        bytes.extend_from_slice(some);
        true
    };
    each(&mut Passage::new(&mut carry));
}

/// Lets the front of `bytes` pass in, and takes it away. Whether all of it was there and could be.
#[must_use]
pub fn read(bytes: &mut &[u8], each: impl FnOnce(&mut Passage<'_>)) -> bool {
    let mut carry = |some: &mut [u8]| {
        let Some((front, rest)) = bytes.split_at_checked(some.len()) else { return false };
        some.copy_from_slice(front);
        *bytes = rest;
        true
    };
    let mut passage = Passage::new(&mut carry);
    each(&mut passage);
    passage.good()
}

/// A list of any length.
pub fn list<T>(
    passage: &mut Passage<'_>,
    list: &mut Vec<T>,
    mut nothing: impl FnMut() -> T,
    mut each: impl FnMut(&mut Passage<'_>, &mut T),
) {
    let count = passage.count(list.len(), MOST);
    list.truncate(count);
    for place in 0..count {
        if place == list.len() {
            list.push(nothing());
        }
        each(passage, &mut list[place]);
        if !passage.good() {
            return;
        }
    }
}

/// Bytes, however many.
pub fn bytes(passage: &mut Passage<'_>, bytes: &mut Vec<u8>) {
    let count = passage.count(bytes.len(), MOST);
    bytes.resize(count, 0);
    passage.bytes(bytes);
}

/// Numbers, however many.
pub fn numbers(passage: &mut Passage<'_>, numbers: &mut Vec<f32>) {
    let count = passage.count(numbers.len(), MOST / 4);
    numbers.resize(count, 0.0);
    passage.numbers(numbers);
}

/// A frame.
pub fn frame(passage: &mut Passage<'_>, frame: &mut Frame) {
    let mut content = frame.to_vec();
    bytes(passage, &mut content);
    if content[..] != frame[..] {
        *frame = content.into();
    }
}

/// Several of them.
pub fn frames(passage: &mut Passage<'_>, frames: &mut Vec<Frame>) {
    list(passage, frames, || Frame::from([]), frame);
}

/// How far a stream of random numbers is, into one with the same seed.
pub fn random(passage: &mut Passage<'_>, random: &mut ChaCha8Rng) {
    let place = random.get_word_pos();
    let (mut low, mut high) = (place as u64, (place >> 64) as u64);
    passage.long(&mut low);
    passage.long(&mut high);
    let passed = u128::from(high) << 64 | u128::from(low);
    if passed != place {
        random.set_word_pos(passed);
    }
}

/// A number that is a place in memory here.
pub fn index(passage: &mut Passage<'_>, index: &mut usize) {
    let mut long = *index as u64;
    passage.long(&mut long);
    *index = long as usize;
}

#[cfg(test)]
mod tests {
    use rand::Rng as _;

    use super::*;
    use crate::seeds::{Purpose, generator};

    #[test]
    fn a_stream_goes_on_where_it_was() {
        let mut one = generator(1, Purpose::Air, 0);
        for _ in 0..5 {
            one.next_u32();
        }
        let mut bytes = Vec::new();
        write(&mut bytes, |passage| random(passage, &mut one));
        let mut other = generator(1, Purpose::Air, 0);
        other.next_u64();
        assert!(read(&mut &bytes[..], |passage| random(passage, &mut other)));
        assert_eq!((one.next_u64(), one.next_u32()), (other.next_u64(), other.next_u32()));
    }

    #[test]
    fn what_is_cut_off_is_told_and_makes_no_room_for_what_never_comes() {
        let mut frames: Vec<Frame> = vec![[1, 2, 3].into(), [].into(), [4].into()];
        let mut bytes = Vec::new();
        write(&mut bytes, |passage| super::frames(passage, &mut frames));
        for length in 0..bytes.len() {
            assert!(!read(&mut &bytes[..length], |passage| super::frames(passage, &mut Vec::new())));
        }
        let mut back = vec![[9].into(); 7];
        assert!(read(&mut &bytes[..], |passage| super::frames(passage, &mut back)));
        assert_eq!(back, frames);
    }
}
